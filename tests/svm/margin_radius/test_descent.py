"""MarginRadiusSVC(optimizer="paper"): Algorithm 1, against the paper's lines one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import Normalizer, StandardScaler

from kernelwise import MarginRadiusSVC
from kernelwise.svm.margin_radius.descent import absolute_gap, descend, direction
from kernelwise.svm.margin_radius.problem import CentredColumns, Problem
from tests.loop import loop
from tests.svm.margin_radius.oracles import Algorithm1


def rows(n=40, d=7):
    X, y = load_breast_cancer(return_X_y=True)
    X = Normalizer().fit_transform(StandardScaler().fit_transform(X[:n, :d]))
    return X, np.where(y[:n] == 1, 1.0, -1.0)


def problem_of(X, y, C):
    columns = CentredColumns.of(X, own_units=False)
    return Problem(columns.apply(X), columns.ridge(C), y, np.ones(len(y))), columns.unit[0]


@loop("C", [1.0, 100.0])
def test_every_step_is_that_of_the_paper(C):
    X, y = rows()
    printed = Algorithm1(X, y, C)
    problem, unit = problem_of(X, y, C)
    ours = problem.at(printed.mu)
    for steps in range(1, 6):
        gap = printed.step()
        assert_allclose(absolute_gap(ours) / unit**2, gap, rtol=1e-5)
        ours = descend(problem, gap=0.0, max_iter=steps).point
        assert_allclose(ours.weights, printed.mu, atol=2e-6)


@loop("C", [0.1, 1.0, 10.0])
def test_estimator_stops_at_the_gap_of_the_paper(C):
    X, y = rows()
    printed = Algorithm1(X, y, C)
    for _ in range(200):
        weights, gap = printed.mu, printed.step()
        if gap < 0.01:
            break
    model = MarginRadiusSVC(radius="paper", optimizer="paper", C=C).fit(X, y)
    assert_allclose(model.feature_weights_, weights, atol=2e-5)
    assert_allclose(model.objective_[0], printed.J(weights)[0], rtol=1e-7)
    best = MarginRadiusSVC(radius="paper", C=C, tol=1e-9).fit(X, y)
    assert best.objective_[0] <= model.objective_[0] <= best.objective_[0] + 0.01


def test_stop_is_absolute_in_the_units_of_the_columns():
    X, y = rows()
    small = MarginRadiusSVC(radius="paper", optimizer="paper").fit(X, y)
    large = MarginRadiusSVC(radius="paper", optimizer="paper").fit(1000 * X, y)
    # J falls with the square of the units, so that the same absolute gap is reached at once.
    assert large.n_iter_ == 1 < small.n_iter_
    assert_allclose(large.feature_weights_, 1 / X.shape[1])


def test_direction_is_feasible_and_descends():
    X, y = rows(d=10)
    problem, _ = problem_of(X, y, 10.0)
    weights = np.zeros(10)
    weights[:3] = 1 / 3
    point = problem.at(weights)
    move = direction(point)
    assert abs(move.sum()) <= 1e-12 * np.abs(move).sum()
    assert (move[3:] >= 0).all()
    assert (move[3:] > 0).any()  # a column without a weight gets one
    assert problem.at(weights + 1e-4 * move / np.abs(move).max()).value < point.value


def test_product_radius_reaches_the_same_optimum():
    X, y = rows()
    slow = MarginRadiusSVC(optimizer="paper", C=1.0).fit(X, y)
    fast = MarginRadiusSVC(C=1.0, tol=1e-9).fit(X, y)
    assert slow.objective_[0] <= fast.objective_[0] + 0.01


def test_warning_names_the_stop_of_the_paper():
    X, y = rows()
    model = MarginRadiusSVC(radius="paper", optimizer="paper", C=1000.0, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="absolute gap of 0.01"):
        model.fit(X, y)
    assert model.fit_status_ == 1


@loop("options", [{"p": 2.0}, {"radius": "ball"}])
def test_other_problems_are_refused(options):
    X, y = rows()
    with pytest.raises(ValueError, match="optimizer='paper' is for p=1"):
        MarginRadiusSVC(optimizer="paper", **options).fit(X, y)


def test_constant_columns_alone():
    y = np.array([0, 1, 1, 1])
    model = MarginRadiusSVC(optimizer="paper").fit(np.ones((4, 2)), y)
    assert (model.predict(np.ones((1, 2))) == 1).all()
