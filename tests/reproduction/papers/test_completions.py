"""Algorithm 1 completed in three ways, and inequality (4)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from kernelwise import MarginRadiusSVC
from kernelwise.svm.margin_radius.problem import CentredColumns, Problem
from reproduction.papers.margin_radius.bounds import tightness
from reproduction.papers.margin_radius.completions import (
    MOMENTS,
    completed,
    nearest_on_simplex,
    reduced_direction,
)
from reproduction.papers.margin_radius.directions import COMPLETIONS


def rows(n=60, d=8):
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:n, :d]), np.where(y[:n] == 1, 1.0, -1.0)


@pytest.mark.parametrize("name", COMPLETIONS)
def test_each_completion_reaches_the_optimum(name):
    X, y = rows()
    best = MarginRadiusSVC(radius="paper", C=1.0, tol=1e-8).fit(X, y)
    found = completed(name, X, y, 1.0, 300)
    scale = (np.ptp(X, axis=0).max() / 2) ** 2
    assert found.stopped
    assert found.point.value / scale <= best.objective_[0] + 0.01
    assert_allclose(found.point.weights.sum(), 1.0)


def test_only_the_first_boundary_removes_one_column_a_step():
    X, y = rows(60, 30)
    used = {name: completed(name, X, y, 1.0, 30).used for name in COMPLETIONS}
    for k, (moment, left) in enumerate(zip(MOMENTS, used["boundary"], strict=False)):
        assert left >= 30 - moment
        assert k > 2 or min(used["reduced"][k], used["projection"][k]) < left


def test_the_reduced_direction_descends_and_keeps_the_sum():
    X, y = rows()
    columns = CentredColumns.of(X, own_units=False)
    problem = Problem(columns.apply(X), columns.ridge(1.0), y, np.ones(len(y)))
    weights = np.array([0.5, 0.3, 0.2, 0, 0, 0, 0, 0])
    move, _ = reduced_direction(problem.at(weights))
    assert move.sum() == pytest.approx(0.0, abs=1e-9 * np.abs(move).max())
    assert move[3:].min() >= 0
    assert problem.at(weights + 1e-6 / np.abs(move).max() * move).value < problem.at(weights).value


def test_the_nearest_point_of_the_simplex():
    v = np.array([0.9, 0.5, -0.2, 0.4])
    sums_to_one = {"type": "eq", "fun": lambda x: x.sum() - 1}
    found = minimize(
        lambda x: ((x - v) ** 2).sum(), np.full(4, 0.25), bounds=[(0, 1)] * 4,
        constraints=sums_to_one, options={"ftol": 1e-14},
    )  # fmt: skip
    assert_allclose(nearest_on_simplex(v), found.x, atol=1e-6)


def test_inequality_4_is_tight_for_one_column():
    X, _ = rows()
    assert tightness(X, np.eye(8)[0]) == pytest.approx(1.0)
    assert tightness(X, np.full(8, 1 / 8)) < 1
