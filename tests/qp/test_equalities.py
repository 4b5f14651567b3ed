"""The solver of several equalities, against an independent one and against its own definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from kernelwise.kernels import RBF, LazyGram
from kernelwise.qp import (
    SMO,
    DualQP,
    Progress,
    SeveralEqualities,
    Terms,
    c_svc,
)
from kernelwise.qp import equalities as module
from tests.loop import loop

from .equality_cases import machine, minimum, random_box, random_machine, violations

EXACT = SeveralEqualities(tol=1e-6)


def solved(qp, tol=1e-6, **options):
    """Solve, and check all that a solution promises."""
    solution = SeveralEqualities(tol=tol).solve(qp, **options)
    assert solution.status == "converged"
    assert solution.violation <= tol
    assert max(violations(qp, solution)) <= tol * (1 + 1e-6) + 1e-9
    assert (qp.lo <= solution.beta).all()
    assert (solution.beta <= qp.hi).all()
    return solution


@pytest.fixture(params=["small", "guessed"])
def stage(request, monkeypatch):
    """Begin with the interior-point method, as small problems do, or with a guess."""
    monkeypatch.setattr(module, "SMALL", 200 if request.param == "small" else 5)
    return request.param


# --- Against an independent solver ------------------------------------------------------------


@loop("seed", range(4))
@loop("n_equalities", [1, 2, 5, 12])
def test_agrees_on_any_box(stage, n_equalities, seed):
    qp = random_box(60, n_equalities, seed=10 * n_equalities + seed)
    best = minimum(qp)
    solution = solved(qp)
    assert solution.objective == pytest.approx(best, rel=1e-6)
    assert 0 <= solution.gap <= 1e-4 * abs(best)
    assert abs(solution.objective - best) <= solution.gap + 1e-7 * abs(best)


@loop("C", [0.01, 1.0, 100.0, 1e4])
@loop("n_features", [2, 6, 20])
def test_agrees_on_machines(stage, n_features, C):
    qp = machine(*random_machine(80, n_features, seed=n_features), C)
    assert solved(qp).objective == pytest.approx(minimum(qp), rel=1e-6)


def test_rows_held_out_have_decision_values():
    K, F, y = random_machine(70, 4)
    inside = np.arange(70) % 3 > 0
    qp = machine(K, F, np.where(inside, y, 0.0), 5.0)
    whole, alone = solved(qp), solved(machine(K[np.ix_(inside, inside)], F[inside], y[inside], 5.0))
    assert not whole.beta[~inside].any()
    np.testing.assert_allclose(whole.beta[inside], alone.beta, atol=1e-6)
    np.testing.assert_allclose(whole.nu, alone.nu, atol=1e-5)
    np.testing.assert_allclose(whole.gradient, K @ whole.beta - qp.p, atol=1e-9)


def test_no_rows_and_no_equalities():
    K, _, y = random_machine(40, 1)
    free = DualQP(K, Terms(p=y, lo=np.minimum(0, y), hi=np.maximum(0, y), A=np.zeros((0, 40))))
    solution = solved(free)
    assert solution.nu.shape == (0,)
    assert solution.objective == pytest.approx(minimum(free), rel=1e-6)
    nothing = DualQP(K, Terms(p=y, lo=np.zeros(40), hi=np.zeros(40), A=np.ones((2, 40))))
    assert not solved(nothing).beta.any()
    assert solved(nothing).nu.tolist() == [0.0, 0.0]


def test_large_problems_go_on_from_a_guess():
    qp = machine(*random_machine(600, 8), 10.0)
    loose, tight = solved(qp, 1e-3), solved(qp, 1e-6)
    assert loose.objective == pytest.approx(tight.objective, rel=1e-6)
    assert tight.objective == pytest.approx(minimum(qp), rel=1e-6)


# --- The constant alone is an ordinary machine ------------------------------------------------


@loop("C", [0.5, 1.0, 100.0])
def test_the_constant_alone_is_smo(stage, C):
    K, _, y = random_machine(80, 1, seed=3)
    expected, found = SMO(tol=1e-8).solve(c_svc(K, y, C)), solved(c_svc(K, y, C))
    assert ((np.abs(expected.beta) > 0) & (np.abs(expected.beta) < C)).any()  # nu is unique
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    np.testing.assert_allclose(found.beta, expected.beta, atol=1e-5 * C)
    np.testing.assert_allclose(found.nu, expected.nu, atol=1e-5)


def test_the_constant_alone_is_scikit_learn():
    K, _, y = random_machine(150, 1, seed=4)
    K = K.astype(np.float32).astype(np.float64)  # LIBSVM keeps its rows in float32
    found = solved(c_svc(K, y, 3.0))
    peer = SVC(C=3.0, kernel="precomputed", tol=1e-8).fit(K, y)
    np.testing.assert_allclose(K @ found.beta + found.nu[0], peer.decision_function(K), atol=1e-5)


def test_without_free_variables_the_intercept_is_the_shortest():
    # All coefficients stand at C: nu lies in an interval, of which zero may be a part.
    y = np.array([1.0, 1.0, -1.0, -1.0])
    box = {"lo": np.minimum(0, y), "hi": np.maximum(0, y)}
    for shift, nearest in ((0.0, 0.0), (1.5, 0.6), (-1.5, -0.6)):
        solution = solved(DualQP(0.1 * np.eye(4), Terms(p=y + shift, **box)))
        np.testing.assert_array_equal(solution.beta, y)
        assert solution.nu[0] == pytest.approx(nearest, abs=1e-6)


# --- Features in any form ---------------------------------------------------------------------


@st.composite
def any_features(draw):
    """Draw features with columns that are dependent, equal, zero or of other scales."""
    seed, n = draw(st.integers(0, 1000)), draw(st.integers(12, 60))
    K, F, y = random_machine(n, draw(st.integers(1, 8)), seed=seed)
    rng = np.random.default_rng(seed)
    columns = [F]
    for kind in draw(st.lists(st.sampled_from(["zero", "equal", "dependent"]), max_size=4)):
        whole = np.hstack(columns)
        weights = {"zero": np.zeros, "equal": np.eye(whole.shape[1], 1).reshape}.get(kind)
        shape = (whole.shape[1], 1)
        columns.append(whole @ (rng.normal(size=shape) if weights is None else weights(shape)))
    F = np.hstack(columns)
    F = F[:, rng.permutation(F.shape[1])]
    powers = draw(st.lists(st.integers(-12, 12), min_size=F.shape[1], max_size=F.shape[1]))
    return K, F, y, 10.0 ** np.array(powers), 10.0 ** draw(st.integers(-2, 3))


@settings(max_examples=60)
@given(any_features())
def test_any_columns_span_what_they_span(case):
    K, F, y, scales, C = case
    plain, scaled = solved(machine(K, F, y, C), 1e-3), solved(machine(K, F * scales, y, C), 1e-3)
    assert scaled.objective == pytest.approx(plain.objective, rel=1e-4)
    assert np.isfinite(scaled.nu).all()
    assert not scaled.nu[(F == 0).all(axis=0)].any()


@settings(max_examples=40)
@given(
    st.integers(0, 10_000), st.integers(5, 50), st.integers(0, 12), st.sampled_from([1e-3, 1e-6])
)
def test_any_box_reaches_its_tolerance(seed, n, n_equalities, tol):
    qp = random_box(n, n_equalities, seed)
    solution = solved(qp, tol)
    assert solution.gap >= 0


def test_equal_rows_of_both_classes():
    K, F, y = random_machine(30, 3)
    twice = np.arange(60) % 30
    qp = machine(K[np.ix_(twice, twice)], F[twice], np.append(y, -y), 10.0)
    solution = solved(qp)
    assert solution.objective == pytest.approx(minimum(qp), rel=1e-6, abs=1e-6)


def test_a_kernel_of_zeros_leaves_the_features():
    _, F, y = random_machine(50, 4)
    qp = machine(np.zeros((50, 50)), F, y, 1.0)
    assert solved(qp).objective == pytest.approx(minimum(qp), rel=1e-6)


# --- Features that separate, and too many of them ---------------------------------------------


@loop("C", [0.01, 1.0, 1000.0])
def test_features_that_separate_leave_nothing_to_the_kernel(stage, C):
    K, F, y = random_machine(60, 3)
    F[:, 2] = y * np.random.default_rng(0).uniform(0.5, 2.0, 60)
    solution = solved(machine(K, F, y, C))
    assert not solution.beta.any()
    assert (y * (F @ solution.nu)).min() >= 1 - 1e-6


@loop("n_features", [28, 29, 30, 31, 45])
@loop("C", [1.0, 1000.0])
def test_as_many_features_as_rows(n_features, C):
    rng = np.random.default_rng(n_features)
    K, _, y = random_machine(30, 1)
    F = rng.normal(size=(30, n_features))
    qp = machine(K, F, y, C)
    solution = solved(qp, 1e-3)
    assert solution.objective == pytest.approx(minimum(qp), abs=1e-3)
    if n_features >= 30:
        assert not solution.beta.any()


# --- Warm starts ------------------------------------------------------------------------------


@loop("n", [80, 400])
@loop("tol", [1e-3, 1e-6])
def test_warm_from_its_own_solution_takes_no_step(n, tol):
    qp = machine(*random_machine(n, 6), 10.0)
    solution = solved(qp, tol)
    for start in (solution, solution.beta):
        again = SeveralEqualities(tol=tol).solve(qp, start=start)
        assert again.n_iter == 0
        np.testing.assert_array_equal(again.beta, solution.beta)
        np.testing.assert_allclose(again.nu, solution.nu, atol=10 * tol)


@loop("n", [80, 400])
def test_warm_from_a_neighbour_is_shorter_and_equals_cold(n):
    K, F, y = random_machine(n, 6)
    near, qp = solved(machine(K, F, y, 10.0)), machine(K, F, y, 10.5)
    cold, warm = solved(qp), solved(qp, start=near)
    assert warm.n_iter <= 3
    assert warm.n_iter < cold.n_iter or n > 200  # there the guess is not counted as steps
    np.testing.assert_allclose(warm.beta, cold.beta, atol=1e-4)
    np.testing.assert_allclose(warm.nu, cold.nu, atol=1e-4)


@loop("scale", [0.0, 1.0, 1e4])
def test_warm_from_anywhere_equals_cold(stage, scale):
    qp = machine(*random_machine(80, 5), 10.0)
    start = scale * np.random.default_rng(0).normal(size=80)
    assert solved(qp, start=start).objective == pytest.approx(solved(qp).objective, rel=1e-9)


@loop("start", [np.zeros(3), np.full(40, np.nan), np.zeros((40, 1))])
def test_refuses_another_kind_of_start(start):
    with pytest.raises(ValueError, match="start must be a vector of 40 finite numbers"):
        EXACT.solve(machine(*random_machine(40, 2), 1.0), start=start)


# --- Equal problems have equal solutions ------------------------------------------------------


@loop("n", [80, 300])
def test_permuting_the_rows_permutes_the_solution(n):
    K, F, y = random_machine(n, 5)
    order = np.random.default_rng(1).permutation(n)
    one = solved(machine(K, F, y, 10.0))
    other = solved(machine(K[np.ix_(order, order)], F[order], y[order], 10.0))
    np.testing.assert_allclose(other.beta, one.beta[order], atol=1e-5)
    np.testing.assert_allclose(other.nu, one.nu, atol=1e-5)


@loop("form", ["float32", "lazy", "fortran", "read-only"])
def test_any_form_of_the_kernel_matrix(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    _, F, y = random_machine(60, 3)
    K = RBF(gamma=0.5)(X)
    given = {
        "float32": K.astype(np.float32),
        "lazy": LazyGram(RBF(gamma=0.5), X),
        "fortran": np.asfortranarray(K),
        "read-only": K.copy(),
    }[form]
    if form == "read-only":
        given.flags.writeable = False
    before, found = K.copy(), SeveralEqualities(tol=1e-6).solve(machine(given, F, y, 5.0))
    expected = solved(machine(K, F, y, 5.0))
    assert found.converged
    np.testing.assert_allclose(found.beta, expected.beta, atol=1e-3 if form == "float32" else 1e-6)
    np.testing.assert_array_equal(K, before)


# --- The certificate --------------------------------------------------------------------------


@loop("tol", [1e-1, 1e-3, 1e-6])
def test_certificate_is_true(stage, tol):
    for seed in range(5):
        qp = machine(*random_machine(90, 7, seed=seed), 100.0)
        solution = SeveralEqualities(tol=tol).solve(qp)
        assert solution.violation == pytest.approx(max(violations(qp, solution)), abs=1e-9)
        np.testing.assert_allclose(solution.gradient, qp.gram.K @ solution.beta - qp.p, atol=1e-9)
        assert solution.objective == pytest.approx(qp.objective(solution.beta), rel=1e-9)
        assert solution.gap == pytest.approx(qp.duality_gap(solution.beta, solution.nu), abs=1e-9)


@loop("C", [1.0, 1e3, 1e6])
def test_degenerate_problems_end_close(C):
    # Pairs of equal rows of opposite classes, told apart by features that hardly differ.
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 2)), 2, axis=0)
    y = np.tile([1.0, -1.0], 20)
    F = np.c_[np.ones(40), X[:, :1], X[:, 1] + 1e-8 * y]
    qp = machine(RBF()(X), F, y, C)
    solution = SeveralEqualities().solve(qp)
    assert solution.status in {"converged", "degenerate"}
    assert max(violations(qp, solution)) <= 1e-2
    assert solution.violation == pytest.approx(max(violations(qp, solution)), abs=1e-6)


# --- Progress ---------------------------------------------------------------------------------


@loop("n", [80, 400])
def test_callback_hears_of_the_progress(n):
    heard = []
    qp = machine(*random_machine(n, 5), 10.0)
    solution = SeveralEqualities(callback=heard.append).solve(qp)
    assert all(isinstance(progress, Progress) for progress in heard)
    steps = [progress.n_iter for progress in heard]
    assert steps == sorted(steps)
    assert steps[-1] == solution.n_iter
    assert heard[-1].violation <= 1e-3
    assert heard[-1].objective == pytest.approx(solution.objective, rel=1e-6)


def test_an_interrupt_in_the_callback_leaves_nothing_broken():
    from threadpoolctl import threadpool_info

    def stop(progress):
        raise KeyboardInterrupt

    qp = machine(*random_machine(80, 5), 10.0)
    before = threadpool_info()
    with pytest.raises(KeyboardInterrupt):
        SeveralEqualities(callback=stop).solve(qp)
    assert threadpool_info() == before
    assert solved(qp).converged


def test_features_that_are_equal_but_for_rounding_have_one_multiplier():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 40)), rng.choice([-1.0, 1.0], 30)
    f = np.abs(rng.standard_normal(30))
    A = np.stack([f, f * (1 + 5e-9 * rng.standard_normal(30)), rng.standard_normal(30)])
    terms = Terms(p=y, lo=np.minimum(0, 100 * y), hi=np.maximum(0, 100 * y), A=A, c=np.zeros(3))
    solution = SeveralEqualities(tol=1e-9).solve(DualQP(1e-3 * X @ X.T, terms))
    assert solution.status == "converged"
    assert np.count_nonzero(solution.nu[:2]) == 1
