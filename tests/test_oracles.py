"""The oracles agree with each other, and notice a wrong answer."""

import numpy as np
import pytest

from kernelwise.kernels import RBF, Linear, Polynomial
from kernelwise.qp import DualQP, Terms, c_svc, enclosing_ball, hard_margin
from tests.loop import loop

from .oracles import (
    descend,
    differences,
    enumerate_sets,
    naive_kernel,
    nearest,
    objective,
    violation,
)


def small_problems():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2))
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    K = RBF()(X)
    yield pytest.param(c_svc(K, y, 0.5), id="c-svc")
    yield pytest.param(c_svc(K, y, rng.uniform(0.1, 5.0, size=6)), id="C-per-row")
    yield pytest.param(hard_margin(K, y), id="hard-margin")
    yield pytest.param(enclosing_ball(X @ X.T), id="ball")
    lo, hi = -rng.random(6), rng.random(6)
    yield pytest.param(
        DualQP(K, Terms(p=rng.normal(size=6), lo=lo, hi=hi, c=np.array([0.3]))), id="any"
    )


@loop("qp", list(small_problems()))
def test_the_two_solvers_agree(qp):
    by_pairs, by_sets = descend(qp), enumerate_sets(qp)
    assert objective(qp, by_pairs) == pytest.approx(objective(qp, by_sets), rel=1e-12)
    for beta in (by_pairs, by_sets):
        assert beta.sum() == pytest.approx(qp.c[0], abs=1e-12)
        assert (qp.lo <= beta).all()
        assert (beta <= qp.hi).all()
    assert violation(qp, by_pairs) < 1e-10


def test_a_point_off_the_optimum_is_seen():
    qp = c_svc(np.eye(2), [1.0, -1.0], 10.0)
    assert descend(qp) == pytest.approx([1.0, -1.0])
    assert violation(qp, np.array([0.9, -0.9])) == pytest.approx(0.2)


def test_two_solutions_known_by_hand():
    ball = enclosing_ball(np.array([[-3.0], [0.0], [1.0]]) @ np.array([[-3.0, 0.0, 1.0]]))
    assert descend(ball) == pytest.approx([0.5, 0.0, 0.5])
    assert enumerate_sets(ball) == pytest.approx([0.5, 0.0, 0.5])


def test_nearest_point_known_by_hand():
    lo, hi = np.zeros(3), np.ones(3)
    assert nearest(np.array([2.0, 0.5, -1.0]), lo, hi, 1.0) == pytest.approx([1.0, 0.0, 0.0])
    assert nearest(np.array([0.2, 0.2, 0.2]), lo, hi, 0.9) == pytest.approx([0.3, 0.3, 0.3])


def test_naive_kernel_known_by_hand():
    X = np.array([[1.0, 2.0], [3.0, -1.0]])
    assert naive_kernel(Linear(weights=[2.0, 1.0]), X) == pytest.approx(np.array([[6, 4], [4, 19]]))
    assert naive_kernel(RBF(gamma=0.1), X)[0, 1] == pytest.approx(np.exp(-1.3))


def test_differences_known_by_hand():
    X, D = np.array([[2.0]]), np.ones((1, 1))
    kernel = Polynomial(gamma=0.5, degree=2, coef0=1.0)  # (4 gamma w + coef0)^2
    assert differences(kernel, X, D, "gamma") == pytest.approx(24.0)
    assert differences(kernel, X, D, "weights") == pytest.approx([12.0])
    assert differences(kernel, X, D, "coef0") == pytest.approx(6.0)
