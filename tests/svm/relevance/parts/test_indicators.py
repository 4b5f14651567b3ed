"""Categories as numbers, for parts that read numbers only."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.indicators import Indicators, fit_on_numbers
from kernelwise.svm.relevance.parts.linear import fit_linear
from kernelwise.svm.relevance.parts.ridge import fit_ridge
from kernelwise.svm.relevance.parts.rows import PartRows

from .mixed_tables import mixed_rows
from .problems import part_rows


def ridge(rows):
    return fit_ridge(rows, "laplacian", 1.0, np.random.RandomState(0))


def linear(rows):
    return fit_linear(rows, np.random.RandomState(0))


def test_levels_with_enough_rows_get_a_column():
    rows = mixed_rows(60)
    rows.X[:, 5] = np.arange(60) % 2  # two levels: one column
    rows.X[:, 6] = np.where(np.arange(60) < 4, 3, np.arange(60) % 3)  # the last has four rows
    indicators = Indicators.of(rows)
    assert_array_equal(indicators.numbers, np.arange(5))
    assert_array_equal(indicators.columns, [5, 6, 6, 6])
    assert_array_equal(indicators.codes, [1, 0, 1, 2])
    Z = indicators.apply(rows.X)
    assert_array_equal(Z[:, :5], rows.X[:, :5])
    assert_array_equal(Z[:, 5], rows.X[:, 5])
    assert_array_equal(Z[:4, 6:], 0)
    assert_array_equal(Z[4:, 6:].sum(axis=1), 1)


def test_counts_make_rows():
    rows = mixed_rows(60)
    rows.X[:, 6] = 0
    rows.X[:2, 6] = 1
    assert len(Indicators.of(rows).columns[Indicators.of(rows).columns == 6]) == 1
    many = replace(rows, count=np.where(np.arange(60) < 2, 3.0, 1.0))
    assert_array_equal(Indicators.of(many).codes[-1:], [1])


@pytest.mark.parametrize("fit", [ridge, linear])
def test_a_part_reads_encoded_rows(fit):
    rows = mixed_rows(200)
    [part] = fit_on_numbers(rows, fit)
    indicators = Indicators.of(rows)
    bare = fit(indicators.rows(rows))
    assert part.name == bare.name
    assert_array_equal(part.left_out, bare.left_out)
    new = mixed_rows(50, seed=1).X
    new[0, 5:] = 99  # unseen levels
    assert_allclose(part.decision_values(new), bare.decision_values(indicators.apply(new)))
    assert part.importances.shape == (7,)
    assert part.importances.sum() == pytest.approx(1)
    levels = bare.importances[len(indicators.numbers) :]
    assert part.importances[5] == pytest.approx(levels[indicators.columns == 5].sum())


def test_numbers_need_no_indicators():
    rows = part_rows(40)
    assert_array_equal(fit_on_numbers(rows, linear)[0].left_out, linear(rows).left_out)


def test_the_most_frequent_level_stands_for_a_category_of_rare_ones():
    X = np.array([[0.0], [1.0], [1.0], [2.0], [2.0], [2.0]])
    layout = ColumnLayout(np.array([True]), np.arange(1), np.arange(1), 1)
    rows = PartRows(X, layout, np.arange(6) % 2, 2, np.ones(6), np.ones(6))
    assert_array_equal(Indicators.of(rows).apply(X)[:, 0], [0, 0, 0, 1, 1, 1])
