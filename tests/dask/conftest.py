"""A cluster of two small worker processes, and constants that make small tables large."""

from dataclasses import replace

import pytest

from kernelwise.svm.relevance.base import BaseRelevance
from kernelwise.svm.relevance.settings import Settings

distributed = pytest.importorskip("distributed")

SMALL = replace(
    Settings(), sample=1500, learning=600, validation=600, exact_rows=1000, shared=100, cell=200
)


@pytest.fixture(scope="session")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GiB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="package", autouse=True)
def small_samples():
    """Let 1,500 rows be many, so that samples are smaller than the tables of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseRelevance, "_settings", SMALL)
        yield
