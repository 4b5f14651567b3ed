"""Values arrive with arrays that compiled code can read, and regions tell their size."""

import pickle
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("dask")

from kernelwise.dask.tasks import Held, Shared
from kernelwise.svm.relevance.cells import Known, Plan
from tests.svm.relevance.test_cells import SETTINGS, problem


def sent(value):
    """Return a value as it arrives: its arrays lie at any address."""
    buffers = []
    frame = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    moved = []
    for buffer in buffers:
        content = buffer.raw()
        room = bytearray(len(content) + 9)
        first = np.frombuffer(room, dtype=np.uint8).__array_interface__["data"][0]
        start = 1 + -first % 8
        room[start : start + len(content)] = content
        moved.append(memoryview(room)[start : start + len(content)])
    return pickle.loads(frame, buffers=moved)


def test_columns_read_rows_after_a_journey():
    rows, *_ = problem()
    columns, X = rows.columns, np.random.default_rng(5).normal(size=(30, 3))
    with pytest.raises(ValueError, match="be aligned"):
        sent(columns).rows(X)
    assert_array_equal(sent(Shared(columns)).value.rows(X).Z, columns.rows(X).Z)


def test_a_region_between_the_passes_tells_its_size():
    rows, T, weight, prior = problem()
    rng, n = np.random.default_rng(0), len(rows)
    (plan,) = Plan.all(rows, n, prior, rng, SETTINGS)
    region, _ = plan.factor(Known(rows, T, weight, np.arange(n), np.ones(n, dtype=bool)), 0)
    held = sys.getsizeof(Held(region))
    assert held > sum(cell.G.nbytes + cell.known.rows.Z.nbytes for cell in region.cells)
    assert held < len(pickle.dumps(region))
