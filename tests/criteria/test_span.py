"""The span of support vectors: leave-one-out without refitting, against refitting."""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_moons

from kernelwise.criteria import CrossValidation, LeaveOneOut, loo_decisions, loo_error, span
from kernelwise.criteria.free_system import FreeSystem, invert_triangle
from kernelwise.kernels import RBF, LazyGram, Linear, Polynomial
from kernelwise.qp import SMO, c_svc
from kernelwise.qp.gram import StoredGram
from tests.loop import loop
from tests.oracles import decisions_of, leave_each_out, role_of, slopes

TIGHT = SMO(tol=1e-10)


def spread_out(gamma, n=36):
    """Return rows that hardly touch each other, so that leaving one out moves the others little.

    Rows of a small cost are bounded, the others free.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    y = np.where(rng.permutation(n) < n // 2, 1.0, -1.0)
    return RBF(gamma=gamma)(X), y, np.where(rng.permutation(n) < n // 3, 0.2, 10.0)


def two_free(n=36):
    """Return classes on top of each other at a small cost: all rows but two are bounded."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return RBF(gamma=0.5)(X), y, np.where(np.arange(n) < 2, 5.0, 0.01)


def moons(n=40, C=1.0):
    """Return two classes that overlap: leaving out a support vector changes the sets."""
    X, labels = make_moons(n, noise=0.25, random_state=1)
    return RBF(gamma=1.0)(X), np.where(labels > 0, 1.0, -1.0), np.full(n, C)


# Problems, and how many support vectors can be left out without a change of roles, at least.
QUIET = {
    "spread-out": (spread_out(gamma=0.5), 36),
    "touching": (spread_out(gamma=0.25), 20),
    "two-free": (two_free(), 34),
}
PROBLEMS = {name: problem for name, (problem, _) in QUIET.items()} | {"moons": moons()}


@cache
def refitted_machine(name, bias):
    """Return a problem, its machine, and what refitting without each row gives."""
    K, y, C = PROBLEMS[name]
    return K, C, *decisions_of(K, y, C, bias), *leave_each_out(K, y, C, bias)


@loop("bias", [True, False])
@loop("name", QUIET)
def test_equals_refitting_where_the_others_keep_their_roles(name, bias):
    K, C, beta, decisions, refitted, kept = refitted_machine(name, bias)
    role = role_of(beta, C)
    assert np.any(role == 1) or not bias  # nothing else fixes the bias
    estimated = loo_decisions(K, decisions, beta, C, bias=bias)
    # A jitter of 1e-8 on the free block is all that stands between them.
    np.testing.assert_allclose(estimated[kept], refitted[kept], rtol=0, atol=1e-6)
    assert np.count_nonzero(kept & (role > 0)) >= QUIET[name][1]


@loop("bias", [True, False])
def test_rows_that_keep_the_roles_are_of_both_kinds(bias):
    _, C, beta, decisions, refitted, kept = refitted_machine("spread-out", bias)
    for role in (1, 2):
        some = kept & (role_of(beta, C) == role)
        assert np.count_nonzero(some) >= 8
        assert np.abs(refitted - decisions)[some].min() > 0.01  # it does make a difference


def test_rows_that_are_no_support_vectors_change_nothing():
    K, y, C = moons(C=10.0)
    beta, decisions = decisions_of(K, y, C)
    others = role_of(beta, C) == 0
    assert others.sum() > 5
    refitted, kept = leave_each_out(K, y, C)
    assert kept[others].all()
    estimated = loo_decisions(K, decisions, beta, C)
    np.testing.assert_array_equal(estimated[others], decisions[others])
    np.testing.assert_allclose(estimated[others], refitted[others], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(span(K, beta, C)[others], 0)


def test_span_is_the_distance_from_the_other_free_rows():
    """S_i^2 is the least |x_i - sum l_j x_j|^2 with sum l_j = 1 over the other free rows."""
    K, y, C = PROBLEMS["spread-out"]
    beta, _ = decisions_of(K, y, C)
    free = role_of(beta, C) == 1
    for bias in (True, False):
        squared = span(K, beta, C, bias=bias)
        for i in np.flatnonzero(beta):
            others = np.flatnonzero(free & (np.arange(len(y)) != i))
            assert squared[i] == pytest.approx(distance(K, i, others, bias), abs=1e-6)


def distance(K, i, others, affine):
    """Return the squared distance of row i from the (affine) span of others, from its formula."""
    m = len(others)
    system, right = np.zeros((m + affine, m + affine)), np.ones(m + affine)
    system[:m, :m], right[:m] = K[np.ix_(others, others)], K[others, i]
    if affine:
        system[m, :m] = system[:m, m] = 1
    coefficients = np.linalg.solve(system, right)[:m]
    return (
        K[i, i]
        - 2 * coefficients @ K[others, i]
        + coefficients @ K[np.ix_(others, others)] @ coefficients
    )


def test_linear_kernel_with_one_free_row_more_than_features():
    # The kernel of the free rows is singular, the bordered system is not.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    K = X @ X.T
    solution = TIGHT.solve(c_svc(K, y, 0.5))
    role = role_of(solution.beta, 0.5)
    assert np.count_nonzero(role == 1) == 3
    squared = span(K, solution.beta, 0.5)
    # In a plane three rows span all others, and each is at a distance from the line of two.
    np.testing.assert_allclose(squared[role == 2], 0, rtol=0, atol=1e-5)
    free = np.flatnonzero(role == 1)
    for i in free:
        others = free[free != i]
        assert squared[i] == pytest.approx(distance(K, i, others, True), rel=1e-6)


# --- Few free support vectors -----------------------------------------------------------------


def no_free_rows():
    """Return rows of which, at C = 0.3, the first two are bounded and the others no support."""
    X = np.array([[-1.0], [1.0], [2.0], [-2.5], [3.0], [-3.5]])
    return X, np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0])


def test_no_free_support_vector():
    X, y = no_free_rows()
    K, C = X @ X.T, 0.3
    solution = TIGHT.solve(c_svc(K, y, C))
    np.testing.assert_allclose(solution.beta, [-C, C, 0, 0, 0, 0], rtol=1e-12)
    assert solution.nu[0] == pytest.approx(0.1, rel=1e-9)  # the middle of -0.2 and 0.4
    np.testing.assert_allclose(span(K, solution.beta, C), [1, 1, 0, 0, 0, 0], rtol=1e-12)
    decisions = K @ solution.beta + solution.nu[0]
    estimated = loo_decisions(K, decisions, solution.beta, C)
    np.testing.assert_allclose(estimated, [-0.2, 0.4, *decisions[2:]], rtol=1e-9)


def test_no_free_support_vector_and_no_bias_equals_refitting():
    K, y, _ = PROBLEMS["two-free"]
    C = 0.01
    beta, decisions = decisions_of(K, y, C, bias=False)
    assert (role_of(beta, C) == 2).all()
    refitted, kept = leave_each_out(K, y, C, bias=False)
    assert kept.all()
    estimated = loo_decisions(K, decisions, beta, C, bias=False)
    np.testing.assert_allclose(estimated, refitted, rtol=0, atol=1e-12)


def one_free_row():
    """Return rows of which one alone is free: the others' costs do not add up to zero."""
    X = np.array([[-1.0, 0.2], [-0.7, 1.0], [0.1, 0.0], [0.2, 0.3], [1.5, -0.5]])
    return X, np.array([-1.0, -1.0, 1.0, 1.0, 1.0]), np.array([0.1, 0.1, 0.03, 0.03, 10.0])


def test_one_free_support_vector():
    X, y, C = one_free_row()
    K = RBF(gamma=0.5)(X)
    beta, decisions = decisions_of(K, y, C)
    role = role_of(beta, C)
    np.testing.assert_array_equal(role, [2, 2, 2, 2, 1])
    squared = span(K, beta, C)
    # Without the free row nothing fixes the bias: as if none were free.
    assert squared[4] == pytest.approx(K[4, 4], rel=1e-6)
    # Of a bounded one its whole coefficient goes over to the free one.
    to_free = K[4, 4] + np.diagonal(K) - 2 * K[4]
    np.testing.assert_allclose(squared[:4], to_free[:4], rtol=0, atol=1e-6)
    refitted, kept = leave_each_out(K, y, C)
    np.testing.assert_array_equal(kept, [True, True, True, True, False])
    estimated = loo_decisions(K, decisions, beta, C)
    np.testing.assert_allclose(estimated[:4], refitted[:4], rtol=0, atol=1e-6)


def test_one_free_support_vector_without_bias_equals_refitting():
    X, y, C = one_free_row()
    K = RBF(gamma=0.5)(X)
    beta, decisions = decisions_of(K, y, C, bias=False)
    np.testing.assert_array_equal(role_of(beta, C), [2, 2, 2, 2, 1])
    refitted, kept = leave_each_out(K, y, C, bias=False)
    assert kept.all()
    estimated = loo_decisions(K, decisions, beta, C, bias=False)
    np.testing.assert_allclose(estimated, refitted, rtol=0, atol=1e-7)


def test_two_rows_by_hand():
    # Each is four away from the other; without it the bias is the other's code.
    X, beta = np.array([[-1.0], [1.0]]), np.array([-0.5, 0.5])
    squared = span(X @ X.T, beta)
    np.testing.assert_allclose(squared, [4.0, 4.0], rtol=1e-6)
    estimated = loo_decisions(X @ X.T, [-1.0, 1.0], beta)
    np.testing.assert_allclose(estimated, [1.0, -1.0], rtol=1e-6)
    assert loo_error(X @ X.T, [-1.0, 1.0], [-1.0, 1.0], beta) == 1


def test_duplicates_of_support_vectors_have_no_span():
    X = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    beta = np.array([-0.25, -0.25, 0.25, 0.25])
    np.testing.assert_allclose(span(X @ X.T, beta), 0, rtol=0, atol=1e-6)


def test_forms_of_the_matrix():
    K, y, C = PROBLEMS["moons"]
    beta, decisions = decisions_of(K, y, C)
    X, _ = make_moons(40, noise=0.25, random_state=1)
    expected = loo_decisions(K, decisions, beta, C)
    lazy = loo_decisions(LazyGram(RBF(gamma=1.0), X), decisions, beta, C)
    np.testing.assert_allclose(lazy, expected, rtol=0, atol=1e-6)
    single = loo_decisions(K.astype(np.float32), decisions, beta, C)
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-4)


@loop("dtype", [np.float32, np.float64])
@loop("order", ["C", "F"])
def test_a_block_of_a_stored_matrix_is_a_copy_in_float64(dtype, order):
    K = np.array(np.random.default_rng(0).normal(size=(7, 7)), dtype=dtype, order=order)
    rows, columns = np.array([5, 0, 2]), np.array([1, 1, 6, 3])
    block = StoredGram(K).block(rows, columns)
    assert block.dtype == np.float64
    np.testing.assert_array_equal(block, K[np.ix_(rows, columns)])
    block[:] = 0  # which is no part of K
    assert K.all()


@loop("n", [1, 2, 96, 97, 193, 400])
def test_a_triangle_is_inverted_by_halves(n):
    factor = np.tril(np.random.default_rng(0).normal(size=(n, n)) / n) + np.eye(n)
    inverse = invert_triangle(np.asfortranarray(factor))
    np.testing.assert_allclose(inverse @ factor, np.eye(n), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(np.triu(inverse, 1), 0)


@loop("bias", [True, False])
@loop("n", [5, 150])
def test_what_the_free_system_tells_is_what_its_inverse_does(n, bias):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + 20, 4))
    K = RBF(gamma=0.5)(X) + 0.1 * np.eye(n + 20)
    free, others = np.arange(n), np.arange(n, n + 20)
    bordered = np.zeros((n + bias, n + bias))
    bordered[:n, :n] = K[:n, :n] + 1.1e-8 * np.eye(n)
    if bias:
        bordered[n, :n] = bordered[:n, n] = 1
    inverse = np.linalg.inv(bordered)
    system = FreeSystem.of(StoredGram(K), free, bias=bias)
    np.testing.assert_allclose(system.inverse, inverse[:n, :n], rtol=0, atol=1e-10)
    np.testing.assert_allclose(system.inverse_diagonal, np.diagonal(inverse)[:n], rtol=1e-10)
    columns = K[np.ix_(free, others)]
    right = np.vstack([columns, np.ones((int(bias), 20))])
    for given in (columns, np.asfortranarray(columns)):
        explained = system.explained(given)
        np.testing.assert_allclose(explained, (right * (inverse @ right)).sum(axis=0), rtol=1e-9)
        np.testing.assert_array_equal(given, K[np.ix_(free, others)])


def test_indefinite_free_block_is_refused():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        span(K, [-0.5, 0.5])


# --- The criterion ----------------------------------------------------------------------------


@loop("name", PROBLEMS)
def test_count_of_errors_is_that_of_the_criterion(name):
    K, y, C = PROBLEMS[name]
    inside = np.where(np.arange(len(y)) % 7 == 0, 0.0, y)
    criterion = LeaveOneOut(C=1.0, slope=np.inf, solver=TIGHT)
    found = criterion.evaluate(K, inside, weights=C, gradient=False)
    machine = found.machines[0]
    decisions = K @ machine.beta + machine.nu[0]
    error = loo_error(K, inside, decisions, machine.beta, C)
    assert found.value == pytest.approx(error, rel=1e-12)
    estimated = loo_decisions(K, decisions, machine.beta, C)
    wrong = np.count_nonzero((inside * estimated <= 0) & (inside != 0))
    assert error == pytest.approx(wrong / np.count_nonzero(inside), rel=1e-12)
    assert wrong > 0


def test_value_is_the_mean_of_the_smooth_steps():
    K, y, C = PROBLEMS["moons"]
    found = LeaveOneOut(C=1.0, slope=3.0, solver=TIGHT).evaluate(K, y, weights=C)
    machine = found.machines[0]
    margins = y * loo_decisions(K, K @ machine.beta + machine.nu[0], machine.beta, C)
    assert found.value == pytest.approx(np.mean(1 / (1 + np.exp(3 * margins))), rel=1e-12)


def test_steep_slopes_count_errors():
    K, y, _ = PROBLEMS["moons"]
    count = LeaveOneOut(slope=np.inf, solver=TIGHT).evaluate(K, y, gradient=False).value
    steep = LeaveOneOut(slope=1e6, solver=TIGHT).evaluate(K, y, gradient=False).value
    assert steep == pytest.approx(count, abs=1e-6)


def test_a_count_of_errors_has_no_gradient():
    with pytest.raises(ValueError, match="no gradient"):
        LeaveOneOut(slope=np.inf).evaluate(np.eye(2), [-1.0, 1.0])


# --- The gradient where free support vectors are few ------------------------------------------


def check_gradient(criterion, kernel, X, Y, weights=None):
    """Hold the gradient by gamma and C against differences; the sets must not change."""
    objective = criterion.of(kernel, ["gamma", "C"], X, Y, weights=weights)
    theta, met = np.array([kernel.gamma, criterion.C]), set()

    def value(at):
        changed, own = objective.at(at)
        found = own.evaluate(changed(X), Y, weights=weights, gradient=False)
        bound = own.C * (1.0 if weights is None else weights)
        met.add(tuple(role_of(machine.beta, bound).tobytes() for machine in found.carry))
        return found.value

    expected = slopes(value, theta)
    assert len(met) == 1
    np.testing.assert_allclose(objective(theta)[1], expected, rtol=1e-5, atol=1e-8)


@loop("kernel", [Linear(), Polynomial(gamma=1.0, degree=3)])
@loop("outside", [False, True])
def test_gradient_without_free_support_vectors(kernel, outside):
    X, y = no_free_rows()
    X[1] = 1.1  # or what the bias does would cancel
    if outside:  # rows that are not in the machine have no say in its bias
        X, y = np.vstack([X, [[0.1], [-9.0]]]), np.append(y, [0.0, 0.0])
    criterion = LeaveOneOut(C=0.3, solver=TIGHT)
    machine = criterion.evaluate(kernel(X), y).machines[0]
    np.testing.assert_array_equal(role_of(machine.beta, 0.3)[:6], [2, 2, 0, 0, 0, 0])
    check_gradient(criterion, kernel, X, y)


def test_gradient_of_cross_validation_without_free_support_vectors():
    # Two folds that are balanced, at a cost that bounds all rows.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 2)), np.tile([1.0, -1.0], 8)
    folds = np.repeat([0, 1], 8)
    criterion = CrossValidation(C=0.02, folds=folds, solver=TIGHT)
    for machine in criterion.evaluate(RBF(gamma=0.3)(X), y).carry:
        assert not np.any(role_of(machine.beta, 0.02) == 1)
    check_gradient(criterion, RBF(gamma=0.3), X, y)


@loop("kernel", [Linear(gamma=0.5), RBF(gamma=0.5)])
def test_gradient_with_one_free_support_vector(kernel):
    X, y, weights = one_free_row()
    criterion = LeaveOneOut(C=1.0, solver=TIGHT)
    machine = criterion.evaluate(kernel(X), y, weights=weights).machines[0]
    np.testing.assert_array_equal(role_of(machine.beta, weights), [2, 2, 2, 2, 1])
    check_gradient(criterion, kernel, X, y, weights)
