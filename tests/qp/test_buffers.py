"""The buffer that is kept from fit to fit."""

import numpy as np
import pytest

from kernelwise.qp import gram
from kernelwise.qp.gram import KeptBuffer
from tests.loop import loop


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(gram, "_kept", [])


@loop("n_bytes", [2**20 + 2, 2**22, 2**23 + 12_346])
def test_large_matrices_lie_on_large_pages(n_bytes):
    found = KeptBuffer(n_bytes).view(np.uint16)
    assert found.nbytes == n_bytes
    assert found.ctypes.data % 2**21 == 0


def test_a_buffer_is_kept_and_used_again():
    first = KeptBuffer(2**23)
    place = first.view(np.uint8).ctypes.data
    first.close()
    again = KeptBuffer(2**22)
    assert again.view(np.uint8).ctypes.data == place
    assert KeptBuffer(2**22).view(np.uint8).ctypes.data != place  # it is in use


def test_a_buffer_of_which_much_was_accessed_is_not_kept():
    first = KeptBuffer(2**23)
    first.touch(600_000_000)
    first.close()
    assert gram._kept == []
    assert len(KeptBuffer(2**23).view(np.uint8)) == 2**23


def test_a_buffer_that_is_too_small_is_freed_before_a_larger_one_is_made():
    KeptBuffer(2**22).close()
    larger = KeptBuffer(2**24)
    assert gram._kept == []
    larger.close()
    assert len(gram._kept) == 1
