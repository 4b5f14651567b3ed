"""AdaptiveKernelSVC: the choice against slow evaluations of its rule, and what surrounds it."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as Reference

from kernelwise.kernels import RBF, Linear, Polynomial, Ridge
from kernelwise.qp import hard_margin
from kernelwise.svm import SVC, AdaptiveKernelSVC
from kernelwise.svm.paths.rows import TrainingRows
from kernelwise.svm.paths.selection import SpanCriterion
from tests.criteria.cone import squared_radius as cone_radius
from tests.loop import loop
from tests.oracles import decisions_of, descend, naive_kernel, role_of
from tests.svm.base.test_progress import TaskCounter
from tests.svm.problems import data, task_of

SMALL = {"widths": [0.5, 1.0, 3.0], "C": [0.1, 1.0, 10.0, 100.0]}
HARD = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def some(name, n, seed=0):
    X, y = data(name)
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[rows], y[rows]


def sonar_like(n=120):
    """Two classes, many columns, separable: a hard margin exists at every width."""
    return make_classification(n, 40, n_informative=12, n_redundant=0, random_state=1)


def codes_of(y):
    classes = np.unique(y)
    kept = classes[1:] if len(classes) == 2 else classes
    return np.column_stack([np.where(y == label, 1.0, -1.0) for label in kept])


# --- The rule, evaluated slowly ------------------------------------------------------------------


def slow_span(K, beta, C):
    """Return the squared spans, each from its definition in the page."""
    role, out = role_of(beta, C), np.zeros(len(beta))
    free = np.flatnonzero(role == 1)
    m = len(free)
    bordered = np.zeros((m + 1, m + 1))
    bordered[:m, :m] = K[np.ix_(free, free)] + 1e-8 * np.eye(m)
    bordered[m, :m] = bordered[:m, m] = 1
    for i in np.flatnonzero(role):
        if m < 2:
            out[i] = K[i, i]
        elif role[i] == 1:
            out[i] = 1 / np.linalg.inv(bordered)[list(free).index(i), list(free).index(i)]
        else:
            k = np.append(K[i, free], 1.0)
            out[i] = max(0.0, K[i, i] - k @ np.linalg.solve(bordered, k))
    return out


def slow_machine(K, y, C):
    """Solve one machine by scikit-learn; return beta and the decision values."""
    model = Reference(kernel="precomputed", C=C, tol=1e-9).fit(K, y)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    return beta, K @ beta + model.intercept_[0]


def slow_rule(decisions, Y):
    if Y.shape[1] == 1:
        margins = (decisions * Y)[:, 0]
    else:
        own = [row[code > 0][0] for row, code in zip(decisions, Y, strict=True)]
        rival = [row[code < 0].max() for row, code in zip(decisions, Y, strict=True)]
        margins = (np.array(own) - rival) / 2
    error = np.mean(margins <= 0)
    return error, error + np.mean(1 / (1 + np.exp(5 * margins)))


@loop(("name", "n"), [("moons", 80), ("cancer", 90), ("iris", 90)])
def test_the_choice_is_that_of_the_rule(name, n):
    X, first = np.unique(some(name, n)[0], axis=0, return_index=True)
    y = some(name, n)[1][first]
    Y = codes_of(y)
    model = AdaptiveKernelSVC(**SMALL, tol=1e-6).fit(X, y)
    point = 0
    for sigma in SMALL["widths"]:
        K = naive_kernel(RBF(0.5 / sigma**2), X)
        for C in SMALL["C"]:
            left_out = []
            for code in Y.T:
                beta, decisions = slow_machine(K, code, C)
                left_out.append(decisions - beta * slow_span(K, beta, C))
            error, score = slow_rule(np.column_stack(left_out), Y)
            assert model.path_["sigma"][point] == pytest.approx(sigma)
            assert model.path_["C"][point] == C
            assert model.path_["loo_error"][point] == pytest.approx(error, abs=1e-9)
            assert model.path_["score"][point] == pytest.approx(score, abs=1e-4)
            point += 1
    assert model.best_index_ == np.argmin(model.path_["score"])
    assert model.loo_error_ == model.path_["loo_error"][model.best_index_]


def test_the_machine_is_that_of_the_chosen_point():
    X, y = data("cancer")
    model = AdaptiveKernelSVC().fit(X, y)
    same = Reference(C=model.C_, gamma=model.gamma_, tol=1e-9).fit(X, y)
    assert model.gamma_ == pytest.approx(1 / (2 * model.sigma_**2))
    assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-5)
    assert model.certificate_.violation.max() < 1e-9


def test_ties_go_to_the_smaller_cost_then_to_the_larger_width():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    for y in ([0, 1, 0, 1], [0, 0, 1, 1]):
        path = AdaptiveKernelSVC(widths=[0.01, 0.02], C=[5.0, 7.0, 9.0]).fit(X, y)
        # K is the identity at both widths, and no coefficient reaches its bound.
        assert len(set(path.path_["score"])) == 1
        assert (path.C_, path.sigma_) == (5.0, 0.02)


def test_leaving_one_copy_out_is_refitting_with_one_copy_less():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 2)), np.where(np.arange(24) % 2, 1.0, -1.0)
    K, C, counts = naive_kernel(RBF(0.5), X), 2.0, np.where(np.arange(24) % 3, 1.0, 3.0)
    beta, decisions = decisions_of(K, y, C * counts)
    solution = type("Solved", (), {"beta": beta, "gradient": decisions - y, "nu": np.zeros(1)})
    seen = []

    class Watched(SpanCriterion):
        def score(self, decisions, rows=slice(None)):
            seen.append(decisions[:, 0])
            return 0.0, 0.0

    classes = (y > 0).astype(int)
    rows = TrainingRows.of(task_of(X, classes, counts), merge=False)
    Watched(rows).evaluate(K, C, [solution])
    compared = 0
    for i in range(24):
        fewer = counts - (np.arange(24) == i)
        beta_i, decisions_i = decisions_of(K, np.where(fewer > 0, y, 0), C * fewer)
        others = np.arange(24) != i
        if np.array_equal(role_of(beta_i, C * fewer)[others], role_of(beta, C * counts)[others]):
            assert seen[0][i] == pytest.approx(decisions_i[i], abs=1e-5)
            compared += 1
    assert compared > 5


# --- The paper's way ------------------------------------------------------------------------------


def test_one_width_with_a_hard_margin_is_the_hard_margin_machine():
    X, y = sonar_like()
    model = AdaptiveKernelSVC(widths=[5.0], criterion="bound").fit(X, y)
    K, code = naive_kernel(RBF(0.02), X), codes_of(y)[:, 0]
    beta = descend(hard_margin(K, code))
    same = Reference(C=1e8, gamma=0.02, tol=1e-9).fit(X, y)
    assert np.isinf(model.C_)
    assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-5)
    assert model.bound_ == pytest.approx(np.abs(beta).sum() / len(y), rel=1e-6)
    assert model.margin_[0] == pytest.approx(1 / np.sqrt(beta @ K @ beta), rel=1e-6)


@loop("C", [np.inf, 0.5])
def test_the_adatron_has_no_bias_and_solves_its_problem(C):
    X, y = sonar_like(60)
    model = AdaptiveKernelSVC(solver="adatron", criterion="bound", C=C, widths=[3.0], tol=1e-9)
    model.fit(X, y)
    beta, decisions = decisions_of(naive_kernel(RBF(1 / 18), X), codes_of(y)[:, 0], C, bias=False)
    assert_array_equal(model.intercept_, [0.0])
    assert_allclose(model.decision_function(X), decisions, atol=1e-6)
    assert model.bound_ == pytest.approx(np.abs(beta).sum() / len(y), rel=1e-6)


def test_the_adatron_with_a_bias_is_the_machine_of_smo():
    X, y = sonar_like()
    paper = AdaptiveKernelSVC(bias=True, criterion="radius", widths=[2.0, 4.0, 6.0], tol=1e-6)
    paths = [clone(paper).set_params(solver=solver).fit(X, y) for solver in ("smo", "adatron")]
    for column in ("bound", "radius", "margin"):
        assert_allclose(paths[0].path_[column], paths[1].path_[column], rtol=1e-4)
    assert paths[0].sigma_ == paths[1].sigma_


@loop("criterion", ["bound", "radius"])
def test_the_lowest_bound_wins(criterion):
    X, y = sonar_like()
    model = AdaptiveKernelSVC(criterion=criterion, tol=1e-6).fit(X, y)
    path = model.path_
    assert (path["C"] == np.inf).all()
    assert (np.diff(path["sigma"]) > 0).all()
    assert_allclose(path["score"], path["bound"])
    assert model.best_index_ == np.argmin(path["bound"])
    assert 0 < model.best_index_ < 10
    # The margin of a hard machine is 1 / sqrt(sum alpha).
    assert_allclose(path["bound"], (path["radius"] / path["margin"]) ** 2 / len(y), rtol=1e-4)
    if criterion == "bound":
        assert_array_equal(path["radius"], 1.0)
    else:
        assert (path["radius"] < 1).all()


@loop("solver", ["smo", "adatron"])
def test_warm_starts_take_fewer_steps_than_cold_ones(solver):
    X, y = sonar_like()
    widths = np.arange(1.0, 8.0, 0.5)
    how = {"solver": solver, "criterion": "bound"}
    path = AdaptiveKernelSVC(widths=widths, **how).fit(X, y).path_
    cold = [AdaptiveKernelSVC(widths=[width], **how).fit(X, y).path_ for width in widths]
    cold = np.array([each["n_iter"][0] for each in cold])
    assert path["n_iter"][0] == cold[0]
    assert path["n_iter"].sum() < cold.sum()


@loop("solver", ["smo", "adatron"])
def test_a_hard_margin_that_does_not_exist_is_told_of(solver):
    X, y = sonar_like(60)
    X, y = np.vstack([X, X[:3]]), np.append(y, 1 - y[:3])
    model = AdaptiveKernelSVC(solver=solver, criterion="bound", widths=3, max_iter=500)
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(X, y)
    assert "3 of the 3 points" in str(told[0].message)
    assert "finite C" in str(told[0].message)
    assert told[0].filename == __file__
    assert not model.path_["converged"].any()
    assert model.fit_status_ == 1
    soft = AdaptiveKernelSVC(solver=solver, C=1.0, widths=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert soft.fit(X, y).score(X, y) > 0.8


def test_points_that_do_not_converge_are_left_out():
    X, y = some("noisy", 150)
    with pytest.warns(ConvergenceWarning, match="left out of the selection"):
        model = AdaptiveKernelSVC(criterion="bound", max_iter=400).fit(X, y)
    assert not model.path_["converged"].all()
    assert model.path_["converged"][model.best_index_]


def test_class_weights_do_not_move_a_hard_margin():
    X, y = sonar_like()
    plain = AdaptiveKernelSVC(widths=[5.0], criterion="bound").fit(X, y)
    weighted = clone(plain).set_params(class_weight={np.unique(y)[0]: 100.0}).fit(X, y)
    assert_allclose(weighted.decision_function(X), plain.decision_function(X), atol=1e-6)


# --- The path ------------------------------------------------------------------------------------


@HARD
@loop("criterion", ["span", "bound", "radius", "cv", "validation"])
@loop("name", ["moons", "iris"])
def test_the_path_is_a_table(name, criterion):
    X, y = some(name, 100)
    model = AdaptiveKernelSVC(criterion=criterion).fit(X, y)
    frame = pd.DataFrame(model.path_)
    assert len(frame) == (11 if criterion in ("bound", "radius") else 55)
    assert list(frame)[:3] == ["sigma", "gamma", "C"]
    scale = np.sqrt(np.unique(X, axis=0).var(axis=0).sum())
    assert_allclose(frame.sigma.min() / scale, 0.25, rtol=0.05)
    assert_allclose(frame.sigma.max() / frame.sigma.min(), 32)
    assert_allclose(frame.gamma, 0.5 / frame.sigma**2)
    held_out = criterion in ("cv", "validation")
    assert frame.loo_error.notna().all() == (criterion == "span")
    assert frame.held_out_error.notna().all() == held_out
    assert frame.bound.isna().all() == frame.margin.isna().all() == held_out
    assert frame.score.notna().all()
    assert (frame.n_iter[~frame.solved] == 0).all()
    best = frame.loc[model.best_index_]
    assert (best.sigma, best.gamma, best.C) == (pytest.approx(model.sigma_), model.gamma_, model.C_)
    assert best.radius == model.radius_
    assert model.bound_ > 0
    assert model.margin_.shape == (1 if name == "moons" else 3,)
    assert model.n_solves_ >= frame.solved.sum() + 1


def test_a_settled_point_is_what_solving_it_would_give():
    X, y = sonar_like()
    costs = [1.0, 10.0, 100.0, 1000.0]
    path = AdaptiveKernelSVC(widths=[2.0, 6.0], C=costs, tol=1e-6).fit(X, y).path_
    assert not path["solved"].all()
    for number in np.flatnonzero(~path["solved"]):
        width, C = path["sigma"][number], path["C"][number]
        alone = AdaptiveKernelSVC(widths=[width], C=C, tol=1e-6).fit(X, y).path_
        for column in ("bound", "margin", "loo_error", "score"):
            assert path[column][number] == pytest.approx(alone[column][0], abs=1e-4)


def test_the_spread_of_the_rows_is_the_unit_of_the_widths():
    X, y = data("wine")
    plain = AdaptiveKernelSVC(widths=3).fit(X, y)
    scaled = AdaptiveKernelSVC(widths=3).fit(1000 * X, y)
    assert_allclose(scaled.path_["sigma"], 1000 * plain.path_["sigma"])
    assert scaled.best_index_ == plain.best_index_
    assert_array_equal(scaled.predict(1000 * X), plain.predict(X))


@loop("criterion", ["span", "cv", "validation"])
@loop("name", ["iris", "moons"])
def test_a_weight_of_two_is_a_row_given_twice(name, criterion):
    X, y = some(name, 80)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = AdaptiveKernelSVC(criterion=criterion).fit(X, y, sample_weight=weights)
    shuffled = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weights))
    repeated = AdaptiveKernelSVC(criterion=criterion).fit(X[shuffled], y[shuffled])
    assert_array_equal(weighted.path_["score"], repeated.path_["score"])
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)


@loop("criterion", ["span", "cv"])
def test_neither_threads_nor_the_order_of_the_rows_change_the_path(criterion):
    X, y = some("iris", 90)
    one = AdaptiveKernelSVC(criterion=criterion).fit(X, y)
    two = AdaptiveKernelSVC(criterion=criterion, n_jobs=2).fit(X[::-1], y[::-1])
    assert_array_equal(one.path_["score"], two.path_["score"])
    assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-9)


def test_class_weights_count_in_the_machines():
    X, y = data("imbalanced")
    plain = AdaptiveKernelSVC(widths=5).fit(X, y)
    balanced = AdaptiveKernelSVC(widths=5, class_weight="balanced").fit(X, y)
    assert (balanced.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()
    same = Reference(C=balanced.C_, gamma=balanced.gamma_, class_weight="balanced", tol=1e-9)
    assert_allclose(balanced.decision_function(X), same.fit(X, y).decision_function(X), atol=1e-6)


# --- Held-out rows -------------------------------------------------------------------------------


def test_a_held_out_row_is_judged_by_machines_without_it():
    X, y = some("moons", 60)
    widths, C = [0.3, 1.0], 10.0
    model = AdaptiveKernelSVC(criterion="cv", n_folds=60, widths=widths, C=C, tol=1e-6).fit(X, y)
    for sigma, error, score in zip(
        widths, model.path_["held_out_error"], model.path_["score"], strict=True
    ):
        decisions = []
        for i in range(60):
            others = np.arange(60) != i
            svc = Reference(gamma=0.5 / sigma**2, C=C, tol=1e-9).fit(X[others], y[others])
            decisions.append(svc.decision_function(X[[i]]))
        expected = slow_rule(np.array(decisions), codes_of(y))
        assert (error, score) == (pytest.approx(expected[0]), pytest.approx(expected[1], abs=1e-4))


def test_validation_holds_out_the_same_part_of_each_class():
    X, y = data("imbalanced")
    models = [
        AdaptiveKernelSVC(criterion="validation", widths=3, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    assert_array_equal(models[0].path_["score"], models[1].path_["score"])
    assert (models[0].path_["score"] != models[2].path_["score"]).any()
    parts = models[0].path_["held_out_error"] * 60  # a fifth of 300 rows
    assert_allclose(parts, parts.round(), atol=1e-6)


# --- Other kernels -------------------------------------------------------------------------------


def test_another_parameter_can_be_walked():
    X, y = data("moons")
    model = AdaptiveKernelSVC(
        kernel="poly", parameter="degree", values=[3, 1, 2], gamma=1.0, coef0=1.0, C=[0.1, 1.0]
    ).fit(X, y)
    assert_array_equal(np.unique(model.path_["degree"]), [1, 2, 3])
    assert "sigma" not in model.path_
    assert model.kernel_ == Polynomial(1.0, degree=3, coef0=1.0)
    with pytest.raises(AttributeError, match="RBF"):
        model.sigma_  # noqa: B018


@loop(
    ("kernel", "parameter"),
    [
        ("laplacian", "gamma"),
        ("matern32", "gamma"),
        ("poly", "gamma"),
        (0.5 * RBF(), "kernel__gamma"),
        (RBF(weights=[1.0, 0.0]) + Ridge(0.1), "left__gamma"),
    ],
)
def test_widths_suit_every_kernel_with_a_gamma(kernel, parameter):
    X, y = data("moons")
    model = AdaptiveKernelSVC(kernel=kernel, parameter=parameter, C=[0.01, 0.1]).fit(X, y)
    assert len(model.path_[parameter]) == 22
    assert (np.diff(model.path_[parameter]) <= 0).all()  # from narrow to wide
    assert model.score(X, y) > 0.7


@loop("kernel", ["linear", "precomputed", lambda A, B: A @ B.T])
def test_the_cost_alone_can_be_walked(kernel):
    X, y = some("cancer", 120)
    rows = X @ X.T if kernel == "precomputed" else X
    model = AdaptiveKernelSVC(kernel=kernel, parameter=None).fit(rows, y)
    linear = AdaptiveKernelSVC(kernel=Linear(), parameter=None).fit(X, y)
    assert next(iter(model.path_)) == "C"
    assert_allclose(model.path_["score"], linear.path_["score"], atol=1e-3)
    assert_array_equal(model.predict(rows), linear.predict(X))


def test_sparse_rows_give_the_same():
    X, y = data("iris")
    dense = AdaptiveKernelSVC().fit(X, y)
    sparse = AdaptiveKernelSVC().fit(sp.csr_array(X), y)
    assert (sparse.C_, sparse.sigma_) == (dense.C_, pytest.approx(dense.sigma_))
    assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-6)


# --- Small, large and strange tables --------------------------------------------------------------


@HARD
@loop("criterion", ["span", "bound", "radius", "cv", "validation"])
@loop("solver", ["smo", "adatron"])
def test_strange_tables(criterion, solver):
    rng = np.random.default_rng(0)
    tables = {
        "ten rows": (rng.normal(size=(10, 3)), np.arange(10) % 2),
        "one row of a class": (rng.normal(size=(12, 3)), np.append(np.arange(11) % 2, 2)),
        "constant columns": (
            np.hstack([rng.normal(size=(30, 1)), np.ones((30, 2))]),
            np.arange(30) % 2,
        ),
        "two different rows": (np.ones((20, 2)), np.arange(20) % 2),
        "more columns than rows": (rng.normal(size=(20, 100)), np.arange(20) % 3),
        "conflicting copies": (np.repeat(rng.normal(size=(10, 2)), 3, axis=0), np.arange(30) % 2),
        "large values": (1e100 * rng.normal(size=(20, 2)), np.arange(20) % 2),
    }
    if criterion == "validation":
        del tables["two different rows"]  # none can be held out
    for name, (X, y) in tables.items():
        model = AdaptiveKernelSVC(criterion=criterion, solver=solver, max_iter=300, widths=4)
        assert np.isfinite(model.fit(X, y).decision_function(X)).all(), name
        assert set(model.predict(X)) <= set(y), name


def test_names_of_columns_and_classes():
    X, y = data("iris")
    names = np.array(["setosa", "versicolor", "virginica"])
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = AdaptiveKernelSVC().fit(frame, names[y])
    assert_array_equal(model.classes_, names)
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert_array_equal(model.predict(frame), names[AdaptiveKernelSVC().fit(X, y).predict(X)])


def test_many_rows_are_judged_by_some_of_them_and_fitted_all():
    X, y = make_blobs(1200, 3, centers=3, cluster_std=3.0, random_state=0)
    model = AdaptiveKernelSVC(max_rows=300).fit(X, y)
    assert model.n_path_rows_ == 300
    same = AdaptiveKernelSVC(widths=[model.sigma_], C=model.C_).fit(X, y)
    assert same.n_path_rows_ == 1200
    assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-6)
    assert_array_equal(
        AdaptiveKernelSVC(max_rows=300).fit(X, y).path_["score"], model.path_["score"]
    )
    assert 490 < AdaptiveKernelSVC(cache_size=1e-3, widths=2).fit(X, y).n_path_rows_ <= 500


def test_the_adatron_says_how_much_memory_it_needs():
    X, y = make_blobs(800, 3, centers=2, random_state=0)
    with pytest.raises(ValueError, match="5 MB; raise cache_size"):
        AdaptiveKernelSVC(solver="adatron", cache_size=2, C=1.0, widths=2).fit(X, y)


def test_a_warm_start_takes_fewer_steps():
    X, y = data("noisy")
    model = AdaptiveKernelSVC(widths=[4.0], C=[10.0], warm_start=True).fit(X, y)
    first, decisions = model.n_iter_[0], model.decision_function(X)
    assert model.fit(X, y).n_iter_[0] <= first / 10
    assert_allclose(model.decision_function(X), decisions, atol=1e-6)
    more = np.vstack([X, X[:20] + 0.1])
    warm = model.fit(more, np.append(y, y[:20]))
    cold = clone(model).fit(more, np.append(y, y[:20]))
    assert warm.n_iter_[0] < cold.n_iter_[0]
    assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-6)


# --- Telling on the way ---------------------------------------------------------------------------


def test_scikit_learn_callbacks_see_a_task_a_kernel():
    counter = TaskCounter()
    AdaptiveKernelSVC(widths=3).set_callbacks(counter).fit(*data("iris"))
    kernels = [("kernel", number) for number in range(3)]
    assert sorted(counter.begun) == sorted(counter.ended) == [("fit", 0), *kernels, ("machines", 3)]


def test_our_callback_sees_each_point_and_may_end_the_walk():
    seen = []
    model = AdaptiveKernelSVC(callback=seen.append).fit(*data("iris"))
    assert [point.score for point in seen] == list(model.path_["score"])
    short = AdaptiveKernelSVC(callback=lambda point: point.value < 0.5).fit(*data("iris"))
    assert 0 < len(short.path_["score"]) < 55
    assert len(short.path_["score"]) % 5 == 0


def test_verbose_prints_a_line_a_kernel(capsys):
    AdaptiveKernelSVC(widths=3, verbose=True).fit(*data("iris"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all("gamma=" in line and "best score" in line for line in lines)


def test_it_works_in_a_pipeline():
    X, y = data("wine")
    model = make_pipeline(StandardScaler(), AdaptiveKernelSVC()).fit(X, y)
    assert model.score(X, y) > 0.98


# --- What is refused ------------------------------------------------------------------------------


@loop(
    ("params", "message"),
    [
        ({"values": [1.0], "widths": [1.0]}, "not both"),
        ({"parameter": "foo"}, r"has no parameter 'foo'; it has \['gamma', 'weights'\]"),
        ({"kernel": "poly", "parameter": "degree"}, "give values to walk over the kernel's 'deg"),
        ({"parameter": None, "widths": 3}, "parameter=None walks C alone"),
        ({"kernel": "precomputed"}, "parameter=None to walk C alone"),
        ({"C": [0.0, 1.0]}, "C must be positive"),
        ({"C": [1.0, np.nan]}, "C must be positive"),
        ({"C": []}, "C must be positive"),
        ({"widths": [0.0, 1.0]}, "widths must be positive"),
        ({"widths": ["wide"]}, "widths must be a list of finite numbers"),
        ({"widths": [1e-200]}, "beyond what a kernel can have"),
        ({"values": []}, "values must be a list of finite numbers"),
        ({"bias": False}, "solver='adatron' for bias=False"),
        ({"solver": "adatron", "eta": 2.5}, "0 < eta < 2 / max K_ii"),
        ({"kernel": "sigmoid"}, "use criterion='cv'"),
    ],
)
def test_what_is_refused(params, message):
    X, y = data("iris")
    rows = X @ X.T if params.get("kernel") == "precomputed" else X
    with pytest.raises(ValueError, match=message):
        AdaptiveKernelSVC(**params).fit(rows, y)


def test_values_that_overflow_are_refused():
    X, y = data("iris")
    with pytest.raises(ValueError, match="StandardScaler"):
        AdaptiveKernelSVC().fit(1e200 * X, y)


def test_validation_needs_a_row_to_hold_out():
    with pytest.raises(ValueError, match="two different rows"):
        AdaptiveKernelSVC(criterion="validation").fit([[0.0], [1.0]], [0, 1])


def test_the_bound_of_soft_margins_counts_slack():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    sigma, C = [0.5, 2.0], [0.5, 20.0]
    model = AdaptiveKernelSVC(criterion="radius_margin", widths=sigma, C=C, tol=1e-8).fit(X, y)
    codes, expected = np.where(y == 2, 1.0, -1.0), []
    for width in sigma:
        for cost in C:
            kernel = RBF(0.5 / width**2)
            machine = SVC(kernel=kernel, C=cost, tol=1e-8).fit(X, codes)
            slack = np.maximum(0, 1 - codes * machine.decision_function(X))
            ball = cone_radius(kernel(X))
            expected.append((ball / machine.margin_[0] ** 2 + (slack**2).sum()) / len(y))
    assert_allclose(model.path_["bound"], expected, rtol=1e-4)
    assert_allclose(model.path_["score"], model.path_["bound"])
    assert model.best_index_ == int(np.argmin(expected))
