"""Pairs of columns beside the columns of the joint part."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.larger import begin_joint
from kernelwise.svm.relevance.parts.pairs import PairColumns, begin_pairs
from kernelwise.svm.relevance.parts.rows import PartRows

from .mixed_tables import log_loss, mixed_rows


def tables(m, seed=0):
    """Return rows of which a pair of levels of two categories decides, and a number."""
    effects = np.random.default_rng(7).normal(scale=3, size=(15, 15))
    rng = np.random.default_rng(seed)
    first, second, number, noise = *rng.integers(0, 15, (2, m)), *rng.normal(size=(2, m))
    chance = 1 / (1 + np.exp(-effects[first, second] - number))
    layout = ColumnLayout(np.array([False, True, False, True]), np.arange(4), np.arange(4), 4)
    X, one = np.column_stack([number, first, noise, second]), np.ones(m)
    return PartRows(X, layout, (rng.random(m) < chance).astype(np.intp), 2, one, one)


def test_the_pair_that_decides_is_found():
    rows = tables(3000)
    columns = PairColumns.of(rows)
    assert columns.pairs[0].tolist() == [1, 3]
    assert len(columns.pairs) <= 5


def test_a_code_is_one_pair_of_levels():
    rows = tables(3000)
    columns = PairColumns.of(rows)
    X = columns.apply(rows.X)
    assert_array_equal(X[:, :4], rows.X)
    code, pair = X[:, 4].astype(int), (15 * rows.X[:, 1] + rows.X[:, 3]).astype(int)
    assert len(np.unique(code)) == len(np.unique(pair)) == len(set(zip(code, pair, strict=True)))


def test_pairs_lower_the_loss_where_they_decide():
    rows, new = tables(6000), tables(3000, seed=1)
    learned, finish = begin_pairs(rows, np.random.RandomState(0))
    part = finish()
    plain = begin_joint(rows, np.random.RandomState(0))[1]()
    assert part.name == "pairs"
    assert len(learned.weights) == 4
    losses = [log_loss(each.decision_values(new.X), new) for each in (part, plain)]
    assert losses[0] < 0.9 * losses[1]
    assert_allclose(log_loss(part.left_out, rows), losses[0], rtol=0.1)
    assert_allclose(part.importances.sum(), 1)
    assert set(np.argsort(part.importances)[-3:]) == {0, 1, 3}


@pytest.mark.parametrize("begin", [begin_pairs, begin_joint])
def test_threads_change_neither_weights_nor_part(begin):
    rows = tables(2000)
    (one, finish), (other, finish_other) = (
        begin(rows, np.random.RandomState(0), threads=threads) for threads in (1, 2)
    )
    assert_array_equal(one.weights, other.weights)
    assert_array_equal(finish().left_out, finish_other().left_out)


def test_a_table_without_such_pairs_has_the_joint_part():
    rows = mixed_rows(1500, signal=0.0)
    part = begin_pairs(rows, np.random.RandomState(0))[1]()
    assert len(part.columns.pairs) == 0
    plain = begin_joint(rows, np.random.RandomState(0))[1]()
    assert_allclose(part.decision_values(rows.X), plain.decision_values(rows.X), atol=1e-9)


def test_half_of_the_share_of_a_pair_belongs_to_each_column():
    columns = replace(PairColumns.of(tables(1000)), pairs=np.array([[0, 1], [1, 2]]))
    shares = columns.to_columns(np.array([0.1, 0.2, 0.3, 0.2, 0.2]))
    assert_allclose(shares, [0.2, 0.4, 0.4])
