"""Solves by a working set: certificates against float64, scikit-learn, memory, starts, weights."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification
from sklearn.svm import SVC as LibSVC

from kernelwise.kernels import RBF, Laplacian, LazyGram, Matern52, Polynomial
from kernelwise.qp import SMO, Progress, c_svc, enclosing_ball
from kernelwise.qp import smo as smo_module
from kernelwise.qp import working_set as run
from kernelwise.qp.problem import SolverState
from kernelwise.qp.working_set import WorkingSetRun, WorkingSquare
from tests.loop import loop


@pytest.fixture(autouse=True)
def few_are_large(monkeypatch):
    monkeypatch.setattr(smo_module, "_LARGE", 5000)


def blobs(n=5200, d=8, weights=None, seed=0):
    X, y = make_classification(
        n, d, n_informative=d // 2, weights=weights, flip_y=0.05, random_state=seed
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, 1.0, -1.0)


def checkerboard(n=5200):
    rng = np.random.default_rng(0)
    X = rng.random((n, 20))
    y = np.where((np.floor(8 * X[:, 0]) + np.floor(8 * X[:, 1])) % 2, 1.0, -1.0)
    y[rng.random(n) < 0.1] *= -1
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def gradient_of(kernel, X, p, beta):
    """Return K b - p in float64 by plain blocks, without the solver's code."""
    support, out = np.flatnonzero(beta), -p
    metric = "cityblock" if isinstance(kernel, Laplacian) else "sqeuclidean"
    for start in range(0, len(X), 1000):
        t = cdist(X[start : start + 1000], X[support], metric)
        out[start : start + 1000] += np.exp(-kernel.gamma * t) @ beta[support]
    return out


def check(kernel, X, qp, solution, tol=1e-3):
    """Assert what a solution claims, in float64 and on all rows."""
    gradient = gradient_of(kernel, X, qp.p, solution.beta)
    can_rise, can_fall = solution.beta < qp.hi, solution.beta > qp.lo
    assert gradient[can_fall].max() - gradient[can_rise].min() <= tol
    violation = max(
        (gradient + solution.nu)[can_fall].max(), -(gradient + solution.nu)[can_rise].min()
    )
    assert solution.violation == pytest.approx(violation, abs=0.02 * tol)
    objective = 0.5 * solution.beta @ (gradient - qp.p)
    assert solution.objective == pytest.approx(objective, rel=1e-9)
    assert (solution.beta >= qp.lo).all()
    assert (solution.beta <= qp.hi).all()
    assert abs(solution.beta.sum()) <= 1e-9 * np.abs(solution.beta).sum()
    assert 0 <= solution.gap <= 2 * tol * np.abs(solution.beta).sum()


def solved(qp, start=None, tol=1e-3, memory=2e9, max_steps=10_000_000, callback=None):
    """Return the final state of a run that must come to its end by itself."""
    beta = np.zeros(qp.n) if start is None else qp.terms.repair(start)
    start = SolverState.start(beta)
    state = WorkingSetRun(qp, start, tol, memory, max_steps, callback).run()
    assert state.status == "converged"
    return state


@loop("large", [5000, 6000])  # beyond, or below, a solution by rows is checked
@loop("C", [1.0, 100.0])
@loop("kernel", [RBF(gamma=0.125), Laplacian(gamma=0.1)])
def test_the_certificate_is_true_in_float64(kernel, C, large, monkeypatch):
    monkeypatch.setattr(smo_module, "_LARGE", large)
    X, y = blobs()
    qp = c_svc(LazyGram(kernel, X), y, C)
    solution = SMO().solve(qp)
    assert solution.converged
    check(kernel, X, qp, solution)


def test_the_objective_is_that_of_scikit_learn():
    X, y = blobs(6000)
    kernel = RBF(gamma=0.125)
    qp = c_svc(LazyGram(kernel, X), y, 10.0)
    ours = SMO(tol=1e-4).solve(qp)
    theirs = LibSVC(C=10.0, gamma=0.125, tol=1e-4, cache_size=500).fit(X, y)
    beta = np.zeros(len(X))
    beta[theirs.support_] = theirs.dual_coef_[0]
    other = 0.5 * beta @ (gradient_of(kernel, X, qp.p, beta) - qp.p)
    assert ours.objective <= other + 1e-6 * abs(other)
    assert ours.objective == pytest.approx(other, rel=1e-6)
    assert ours.nu[0] == pytest.approx(theirs.intercept_[0], abs=2e-3)


def test_rows_with_weights_zero_weights_and_few_of_one_class():
    X, y = blobs(7000, weights=[20 / 21])
    kernel, rng = RBF(gamma=0.125), np.random.default_rng(1)
    costs = 10.0 * rng.exponential(size=len(y))
    costs[::7] = 0.0
    qp = c_svc(LazyGram(kernel, X), y, costs)
    solution = SMO().solve(qp)
    check(kernel, X, qp, solution)
    assert (solution.beta[::7] == 0).all()


def test_weights_of_the_features_count():
    X, y = blobs()
    weights = np.array([2.0, 0.0, 0.5, 1.0, 0.1, 0.0, 3.0, 0.2])
    for kernel, plain in (
        (RBF(gamma=0.1, weights=weights), RBF(gamma=0.1)),
        (Laplacian(gamma=0.1, weights=weights), Laplacian(gamma=0.1)),
    ):
        qp = c_svc(LazyGram(kernel, X), y, 3.0)
        scaled = X * (np.sqrt(weights) if isinstance(kernel, RBF) else weights)
        check(plain, scaled, qp, SMO().solve(qp))


def test_nearly_all_rows_are_support_vectors():
    X, y = checkerboard()
    kernel = Laplacian(gamma=0.05)
    qp = c_svc(LazyGram(kernel, X), y, 10.0)
    solution = SMO().solve(qp)
    assert np.count_nonzero(solution.beta) > 0.9 * len(y)
    check(kernel, X, qp, solution)


def test_free_rows_that_do_not_fit_into_the_working_set():
    X, y = checkerboard()
    kernel = RBF(gamma=0.05)
    qp = c_svc(LazyGram(kernel, X), y, 10.0)
    heard = []
    state = solved(qp, memory=2 * 1024**2, callback=heard.append)
    free = np.count_nonzero((state.beta > qp.lo) & (state.beta < qp.hi))
    assert free > 2 * 1024
    assert max(each.n_active for each in heard) <= 1024
    gradient = gradient_of(kernel, X, qp.p, state.beta)
    assert gradient[state.beta > qp.lo].max() - gradient[state.beta < qp.hi].min() <= 1e-3


def test_next_to_no_memory_is_enough():
    X, y = blobs()
    kernel = RBF(gamma=0.125)
    qp = c_svc(LazyGram(kernel, X), y, 1.0)
    check(kernel, X, qp, SMO(memory=1000.0).solve(qp))


def test_memory_is_bounded():
    X, y = blobs(12_000)
    qp = c_svc(LazyGram(RBF(gamma=0.125), X), y, 10.0)
    tracemalloc.start()
    run_ = WorkingSetRun(qp, SolverState.start(np.zeros(qp.n)), 1e-3, 16e6, 10_000_000)
    assert run_._square.capacity == 2336  # the rest of 16 MB holds rows and vectors
    run_.run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 16e6 + 2**21  # a page of that size is reserved, but not used


def test_a_warm_start_is_quick_and_ends_at_the_same_point():
    X, y = blobs()
    kernel = RBF(gamma=0.125)
    gram = LazyGram(kernel, X)
    cold = SMO().solve(c_svc(gram, y, 10.0))
    again = SMO().solve(c_svc(gram, y, 10.0), start=cold)
    assert again.n_iter == 0
    np.testing.assert_allclose(again.beta, cold.beta, rtol=1e-12)
    qp = c_svc(gram, y, 10.2)
    warm, fresh = SMO().solve(qp, start=cold), SMO().solve(qp)
    check(kernel, X, qp, warm)
    assert warm.n_iter < 0.7 * fresh.n_iter
    assert warm.objective == pytest.approx(fresh.objective, rel=1e-6)


def test_a_start_on_few_rows_is_taken_to_all_rows():
    X, y = blobs(6000)
    kernel, start = RBF(gamma=0.125), np.zeros(6000)
    start[:1000] = SMO().solve(c_svc(LazyGram(kernel, X[:1000]), y[:1000], 10.0)).beta
    qp = c_svc(LazyGram(kernel, X), y, 10.0)
    check(kernel, X, qp, SMO().solve(qp, start=start))


def test_a_tight_tolerance_is_met():
    X, y = blobs()
    kernel = RBF(gamma=0.125)
    qp = c_svc(LazyGram(kernel, X), y, 10.0)
    check(kernel, X, qp, SMO(tol=1e-6).solve(qp), tol=1e-6)


def test_large_coefficients_are_checked_in_float64():
    X, y = blobs()
    kernel = RBF(gamma=0.25)
    qp = c_svc(LazyGram(kernel, X), y, 1000.0)
    state = solved(qp)
    assert 2e-7 * np.linalg.norm(state.beta) > 1e-3  # float32 alone would not know
    gradient = gradient_of(kernel, X, qp.p, state.beta)
    assert gradient[state.beta > qp.lo].max() - gradient[state.beta < qp.hi].min() <= 1e-3


def test_a_check_that_fails_goes_on(monkeypatch):
    X, y = blobs()
    kernel = RBF(gamma=0.125)
    qp = c_svc(LazyGram(kernel, X), y, 10.0)
    run_ = WorkingSetRun(qp, SolverState.start(np.zeros(qp.n)), 1e-3, 2e9, 10_000_000)
    exact, calls = run_._tiles.add_products, []

    def coarse(left, change, columns, out, *, precise):
        exact(left, change, columns, out, precise=precise)
        calls.append(precise)
        if not precise:  # errors that no band expects
            out[columns] += 2e-3 * np.cos(columns)

    monkeypatch.setattr(run_._tiles, "add_products", coarse)
    state = run_.run()
    assert state.status == "converged"
    assert run_._failures > 0
    assert calls[-1]  # the last products are precise
    assert not calls[0]
    gradient = gradient_of(kernel, X, qp.p, state.beta)
    assert gradient[state.beta > qp.lo].max() - gradient[state.beta < qp.hi].min() <= 1e-3


def test_rows_far_from_each_other_are_solved_in_float64():
    X, y = blobs()
    X[:, 0] *= 1000.0
    kernel = RBF(gamma=0.125)
    qp = c_svc(LazyGram(kernel, X), y, 10.0)
    check(kernel, X, qp, SMO().solve(qp))


def test_equal_rows_with_other_labels():
    X, y = blobs(5400)
    X[2700:], y[2700:] = X[:2700], -y[:2700]
    kernel = RBF(gamma=0.125)
    qp = c_svc(LazyGram(kernel, X), y, 10.0)
    check(kernel, X, qp, SMO().solve(qp))


def test_two_runs_are_equal_to_the_bit():
    X, y = blobs()
    qp = c_svc(LazyGram(RBF(gamma=0.125), X), y, 10.0)
    one, two = (SMO().solve(qp) for _ in range(2))
    np.testing.assert_array_equal(one.beta, two.beta)


def test_steps_are_limited():
    X, y = blobs()
    qp = c_svc(LazyGram(RBF(gamma=0.125), X), y, 10.0)
    solution = SMO(max_iter=700).solve(qp)
    assert solution.status == "max_iter"
    assert solution.n_iter == 700
    gradient = gradient_of(RBF(gamma=0.125), X, qp.p, solution.beta)
    np.testing.assert_allclose(solution.gradient, gradient, atol=1e-4)


def test_a_run_without_progress_is_left_to_the_other_method(monkeypatch):
    monkeypatch.setattr(run, "_IDLE_ROUNDS", 3)
    monkeypatch.setattr(run, "_LESS", 0.0)  # no violation is ever small enough
    X, y = blobs()
    kernel = RBF(gamma=0.125)
    qp = c_svc(LazyGram(kernel, X), y, 10.0)
    state = WorkingSetRun(qp, SolverState.start(np.zeros(qp.n)), 1e-3, 2e9, 10_000_000).run()
    assert state.status == ""
    gradient = gradient_of(kernel, X, qp.p, state.beta)
    np.testing.assert_allclose(state.gradient, gradient, atol=1e-4)
    solution = SMO().solve(qp)
    assert solution.converged
    gradient = gradient_of(kernel, X, qp.p, solution.beta)
    assert gradient[solution.beta > qp.lo].max() - gradient[solution.beta < qp.hi].min() <= 1e-3


@loop(
    ("kernel", "sparse", "expected"),
    [
        (RBF(), False, True),
        (Laplacian(), False, True),
        (RBF(), True, False),
        (Matern52(), False, False),
        (Polynomial(), False, False),
        (2.0 * RBF(), False, False),
    ],
)
def test_which_kernels_have_tiles(kernel, sparse, expected):
    from scipy.sparse import csr_array

    X = np.eye(3)
    assert LazyGram(kernel, csr_array(X) if sparse else X).has_tiles is expected


def test_problems_that_are_no_machine_are_solved_the_other_way(monkeypatch):
    def refuse(*args):
        raise AssertionError("a ball has no margin of one")

    monkeypatch.setattr(smo_module, "WorkingSetRun", refuse)
    monkeypatch.setattr(smo_module, "_LARGE", 100)
    X, _ = blobs(400)
    assert SMO().solve(enclosing_ball(2.0 * RBF()(X))).converged


def test_progress_is_told_and_may_stop_the_solve():
    X, y = blobs()
    qp = c_svc(LazyGram(RBF(gamma=0.125), X), y, 100.0)
    heard = []

    def listen(progress):
        heard.append(progress)
        if len(heard) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SMO(callback=listen).solve(qp)
    assert all(isinstance(each, Progress) for each in heard)
    objectives = [each.objective for each in heard]
    assert objectives == sorted(objectives, reverse=True)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from kernelwise import SVC
rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 30))
y = rng.integers(0, 2, size=len(X))
def interrupt():
    time.sleep(float(sys.argv[1]))
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
sent = []
threading.Thread(target=interrupt, daemon=True).start()
try:
    SVC(C=100.0).fit(X, y)
except KeyboardInterrupt:
    print(time.process_time() - sent[0])
"""


@loop("after", [0.7, 2.5])
def test_ctrl_c_is_answered_long_before_the_end(after):
    command = [sys.executable, "-c", INTERRUPTED, str(after)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert float(done.stdout) < 5.0  # of CPU time; the fit takes minutes


def test_a_square_grows_and_shrinks_with_its_rows():
    X = np.random.default_rng(0).normal(size=(300, 4))
    K = np.round(RBF()(X) * 65535)
    square = WorkingSquare(LazyGram(RBF(), X).tiles(np.arange(300)), 300, 1e9)
    assert square.capacity == 320
    order = np.random.default_rng(1).permutation(300)
    for some, kept in ((order[:50], 30), (order[50:120], 90), (order[120:], 260)):
        square.append(some)
        square.squeeze(np.sort(np.random.default_rng(2).permutation(len(square.rows))[:kept]))
        assert len(square.rows) == kept
        assert np.abs(square.K - K[np.ix_(square.rows, square.rows)]).max() <= 1
    square.close()
    assert len(square.rows) == 0
