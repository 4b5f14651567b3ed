"""Fixtures and settings that every test shares."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}

# A shell starts what runs in the background with Ctrl-C ignored, and the processes that the tests
# interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example of a property may import modules, so there is no deadline for an example.
settings.register_profile("kernelwise", deadline=None, derandomize=IN_CI)
settings.load_profile("kernelwise")


# What takes long and rarely fails alone: `make test` leaves it out, `make test-all` and CI run it.
SLOW = (
    "tests/benchmarks/",
    "tests/chaos/",
    "tests/dask/",
    "tests/docs/",
    "tests/native/test_symbols.py",
    "tests/page/test_browser.py",
    "tests/report/test_browser.py",
    "tests/reproduction/",
    "tests/test_examples.py",
    "tests/test_wheel.py",
    "tests/zoo/",
)


def pytest_collection_modifyitems(items):
    """Mark what asks for the papers' data sets as "data", and what takes long as "slow"."""
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.data)
        if item.path.is_relative_to(ROOT) and (
            item.path.relative_to(ROOT).as_posix().startswith(SLOW)
        ):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the papers' data sets, named by KERNELWISE_DATA."""
    value = os.environ.get("KERNELWISE_DATA")
    if not value:
        if IN_CI:
            pytest.fail("KERNELWISE_DATA is not set, and CI must run the tests that need the data")
        pytest.skip("set KERNELWISE_DATA to the folder of the papers' data sets to run this test")
    path = Path(value)
    if not path.is_dir():
        pytest.fail(f"KERNELWISE_DATA names {value!r}, which is not a folder")
    return path
