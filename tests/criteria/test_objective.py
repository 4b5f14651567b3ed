"""A criterion as a function of parameters: what is named, kept and counted."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelwise.criteria import Alignment, DualObjective, LeaveOneOut, RadiusMargin
from kernelwise.kernels import RBF, Linear, Ridge
from kernelwise.qp import SMO
from tests.laws.criterion_cases import codes_for
from tests.laws.registry import rows_for
from tests.loop import loop

TIGHT = SMO(tol=1e-10)
X = rows_for(RBF(), n=24)
Y, WEIGHTS = codes_for()


def test_vector_holds_the_parameters_one_after_the_other():
    kernel = RBF(gamma=0.3) + 2.0 * Linear()
    names = ["right__scale", "left__weights", "C", "right__kernel__gamma"]
    objective = DualObjective(C=5.0).of(kernel, names, X, Y)
    at, criterion = objective.at([3.0, 0.1, 0.2, 0.3, 0.4, 7.0, 0.5])
    assert at == RBF(gamma=0.3, weights=[0.1, 0.2, 0.3, 0.4]) + 3.0 * Linear(gamma=0.5)
    assert criterion == DualObjective(C=7.0)
    assert objective.kernel == kernel
    assert objective.criterion.C == 5.0


def test_value_is_that_of_the_criterion():
    objective = RadiusMargin(C=2.0, solver=TIGHT).of(RBF(), ["gamma", "C"], X, Y, weights=WEIGHTS)
    value, gradient = objective([0.4, 3.0])
    found = RadiusMargin(C=3.0, solver=TIGHT).evaluate(RBF(gamma=0.4)(X), Y, weights=WEIGHTS)
    assert value == pytest.approx(found.value, rel=1e-9)
    by_gamma = RBF(gamma=0.4).vjp(X, found.cotangent)["gamma"]
    np.testing.assert_allclose(gradient, [by_gamma, found.by_C], rtol=1e-6)


@loop("criterion", [DualObjective(solver=TIGHT), LeaveOneOut(solver=TIGHT)])
def test_sparse_rows(criterion):
    rows = np.where(X < 0.2, 0.0, X)
    theta = [0.5, 1.0, 0.7, 1.5]
    dense, sparse = (
        criterion.of(RBF(gamma=0.3), "weights", form, Y)(theta)
        for form in (rows, sp.csr_array(rows))
    )
    assert sparse[0] == pytest.approx(dense[0], rel=1e-9)
    np.testing.assert_allclose(sparse[1], dense[1], rtol=1e-6, atol=1e-9)


def test_best_is_the_lowest_so_far():
    objective = Alignment().of(RBF(), "gamma", X, Y)
    assert objective.best is None
    values = {gamma: objective([gamma])[0] for gamma in (3.0, 0.03, 0.3, 30.0)}
    assert objective.best.value == min(values.values())
    assert objective.n_solves == 4


def test_warm_start_saves_steps():
    objective = DualObjective(C=50.0).of(RBF(), "gamma", X, Y)
    objective([0.3])
    cold = objective.n_iter
    objective([0.3])
    assert objective.n_iter == 0
    objective([0.301])
    assert objective.n_iter < cold


def test_logarithm_of_a_ridged_bound():
    kernel = Linear() + Ridge(0.5)
    plain = RadiusMargin(C=np.inf, solver=TIGHT).of(kernel, "right__value", X, Y)
    log = RadiusMargin(C=np.inf, solver=TIGHT).of(kernel, "right__value", X, Y, log=True)
    value, gradient = plain([0.5])
    log_value, log_gradient = log([0.5])
    assert log_value == pytest.approx(np.log(value), rel=1e-9)
    np.testing.assert_allclose(log_gradient, gradient / value, rtol=1e-6)
    assert log.best.value == pytest.approx(value, rel=1e-9)


def test_every_point_is_that_of_the_criterion():
    """Codes are checked once: nothing else may be carried over from the last evaluation."""
    objective = DualObjective(C=2.0, solver=TIGHT).of(RBF(), ["gamma", "C"], X, Y, weights=WEIGHTS)
    for gamma, C in ((0.4, 3.0), (0.8, 3.0), (0.8, 0.5), (0.4, 3.0)):
        value, gradient = objective([gamma, C])
        found = DualObjective(C=C, solver=TIGHT).evaluate(RBF(gamma=gamma)(X), Y, weights=WEIGHTS)
        assert value == pytest.approx(found.value, rel=1e-9)
        by_gamma = RBF(gamma=gamma).vjp(X, found.cotangent)["gamma"]
        np.testing.assert_allclose(gradient, [by_gamma, found.by_C], rtol=1e-6)


def test_codes_and_weights_are_the_objectives_own():
    codes, weights = np.array(Y), np.array(WEIGHTS)
    objective = DualObjective(solver=TIGHT).of(RBF(), "gamma", X, codes, weights=weights)
    before, _ = objective([0.5])
    codes *= -1
    weights *= 7
    assert objective([0.5])[0] == pytest.approx(before, rel=1e-9)
