"""Rows of a table that lies column by column, as those of a data frame do."""

import tracemalloc

import numpy as np
from numpy.testing import assert_array_equal

from kernelwise.svm.base.predictor import take


def test_some_rows_are_taken_without_a_copy_of_the_table():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(100_000, 20)))
    rows = np.array([5, 3, 99_999])
    tracemalloc.start()
    try:
        found = take(X, rows)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert_array_equal(found, X[rows])
    assert peak < X.nbytes / 100
