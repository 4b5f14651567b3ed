"""The radius-margin bound on prepared rows: the same numbers as in general, bit by bit."""

import numpy as np
from numpy.testing import assert_array_equal

from kernelwise.criteria import DualObjective, RadiusMargin
from kernelwise.kernels import RBF, Laplacian, Matern32
from kernelwise.kernels.prepared import PreparedRows
from kernelwise.qp import SMO
from tests.loop import loop

N, D = 60, 4


def rows_and_codes(n_machines=1):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) + 3.0
    classes = np.argmax(X[:, : max(2, n_machines)] + rng.normal(size=(N, max(2, n_machines))), 1)
    return X, np.where(classes[:, None] == np.arange(n_machines), 1.0, -1.0)


def objective(kernel, X, Y, **how):
    criterion = RadiusMargin(C=2.0, solver=SMO(budget=0.0, **how))
    weights = np.linspace(0.5, 2.0, len(X))
    return criterion.of(kernel, ["weights", "C"], X, Y, weights=weights, log=True)


@loop("n_machines", [1, 3])
@loop("kind", [Laplacian, RBF])
def test_a_walk_over_weights_and_costs_is_that_of_the_general_way(kind, n_machines):
    X, Y = rows_and_codes(n_machines)
    quick, slow = (objective(kind(weights=np.ones(D), gamma=0.7), X, Y) for _ in range(2))
    slow.__dict__["_prepared"] = None
    assert quick._prepared is not None
    theta = np.append(np.full(D, 0.2), 1.0)
    for _ in range(4):
        (value, gradient), (expected, expected_gradient) = quick(theta), slow(theta)
        assert value == expected
        assert_array_equal(gradient, expected_gradient)
        for machine, other in zip(quick.best.machines, slow.best.machines, strict=True):
            assert_array_equal(machine.beta, other.beta)
        theta = theta * np.exp(-0.3 * gradient)


@loop("weight", [0.0, 1e3, 1e9])
@loop("kind", [Laplacian, RBF])
def test_weights_that_prepared_rows_cannot_hold_take_the_general_way(kind, weight):
    X, Y = rows_and_codes()
    quick, slow = (objective(kind(weights=np.ones(D)), X, Y) for _ in range(2))
    slow.__dict__["_prepared"] = None
    theta = np.array([0.2, weight, 0.3, 0.1, 1.0])
    (value, gradient), (expected, expected_gradient) = quick(theta), slow(theta)
    assert value == expected
    assert_array_equal(gradient, expected_gradient)
    kernel = kind(weights=theta[:D])
    assert PreparedRows.of(kernel, X, 2).matrix(kernel, np.ones(N)) is None


def test_what_cannot_be_prepared_is_evaluated_in_general():
    X, Y = rows_and_codes()
    codes = np.round(X)
    for kernel in (Matern32(weights=np.ones(D)), RBF(weights=np.ones(D)) + RBF()):
        assert PreparedRows.of(kernel, X, 2) is None
    by_category = Laplacian(weights=np.ones(D), categorical=np.arange(D) == 1)
    assert PreparedRows.of(by_category, codes, 2) is None
    assert PreparedRows.of(RBF(), X.astype(np.float32), 2) is None
    assert PreparedRows.of(RBF(), np.full((3, 1), 1e40) * np.arange(3)[:, None], 2) is None
    assert objective(RBF(weights=np.ones(D)), X, Y, tol=1e-7)._prepared is None
    assert DualObjective().of(RBF(weights=np.ones(D)), "weights", X, Y)._prepared is None
