"""MarginRadiusSVC: the optimum, its certificate, and cases with a known answer."""

import re
import sys
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from kernelwise import MarginRadiusSVC, bounds_of
from kernelwise.criteria import radius
from kernelwise.kernels import RBF, FunctionKernel, Linear
from kernelwise.kernels.empirical import EmpiricalMap
from kernelwise.qp import SMO, l2_svm
from kernelwise.svm.margin_radius.problem import CentredColumns, Problem
from kernelwise.svm.margin_radius.solver import learn
from tests.loop import loop
from tests.svm.margin_radius.oracles import half_ranges, paper_value, product_value, slow_weights

RADII = ["product", "paper", "ball"]
CHEAP = ["product", "paper"]
NORMED = [("ball", 1.0), *((kind, p) for kind in CHEAP for p in (0.7, 1.0, 2.0))]
ORACLES = {"product": product_value, "paper": paper_value}


@cache
def cancer(rows=150, columns=12):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X[:rows, :columns])
    X.flags.writeable = False
    return X, np.where(y[:rows] == 1, 1.0, -1.0)


@cache
def random(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2.0, size=d)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] - X[:, 2] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def problem_of(X, y, C=1.0, kind="product", cost=None):
    columns = CentredColumns.of(X, own_units=kind == "product")
    cost = np.ones(len(y)) if cost is None else cost
    return Problem(columns.apply(X), columns.ridge(C), y, cost)


def slack(model, X, y):
    return np.maximum(0, 1 - y * model.decision_function(X))


# --- The optimum ---------------------------------------------------------------------------------


@loop("kind", CHEAP)
@loop("C", [0.1, 10.0, 1000.0])
@loop("data", [cancer(), random(40, 60), random(80, 5)], ids=["a", "b", "c"])
def test_value_is_that_of_a_cone_solver(data, C, kind):
    X, y = data
    model = MarginRadiusSVC(radius=kind, C=C, tol=1e-9).fit(X, y)
    assert model.duality_gap_[0] <= 1e-9
    assert model.objective_[0] == pytest.approx(ORACLES[kind](X, y, C), rel=1e-6)


@loop("kind", CHEAP)
def test_value_with_weights_of_rows(kind):
    X, y = cancer()
    weights = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y))
    model = MarginRadiusSVC(radius=kind, C=2.0, tol=1e-9).fit(X, y, sample_weight=weights)
    assert model.objective_[0] == pytest.approx(ORACLES[kind](X, y, 2.0, weights), rel=1e-6)


@loop("kind", CHEAP)
@loop("C", [0.1, 10.0, 1000.0])
def test_objective_is_what_the_machine_has(kind, C):
    X, y = cancer()
    model = MarginRadiusSVC(radius=kind, C=C, tol=1e-8).fit(X, y)
    mu, w = model.feature_weights_, model.coef_[0]
    used, rho = mu > 0, float(mu @ half_ranges(X) ** 2)
    norm = (w[used] ** 2 / mu[used]).sum()
    squares = (slack(model, X, y) ** 2).sum()
    assert_allclose(model.radius_, np.sqrt(rho))
    assert_allclose(model.margin_, 1 / np.sqrt(norm))
    value = norm / 2 + C / (2 * rho) * squares
    assert_allclose(model.objective_, value * (rho if kind == "product" else 1.0), rtol=1e-8)
    if kind == "product":
        assert_allclose(model.objective_, (half_ranges(X) @ abs(w)) ** 2 / 2 + C / 2 * squares)
        expected = abs(w) / half_ranges(X)
        assert_allclose(mu, expected / expected.sum(), atol=1e-6)


@loop("kind", CHEAP)
@loop("cost", [None, np.linspace(0.3, 2.0, 80)], ids=["alike", "weighted"])
def test_gradient_and_hessian_are_those_of_finite_differences(kind, cost):
    X, y = random(80, 5)
    problem = problem_of(X, y, 3.0, kind, cost)
    mu = np.array([0.3, 0.1, 0.2, 0.25, 0.15])
    point, step = problem.at(mu), 1e-5
    H = problem.hessian(point, np.arange(5))
    for k, unit in enumerate(np.eye(5)):
        above, below = problem.at(mu + step * unit), problem.at(mu - step * unit)
        assert (above.value - below.value) / (2 * step) == pytest.approx(-point.q[k] / 2, rel=1e-6)
        assert_allclose((below.q - above.q) / (4 * step), H[k], rtol=1e-5, atol=1e-6 * H.max())


@loop("kind", CHEAP)
def test_the_slow_iteration_agrees(kind):
    X, y = random(40, 4)
    problem = problem_of(X, y, 5.0, kind)
    learned = learn(problem, tol=1e-10)
    slow = slow_weights(problem, 1000)
    assert_allclose(learned.point.weights, slow, atol=1e-4)
    assert learned.point.value <= problem.at(slow).value * (1 + 1e-9)


@loop("kind", CHEAP)
@loop("C", [0.1, 10.0, 1000.0])
def test_the_certificate_is_a_bound_of_every_other_point(kind, C):
    X, y = cancer()
    problem = problem_of(X, y, C, kind)
    best = learn(problem, tol=1e-10).point.value
    rng = np.random.default_rng(0)
    for mu in rng.dirichlet(np.full(problem.size, 0.3), size=20):
        point = problem.at(mu)
        assert point.value * (1 - point.gap()) <= best <= point.value


@loop("kind", CHEAP)
@loop("shape", [(30, 100), (20, 400), (12, 190)], ids=str)
@loop("C", [1e-6, 1.0, 100.0, 1e4])
@loop("copies", [1, 3])
def test_no_more_weights_than_rows(kind, shape, C, copies):
    X, y = random(*shape)
    X = np.tile(X, copies)  # copies depend on each other: their weights may be shared or not
    model = MarginRadiusSVC(radius=kind, C=C).fit(X, y)
    assert model.duality_gap_[0] <= 1e-4
    assert 0 < np.count_nonzero(model.feature_weights_) <= len(y)
    assert_array_equal(np.flatnonzero(model.coef_[0]), model.support_features_)


def test_column_generation_finds_what_all_columns_find():
    X, y = random(50, 230)
    many = MarginRadiusSVC(C=10.0, tol=1e-9).fit(X, y)
    few = np.sort(np.argsort(-many.feature_weights_)[:150])
    less = MarginRadiusSVC(C=10.0, tol=1e-9).fit(X[:, few], y)
    assert_allclose(less.feature_weights_, many.feature_weights_[few], atol=1e-6)


# --- The machine ---------------------------------------------------------------------------------


@loop(("kind", "p"), NORMED)
@loop("C", [0.5, 20.0])
def test_at_its_weights_it_is_the_l2_svm(kind, p, C):
    X, y = cancer()
    model = MarginRadiusSVC(radius=kind, C=C, p=p).fit(X, y)
    K = Linear(weights=model.feature_weights_)(X)
    solution = SMO(tol=1e-8).solve(l2_svm(K, y, C / model.radius_[0] ** 2))
    assert_allclose(model.decision_function(X), K @ solution.beta + solution.nu[0], atol=1e-6)
    assert_allclose(model.margin_, 1 / np.sqrt(solution.beta @ K @ solution.beta), rtol=1e-6)


@loop("kind", RADII)
def test_dual_coefficients_are_those_of_the_kernel(kind):
    X, y = load_wine(return_X_y=True)
    model = MarginRadiusSVC(radius=kind).fit(X, y)
    assert model.decision_function(X).shape == (len(y), 3)
    for j, kernel in enumerate(model.kernel_):
        own = kernel(X, model.support_vectors_) @ model.dual_coef_[j] + model.intercept_[j]
        assert_allclose(model.decision_function(X)[:, j], own, atol=1e-6)
    assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X))
    if kind != "paper":  # which takes the column of the largest range alone
        assert model.score(X, y) > 0.95


@loop("kind", RADII)
def test_weights_sum_to_one_per_machine(kind):
    X, y = load_iris(return_X_y=True)
    model = MarginRadiusSVC(radius=kind).fit(X, y)
    assert model.feature_weights_.shape == (3, 4)
    assert_allclose(model.feature_weights_.sum(axis=1), 1.0)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    for attribute in (model.radius_, model.margin_, model.duality_gap_, model.objective_):
        assert attribute.shape == (3,)
    single = MarginRadiusSVC(radius=kind, tol=1e-7).fit(X, y == 1)
    same = MarginRadiusSVC(radius=kind, tol=1e-7).fit(X, y)
    assert_allclose(same.feature_weights_[1], single.feature_weights_, atol=1e-5)


@loop("kind", RADII)
def test_inequality_4_of_the_paper(kind):
    """max mu_k R_k^2 <= R_mu^2 <= sum mu_k R_k^2 <= max R_k^2 <= 1, the last for unit rows."""
    X, y = cancer()
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = MarginRadiusSVC(radius=kind, C=10.0, unit_norm=True).fit(X, y)
    rng = np.random.default_rng(0)
    for mu in [model.feature_weights_, *rng.dirichlet(np.ones(X.shape[1]), size=5)]:
        exact = radius(Linear(weights=mu)(X), tol=1e-10) ** 2
        squares = half_ranges(X) ** 2
        bounds = [(mu * squares).max(), exact, mu @ squares, squares.max(), 1.0]
        assert (np.diff(bounds) >= -1e-9).all()


# --- The ball ------------------------------------------------------------------------------------


def value_of_6(X, y, C, mu):
    """Return problem (6) at some weights: the exact ball, and the exact machine."""
    K = Linear(weights=mu)(X)
    squared = radius(K, tol=1e-10) ** 2
    qp = l2_svm(K, y, C / squared)
    return squared * -SMO(tol=1e-9).solve(qp).objective


@loop("C", [0.1, 10.0, 1000.0])
def test_ball_is_feasible_and_no_other_weights_are_better(C):
    X, y = cancer(rows=100, columns=8)
    model = MarginRadiusSVC(radius="ball", C=C).fit(X, y)
    mu, w = model.feature_weights_, model.coef_[0]
    assert (mu >= 0).all()
    assert mu.sum() == pytest.approx(1.0)
    assert_allclose(model.radius_, radius(Linear(weights=mu)(X), tol=1e-10), rtol=1e-8)
    squares = (slack(model, X, y) ** 2).sum()
    norm = (w[mu > 0] ** 2 / mu[mu > 0]).sum()
    assert_allclose(model.objective_, norm * model.radius_**2 / 2 + C / 2 * squares, rtol=1e-8)
    best = value_of_6(X, y, C, mu)
    assert_allclose(model.objective_, best, rtol=1e-6)
    assert model.duality_gap_[0] <= 1e-6
    rng = np.random.default_rng(0)
    for size in [0.01, 0.1, 0.5]:
        for other in rng.dirichlet(np.ones(len(mu)), size=5):
            assert value_of_6(X, y, C, (1 - size) * mu + size * other) >= best * (1 - 1e-7)
    for kind in CHEAP:  # their weights are candidates of problem (6) as well
        theirs = MarginRadiusSVC(radius=kind, C=C).fit(X, y).feature_weights_
        assert value_of_6(X, y, C, theirs) >= best * (1 - 1e-7)


def test_ball_refuses_many_columns_and_other_norms():
    X, y = random(30, 61)
    with pytest.raises(ValueError, match="at most 60 columns"):
        MarginRadiusSVC(radius="ball").fit(X, y)
    with pytest.raises(ValueError, match="has no meaning with radius='ball'"):
        MarginRadiusSVC(radius="ball", p=2.0).fit(X[:, :5], y)


def test_ball_without_the_cone_solver_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ImportError, match=re.escape("kernelwise[cone]")):
        MarginRadiusSVC(radius="ball").fit(*random(30, 4))


# --- Other norms ---------------------------------------------------------------------------------


@loop("kind", CHEAP)
@loop("p", [1.05, 1.5, 2.0, 5.0])
@loop("C", [0.1, 10.0, 1000.0])
def test_norms_above_one_reach_their_gap(kind, p, C):
    X, y = cancer()
    learned = learn(problem_of(X, y, C, kind), p=p, tol=1e-8)
    m, q = learned.point.weights, learned.point.q
    assert learned.status == "converged"
    assert learned.gap <= 1e-8
    assert learned.n_solves <= 60
    assert (m**p).sum() == pytest.approx(1.0)
    # Optimal: m_k^(p - 1) is proportional to q_k.
    assert_allclose(m ** (p - 1) * (m @ q), q, rtol=0.05 if p == 1.05 else 2e-3)


def test_norms_order_the_objective():
    """A larger p is a larger ball."""
    X, y = random(60, 6)
    problem = problem_of(X, y, 5.0)
    values = [learn(problem, p=p, tol=1e-8).point.value for p in (1.0, 1.2, 2.0, 4.0)]
    assert (np.diff(values) < 0).all()


def test_many_columns_with_a_norm_above_one():
    X, y = random(40, 500)
    model = MarginRadiusSVC(p=2.0).fit(X, y)
    assert model.duality_gap_[0] <= 1e-4
    assert (model.feature_weights_ > 0).all()


@loop("kind", CHEAP)
def test_a_norm_below_one_is_sparser_and_stationary(kind):
    X, y = cancer(150, 30)
    problem = problem_of(X, y, 10.0, kind)
    sparse, convex = learn(problem, p=0.5, tol=1e-4), learn(problem)
    m, q = sparse.point.weights, sparse.point.q
    assert sparse.status == "converged"
    assert 0 < np.count_nonzero(m) <= np.count_nonzero(convex.point.weights)
    assert_allclose(m * q, m**0.5 * (m @ q), atol=1e-4 * (m @ q))
    assert sparse.point.value * (1 - sparse.gap) <= convex.point.value <= sparse.point.value


# --- Edges ---------------------------------------------------------------------------------------


@loop(("kind", "p"), NORMED)
def test_constant_columns_have_no_weight(kind, p):
    X, y = cancer(100, 6)
    wide = np.insert(X, [0, 3], [7.0, -1e6], axis=1)
    settings = {"radius": kind, "p": p, "tol": 1e-6}
    model, narrow = (MarginRadiusSVC(**settings).fit(T, y) for T in (wide, X))
    assert_array_equal(model.feature_weights_[[0, 4]], 0.0)
    assert_array_equal(np.delete(model.feature_weights_, [0, 4]), narrow.feature_weights_)
    assert_allclose(model.decision_function(wide), narrow.decision_function(X), atol=1e-9)


@loop("kind", RADII)
def test_a_table_of_constants(kind):
    X, y = np.ones((10, 3)), np.arange(10) % 3 == 0
    model = MarginRadiusSVC(radius=kind).fit(X, y)
    assert_array_equal(model.coef_, 0.0)
    assert not model.predict(X).any()


@loop("kind", RADII)
def test_one_column(kind):
    X, y = cancer(100, 1)
    model = MarginRadiusSVC(radius=kind).fit(X, y)
    assert_array_equal(model.feature_weights_, 1.0)
    assert_allclose(model.radius_, half_ranges(X))
    assert model.duality_gap_[0] <= 1e-9


@loop("kind", RADII)
def test_copies_of_a_column_change_nothing(kind):
    X, y = cancer(100, 6)
    model = MarginRadiusSVC(radius=kind, tol=1e-8).fit(X, y)
    copied = MarginRadiusSVC(radius=kind, tol=1e-8).fit(X[:, [0, 1, 2, 3, 4, 5, 2, 2]], y)
    own = copied.feature_weights_[:6].copy()
    own[2] += copied.feature_weights_[6:].sum()
    assert_allclose(own, model.feature_weights_, atol=1e-4)
    assert_allclose(copied.objective_, model.objective_, rtol=1e-6)


@loop("kind", ["product", "ball"])
@loop("scale", [10.0 ** np.arange(-6, 6), np.full(12, 1e100)], ids=["mixed", "huge"])
def test_the_units_of_the_columns_do_not_matter(kind, scale):
    X, y = cancer(100, 12)
    model = MarginRadiusSVC(radius=kind, C=10.0, tol=1e-6).fit(X, y)
    other = MarginRadiusSVC(radius=kind, C=10.0, tol=1e-6).fit(X * scale, y)
    assert_allclose(other.decision_function(X * scale), model.decision_function(X), atol=1e-6)
    assert_allclose(other.feature_importances_, model.feature_importances_, atol=1e-8)
    assert_allclose(other.objective_, model.objective_, rtol=1e-9)
    expected = model.feature_weights_ / scale**2
    assert_allclose(other.feature_weights_, expected / expected.sum(), rtol=1e-5, atol=1e-300)


@loop("kind", RADII)
def test_a_common_unit_and_shifts_do_not_matter(kind):
    X, y = cancer(100, 12)
    model = MarginRadiusSVC(radius=kind, tol=1e-6).fit(X, y)
    moved = 1e3 * X + np.arange(12) * 1e4
    other = MarginRadiusSVC(radius=kind, tol=1e-6).fit(moved, y)
    assert_allclose(other.feature_weights_, model.feature_weights_, atol=1e-6)
    assert_allclose(other.decision_function(moved), model.decision_function(X), atol=1e-6)


def test_values_whose_squares_overflow_are_refused():
    X, y = random(30, 4)
    with pytest.raises(ValueError, match="too large or too small"):
        MarginRadiusSVC().fit(X * 1e200, y)


def test_the_paper_prefers_columns_of_large_range():
    """The defect of the relaxation: for a small C the widest column takes all."""
    X, y = cancer(150, 12)
    R = half_ranges(X)
    model = MarginRadiusSVC(radius="paper", C=1e-4).fit(X, y)
    assert_array_equal(model.support_features_, [R.argmax()])
    assert len(MarginRadiusSVC(C=1e-4).fit(X, y).support_features_) >= 1


# --- Spaces --------------------------------------------------------------------------------------


def test_degree_two_is_the_machine_on_products():
    X, y = cancer(100, 4)
    columns = PolynomialFeatures(2, include_bias=False).fit(X)
    model = MarginRadiusSVC(degree=2).fit(X, y)
    plain = MarginRadiusSVC().fit(columns.transform(X), y)
    assert_array_equal(model.feature_weights_, plain.feature_weights_)
    assert_array_equal(model.column_coef_, plain.coef_)
    assert_array_equal(model.decision_function(X), plain.decision_function(columns.transform(X)))
    powers = columns.powers_ / columns.powers_.sum(axis=1, keepdims=True)
    assert_allclose(model.feature_importances_, plain.feature_importances_ @ powers)
    assert not hasattr(model, "coef_")


@loop("kernel", ["rbf", "laplacian", RBF(gamma=0.1)], ids=str)
def test_a_kernel_is_the_machine_on_its_components(kernel):
    X, y = cancer(100, 4)
    model = MarginRadiusSVC(kernel=kernel, C=10.0).fit(X, y)
    columns = EmpiricalMap.of(model.kernel_, X)
    plain = MarginRadiusSVC(C=10.0).fit(columns.apply(X), y)
    assert_allclose(model.decision_function(X), plain.decision_function(columns.apply(X)))
    assert len(model.support_features_) < columns.n_components
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(ValueError, match="does not take rows"):
        clone(model).set_params(kernel=FunctionKernel(np.dot)).fit(X, y)


def test_rows_of_unit_norm():
    X, y = cancer(100, 6)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = MarginRadiusSVC(C=1.0, unit_norm=True).fit(X, y)
    plain = MarginRadiusSVC(C=1.0).fit(rows, y)
    assert_array_equal(model.feature_weights_, plain.feature_weights_)
    assert_allclose(model.decision_function(3 * X[:5]), plain.decision_function(rows[:5]))


# --- In use --------------------------------------------------------------------------------------


PAPER_COSTS = [0.1, 1.0, 10.0, 100.0, 500.0, 1000.0]


@loop("kind", CHEAP)
def test_the_path_of_C_is_warm_and_exact(kind):
    X, y = cancer(150, 30)
    path = MarginRadiusSVC(radius=kind).C_path(X, y, PAPER_COSTS[::-1])
    assert_array_equal(path.C, PAPER_COSTS)
    cold = [MarginRadiusSVC(radius=kind, C=C).fit(X, y) for C in path.C]
    assert_allclose(path.objective, [model.objective_[0] for model in cold], rtol=1e-4)  # the gap
    assert_array_equal(path.n_features, [len(m.support_features_) for m in path.estimators])
    assert path.n_features[0] < path.n_features[-1]
    assert path.n_solves.sum() < sum(model.n_solves_ for model in cold)


@loop("p", [0.5, 2.0])
def test_a_start_with_zeros_binds_no_other_norm(p):
    X, y = random(60, 20)
    problem = problem_of(X, y, 5.0)
    start = learn(problem).point.weights
    assert (start == 0).any()
    assert_array_equal(
        learn(problem, p=p, start=start).point.weights, learn(problem, p=p).point.weights
    )


def test_warm_start_takes_one_solve():
    X, y = cancer(150, 30)
    model = MarginRadiusSVC(warm_start=True).fit(X, y)
    first, weights = model.n_solves_, model.feature_weights_
    assert first > 1
    assert model.fit(X, y).n_solves_ == 1
    assert_allclose(model.feature_weights_, weights)


def test_selectors():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X[:200])
    y = y[:200]
    chosen = SelectFromModel(MarginRadiusSVC(), threshold=1e-12).fit(X, y)
    model = MarginRadiusSVC().fit(X, y)
    assert_array_equal(np.flatnonzero(chosen.get_support()), model.support_features_)
    eliminated = RFE(
        MarginRadiusSVC(), n_features_to_select=5, step=5, importance_getter="feature_importances_"
    )
    assert eliminated.fit(X, y).n_features_ == 5
    assert RFECV(MarginRadiusSVC(), step=10, cv=2).fit(X, y).n_features_ >= 1


def test_threads_change_nothing():
    X, y = load_wine(return_X_y=True)
    one, two = (MarginRadiusSVC(n_jobs=n).fit(X, y) for n in (None, 2))
    assert_array_equal(one.feature_weights_, two.feature_weights_)


def test_verbose_prints_a_line_a_step(capsys):
    X, y = cancer()
    model = MarginRadiusSVC(verbose=True).fit(X, y)
    assert capsys.readouterr().out.count("machine 1, step") == model.n_iter_


def test_too_few_steps_warn():
    X, y = cancer(150, 30)
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        model = MarginRadiusSVC(C=1000.0, max_iter=1).fit(X, y)
    assert model.fit_status_ == 1


def test_bounds_of_refuses_squared_slack():
    X, y = cancer()
    with pytest.raises(ValueError, match="hinge loss"):
        bounds_of(MarginRadiusSVC().fit(X, y), X, y)
