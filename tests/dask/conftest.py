"""A cluster of two small worker processes, and constants that make small tables large."""

import pytest
from kernelwise.svm.relevance.parts import cell_rows

from kernelwise.dask import fitting
from kernelwise.svm.relevance import large_table, reader

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GiB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module", autouse=True)
def small_samples():
    """Let 2,000 rows be many, so that samples are smaller than the tables of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "SWITCH", 2000)
        patch.setattr(fitting, "SWITCH", 2000)
        patch.setattr(large_table, "ENCODING_ROWS", 2000)
        patch.setattr(fitting, "ENCODING_ROWS", 2000)
        patch.setattr(cell_rows, "SAMPLE_ROWS", 2500)
        patch.setattr(cell_rows, "_LEAST_SAMPLE", 2500)
        patch.setattr(cell_rows, "JUDGED_ROWS", 1000)
        yield
