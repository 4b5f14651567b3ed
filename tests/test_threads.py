"""BLAS on one thread while a fit is under way, and as it was behind it."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kernelwise._threads import single_blas


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.mark.parametrize("threads", [1, 2])
def test_blas_is_held_to_one_thread(threads):
    with threadpool_limits(threads, user_api="blas"):
        before = blas_threads()
        with single_blas():
            assert blas_threads() == {1}
            with single_blas():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_blas_is_given_back_after_an_error():
    before = blas_threads()
    with pytest.raises(KeyError), single_blas():
        raise KeyError
    assert blas_threads() == before
