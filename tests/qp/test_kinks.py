"""Duals with kinks, min 1/2 b'Kb - p'b + kink'|b|: builders, certificates, all ways to solve."""

import numpy as np
import pytest
from sklearn.svm import SVR, OneClassSVM

import kernelwise.qp.smo as smo_module
from kernelwise import _native
from kernelwise.kernels import RBF, Laplacian, LazyGram, Linear
from kernelwise.qp import SMO, Adatron, DualQP, SeveralEqualities, Terms, c_svc
from tests.loop import loop
from tests.oracles import doubled


def targets(n, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def certified(qp, solution, tol):
    """Return the residuals of a solution, whose certificate is computed anew in float64."""
    exact = DualQP(qp.gram.dense(np.float64), qp.terms)
    gradient = exact.gradient(solution.beta)
    least, most = qp.terms.reach(solution.beta, gradient)
    assert solution.converged
    assert most - least <= tol
    assert solution.beta.sum() == pytest.approx(qp.c[0], abs=1e-9)
    assert (qp.lo <= solution.beta).all()
    assert (solution.beta <= qp.hi).all()
    assert exact.duality_gap(solution.beta, solution.nu, gradient) >= 0
    return gradient + solution.nu[0]


# --- Builders ---------------------------------------------------------------------------------


def test_terms_of_a_regression():
    terms = Terms.epsilon_svr([1.0, -2.0, 3.0], C=[1.0, 0.0, 2.0], epsilon=0.5)
    np.testing.assert_array_equal(terms.lo, [-1.0, 0.0, -2.0])
    np.testing.assert_array_equal(terms.hi, [1.0, 0.0, 2.0])
    np.testing.assert_array_equal(terms.kink, [0.5, 0.5, 0.5])
    assert terms.sums_to_constant
    assert terms.allows_zero
    np.testing.assert_array_equal(terms.scaled(2.0).hi, [2.0, 0.0, 4.0])
    np.testing.assert_array_equal(terms.scaled(2.0).kink, terms.kink)
    assert len(Terms.epsilon_svr([1.0, 2.0], bias=False).c) == 0


def test_terms_of_one_class():
    terms = Terms.one_class(4, 0.5, [1.0, 0.0, 2.0, 3.0])
    assert terms.c[0] == 3.0
    np.testing.assert_array_equal(terms.hi, [1.0, 0.0, 2.0, 3.0])
    assert terms.start().sum() == 3.0


@loop(
    ("build", "message"),
    [
        (lambda: Terms.epsilon_svr([1.0, 2.0], epsilon=-0.1), "epsilon must be finite and at"),
        (lambda: Terms.epsilon_svr([1.0, 2.0], epsilon=[0.1]), "epsilon must be a number or have"),
        (lambda: Terms.epsilon_svr([1.0, np.nan]), "y must be a vector of finite"),
        (lambda: Terms.epsilon_svr([1.0, 2.0], C=-1.0), "C must be a number of at least 0"),
        (lambda: Terms([0.0], [0.0], [1.0], kink=[np.inf]), "kink must be finite and at least 0"),
        (lambda: Terms.one_class(3, 0.0), "nu must satisfy 0 < nu <= 1; got 0.0"),
        (lambda: Terms.one_class(3, 1.5), "nu must satisfy 0 < nu <= 1; got 1.5"),
        (lambda: Terms.one_class(3, 0.5, [1.0, -1.0, 1.0]), "weights must be a vector of 3"),
    ],
)
def test_bad_parts_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_other_solvers_refuse_kinks():
    qp = DualQP(np.eye(3), Terms.epsilon_svr([1.0, 2.0, 3.0]))
    for solver in (Adatron(), SeveralEqualities()):
        with pytest.raises(ValueError, match="problems without kinks"):
            solver.solve(qp)


def test_a_kink_has_an_entry_for_each_variable():
    vectors = np.zeros(3), np.zeros(3), -np.ones(3), np.ones(3)
    with pytest.raises(ValueError, match="kink must have 3 entries"):
        _native.reach(*vectors, np.ones(2))


# --- Certificates -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def boxed():
    """A problem with every kind of variable, and points of it: bounded, free, at kinks."""
    rng = np.random.default_rng(3)
    n = 30
    A = rng.normal(size=(n, n))
    lo, hi = -rng.uniform(0, 2, size=n), rng.uniform(0, 2, size=n)
    lo[:3], hi[3:6] = 0, 0
    lo[6], hi[7], lo[8:10], hi[8:10] = 0.5, -0.5, 0, 0
    kink = rng.uniform(0, 1, size=n) * (rng.random(n) < 0.8)
    qp = DualQP(A @ A.T / n, Terms(rng.normal(size=n), lo, hi, c=[0.3], kink=kink))
    pick = rng.integers(0, 4, size=(20, n))
    parts = np.stack([lo, hi, np.clip(0, lo, hi), lo + rng.random(n) * (hi - lo)])
    return qp, [parts[row, np.arange(n)] for row in pick]


def test_slopes_and_violation_follow_their_definitions(boxed):
    qp, points = boxed
    for b in points:
        gradient = qp.gradient(b)
        up = [gradient[i] + qp.kink[i] * (1 if b[i] >= 0 else -1) for i in range(qp.n)]
        down = [gradient[i] + qp.kink[i] * (1 if b[i] > 0 else -1) for i in range(qp.n)]
        can_rise, can_fall = b < qp.hi, b > qp.lo
        least = min((s for s, can in zip(up, can_rise, strict=True) if can), default=np.inf)
        most = max((s for s, can in zip(down, can_fall, strict=True) if can), default=-np.inf)
        assert qp.terms.reach(b, gradient) == (least, most)
        nu = np.array([0.2])
        assert qp.kkt_violation(b, nu) == pytest.approx(max(0, -(least + 0.2), most + 0.2))
        free = can_rise & can_fall & (b != 0)
        np.testing.assert_array_equal(qp.terms.free(b), free)
        expected = -np.mean(np.array(up)[free]) if free.any() else -(least + most) / 2
        assert qp.terms.intercept(b, gradient) == pytest.approx(expected)


def test_gap_is_that_of_the_lower_bound(boxed):
    qp, points = boxed
    nu = np.array([-0.4])
    for b in points:
        r = qp.gram.K @ b + nu[0] - qp.p
        ends = np.stack([qp.lo, qp.hi, np.clip(0, qp.lo, qp.hi)])
        bound = (r * ends + qp.kink * np.abs(ends)).min(axis=0).sum()
        bound -= 0.5 * b @ qp.gram.K @ b + nu[0] * 0.3
        assert qp.duality_gap(b, nu) == pytest.approx(max(0, qp.objective(b) - bound))


def test_gap_with_infinite_bounds():
    y = np.array([1.0, -1.0, 0.2])
    qp = DualQP(np.eye(3), Terms.epsilon_svr(y, np.inf, 0.1))
    solution = SMO(tol=1e-9).solve(qp)
    np.testing.assert_allclose(solution.beta, [0.9, -0.9, 0.1], atol=0.1)
    assert solution.gap <= 1e-9
    assert np.isinf(qp.duality_gap(np.zeros(3), np.zeros(1)))


def test_snap_moves_what_is_an_ulp_off_its_kink():
    terms = Terms.epsilon_svr(np.ones(4), 1.0, 0.1)
    snapped = terms.snap(np.array([1e-17, -1e-17, 1 - 1e-16, 1e-3]))
    np.testing.assert_array_equal(snapped, [0.0, 0.0, 1.0, 1e-3])


# --- Solutions --------------------------------------------------------------------------------


@loop("exact", [True, False])
@loop("epsilon", [0.0, 0.1, 0.5, 9.0])
@loop("C", [0.1, 1.0, 30.0])
@loop("kernel", [RBF(gamma=0.3), Linear(gamma=0.2)])
def test_agrees_with_scikit_learn(kernel, C, epsilon, exact):
    X, y = targets(150)
    qp = DualQP(LazyGram(kernel, X), Terms.epsilon_svr(y, C, epsilon))
    solution = SMO(tol=1e-5, exact=exact).solve(qp)
    residual = certified(qp, solution, 1e-5)
    K = kernel(X)
    peer = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-6).fit(K, y)
    np.testing.assert_allclose(residual + y, peer.predict(K), rtol=0, atol=2e-4)
    beta = np.zeros(len(y))
    beta[peer.support_] = peer.dual_coef_[0]
    assert solution.objective == pytest.approx(qp.objective(beta), rel=1e-6, abs=1e-12)
    if epsilon == 9.0:
        assert not solution.beta.any()


@loop("nu", [0.01, 0.3, 0.9])
@loop("weighted", [False, True])
def test_one_class_agrees_with_scikit_learn(nu, weighted):
    X, _ = targets(200)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 2.0], size=200) if weighted else None
    qp = DualQP(LazyGram(RBF(gamma=0.3), X), Terms.one_class(200, nu, weights))
    solution = SMO(tol=1e-5).solve(qp)
    certified(qp, solution, 1e-5)
    kept = np.ones(200, dtype=bool) if weights is None else weights > 0
    inside = None if weights is None else weights[kept]
    peer = OneClassSVM(nu=nu, gamma=0.3, tol=1e-6).fit(X[kept], sample_weight=inside)
    decisions = solution.gradient + solution.nu[0]
    np.testing.assert_allclose(decisions, peer.decision_function(X), rtol=0, atol=1e-3)


def test_one_class_with_all_rows_beyond_the_boundary():
    X, _ = targets(50)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 2.0], size=50)
    qp = DualQP(RBF(gamma=0.3)(X), Terms.one_class(50, 1.0, weights))
    solution = SMO().solve(qp)
    np.testing.assert_array_equal(solution.beta, weights)
    assert (solution.gradient[weights > 0] + solution.nu[0]).max() == pytest.approx(0)


def test_agrees_with_an_interior_point_on_the_doubled_problem():
    X, y = targets(150)
    qp = DualQP(RBF(gamma=0.3)(X), Terms.epsilon_svr(y, 5.0, 0.1))
    solution = SMO(tol=1e-8).solve(qp)
    other = SeveralEqualities(tol=1e-8).solve(doubled(qp))
    assert solution.objective == pytest.approx(other.objective, rel=1e-9)
    np.testing.assert_allclose(solution.beta, other.beta.reshape(2, -1).sum(axis=0), atol=1e-5)
    assert solution.nu == pytest.approx(other.nu, abs=1e-6)


def test_kinks_of_zero_change_nothing():
    X, y = targets(300)
    y = np.where(y > 0, 1.0, -1.0)
    K = RBF(gamma=0.3)(X)
    plain = c_svc(K, y, 3.0)
    flat = Terms(plain.p, plain.lo, plain.hi, kink=np.zeros(300))
    first, second = SMO(tol=1e-8).solve(plain), SMO(tol=1e-8).solve(DualQP(K, flat))
    np.testing.assert_allclose(second.beta, first.beta, atol=1e-7)
    assert second.gap == pytest.approx(first.gap, abs=1e-7)


@loop("dtype", [np.float32, np.float64])
def test_coefficients_at_kinks_and_bounds_are_there_to_the_bit(dtype):
    X, y = targets(400)
    K = RBF(gamma=0.3)(X).astype(dtype)
    beta = SMO(exact=False).solve(DualQP(K, Terms.epsilon_svr(y, 2.0, 0.2))).beta
    size = np.abs(beta)
    assert not ((size > 0) & (size < 1e-9)).any()
    assert not ((size > 2 - 1e-9) & (size < 2)).any()
    assert 0.2 < (beta == 0).mean() < 0.8
    assert (size == 2).any()


def ways(n):
    """Yield how a problem of many rows can be solved: settings of modules, and the memory."""
    yield "growing", {}, 2e9
    yield "evicting", {"_CHECKED": n + 1}, 4.0 * n * 600
    yield "working-set", {"_LARGE": 1000, "_CHECKED": 1000}, 2e9
    yield "small-square", {"_LARGE": 1000, "_CHECKED": 1000}, 6e6


@loop("kernel", [RBF(gamma=0.2), Laplacian(gamma=0.1)])
@loop(("C", "epsilon"), [(1.0, 0.1), (10.0, 0.4), (1.0, 0.0)])
def test_many_rows_in_every_way(kernel, C, epsilon, monkeypatch):
    n = 3600
    X, y = targets(n)
    y += 100.0  # no intercept is near zero
    per_row = C * np.random.default_rng(2).choice([0.0, 1.0, 2.0], p=[0.1, 0.8, 0.1], size=n)
    qp = DualQP(LazyGram(kernel, X), Terms.epsilon_svr(y, per_row, epsilon))
    objectives = []
    for _, settings, memory in ways(n):
        with monkeypatch.context() as patch:
            for name, value in settings.items():
                patch.setattr(smo_module, name, value)
            solver = SMO(memory=memory)
            solution = solver.solve(qp)
            certified(qp, solution, 1.2 * solver.tol)
            assert solver.solve(qp, start=solution).n_iter == 0
            nearby = DualQP(qp.gram, Terms.epsilon_svr(y, 1.1 * per_row, epsilon))
            warm = solver.solve(nearby, start=solution)
            certified(nearby, warm, 1.2 * solver.tol)
            assert warm.n_iter < solver.solve(nearby).n_iter
        objectives.append(solution.objective)
    np.testing.assert_allclose(objectives, objectives[0], rtol=1e-5)


def test_one_class_of_many_rows(monkeypatch):
    X, _ = targets(3000)
    qp = DualQP(LazyGram(RBF(gamma=0.2), X), Terms.one_class(3000, 0.05))
    expected = SMO(tol=1e-5).solve(DualQP(RBF(gamma=0.2)(X), qp.terms))
    monkeypatch.setattr(smo_module, "_LARGE", 1000)
    monkeypatch.setattr(smo_module, "_CHECKED", 1000)
    solution = SMO().solve(qp)
    certified(qp, solution, 1e-3)
    assert solution.objective == pytest.approx(expected.objective, rel=1e-6)


def test_objective_falls_from_report_to_report(monkeypatch):
    X, y = targets(4000)
    qp, heard = DualQP(LazyGram(RBF(gamma=0.2), X), Terms.epsilon_svr(y, 1.0, 0.1)), []
    monkeypatch.setattr(smo_module, "_LARGE", 1000)
    solution = SMO(callback=heard.append).solve(qp)
    objectives = np.array([progress.objective for progress in heard])
    assert (np.diff(objectives) <= 1e-6 * np.abs(objectives[1:])).all()
    assert objectives[-1] == solution.objective
