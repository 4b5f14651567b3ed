"""The quick way through stored matrices: the same solutions, and right values of fixed rows."""

import numpy as np
import pytest

import kernelwise.qp.smo as smo_module
from kernelwise.kernels import RBF, LazyGram
from kernelwise.qp import SMO, DualQP, Solution, Terms, c_svc, enclosing_ball
from kernelwise.qp.fast_path import solve_quickly
from kernelwise.qp.problem import SolverState
from tests.loop import loop
from tests.oracles import descend

both_types = loop("dtype", [np.float32, np.float64])


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.7 * rng.normal(size=n) > 0.4, 1.0, -1.0)
    return X, y


def stay(qp, K, beta, *rest):
    """Leave all work to the general way of solving."""
    return SolverState.start(beta), np.empty(4)


def slowly(qp, monkeypatch, **options):
    """Solve by the general way alone."""
    with monkeypatch.context() as patch:
        patch.setattr(smo_module, "solve_quickly", stay)
        return SMO(**options).solve(qp)


@both_types
@loop("outside", [0.0, 0.2, 0.6, 0.95])
@loop("C", [1.0, 30.0])
def test_held_out_rows_get_their_decision_values(dtype, outside, C, monkeypatch):
    X, y = rows()
    held = np.random.default_rng(1).random(len(y)) < outside
    K = RBF(gamma=0.2)(X).astype(dtype)
    solution = SMO(exact=False).solve(c_svc(K, np.where(held, 0.0, y), C))
    assert solution.converged
    assert not solution.beta[held].any()
    values = K.astype(np.float64) @ solution.beta
    np.testing.assert_allclose(solution.gradient[held], values[held], rtol=0, atol=1e-9)
    # The same as the machine on the other rows alone, and as the general way finds.
    alone = SMO(exact=False).solve(c_svc(K[np.ix_(~held, ~held)], y[~held], C))
    assert solution.objective == pytest.approx(alone.objective, rel=1e-5)
    general = slowly(c_svc(K, np.where(held, 0.0, y), C), monkeypatch, exact=False)
    assert solution.objective == pytest.approx(general.objective, rel=1e-5)
    assert solution.nu == pytest.approx(general.nu, abs=5e-3)


@both_types
def test_rows_fixed_away_from_zero_count(dtype):
    X, y = rows(80)
    K = RBF(gamma=0.2)(X).astype(dtype)
    lo, hi = np.minimum(0, y), np.maximum(0, y)
    lo[:10] = hi[:10] = 0.5 * y[:10]
    qp = DualQP(K, Terms(p=y, lo=lo, hi=hi))
    solution = SMO().solve(qp)
    assert solution.converged
    np.testing.assert_array_equal(solution.beta[:10], 0.5 * y[:10])
    assert solution.beta.sum() == pytest.approx(0, abs=1e-12)
    least, most = qp.terms.reach(solution.beta, K.astype(np.float64) @ solution.beta - y)
    assert most - least <= 1e-3


@both_types
def test_a_fold_started_from_all_rows(dtype):
    X, y = rows()
    K = RBF(gamma=0.2)(X).astype(dtype)
    whole = SMO(exact=False).solve(c_svc(K, y, 3.0))
    for fold in range(3):
        qp = c_svc(K, np.where(np.arange(len(y)) % 3 == fold, 0.0, y), 3.0)
        cold, warm = SMO(exact=False).solve(qp), SMO(exact=False).solve(qp, start=whole)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
        assert warm.n_iter < cold.n_iter
        assert warm.beta.sum() == pytest.approx(0, abs=1e-12 * np.abs(warm.beta).sum())


def test_a_matrix_in_another_memory_order():
    X, y = rows(120)
    K = RBF(gamma=0.2)(X)
    expected = SMO().solve(c_svc(K, y, 2.0))
    big = np.zeros((240, 240))
    big[::2, ::2] = K
    fixed = K.copy()
    fixed.flags.writeable = False
    for other in (np.asfortranarray(K), big[::2, ::2], fixed):
        np.testing.assert_allclose(SMO().solve(c_svc(other, y, 2.0)).beta, expected.beta, atol=1e-9)


def test_parts_of_any_kind_are_vectors():
    X, y = rows(60)
    K = RBF(gamma=0.2)(X)
    expected = SMO().solve(c_svc(K, y, 2.0)).beta
    lo, hi = np.minimum(0, 2 * y), np.maximum(0, 2 * y)
    strided = np.repeat(y, 2)[::2]
    fixed = hi.copy()
    fixed.flags.writeable = False
    solution = SMO().solve(
        DualQP(K, Terms(p=strided, lo=list(lo), hi=fixed)), start=expected[::-1][::-1]
    )
    np.testing.assert_allclose(solution.beta, expected, atol=1e-9)
    assert solution.n_iter == 0


def test_coarse_single_precision_is_left_for_double():
    """Coefficients of this size make float32 gradients worse than the tolerance."""
    X, y = rows(300)
    K = RBF(gamma=0.05)(X).astype(np.float32)
    solution = SMO(exact=False).solve(c_svc(K, y, 1e5))
    qp = c_svc(K.astype(np.float64), y, 1e5)
    gradient = qp.gradient(solution.beta)
    np.testing.assert_allclose(solution.gradient, gradient, rtol=0, atol=2e-4)
    assert solution.violation == pytest.approx(
        qp.kkt_violation(solution.beta, solution.nu, gradient), abs=4e-4
    )


def test_a_hard_problem_goes_on_the_general_way():
    """Steps of both ways add up, and are heard of in order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 2))
    qp = c_svc(RBF(gamma=0.1)(X), np.where(rng.random(700) < 0.5, 1.0, -1.0), 1e4)
    heard = []
    solution = SMO(exact=False, max_iter=400_000, callback=heard.append).solve(qp)
    steps = [progress.n_iter for progress in heard]
    assert len(steps) > 2
    assert steps == sorted(steps)
    assert steps[-1] == solution.n_iter <= 400_000
    objectives = np.array([progress.objective for progress in heard])
    assert (np.diff(objectives) <= 1e-9 * np.abs(objectives[1:])).all()


def test_a_warm_start_reads_few_rows_and_finds_the_same(monkeypatch):
    X, y = rows(1800)
    gammas = np.full(6, 0.2) * np.exp(0.1 * np.random.default_rng(2).normal(size=6))
    first = SMO(exact=False).solve(c_svc(LazyGram(RBF(gamma=0.2), X), y))
    gram = LazyGram(RBF(weights=gammas), X)
    filled = []
    opened = gram.open

    def listen(dtype):
        reader = opened(dtype)
        fill = reader.fill

        def counting(K, start, stop):
            filled.append(stop - start)
            fill(K, start, stop)

        reader.fill = counting
        return reader

    monkeypatch.setattr(gram, "open", listen)
    warm = SMO(exact=False).solve(c_svc(gram, y), start=first)
    assert 0 < sum(filled) < len(y)
    filled.clear()
    cold = SMO(exact=False).solve(c_svc(gram, y))
    assert sum(filled) == len(y)
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
    fresh = c_svc(gram, y).gradient(warm.beta)
    np.testing.assert_allclose(warm.gradient, fresh, rtol=0, atol=2e-4)


def test_a_ball_of_many_rows(monkeypatch):
    X, _ = rows()
    quick = SMO(tol=1e-6).solve(enclosing_ball(RBF(gamma=0.2)(X)))
    general = slowly(enclosing_ball(RBF(gamma=0.2)(X)), monkeypatch, tol=1e-6)
    assert quick.objective == pytest.approx(general.objective, rel=1e-9)


def test_a_known_product_of_the_start_changes_nothing():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 4))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, 1.0, -1.0)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    solver = SMO(tol=1e-6, exact=False)
    first = solver.solve(c_svc(K, y, C=1.0))
    plain = solver.solve(c_svc(K, y, C=2.0), start=first)
    known = solver.solve(c_svc(K, y, C=2.0), start=first, product=first.gradient + y)
    np.testing.assert_allclose(known.beta, plain.beta, atol=1e-9)
    np.testing.assert_allclose(known.gradient, K @ known.beta - y, atol=1e-9)


def test_a_product_is_not_read_where_the_start_was_projected():
    y = np.array([1.0, -1.0, 1.0])
    wrong = np.full(3, 7.0)
    solution = SMO().solve(c_svc(np.eye(3), y), start=np.array([5.0, 0.0, 0.0]), product=wrong)
    np.testing.assert_allclose(solution.beta, [0.5, -1.0, 0.5], atol=1e-3)
    np.testing.assert_allclose(solution.gradient, solution.beta - y, atol=1e-9)


@both_types
@loop("n", [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129])
def test_every_number_of_rows(n, dtype):
    """Vectors hold 8 to 32 rows: the last one of each size is made of fewer."""
    X, y = rows(n)
    y[:2] = 1.0, -1.0
    K = RBF(gamma=0.2)(X).astype(dtype)
    qp = c_svc(K, y, 3.0)
    solution = SMO(exact=False).solve(qp)
    assert solution.converged
    expected = descend(c_svc(K.astype(np.float64), y, 3.0))
    assert solution.objective == pytest.approx(qp.objective(expected), rel=1e-5)


def test_steps_do_not_read_beyond_the_matrix():
    """Rows of what follows K in memory hold NaN, which no step survives."""
    X, y = rows(37)
    room = np.full(37 * 37 + 64, np.nan)
    room[: 37 * 37] = RBF(gamma=0.2)(X).ravel()
    K = room[: 37 * 37].reshape(37, 37)
    solution = SMO(exact=False).solve(c_svc(K, y, 3.0))
    assert solution.converged
    assert np.isfinite(solution.gradient).all()


@both_types
def test_the_certificate_of_a_solve_is_that_of_its_point(dtype):
    X, y = rows()
    qp = c_svc(RBF(gamma=0.2)(X).astype(dtype), y, 3.0)
    point, certificate = solve_quickly(qp, qp.gram.K, np.zeros(qp.n), 1e-3, 10_000)
    assert point.status == "converged"
    again = Solution.at(qp, point)
    np.testing.assert_array_equal(
        certificate, [again.nu[0], again.objective, again.gap, again.violation]
    )
    np.testing.assert_array_equal(point.beta, qp.terms.snap(point.beta))
    assert 0 < certificate[3] <= 1e-3
