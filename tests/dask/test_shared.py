"""Values arrive with arrays that compiled code can read; what is missing is named."""

import pickle
import sys

import numpy as np
import pytest
from kernelwise.scale.trees import grow_tree
from numpy.testing import assert_array_equal

from kernelwise.dask import DaskRelevanceSVC
from kernelwise.dask.cluster import client_of
from kernelwise.dask.shared import Shared
from kernelwise.kernels import RBF


def sent(value):
    """Pickle a value as Dask does, with each buffer at an odd address at its arrival."""
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


def test_the_sender_of_the_test_moves_arrays():
    assert not sent(np.arange(5.0)).flags.aligned


def test_trees_route_rows_after_a_journey():
    X = np.random.default_rng(0).normal(size=(500, 3))
    tree, _ = grow_tree(X, np.arange(500), RBF(), 50, seed=0)
    arrived = sent(Shared((tree, {"weights": X[0], "all": [X]}, "words")))
    other, named, words = arrived.value
    assert other.directions.flags.aligned
    assert named["weights"].flags.aligned
    assert named["all"][0].flags.aligned
    assert words == "words"
    assert_array_equal(other.route(X), tree.route(X))


def test_without_dask_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'kernelwise\[dask\]'"):
        DaskRelevanceSVC().fit(np.zeros((2, 1)), np.array([0, 1]))


def test_without_a_client_the_remedy_is_named(monkeypatch):
    def no_client():
        raise ValueError("No global client found")

    monkeypatch.setattr("distributed.get_client", no_client)
    with pytest.raises(ValueError, match="There is no client of Dask"):
        client_of(None)
