"""Splits and tests, against direct reasoning and scipy."""

import numpy as np
import pytest
from scipy import stats

from reproduction import protocol


def test_random_split_rounds_test_rows_down_and_uses_all_rows():
    train, test = protocol.random_split(699, 0.2, 3)
    assert len(test) == 139
    assert sorted([*train, *test]) == list(range(699))
    assert not np.array_equal(test, protocol.random_split(699, 0.2, 4)[1])


def test_random_split_by_class():
    y = np.repeat([0, 1], [80, 20])
    _, test = protocol.random_split(100, 0.5, 0, y)
    assert y[test].sum() == 10


def test_folds_hold_each_row_out_once():
    y = np.repeat([0, 1], [30, 15])
    splits = protocol.folds(y, 5, 0)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(45))
    assert all(y[test].sum() == 3 for _, test in splits)


def test_mcnemar_is_the_binomial_test_of_the_rows_that_differ():
    first = np.array([True] * 12 + [False] * 4 + [True] * 30)
    second = np.array([False] * 12 + [True] * 4 + [True] * 30)
    statistic, pvalue = protocol.mcnemar(first, second)
    assert statistic == -8
    assert pvalue == pytest.approx(2 * stats.binom.cdf(4, 16, 0.5))
    assert protocol.mcnemar(first, first) == (0, 1)


def test_signed_rank_has_a_sign():
    rng = np.random.default_rng(0)
    first = rng.normal(size=42)
    second = first + 0.5 + rng.normal(size=42) / 3
    z, pvalue = protocol.signed_rank(first, second)
    assert z < -4
    assert pvalue == pytest.approx(2 * stats.norm.cdf(z))
    assert protocol.signed_rank(second, first).statistic == pytest.approx(-z)
    assert protocol.signed_rank(first, first) == (0, 1)


def test_paired_t_is_positive_where_the_second_is_larger():
    first, second = [1.0, 2.0, 3.0], [2.0, 3.5, 4.0]
    t, pvalue = protocol.paired_t(first, second)
    assert t == pytest.approx(7.0)
    assert pvalue == pytest.approx(2 * stats.t.sf(7.0, 2))
    assert protocol.paired_t(first, first) == (0, 1)


def test_correlation():
    r, pvalue = protocol.correlation([1, 2, 3, 4], [1, 3, 2, 4])
    assert r == pytest.approx(0.8)
    assert pvalue == pytest.approx(0.2)
