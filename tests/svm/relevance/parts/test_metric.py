"""Columns in the units in which rows are compared."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.svm.relevance.parts.metric import MetricColumns, thinned
from kernelwise.svm.relevance.parts.normal_scores import NormalScores

from .mixed_tables import mixed_rows


@pytest.fixture
def columns():
    return MetricColumns.of(mixed_rows(2000))


def test_numbers_lie_on_the_lines_between_known_values(columns):
    rows = mixed_rows(2000)
    expected = thinned(NormalScores.of(rows.X[:, :5], rows.count))
    new = np.vstack([mixed_rows(3000, seed=1).X, rows.X, 100 + rows.X[:1], rows.X[:1] - 100])
    found = columns.apply(new)
    assert found.dtype == np.float32
    assert_allclose(found[:, :5], expected.apply(new[:, :5]) / columns.sizes, rtol=1e-6, atol=1e-12)
    assert_array_equal(found[:, 4], np.zeros(len(new)))  # a constant column
    assert_array_equal(found[:, 5:], new[:, 5:].astype(np.float32))  # codes


def test_some_columns_of_a_wider_table(columns):
    X = mixed_rows(500, seed=1).X
    order = np.array([3, 0, 6, 1, 2, 4, 5])
    wider = np.full((500, 8), 7.0)
    wider[:, order] = X
    assert_array_equal(columns.apply(wider, order), columns.apply(X))


def test_gaps_stay_gaps(columns):
    X = mixed_rows(3).X
    X[1, 0] = np.nan
    assert_array_equal(np.isnan(columns.apply(X)), np.isnan(X))
