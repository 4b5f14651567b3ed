"""The Kernel-Adatron: its steps by hand, its solutions against other solvers, and its limits."""

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import lsq_linear

from kernelwise.kernels import RBF, LazyGram, Linear
from kernelwise.qp import SMO, Adatron, DualQP, Terms, c_svc, hard_margin, l2_svm
from tests.loop import loop
from tests.oracles import descend, objective

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=30) > 0, 1.0, -1.0)
K = RBF(gamma=0.7)(X)


def bounded_least_squares(qp):
    """Solve a problem without equality as min ||L'b - L^-1 p||^2 in the box, K = LL'."""
    L = cholesky(qp.gram.K, lower=True)
    right = solve_triangular(L, qp.p, lower=True)
    inside = qp.lo < qp.hi
    beta = np.zeros(qp.n)
    found = lsq_linear(
        L.T[:, inside], right, (qp.lo[inside], qp.hi[inside]), method="bvls", tol=1e-15
    )
    beta[inside] = found.x
    return beta


# --- By hand ----------------------------------------------------------------------------------


def test_an_epoch_by_hand():
    """From alpha = 1 with eta = 1, as printed: alpha_i <- max(0, alpha_i + 1 - y_i z_i)."""
    gram = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.1], [0.2, 0.1, 1.0]])
    qp = hard_margin(gram, [1.0, 1.0, -1.0], bias=False)
    # z_1 = 1 + .5 - .2 = 1.3 so that alpha_1 = .7; z_2 = .35 + 1 - .1 = 1.25, alpha_2 = .75;
    # z_3 = .14 + .075 - 1 = -.785, alpha_3 = 1.215.
    first = Adatron(max_iter=1).solve(qp)
    np.testing.assert_allclose(first.beta, [0.7, 0.75, -1.215], rtol=1e-12)
    assert first.status == "max_iter"
    assert first.n_iter == 1
    # z_1 = .7 + .375 - .243 = .832: alpha_1 = .868; and so on.
    second = Adatron(max_iter=2).solve(qp)
    np.testing.assert_allclose(second.beta, [0.868, 0.6875, -1.24235], rtol=1e-12)


def test_half_a_step_goes_half_the_way():
    qp = hard_margin(np.eye(2), [1.0, -1.0], bias=False)
    once = Adatron(eta=0.5, max_iter=1).solve(qp, start=np.array([0.0, -3.0]))
    np.testing.assert_allclose(once.beta, [0.5, -2.0])


def test_a_coefficient_stops_at_zero_and_at_the_cost():
    y = np.array([1.0, 1.0])
    gram = np.array([[1.0, 0.9], [0.9, 1.0]])
    soft = Adatron(max_iter=1).solve(c_svc(gram, y, 0.3, bias=False))
    np.testing.assert_allclose(soft.beta, [0.3, 0.3])  # alpha = 1 is clipped to the cost
    hard = Adatron(max_iter=1).solve(hard_margin(gram, y, bias=False), start=np.array([3.0, 0.1]))
    np.testing.assert_allclose(hard.beta, [0.91, 0.181])
    low = Adatron(max_iter=1).solve(hard_margin(gram, y, bias=False), start=np.array([0.0, 3.0]))
    assert low.beta[0] == 0.0


@loop("bias", [True, False])
def test_two_points(bias):
    gram = np.array([[1.0, -0.5], [-0.5, 1.0]])
    solution = Adatron(tol=1e-10).solve(hard_margin(gram, [1.0, -1.0], bias=bias))
    assert solution.converged
    np.testing.assert_allclose(solution.beta, [2 / 3, -2 / 3], rtol=1e-9)
    assert solution.objective == pytest.approx(-2 / 3)
    assert solution.gap == pytest.approx(0, abs=1e-8)
    assert len(solution.nu) == bias


# --- Against other solvers --------------------------------------------------------------------


def machines(bias):
    outside = np.where(np.arange(30) < 8, 0.0, Y)
    return {
        "soft": c_svc(K, Y, 2.0, bias=bias),
        "C-per-row": c_svc(K, Y, RNG.choice([0.0, 0.5, 5.0], size=30), bias=bias),
        "hard": hard_margin(K, Y, bias=bias),
        "rows-outside": c_svc(K, outside, 5.0, bias=bias),
    }


@loop("name", machines(False))
def test_agrees_with_least_squares_without_bias(name):
    qp = machines(False)[name]
    solution = Adatron(tol=1e-10, max_iter=100_000).solve(qp)
    assert solution.converged
    assert solution.nu.shape == (0,)
    assert solution.violation <= 1e-10
    best = bounded_least_squares(qp)
    np.testing.assert_allclose(solution.beta, best, rtol=0, atol=1e-6)
    assert 0 <= solution.gap <= 1e-7
    assert solution.objective == pytest.approx(objective_of(qp, best), rel=1e-9)
    # Its gradient is the decision values minus p, for rows outside the machine as well.
    np.testing.assert_allclose(solution.gradient + qp.p, K @ solution.beta, atol=1e-9)


def objective_of(qp, beta):
    return 0.5 * beta @ qp.gram.K @ beta - qp.p @ beta


@loop("name", machines(True))
def test_agrees_with_the_oracle_with_bias(name):
    qp = machines(True)[name]
    solution = Adatron(tol=1e-9, max_iter=100_000).solve(qp)
    assert solution.converged
    best = descend(qp)
    assert objective(qp, solution.beta) == pytest.approx(objective(qp, best), rel=1e-10)
    assert solution.beta.sum() == pytest.approx(0, abs=1e-12)
    smo = SMO(tol=1e-9).solve(qp)
    np.testing.assert_allclose(solution.beta, smo.beta, rtol=0, atol=1e-6)
    np.testing.assert_allclose(solution.nu, smo.nu, rtol=0, atol=1e-6)


def test_bias_or_not_are_two_problems():
    with_bias, without = (
        Adatron(tol=1e-6, max_iter=100_000).solve(c_svc(K, Y, 2.0, bias=b)) for b in (True, False)
    )
    assert without.objective < with_bias.objective  # one constraint less
    assert abs(without.beta.sum()) > 1e-3


@loop("form", ["float32", "lazy"])
def test_other_forms_of_the_kernel(form):
    gram = K.astype(np.float32) if form == "float32" else LazyGram(RBF(gamma=0.7), X)
    solution = Adatron(tol=1e-6, max_iter=100_000).solve(c_svc(gram, Y, 2.0, bias=False))
    stored = Adatron(tol=1e-6, max_iter=100_000).solve(c_svc(K, Y, 2.0, bias=False))
    assert solution.objective == pytest.approx(stored.objective, rel=1e-6)


def test_soft_is_hard_where_the_cost_does_not_bind():
    hard = Adatron(tol=1e-8, max_iter=100_000).solve(hard_margin(K, Y, bias=False))
    most = np.abs(hard.beta).max()
    loose = Adatron(tol=1e-8, max_iter=100_000).solve(c_svc(K, Y, 2 * most, bias=False))
    np.testing.assert_allclose(loose.beta, hard.beta, rtol=0, atol=1e-6)
    tight = Adatron(tol=1e-8, max_iter=100_000).solve(c_svc(K, Y, most / 2, bias=False))
    assert np.abs(tight.beta).max() == most / 2
    assert tight.objective > hard.objective


def test_squared_slack_is_a_ridge():
    solution = Adatron(tol=1e-8, eta=0.5, max_iter=100_000).solve(l2_svm(K, Y, 2.0))
    assert solution.objective == pytest.approx(SMO(tol=1e-9).solve(l2_svm(K, Y, 2.0)).objective)


# --- Warm starts ------------------------------------------------------------------------------


@loop("bias", [True, False])
def test_warm_from_its_own_solution_takes_no_epoch(bias):
    qp = c_svc(K, Y, 2.0, bias=bias)
    solution = Adatron().solve(qp)
    again = Adatron().solve(qp, start=solution)
    assert again.n_iter == 0
    np.testing.assert_allclose(again.beta, solution.beta, rtol=1e-12)


@loop("bias", [True, False])
def test_warm_along_the_width_is_shorter(bias):
    cold = Adatron().solve(hard_margin(RBF(gamma=0.5)(X), Y, bias=bias))
    wider = hard_margin(RBF(gamma=0.48)(X), Y, bias=bias)
    assert Adatron().solve(wider, start=cold).n_iter < Adatron().solve(wider).n_iter


@loop("bias", [True, False])
@loop("size", [0.0, 1.0, 1e3])
def test_any_start_leads_to_the_same_solution(bias, size):
    qp = c_svc(K, Y, 2.0, bias=bias)
    solver = Adatron(tol=1e-9, max_iter=100_000)
    start = size * np.random.default_rng(3).normal(size=30)
    np.testing.assert_allclose(solver.solve(qp, start=start).beta, solver.solve(qp).beta, atol=1e-6)


# --- Limits -----------------------------------------------------------------------------------


@loop("eta", [0.0, -1.0, 2.0, 5.0, np.nan, np.inf])
def test_steps_that_would_diverge_are_refused(eta):
    with pytest.raises(ValueError, match=r"0 < eta < 2 / max K_ii = 2"):
        Adatron(eta=eta).solve(c_svc(K, Y, bias=False))


def test_the_bound_on_the_step_is_that_of_the_largest_entry():
    qp = c_svc(4 * K, Y, bias=False)
    with pytest.raises(ValueError, match=r"max K_ii = 0\.5"):
        Adatron(eta=0.5).solve(qp)
    assert Adatron(eta=0.49).solve(qp).converged
    assert Adatron(eta=100.0).solve(c_svc(np.zeros((2, 2)), [1.0, -1.0], bias=False)).converged


@loop("bias", [True, False])
def test_conflicting_duplicates_end_with_the_epochs(bias):
    doubled = np.vstack([X[:4], X[:4]])
    y = np.repeat([1.0, -1.0], 4)
    gram = RBF()(doubled)
    hard = Adatron(max_iter=200).solve(hard_margin(gram, y, bias=bias))
    assert hard.status == "max_iter"
    assert hard.n_iter == 200
    assert hard.gap == np.inf
    assert np.isfinite(hard.beta).all()
    longer = Adatron(max_iter=400).solve(hard_margin(gram, y, bias=bias))
    assert np.abs(longer.beta).max() > 1.5 * np.abs(hard.beta).max()  # it would go on for ever
    # With a cost both of a pair go to the bound.
    soft = Adatron().solve(c_svc(gram, y, 3.0, bias=bias))
    assert soft.converged
    np.testing.assert_allclose(soft.beta, 3 * y)


def test_stops_on_the_violation_and_not_on_the_margin():
    """The paper's margin is (least z of the positive - largest z of the negative) / 2."""
    solution = Adatron(tol=1e-3).solve(hard_margin(RBF(gamma=0.2)(X), Y, bias=False))
    z = solution.gradient + Y
    margin = 0.5 * (z[Y > 0].min() - z[Y < 0].max())
    assert solution.violation <= 1e-3
    assert margin >= 1 - 1e-3


def test_refuses_other_equalities():
    box = {"p": np.ones(4), "lo": np.zeros(4), "hi": np.ones(4)}
    two = DualQP(np.eye(4), Terms(A=np.array([[1.0, 1, 1, 1], [1, -1, 1, -1]]), **box))
    signed = DualQP(np.eye(4), Terms(A=np.array([[1.0, -1, 1, -1]]), **box))
    for qp, reason in ((two, "this one has 2"), (signed, "or none")):
        with pytest.raises(ValueError, match=reason):
            Adatron().solve(qp)
    none = c_svc(np.eye(4), [1, 1, -1, -1], bias=False)
    assert Adatron().supports(none) is None
    assert "this one has 0" in SMO().supports(none)


def test_no_feasible_sum_is_an_error():
    qp = DualQP(np.eye(3), Terms(p=np.zeros(3), lo=np.zeros(3), hi=np.full(3, 0.2), c=np.ones(1)))
    with pytest.raises(ValueError, match="no point satisfies"):
        Adatron().solve(qp)


@loop("start", [np.zeros(3), np.full(30, np.nan)])
def test_a_start_that_is_no_point_is_named(start):
    with pytest.raises(ValueError, match="start"):
        Adatron().solve(c_svc(K, Y, bias=False), start=start)


def test_a_matrix_of_nan_is_refused():
    broken = K.copy()
    broken[0, 1] = broken[1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Adatron().solve(c_svc(broken, Y, bias=False))


def test_a_linear_kernel_of_low_rank_has_a_bias():
    gram = Linear()(X[:, :1])
    qp = c_svc(gram, Y, 1.0)
    solution = Adatron(tol=1e-6, eta=1 / qp.gram.size, max_iter=1_000_000).solve(qp)
    assert solution.converged
    assert solution.objective == pytest.approx(SMO(tol=1e-9).solve(qp).objective, rel=1e-8)
