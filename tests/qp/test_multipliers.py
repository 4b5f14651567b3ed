"""Multipliers that the free variables leave open: the shortest of all that satisfy the rest."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwise.qp import SMO, SeveralEqualities, c_svc
from kernelwise.qp.reduced import _least_distance
from tests.criteria.cone import solve as cone_program
from tests.loop import loop

from .equality_cases import machine, random_box, random_machine, shortest_values

SOLVER = SeveralEqualities(tol=1e-6)


def separated(n, n_features, seed=0):
    """Return a machine whose features separate the classes."""
    K, F, y = random_machine(n, n_features, seed=seed)
    F[:, -1] += 3.0 * y
    return K, F, y


def hard_margin_values(F, y):
    """Return F nu of the least |F nu| with y F nu >= 1."""
    Q = np.linalg.qr(F)[0]
    cones = [clarabel.NonnegativeConeT(len(y))]
    count = Q.shape[1]
    nu, _ = cone_program(np.eye(count), np.zeros(count), -y[:, None] * Q, -np.ones(len(y)), cones)
    return Q @ nu


# --- No coefficient is free -------------------------------------------------------------------


@loop("n", [40, 300])
@loop("n_features", [2, 5, 12])
@loop("C", [0.01, 100.0])
def test_features_that_separate_are_a_hard_margin(n, n_features, C):
    K, F, y = separated(n, n_features)
    solution = SOLVER.solve(machine(K, F, y, C))
    assert solution.converged
    assert not solution.beta.any()
    np.testing.assert_allclose(F @ solution.nu, hard_margin_values(F, y), atol=1e-5)


def test_the_margin_of_hard_margin_values_is_one():
    _, F, y = separated(40, 3)
    values = y * hard_margin_values(F, y)
    assert values.min() == pytest.approx(1.0, abs=1e-7)
    assert (values < 1 + 1e-6).sum() >= 2


@loop("seed", range(5))
def test_coefficients_all_at_their_bounds(seed):
    K, F, _ = random_machine(40, 4, seed=seed)
    balanced = np.tile(F[:20], (2, 1))  # equal features of both classes: b = C y satisfies F'b = 0
    qp = machine(K, balanced, np.repeat([1.0, -1.0], 20), 1e-3)
    solution = SOLVER.solve(qp)
    assert (np.abs(solution.beta) == 1e-3).all()
    values = shortest_values(qp, solution.beta)
    np.testing.assert_allclose(balanced @ solution.nu, values, atol=1e-5)


def test_the_shortest_need_not_be_smos_intercept():
    # SMO takes the middle of the interval, as LIBSVM does; this solver the shortest.
    K, _, y = random_machine(60, 1, seed=3)
    qp = c_svc(K, y, 0.01)
    middle, shortest = SMO().solve(qp), SOLVER.solve(qp)
    np.testing.assert_allclose(shortest.beta, middle.beta, atol=1e-9)
    gradient = qp.gradient(shortest.beta)
    least, most = qp.terms.reach(shortest.beta, gradient)
    free = (shortest.beta > qp.lo) & (shortest.beta < qp.hi)
    expected = -np.clip(0.0, most, least) if not free.any() else middle.nu[0]
    assert shortest.nu[0] == pytest.approx(expected, abs=1e-6)


# --- Some are ---------------------------------------------------------------------------------


@loop("seed", range(8))
@loop("C", [0.01, 0.1])
def test_few_free_rows_leave_directions_open(seed, C):
    qp = machine(*random_machine(50, 12, seed=seed), C)
    solution = SOLVER.solve(qp)
    values = shortest_values(qp, solution.beta, slack=1e-7)
    assert np.linalg.norm(qp.A.T @ solution.nu) <= np.linalg.norm(values) * (1 + 1e-3) + 1e-4
    np.testing.assert_allclose(qp.A.T @ solution.nu, values, atol=2e-3)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(12, 40), st.integers(1, 10))
def test_no_multipliers_are_shorter(seed, n, n_equalities):
    qp = random_box(n, n_equalities, seed)
    solution = SOLVER.solve(qp)
    own = qp.lo < qp.hi
    found = np.linalg.norm(qp.A[:, own].T @ solution.nu)
    values = shortest_values(qp, solution.beta, slack=1e-6)
    assert found <= np.linalg.norm(values) * (1 + 1e-3) + 1e-4


# --- However the problem is written -----------------------------------------------------------


@loop("make", [separated, random_machine])
@loop("seed", range(4))
def test_invertible_changes_of_the_features_change_nothing(make, seed):
    K, F, y = make(60, 6, seed=seed)
    change = np.random.default_rng(seed).normal(size=(6, 6)) * 10.0 ** np.arange(-3, 3)
    one = SOLVER.solve(machine(K, F, y, 0.05))
    other = SOLVER.solve(machine(K, F @ change, y, 0.05))
    np.testing.assert_allclose(other.beta, one.beta, atol=1e-7)
    np.testing.assert_allclose(F @ change @ other.nu, F @ one.nu, atol=1e-5)


@loop("make", [separated, random_machine])
@loop("seed", range(4))
def test_the_order_of_the_rows_changes_nothing(make, seed):
    K, F, y = make(60, 6, seed=seed)
    order = np.random.default_rng(seed).permutation(60)
    one = SOLVER.solve(machine(K, F, y, 0.05))
    other = SOLVER.solve(machine(K[np.ix_(order, order)], F[order], y[order], 0.05))
    np.testing.assert_allclose(other.nu, one.nu, atol=1e-5)


def test_dropped_features_have_no_multiplier():
    K, F, y = separated(40, 3)
    qp = machine(K, np.c_[F, np.zeros(40), F[:, 1], F @ [1.0, 2.0, 3.0]], y, 1.0)
    solution = SOLVER.solve(qp)
    assert solution.nu[3] == 0
    assert np.count_nonzero(solution.nu) <= 3
    np.testing.assert_allclose(qp.A.T @ solution.nu, hard_margin_values(F, y), atol=1e-5)


# --- The least distance -----------------------------------------------------------------------


def test_least_distance_by_hand():
    G = np.array([[1.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(_least_distance(G, np.array([2.0, -1.0])), [1.0, 1.0])
    np.testing.assert_allclose(_least_distance(G, np.array([2.0, 1.5])), [1.5, 0.5])
    np.testing.assert_array_equal(_least_distance(G, np.array([-1.0, 0.0])), [0.0, 0.0])
    contradiction = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert _least_distance(contradiction, np.array([1.0, 1.0])) is None
