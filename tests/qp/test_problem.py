"""The problem as data: its certificate at any point, its projection, what it refuses."""

import numpy as np
import pytest

from kernelwise.kernels import RBF, LazyGram, Linear, Sigmoid
from kernelwise.qp import SMO, DualQP, Terms, c_svc, enclosing_ball, hard_margin, l2_svm
from tests.loop import loop
from tests.oracles import descend, nearest, objective

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=20) > 0, 1.0, -1.0)
K = RBF(gamma=0.5)(X)

PROBLEMS = {
    "c-svc": c_svc(K, Y, 2.0),
    "C-per-row": c_svc(K, Y, RNG.choice([0.0, 0.5, 5.0], size=20)),
    "hard-margin": hard_margin(K, Y),
    "l2-svm": l2_svm(K, Y, 2.0),
    "ball": enclosing_ball(K),
    "ball-linear": enclosing_ball(X @ X.T),
    "rows-outside": hard_margin(K, np.where(np.arange(20) < 6, 0.0, Y)),
}
every_problem = loop("qp", PROBLEMS.values(), ids=PROBLEMS.keys())


def feasible_points(qp):
    """Yield points from far away to close to the solution."""
    best = descend(qp)
    yield "feasible", qp.terms.project(np.zeros(qp.n))
    for size in (1.0, 0.1, 1e-3, 1e-6):
        yield f"off-by-{size:g}", qp.terms.project(best + size * RNG.normal(size=qp.n))
    yield "solution", best


@every_problem
def test_gap_bounds_the_distance_to_the_minimum(qp):
    least = objective(qp, descend(qp))
    for name, beta in feasible_points(qp):
        gradient = qp.gram.K @ beta - qp.p
        for nu in (qp.terms.intercept(beta, gradient), 0.0, -1.0, 0.7):
            gap = qp.duality_gap(beta, np.array([nu]))
            assert gap >= objective(qp, beta) - least - 1e-12 * (1 + abs(least)), (name, nu)


@every_problem
def test_gap_and_violation_vanish_at_the_solution_and_not_elsewhere(qp):
    best = descend(qp)
    nu = np.array([qp.terms.intercept(best, qp.gram.K @ best - qp.p)])
    size = 1 + np.abs(best).sum()
    assert qp.duality_gap(best, nu) == pytest.approx(0, abs=1e-9 * size)
    assert qp.kkt_violation(best, nu) == pytest.approx(0, abs=1e-11 * size)
    off = qp.terms.project(best + 0.1 * RNG.normal(size=qp.n))
    nu = np.array([qp.terms.intercept(off, qp.gram.K @ off - qp.p)])
    assert qp.duality_gap(off, nu) > 1e-4
    assert qp.kkt_violation(off, nu) > 1e-3


@loop("kernel", [Sigmoid(gamma=0.5), RBF() + Sigmoid()])
def test_no_gap_for_indefinite_kernels(kernel):
    lazy = c_svc(LazyGram(kernel, X), Y, 1.0)
    stored = c_svc(kernel(X), Y, 1.0, is_psd=False)
    for qp in (lazy, stored):
        assert np.isnan(qp.duality_gap(np.zeros(20), np.zeros(1)))
        assert np.isnan(SMO().solve(qp).gap)


@every_problem
def test_given_gradient_changes_nothing(qp):
    beta, nu = qp.terms.project(RNG.normal(size=qp.n)), np.array([0.3])
    gradient = qp.gradient(beta)
    np.testing.assert_allclose(gradient, qp.gram.K @ beta - qp.p, rtol=1e-12, atol=1e-12)
    assert qp.objective(beta) == pytest.approx(objective(qp, beta), rel=1e-12)
    assert qp.objective(beta, gradient) == qp.objective(beta)
    assert qp.kkt_violation(beta, nu, gradient) == qp.kkt_violation(beta, nu)


def test_violation_counts_each_side_of_a_bound():
    qp = DualQP(np.eye(3), Terms(p=np.array([5.0, -5.0, 0.5]), lo=-np.ones(3), hi=np.ones(3)))
    held = np.array([1.0, -1.0, 0.0])  # the first two want to go beyond their bounds
    assert qp.kkt_violation(held, np.zeros(1)) == 0.5
    assert qp.kkt_violation(np.zeros(3), np.zeros(1)) == 5.0
    assert qp.kkt_violation(-held, np.zeros(1)) == 6.0


# --- Projection -------------------------------------------------------------------------------


@loop("seed", range(15))
def test_projection_is_the_nearest_feasible_point(seed):
    rng = np.random.default_rng(seed)
    lo, hi = -rng.random(6), rng.random(6)
    hi[rng.random(6) < 0.3] = np.inf
    lo[rng.random(6) < 0.3] = -np.inf
    hi[0] = lo[0] = 0.0  # a row outside the machine
    total = rng.uniform(-0.3, 0.3)
    beta = rng.normal(size=6) * 10.0 ** rng.integers(-2, 4)
    qp = DualQP(np.eye(6), Terms(p=np.zeros(6), lo=lo, hi=hi, c=np.array([total])))
    projected = qp.terms.project(beta)
    size = 1 + np.abs(beta).max()
    np.testing.assert_allclose(projected, nearest(beta, lo, hi, total), rtol=0, atol=1e-9 * size)
    assert projected.sum() == pytest.approx(total, abs=1e-12 * size)


@every_problem
def test_projection_leaves_feasible_points_alone(qp):
    for _, beta in feasible_points(qp):
        again = qp.terms.project(beta)
        np.testing.assert_allclose(again, beta, rtol=0, atol=1e-12 * (1 + np.abs(beta).sum()))
        np.testing.assert_array_equal(again == qp.lo, beta == qp.lo)
        np.testing.assert_array_equal(again == qp.hi, beta == qp.hi)


def test_projection_does_not_write_into_its_argument():
    beta = np.full(20, 3.0)
    PROBLEMS["c-svc"].terms.project(beta)
    np.testing.assert_array_equal(beta, np.full(20, 3.0))


@loop("n", [3, 10, 49])
def test_bounds_that_leave_one_point_are_feasible_in_spite_of_rounding(n):
    qp = DualQP(np.eye(n), Terms(p=np.zeros(n), lo=np.zeros(n), hi=np.full(n, 1 / n), c=np.ones(1)))
    np.testing.assert_allclose(qp.terms.project(np.zeros(n)), 1 / n)
    np.testing.assert_allclose(SMO().solve(qp).beta, 1 / n)


def test_no_feasible_point_is_an_error():
    qp = DualQP(np.eye(3), Terms(p=np.zeros(3), lo=np.zeros(3), hi=np.full(3, 0.2), c=np.ones(1)))
    with pytest.raises(ValueError, match="no point satisfies"):
        qp.terms.project(np.zeros(3))
    with pytest.raises(ValueError, match="no point satisfies"):
        SMO().solve(qp)


def test_projection_needs_one_sum():
    qp = DualQP(
        np.eye(2), Terms(p=np.zeros(2), lo=np.zeros(2), hi=np.ones(2), A=np.array([[1.0, -1.0]]))
    )
    with pytest.raises(ValueError, match="sum b = c"):
        qp.terms.project(np.zeros(2))


# --- Bad input --------------------------------------------------------------------------------


@loop(
    ("changed", "names"),
    [
        ({"K": np.ones((4, 3))}, "K must be square"),
        ({"p": np.ones((4, 1))}, "p must be a vector"),
        ({"K": np.eye(3)}, "K has 3 rows"),
        ({"lo": np.zeros(5)}, "lo must have shape"),
        ({"hi": np.ones((4, 1))}, "hi must have shape"),
        ({"lo": np.full(4, 2.0)}, "lo must not exceed hi"),
        ({"hi": np.full(4, np.nan)}, "NaN"),
        ({"A": np.ones((1, 3))}, "A must have shape"),
        ({"c": np.ones(2)}, "c must have shape"),
        ({"p": np.full(4, np.nan)}, "p "),
        ({"c": np.array([np.nan])}, "c "),
    ],
)
def test_parts_that_do_not_fit_are_named(changed, names):
    given = {"K": np.eye(4), "p": np.ones(4), "lo": np.zeros(4), "hi": np.ones(4)}
    given |= changed
    K = given.pop("K")
    with pytest.raises(ValueError, match=names):
        DualQP(K, Terms(**given))


def test_a_matrix_of_nan_is_not_called_solved():
    broken = np.eye(4)
    broken[0, 1] = broken[1, 0] = np.nan
    try:
        solution = SMO().solve(c_svc(broken, [1, -1, 1, -1], 10.0))
    except ValueError as refusal:
        assert "K" in str(refusal)  # noqa: PT017  to refuse is one of two right answers
    else:
        assert not solution.converged


@loop(
    ("build", "names"),
    [
        (lambda: c_svc(np.eye(2), [1, 2]), "y must be"),
        (lambda: c_svc(np.eye(2), [[1, -1]]), "y must be"),
        (lambda: c_svc(np.eye(2), [1, -1], C=-1.0), "C must be"),
        (lambda: c_svc(np.eye(2), [1, -1], C=np.nan), "C must be"),
        (lambda: c_svc(np.eye(2), [1, -1], C=[1.0, -2.0]), "C must be"),
        (lambda: c_svc(np.eye(2), [1, -1], C=[1.0, 2.0, 3.0]), "C "),
        (lambda: c_svc(np.eye(2), [1, -1, 1]), "K has"),
        (lambda: l2_svm(np.eye(2), [1, -1], C=0.0), "C must be"),
    ],
)
def test_builders_name_what_is_wrong(build, names):
    with pytest.raises(ValueError, match=names):
        build()


@loop("start", [np.zeros(3), np.full(20, np.nan), np.full(20, np.inf)])
@loop("name", ["c-svc", "hard-margin"])
def test_a_start_that_is_no_point_is_named(start, name):
    with pytest.raises(ValueError, match="start"):
        SMO().solve(PROBLEMS[name], start=start)


def test_whole_numbers_are_a_kernel_matrix_as_well():
    whole = np.array([[3, 1, 0], [1, 2, 0], [0, 0, 5]])
    y = np.array([1.0, -1.0, 1.0])
    for build in (lambda K: c_svc(K, y, 10.0), lambda K: l2_svm(K, y, 3.0)):
        expected = descend(build(whole.astype(np.float64)))
        np.testing.assert_allclose(SMO().solve(build(whole)).beta, expected, atol=1e-9)


def test_the_problem_leaves_its_parts_alone():
    K, y = Linear()(X), Y.copy()
    before = K.copy()
    SMO().solve(l2_svm(K, y, 2.0))
    SMO().solve(c_svc(K, y, 2.0))
    np.testing.assert_array_equal(K, before)
    np.testing.assert_array_equal(y, Y)


@loop("y", [np.ones(4), -np.ones(4), np.zeros(4)])
def test_one_class_has_no_support(y):
    solution = SMO().solve(c_svc(np.eye(4), y, 1.0))
    assert solution.converged
    assert not solution.beta.any()


@loop("other", [RBF(gamma=2.0)(X), LazyGram(RBF(gamma=2.0), X)])
def test_of_another_kernel_all_else_stays(other):
    first = c_svc(K, Y, 2.0)
    assert first.gram.size == 1
    moved = DualQP(other, first.terms)
    assert first.gram.K is K
    found, expected = SMO(tol=1e-9).solve(moved), SMO(tol=1e-9).solve(c_svc(other, Y, 2.0))
    np.testing.assert_allclose(found.beta, expected.beta, atol=1e-8)
    np.testing.assert_allclose(found.gap, expected.gap, atol=1e-8)


def test_of_another_kernel_the_size_is_its_own():
    first = c_svc(K, Y, 2.0)
    assert first.gram.size == 1
    assert DualQP(5.0 * K, first.terms).gram.size == 5


@every_problem
def test_the_first_point_is_feasible_and_sparse(qp):
    start = qp.terms.start()
    assert (start >= qp.lo).all()
    assert (start <= qp.hi).all()
    np.testing.assert_allclose(qp.A @ start, qp.c, atol=1e-12)
    if (qp.lo <= 0).all() and (qp.hi >= 0).all() and not qp.c.any():
        assert not start.any()


@loop(
    ("lo", "hi", "largest"),
    [
        ([-1.0, 0.0], [0.0, 3.0], 3.0),
        ([-4.0, 0.0], [0.0, 3.0], 4.0),
        ([-np.inf, 0.0], [2.0, np.inf], 2.0),
        ([-np.inf, 0.0], [0.0, np.inf], 0.0),
        ([1.0, -5.0], [2.0, -3.0], 5.0),
    ],
)
def test_the_largest_bound_is_finite(lo, hi, largest):
    assert Terms(p=np.ones(2), lo=lo, hi=hi).largest_bound == largest


@loop("y", [Y, np.where(np.arange(20) < 6, 0.0, Y)])
@loop("C", [3.0, np.inf, np.arange(20.0), np.where(np.arange(20) < 6, 50.0, 2.0), [np.inf] * 20])
def test_what_is_known_of_a_c_svc_is_what_its_bounds_say(y, C):
    known = Terms.c_svc(y, C)
    computed = Terms(known.p, known.lo, known.hi)
    assert known.largest_bound == computed.largest_bound
    assert known.allows_zero is computed.allows_zero is True
    assert known.sums_to_constant is computed.sums_to_constant is True


@loop(("lo", "hi", "c"), [([0.0, 0.5], [1.0, 1.0], 0.6), ([-1.0, -1.0], [1.0, -0.5], 0.0)])
def test_zero_is_allowed_only_within_bounds_and_equalities(lo, hi, c):
    terms = Terms(p=np.ones(2), lo=lo, hi=hi, c=[c])
    assert not terms.allows_zero
    assert not terms.scaled(2.0).allows_zero
    assert not Terms(p=np.ones(2), lo=[0.0, 0.0], hi=[1.0, 1.0], c=[1.0]).allows_zero


@loop("bias", [True, False])
@loop("C", [3.0, 1e-3, np.inf])
def test_scaled_terms_are_those_of_the_scaled_cost(C, bias):
    y, factor = np.where(np.arange(20) < 6, 0.0, Y), RNG.choice([0.0, 0.5, 5.0], size=20)
    cost = np.where(factor > 0, C * np.maximum(factor, 0.5), 0.0)
    scaled, built = Terms.c_svc(y, factor, bias=bias).scaled(C), Terms.c_svc(y, cost, bias=bias)
    for name in ("p", "lo", "hi", "A", "c"):
        np.testing.assert_array_equal(getattr(scaled, name), getattr(built, name))
    assert scaled.largest_bound == built.largest_bound


def test_bounds_scaled_by_a_negative_number_are_refused():
    with pytest.raises(ValueError, match="lo must not exceed hi"):
        Terms.c_svc(Y).scaled(-1.0)


@loop("bias", [True, False])
@loop("C", [2.0, np.inf, np.array([1.0, 2.0, 3.0, np.inf])])
def test_machines_built_together_are_those_built_alone(C, bias):
    for codes in (np.array([[1, -1], [-1, 1], [1, 1], [-1, -1]]), np.array([[1], [0], [-1], [0]])):
        together = Terms.c_svcs(codes, C, bias=bias)
        assert len(together) == codes.shape[1]
        for terms, y in zip(together, codes.T, strict=True):
            alone = Terms.c_svc(y, C, bias=bias)
            for name in ("p", "lo", "hi", "A", "c", "largest_bound", "sums_to_constant"):
                np.testing.assert_array_equal(getattr(terms, name), getattr(alone, name))
    assert Terms.c_svcs(np.empty((4, 0)), 1.0) == []


@loop(
    ("codes", "C", "names"),
    [
        (np.ones(3), 1.0, "columns of -1, 0"),
        (np.full((3, 1), 2.0), 1.0, "columns of -1, 0"),
        (np.ones((3, 1)), np.ones(2), "C must be a number or a vector of 3"),
        (np.ones((3, 1)), -1.0, "C must be a number of at least 0"),
        (np.ones((3, 1)), np.nan, "C must be a number of at least 0"),
    ],
)
def test_machines_built_together_are_checked(codes, C, names):
    with pytest.raises(ValueError, match=names):
        Terms.c_svcs(codes, C)
