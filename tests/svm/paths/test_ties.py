"""Ties are broken by a rule: scores that are equal but for rounding choose the simpler machine."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise import AdaptiveKernelSVC
from kernelwise.svm.paths.path import PathPoint, at_lowest, simplest_of_best


def point(score, C=1.0, value=1.0, *, converged=True):
    unknown = dict.fromkeys(
        ("sigma", "bound", "radius", "margin", "functional_margin", "loo_error", "held_out_error"),
        np.nan,
    )
    return PathPoint(
        value=value, C=C, score=score, n_iter=0, seconds=0.0, solved=True, converged=converged,
        **unknown,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("points", "selected"),
    [
        ([point(0.3, C=10.0), point(0.3 + 1e-13, C=1.0)], 1),
        ([point(0.3, C=10.0), point(0.3 + 1e-6, C=1.0)], 0),
        ([point(0.3, value=2.0), point(0.3 - 1e-13, value=5.0)], 0),
        ([point(0.3 + 1e-13), point(0.3)], 0),
        ([point(1e6, C=10.0), point(1e6 + 1e-6, C=1.0)], 1),
        ([point(0.1, converged=False), point(0.9)], 1),
        ([point(0.1, converged=False), point(0.1, C=0.5, converged=False)], 1),
        ([point(np.nan, C=0.1), point(0.9)], 1),
        ([point(np.nan, C=2.0), point(np.nan, C=1.0)], 1),
    ],
)
def test_the_simplest_of_equal_points_is_selected(points, selected):
    assert simplest_of_best(points) == selected


def test_scores_of_nothing_are_all_lowest():
    assert_array_equal(at_lowest([np.nan, np.inf]), [True, True])
    assert_array_equal(at_lowest([np.nan, 0.0]), [False, True])


def corners(n_copies=3):
    """Return the corners of a cube, several times, whose classes say nothing about them."""
    X = np.array([[a, b, c] for a in (0.0, 1.0) for b in (0.0, 1.0) for c in (0.0, 1.0)])
    return np.tile(X, (n_copies, 1)), np.arange(8 * n_copies) % 3 % 2


@pytest.mark.parametrize("criterion", ["bound", "radius", "span", "cv"])
def test_the_order_of_rows_does_not_choose_the_width(criterion):
    X, y = corners()
    chosen = set()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(y))
        model = AdaptiveKernelSVC(criterion=criterion, C=1.0).fit(X[order], y[order])
        chosen.add((model.kernel_.gamma, model.C_))
    assert len(chosen) == 1
