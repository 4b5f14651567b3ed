"""``eta="cv"`` of FeatureDiscriminationSVC: two stages, held against fits of each fold alone."""

from functools import cache

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as Reference

from kernelwise.discrimination import importances, log_scales
from kernelwise.kernels import RBF, EmpiricalMap
from kernelwise.svm.feature_discrimination.choice import COSTS, ETAS, ChoicePoint
from kernelwise.svm.paths.rows import TrainingRows
from kernelwise.svm.paths.selection import deal
from tests.loop import loop
from tests.svm.problems import data, task_of

from .machine import machine

NAMES = ["fisher", "separation", "efficiency"]
SMALL = {"costs": [0.1, 10.0], "widths": 3, "etas": [0.0, 2.0, 8.0], "cv": 3, "eta": "cv"}


@cache
def small(n_classes):
    """Return few rows that overlap."""
    X, y = load_iris(return_X_y=True)
    rows = np.flatnonzero(y >= 3 - n_classes)[::2]
    noise = np.random.default_rng(1).normal(size=(len(rows), 2))
    return StandardScaler().fit_transform(np.hstack([X[rows, :2], noise])), y[rows]


def folds_of(X, y, cv):
    """Return the training and held-out rows of the choice's folds."""
    classes = np.unique(y, return_inverse=True)[1]
    rows = TrainingRows.of(task_of(X, classes))
    random_state = np.random.RandomState(0)
    held = [rows.first[fold] for fold in deal(rows.classes, cv, random_state)]
    return [(np.setdiff1d(np.arange(len(y)), rows), rows) for rows in held]


def features(space, gamma, X, train, rows, n_components):
    if space == "components":
        columns = EmpiricalMap.of(RBF(gamma), X[train], n_components=n_components)
        return columns.apply(X[train]), columns.apply(X[rows])
    return X[train], X[rows]


def held_out_error(model, X, y, point):
    """Fit each fold alone, by scikit-learn, on features scaled by hand; two classes or shared."""
    wrong = 0
    for train, rows in folds_of(X, y, model.cv):
        space = "inputs" if model.kernel == "linear" else model.space
        A, B = features(space, point["gamma"], X, train, rows, model.n_components)
        scales = np.ones(A.shape[1])
        if point["stage"] == 2:
            q = importances(point["importance"], A, y[train])
            scales = np.exp(log_scales(q, point["eta"], normalization=model.normalization))
        kernel = "rbf" if model.kernel == "rbf" and space == "inputs" else "linear"
        gamma = {} if np.isnan(point["gamma"]) else {"gamma": point["gamma"]}
        machine = Reference(kernel=kernel, C=point["C"], tol=1e-6, **gamma)
        machine.fit(A * scales, y[train])
        wrong += np.count_nonzero(machine.predict(B * scales) != y[rows])
    return wrong / len(y)


@loop("n_classes", [2, 3])
@loop(
    "settings",
    [
        {},
        {"normalization": "trace"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "space": "inputs"},
        {"kernel": "rbf", "n_components": 5},
        {"kernel": "rbf", "gamma": 0.2, "importance": ["separation", "fisher"]},
    ],
    ids=str,
)
def test_errors_are_those_of_fitting_each_fold_alone(settings, n_classes):
    X, y = small(n_classes)
    settings = {**SMALL, **settings, "tol": 1e-6, "importance_per": "shared"}
    model = machine(**settings).fit(X, y)
    path = model.path_
    points = [dict(zip(path, row, strict=True)) for row in zip(*path.values(), strict=True)]
    expected = [held_out_error(model, X, y, point) for point in points]
    found, expected = (np.array(e)[path["converged"]] for e in (path["held_out_error"], expected))
    assert len(found) >= len(points) - 1
    # Where all support vectors are bounded the intercept is any of an interval: a row may differ.
    assert_allclose(found, expected, atol=1.01 / len(y))
    assert np.mean(np.abs(found - expected) < 1e-9) >= 0.9


@loop("name", ["iris", "moons"])
@loop("settings", [{}, {"kernel": "rbf"}, {"kernel": "rbf", "space": "inputs"}])
def test_the_last_fit_is_that_of_what_was_chosen(name, settings):
    X, y = data(name)
    model = machine(importance=NAMES, **SMALL, **settings).fit(X, y)
    given = {} if "kernel" not in settings else {"gamma": model.gamma_}
    again = machine(eta=model.eta_, C=model.C_, importance=model.measure_, **settings, **given).fit(
        X, y
    )
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert model.n_solves_ == model.path_["n_solves"].sum() + len(again.intercept_)
    assert (model.C_, model.eta_) in set(zip(model.path_["C"], model.path_["eta"], strict=True))


def test_what_is_walked():
    X, y = (part[::3] for part in data("cancer"))
    path = machine(eta="cv", kernel="rbf", importance=NAMES).fit(X, y).path_
    first = path["stage"] == 1
    assert np.count_nonzero(first) == 11 * len(COSTS)
    assert np.count_nonzero(~first) == 3 * (len(ETAS) - 1) * len(COSTS)  # eta = 0 is stage 1
    assert len(np.unique(path["gamma"][first])) == 11
    best = np.lexsort(
        (path["gamma"][first], path["C"][first], path["held_out_error"][first].round(9))
    )[0]
    assert (path["gamma"][~first] == path["gamma"][first][best]).all()
    assert (path["n_solves"] <= 5).all()
    assert path["n_solves"].sum() < 5 * len(first)  # what is settled is not solved again


def test_a_number_keeps_gamma_and_one_cost_keeps_C():
    X, y = data("imbalanced")
    settings = {"kernel": "rbf", "gamma": 0.3, "costs": [2.0], "eta": "cv"}
    model = machine(**settings).fit(X, y)
    assert (model.gamma_, model.C_) == (0.3, 2.0)
    assert len(model.path_["C"]) == len(ETAS)


def point(**changes):
    return ChoicePoint(
        **{
            "stage": 2,
            "importance": 0,
            "gamma": 1.0,
            "eta": 1.0,
            "C": 1.0,
            "held_out_error": 0.1,
            "n_iter": 1,
            "n_solves": 1,
            "converged": True,
        }
        | changes
    )


@loop(
    ("better", "worse"),
    [
        ({"held_out_error": 0.05, "eta": 16.0}, {"eta": 0.0}),
        ({"eta": 0.0, "C": 100.0}, {"eta": 1.0, "C": 0.1}),
        ({"eta": 1.0, "C": 100.0}, {"eta": 2.0, "C": 0.1}),
        ({"C": 0.1, "gamma": 9.0}, {"C": 1.0, "gamma": 0.1}),
        ({"gamma": 0.1}, {"gamma": 1.0}),  # the larger width
        ({"importance": 0}, {"importance": 1}),
        ({"held_out_error": 0.5}, {"held_out_error": 0.1, "converged": False}),
        ({"held_out_error": 0.1 + 1e-15, "eta": 0.0}, {"held_out_error": 0.1}),
    ],
)
def test_ties(better, worse):
    assert point(**better).order < point(**worse).order


@loop("kernel", ["linear", "rbf"])
def test_neither_order_nor_copies_change_the_choice(kernel):
    X, y = data("wine")
    weights = np.random.default_rng(0).integers(1, 3, len(y))
    model = machine(kernel=kernel, **SMALL)
    a = model.fit(X, y, sample_weight=weights)
    path, chosen = a.path_, (a.eta_, a.C_, a.gamma_)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weights))
    b = machine(kernel=kernel, n_jobs=2, **SMALL).fit(X[order], y[order])
    assert_allclose((b.eta_, b.C_, b.gamma_), chosen)
    assert_allclose(b.path_["held_out_error"], path["held_out_error"])
    assert_array_equal(b.path_["n_iter"], path["n_iter"])


def test_many_rows_are_chosen_from_few():
    X, y = data("moons")
    model = machine(kernel="rbf", max_rows=60, **SMALL).fit(X, y)
    steps = 60 * model.path_["held_out_error"]
    assert_allclose(steps, steps.round(), atol=1e-9)
    assert model.shape_fit_ == (400, 2)
    assert model.score(X, y) > 0.85


def test_a_class_of_one_row_is_left_out_of_some_folds():
    X, y = data("iris")
    rows = np.r_[0:101]  # of the third class one row
    model = machine(**SMALL).fit(X[rows], y[rows])
    assert model.path_["held_out_error"].min() <= 2 / len(rows)
    two = np.r_[0, 50:100]  # where it is held out, the others are of one class
    model = machine(**SMALL).fit(X[two], y[two])
    assert_allclose(model.path_["held_out_error"], 1 / len(two))
    assert (model.eta_, model.C_) == (0.0, 0.1)  # all tie


@loop("kernel", ["linear", "rbf"])
def test_given_splits_are_of_the_rows_as_given(kernel):
    """Rows of three classes in any order, some of weight zero, some in no part of a split."""
    X, y = data("wine")
    order = np.random.default_rng(0).permutation(len(y))
    X, y, weights = X[order], y[order], (np.arange(len(y)) % 7 > 0).astype(float)
    rows = np.arange(len(y))
    splits = [(rows[rows % 4 != f], rows[rows % 4 == f]) for f in range(2)]
    settings = {**SMALL, "kernel": kernel, "gamma": 0.1, "importance_per": "shared"}
    model = machine(**{**settings, "cv": splits}).fit(X, y, weights)
    wrong, total = 0, 0
    point = {"eta": 8.0, "C": 0.1, "importance": "fisher"}
    for train, held in splits:
        train, held = (part[weights[part] > 0] for part in (train, held))
        own = machine(**{**settings, **point}).fit(X[train], y[train])
        wrong += np.count_nonzero(own.predict(X[held]) != y[held])
        total += len(held)
    path = model.path_
    found = (path["eta"] == 8) & (path["C"] == 0.1)
    assert_allclose(path["held_out_error"][found], wrong / total)


def test_generators_of_splits():
    X, y = data("iris")
    cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    model = machine(**{**SMALL, "cv": cv}).fit(X, y)
    assert (model.path_["n_solves"] <= 4 * 3).all()
    assert model.score(X, y) > 0.95


def test_verbose_says_what_was_chosen(capsys):
    machine(verbose=True, **SMALL).fit(*data("iris"))
    out = capsys.readouterr().out
    assert out.startswith("[kernelwise.FeatureDiscriminationSVC] eta=")
    assert "6 points tried" in out


# --- The papers' data ----------------------------------------------------------------------------


def sonar(data_dir, seed):
    """Return the halves of sonar, standardised on the first."""
    table = pd.read_csv(data_dir / "sonar.csv.gz")
    X, y = table.drop(columns="target").to_numpy(dtype=np.float64), table["target"].to_numpy()
    A, B, a, b = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(A)
    return scaler.transform(A), scaler.transform(B), a, b


def test_on_sonar_it_does_as_well_as_the_plain_machine_by_the_same_choice(data_dir):
    """Four random halves, in points."""
    scores = []
    for seed in range(4):
        A, B, a, b = sonar(data_dir, seed)
        model = machine(kernel="rbf", eta="cv", importance=NAMES).fit(A, a)
        first = model.path_["stage"] == 1
        order = np.lexsort((model.path_["C"][first], model.path_["held_out_error"][first].round(9)))
        plain = Reference(C=model.path_["C"][first][order[0]], gamma=model.gamma_).fit(A, a)
        scores.append([plain.score(B, b), model.score(B, b)])
    plain, ours = 100 * np.mean(scores, axis=0)
    assert ours > plain - 2
    assert ours > 78
