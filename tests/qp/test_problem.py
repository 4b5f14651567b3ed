"""The problem as data: its certificate at any point, its projection, what it refuses."""

import numpy as np
import pytest

from kernelwise.kernels import RBF, LazyGram, Linear, Sigmoid
from kernelwise.qp import SMO, DualQP, c_svc, enclosing_ball, hard_margin, l2_svm
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
every_problem = pytest.mark.parametrize("qp", PROBLEMS.values(), ids=PROBLEMS.keys())


def feasible_points(qp):
    """Yield points from far away to close to the solution."""
    best = descend(qp)
    yield "feasible", qp.project(np.zeros(qp.n))
    for size in (1.0, 0.1, 1e-3, 1e-6):
        yield f"off-by-{size:g}", qp.project(best + size * RNG.normal(size=qp.n))
    yield "solution", best


@every_problem
def test_gap_bounds_the_distance_to_the_minimum(qp):
    least = objective(qp, descend(qp))
    for name, beta in feasible_points(qp):
        gradient = qp.K @ beta - qp.p
        for nu in (qp.intercept(beta, gradient), 0.0, -1.0, 0.7):
            gap = qp.duality_gap(beta, np.array([nu]))
            assert gap >= objective(qp, beta) - least - 1e-12 * (1 + abs(least)), (name, nu)


@every_problem
def test_gap_and_violation_vanish_at_the_solution_and_not_elsewhere(qp):
    best = descend(qp)
    nu = np.array([qp.intercept(best, qp.K @ best - qp.p)])
    size = 1 + np.abs(best).sum()
    assert qp.duality_gap(best, nu) == pytest.approx(0, abs=1e-9 * size)
    assert qp.kkt_violation(best, nu) == pytest.approx(0, abs=1e-11 * size)
    off = qp.project(best + 0.1 * RNG.normal(size=qp.n))
    nu = np.array([qp.intercept(off, qp.K @ off - qp.p)])
    assert qp.duality_gap(off, nu) > 1e-4
    assert qp.kkt_violation(off, nu) > 1e-3


@pytest.mark.parametrize("kernel", [Sigmoid(gamma=0.5), RBF() + Sigmoid()])
def test_no_gap_for_indefinite_kernels(kernel):
    lazy = c_svc(LazyGram(kernel, X), Y, 1.0)
    stored = c_svc(kernel(X), Y, 1.0, is_psd=False)
    for qp in (lazy, stored):
        assert np.isnan(qp.duality_gap(np.zeros(20), np.zeros(1)))
        assert np.isnan(SMO().solve(qp).gap)


@every_problem
def test_given_gradient_changes_nothing(qp):
    beta, nu = qp.project(RNG.normal(size=qp.n)), np.array([0.3])
    gradient = qp.gradient(beta)
    np.testing.assert_allclose(gradient, qp.K @ beta - qp.p, rtol=1e-12, atol=1e-12)
    assert qp.objective(beta) == pytest.approx(objective(qp, beta), rel=1e-12)
    assert qp.objective(beta, gradient) == qp.objective(beta)
    assert qp.kkt_violation(beta, nu, gradient) == qp.kkt_violation(beta, nu)


def test_violation_counts_each_side_of_a_bound():
    qp = DualQP(np.eye(3), p=np.array([5.0, -5.0, 0.5]), lo=-np.ones(3), hi=np.ones(3))
    held = np.array([1.0, -1.0, 0.0])  # the first two want to go beyond their bounds
    assert qp.kkt_violation(held, np.zeros(1)) == 0.5
    assert qp.kkt_violation(np.zeros(3), np.zeros(1)) == 5.0
    assert qp.kkt_violation(-held, np.zeros(1)) == 6.0


# --- Projection -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(15))
def test_projection_is_the_nearest_feasible_point(seed):
    rng = np.random.default_rng(seed)
    lo, hi = -rng.random(6), rng.random(6)
    hi[rng.random(6) < 0.3] = np.inf
    lo[rng.random(6) < 0.3] = -np.inf
    hi[0] = lo[0] = 0.0  # a row outside the machine
    total = rng.uniform(-0.3, 0.3)
    beta = rng.normal(size=6) * 10.0 ** rng.integers(-2, 4)
    qp = DualQP(np.eye(6), p=np.zeros(6), lo=lo, hi=hi, c=np.array([total]))
    projected = qp.project(beta)
    size = 1 + np.abs(beta).max()
    np.testing.assert_allclose(projected, nearest(beta, lo, hi, total), rtol=0, atol=1e-9 * size)
    assert projected.sum() == pytest.approx(total, abs=1e-12 * size)


@every_problem
def test_projection_leaves_feasible_points_alone(qp):
    for _, beta in feasible_points(qp):
        again = qp.project(beta)
        np.testing.assert_allclose(again, beta, rtol=0, atol=1e-12 * (1 + np.abs(beta).sum()))
        np.testing.assert_array_equal(again == qp.lo, beta == qp.lo)
        np.testing.assert_array_equal(again == qp.hi, beta == qp.hi)


def test_projection_does_not_write_into_its_argument():
    beta = np.full(20, 3.0)
    PROBLEMS["c-svc"].project(beta)
    np.testing.assert_array_equal(beta, np.full(20, 3.0))


@pytest.mark.parametrize("n", [3, 10, 49])
def test_bounds_that_leave_one_point_are_feasible_in_spite_of_rounding(n):
    qp = DualQP(np.eye(n), p=np.zeros(n), lo=np.zeros(n), hi=np.full(n, 1 / n), c=np.ones(1))
    np.testing.assert_allclose(qp.project(np.zeros(n)), 1 / n)
    np.testing.assert_allclose(SMO().solve(qp).beta, 1 / n)


def test_no_feasible_point_is_an_error():
    qp = DualQP(np.eye(3), p=np.zeros(3), lo=np.zeros(3), hi=np.full(3, 0.2), c=np.ones(1))
    with pytest.raises(ValueError, match="no point satisfies"):
        qp.project(np.zeros(3))
    with pytest.raises(ValueError, match="no point satisfies"):
        SMO().solve(qp)


def test_projection_needs_one_sum():
    qp = DualQP(np.eye(2), p=np.zeros(2), lo=np.zeros(2), hi=np.ones(2), A=np.array([[1.0, -1.0]]))
    with pytest.raises(ValueError, match="sum b = c"):
        qp.project(np.zeros(2))


# --- Bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"K": np.ones((4, 3))}, "K must be square"),
        ({"p": np.ones(3)}, "p must have shape"),
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
    with pytest.raises(ValueError, match=names):
        SMO().solve(DualQP(**(given | changed)))


def test_a_matrix_of_nan_is_not_called_solved():
    broken = np.eye(4)
    broken[0, 1] = broken[1, 0] = np.nan
    try:
        solution = SMO().solve(c_svc(broken, [1, -1, 1, -1], 10.0))
    except ValueError as refusal:
        assert "K" in str(refusal)  # noqa: PT017  to refuse is one of two right answers
    else:
        assert not solution.converged


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("start", [np.zeros(3), np.full(20, np.nan), np.full(20, np.inf)])
@pytest.mark.parametrize("name", ["c-svc", "hard-margin"])
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


@pytest.mark.parametrize("y", [np.ones(4), -np.ones(4), np.zeros(4)])
def test_one_class_has_no_support(y):
    solution = SMO().solve(c_svc(np.eye(4), y, 1.0))
    assert solution.converged
    assert not solution.beta.any()


@pytest.mark.parametrize("other", [RBF(gamma=2.0)(X), LazyGram(RBF(gamma=2.0), X)])
def test_of_another_kernel_all_else_stays(other):
    first = c_svc(K, Y, 2.0)
    assert first.size == 1
    moved = first.of_kernel(other)
    assert moved.K is other
    assert first.K is K
    found, expected = SMO(tol=1e-9).solve(moved), SMO(tol=1e-9).solve(c_svc(other, Y, 2.0))
    np.testing.assert_allclose(found.beta, expected.beta, atol=1e-8)
    np.testing.assert_allclose(found.gap, expected.gap, atol=1e-8)


def test_of_another_kernel_the_size_is_its_own():
    first = c_svc(K, Y, 2.0)
    assert first.size == 1
    assert first.of_kernel(5.0 * K).size == 5


@every_problem
def test_the_first_point_is_feasible_and_sparse(qp):
    start = qp.start()
    assert (start >= qp.lo).all()
    assert (start <= qp.hi).all()
    np.testing.assert_allclose(qp.A @ start, qp.c, atol=1e-12)
    if (qp.lo <= 0).all() and (qp.hi >= 0).all() and not qp.c.any():
        assert not start.any()


@pytest.mark.parametrize(
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
    assert DualQP(np.eye(2), p=np.ones(2), lo=lo, hi=hi).largest_bound == largest


def test_parts_known_to_fit_make_the_same_problem():
    checked = DualQP(K, p=Y, lo=-np.ones(20), hi=np.ones(20))
    made = DualQP.of_parts(K, Y, -np.ones(20), np.ones(20))
    assert vars(made).keys() == vars(checked).keys()
    for name in ("p", "lo", "hi", "A", "c"):
        np.testing.assert_array_equal(getattr(made, name), getattr(checked, name))
    with pytest.raises(ValueError, match=r"hi must have shape \(20,\)"):
        DualQP.of_parts(K, Y, -np.ones(20), np.ones(19))
