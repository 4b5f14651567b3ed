"""Fixtures and settings that every test shares."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def _numba_cache_dir():
    """Return a cache folder named after the compiled code's source.

    Numba invalidates a cached function when its own file changes, not when a compiled function it
    calls in another file does. A folder for each state of the source never serves stale code.
    """
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "kernelwise").rglob("*.py")):
        source = path.read_bytes()
        if b"numba" in source:
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + source)
    return ROOT / ".numba_cache" / digest.hexdigest()[:16]


# Numba reads this once, when it is first imported: that must not have happened yet.
os.environ.setdefault("NUMBA_CACHE_DIR", str(_numba_cache_dir()))

# The first example of a property may compile code, so there is no deadline for an example.
settings.register_profile("kernelwise", deadline=None, derandomize=IN_CI)
settings.load_profile("kernelwise")


def pytest_collection_modifyitems(items):
    """Mark whatever asks for the papers' data sets, so that ``-m "not data"`` leaves it out."""
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.data)


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
