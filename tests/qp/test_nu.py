"""nu-SVC and nu-SVR: agreement with scikit-learn, the sum, certificates, hard and infeasible nu."""

import numpy as np
import pytest
from sklearn.svm import SVR, NuSVC, NuSVR

from kernelwise.kernels import RBF, Laplacian, LazyGram, Linear
from kernelwise.qp import SMO, DualQP, Terms, c_svc
from kernelwise.qp.nu import solve_nu_svc, solve_nu_svr
from tests.loop import loop


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def assert_certified(qp, solution, tol):
    """Compute the certificate of the machine anew."""
    assert solution.converged
    assert qp.kkt_violation(solution.beta, solution.nu) <= tol
    gap = qp.duality_gap(solution.beta, solution.nu)
    assert 0 <= gap <= 5 * tol * (np.abs(solution.beta).sum() + abs(solution.objective))


def assert_nu_svr(K, y, C, nu, solution, tol, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    size = C * nu * weights.sum()
    assert_certified(DualQP(K, Terms.epsilon_svr(y, C * weights, solution.epsilon)), solution, tol)
    if solution.epsilon > 0:
        assert np.abs(solution.beta).sum() == pytest.approx(size, rel=1e-9)
    assert np.abs(solution.beta).sum() <= size * (1 + 1e-9)


def assert_nu_svc(K, y, nu, solution, tol, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    assert_certified(c_svc(K, y, solution.C * weights), solution, tol)
    size = solution.C * nu * weights.sum()
    assert np.abs(solution.beta).sum() == pytest.approx(size, rel=1e-9)


@loop("kernel", [RBF(gamma=0.3), Laplacian(gamma=0.2), Linear(gamma=0.2)])
@loop(("C", "nu"), [(1.0, 0.1), (10.0, 0.5), (0.1, 0.9), (30.0, 1.0)])
def test_nu_svr_agrees_with_scikit_learn(kernel, C, nu):
    X, y = rows(250)
    K = kernel(X)
    solution = solve_nu_svr(LazyGram(kernel, X), y, C, nu, SMO(tol=1e-5))
    assert_nu_svr(K, y, C, nu, solution, 1e-5)
    assert solution.C == C
    peer = NuSVR(kernel="precomputed", C=C, nu=nu, tol=1e-6).fit(K, y)
    np.testing.assert_allclose(K @ solution.beta + solution.nu, peer.predict(K), rtol=0, atol=1e-3)
    # It is the SVR with this epsilon.
    svr = SVR(kernel="precomputed", C=C, epsilon=solution.epsilon, tol=1e-6).fit(K, y)
    np.testing.assert_allclose(K @ solution.beta + solution.nu, svr.predict(K), rtol=0, atol=1e-3)


@loop("kernel", [RBF(gamma=0.3), Laplacian(gamma=0.2)])
@loop("nu", [0.1, 0.4, 0.7])
def test_nu_svc_agrees_with_scikit_learn(kernel, nu):
    X, y = rows(250)
    y, K = np.where(y > 0.2, 1.0, -1.0), kernel(X)
    solution = solve_nu_svc(LazyGram(kernel, X), y, nu, SMO(tol=1e-5))
    assert_nu_svc(K, y, nu, solution, 1e-5)
    peer = NuSVC(kernel="precomputed", nu=nu, tol=1e-8).fit(K, y)
    values, expected = K @ solution.beta + solution.nu, peer.decision_function(K)
    np.testing.assert_allclose(values, expected, rtol=0, atol=2e-3 * np.abs(expected).max())
    # nu is between the fraction of the margin errors and that of the support vectors.
    assert (y * values < 1 - 1e-4).mean() <= nu <= (solution.beta != 0).mean()


@loop("form", [np.float32, np.float64])
def test_weights_are_copies_and_zero_is_absence(form):
    X, y = rows(120)
    codes, weights = np.where(y > 0.2, 1.0, -1.0), np.array([0.0, 1.0, 2.0])[np.arange(120) % 3]
    copies = np.repeat(np.arange(120), weights.astype(int))
    K, solver = RBF(gamma=0.3)(X).astype(form), SMO(tol=1e-4)
    weighted = solve_nu_svc(K, codes, 0.3, solver, weights)
    assert_nu_svc(K.astype(float), codes, 0.3, weighted, 1.3e-4, weights)
    copied = solve_nu_svc(K[np.ix_(copies, copies)], codes[copies], 0.3, solver)
    np.testing.assert_allclose(weighted.C, copied.C, rtol=1e-3)
    weighted = solve_nu_svr(K, y, 2.0, 0.3, solver, weights)
    assert_nu_svr(K.astype(float), y, 2.0, 0.3, weighted, 1.3e-4, weights)
    copied = solve_nu_svr(K[np.ix_(copies, copies)], y[copies], 2.0, 0.3, solver)
    assert weighted.epsilon == pytest.approx(copied.epsilon, abs=1e-3)


def test_infeasible_nu_is_refused_with_the_largest_value():
    X, y = rows(100)
    codes = np.where(np.arange(100) < 20, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"nu=0.5 is infeasible.* at most 0.4"):
        solve_nu_svc(RBF()(X), codes, 0.5, SMO())
    at_most = solve_nu_svc(RBF()(X), codes, 0.4, SMO())
    assert_nu_svc(RBF()(X), codes, 0.4, at_most, 1e-3)
    assert (np.abs(at_most.beta[:20]) == at_most.C).all()
    with pytest.raises(ValueError, match=r"at most 0.666667"):
        solve_nu_svc(RBF()(X), codes, 0.7, SMO(), np.where(codes > 0, 2.0, 1.0))
    for nu in (0.0, 1.1, np.nan):
        with pytest.raises(ValueError, match="nu must satisfy 0 < nu <= 1"):
            solve_nu_svr(RBF()(X), y, 1.0, nu, SMO())


def test_a_nu_below_what_any_margin_allows_is_degenerate():
    """Half of the rows have a copy in the other class, so that half of them are errors."""
    X, _ = rows(60)
    X, codes = np.vstack([X, X[:30]]), np.r_[np.ones(30), -np.ones(30), -np.ones(30)]
    assert solve_nu_svc(RBF()(X), codes, 0.1, SMO()).status == "degenerate"


@loop("n", [2, 3, 10])
def test_few_rows(n):
    X, y = rows(n)
    codes = np.where(np.arange(n) % 2, 1.0, -1.0)
    assert_nu_svc(RBF()(X), codes, 0.5, solve_nu_svc(RBF()(X), codes, 0.5, SMO()), 1e-3)
    for nu in (0.2, 0.5, 1.0):
        assert_nu_svr(RBF()(X), y, 1.0, nu, solve_nu_svr(RBF()(X), y, 1.0, nu, SMO()), 1e-3)
    constant = solve_nu_svr(RBF()(X), np.full(n, 3.0), 1.0, 0.5, SMO())
    assert constant.nu[0] == pytest.approx(3.0)


def test_a_small_nu_of_many_rows():
    """LIBSVM's bounds are one whatever the number of rows; none underflows."""
    X, y = rows(7000)
    gram = LazyGram(RBF(gamma=0.3), X)
    solution = solve_nu_svr(gram, y, 1.0, 1e-3, SMO())
    assert_nu_svr(gram, y, 1.0, 1e-3, solution, 1e-3)
    codes = np.where(X[:, 0] > 0, 1.0, -1.0)
    apart = np.abs(X[:, 0]) > 0.2
    gram = LazyGram(RBF(gamma=0.1), X[apart])
    solution = solve_nu_svc(gram, codes[apart], 2e-3, SMO())
    assert_nu_svc(gram, codes[apart], 2e-3, solution, 1e-3)
