"""Decisions of cells as log-odds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.cell_odds import ROOMS, best_room, log_odds
from kernelwise.svm.relevance.parts.rows import PartRows


def rows_of(classes, n_classes=2):
    n = len(classes)
    layout = ColumnLayout.plain(1)
    return PartRows(np.zeros((n, 1)), layout, classes, n_classes, np.ones(n), np.ones(n))


@pytest.mark.parametrize("room", ROOMS)
def test_log_odds_rise_and_are_odd(room):
    decisions = np.linspace(-2, 2, 401)[:, None]
    odds = log_odds(decisions, room)
    assert (np.diff(odds, axis=0) > 0).all()
    assert_allclose(odds, -odds[::-1], atol=1e-12)


def test_no_room_keeps_the_decisions():
    decisions = np.linspace(-2, 2, 5)[:, None]
    assert_array_equal(log_odds(decisions, None), decisions)


def test_decisions_that_are_probabilities_have_little_room():
    rng = np.random.default_rng(0)
    true = 4 * rng.normal(size=20_000)
    rows = rows_of((rng.random(20_000) < expit(true)).astype(int))
    exact = 2 * expit(true) - 1
    assert best_room(exact[:, None], rows) == min(ROOMS)
    noisy = exact + 0.2 * rng.normal(size=20_000)
    assert best_room(noisy[:, None], rows) in (0.3, 0.1, None)


def test_decisions_that_are_log_odds_stay():
    rng = np.random.default_rng(1)
    decisions = rng.uniform(-1, 1, 20_000)
    rows = rows_of((rng.random(20_000) < expit(2.5 * decisions)).astype(int))
    assert best_room(decisions[:, None], rows) is None


def test_several_classes_share_their_room():
    rng = np.random.default_rng(2)
    scores = 3 * rng.normal(size=(20_000, 3))
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    classes = (shares.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    assert best_room(2 * shares - 1, rows_of(classes, 3)) < 0.1
