"""DualObjectiveSVC among the tools that its users have, on hard data, and with bad input."""

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as Reference

from kernelwise import DualObjectiveSVC
from kernelwise.kernels import (
    RBF,
    FunctionKernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Ridge,
    Sigmoid,
)
from tests.loop import loop
from tests.svm.dual_objective.test_dual_objective import CRITERIA, OPTIMIZERS, WEIGHTS, noisy

ROWS = np.random.default_rng(0).normal(size=(20, 3))
LABELS = np.arange(20) % 2
FITTED = ("feature_weights_", "feature_importances_", "support_", "dual_coef_", "intercept_", "C_")


def assert_identical(a, b):
    """Assert that two fitted models are the same to the bit."""
    for name in FITTED:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


# --- Tools of scikit-learn -----------------------------------------------------------------------


@loop("name", ["iris", "wine"])
@loop("weights", WEIGHTS)
def test_select_from_model_keeps_real_columns(name, weights):
    X, y = noisy(name)
    selector = SelectFromModel(DualObjectiveSVC(weights=weights)).fit(X, y)
    real, noise = np.split(selector.get_support(), 2)
    assert real.any()
    assert not noise.any()


def test_recursive_elimination_drops_noise():
    X, y = noisy("iris")
    rfe = RFE(DualObjectiveSVC(max_iter=6), n_features_to_select=2).fit(X, y)
    assert_array_equal(np.flatnonzero(rfe.support_), [2, 3])
    rfecv = RFECV(DualObjectiveSVC(max_iter=6), step=2, cv=3).fit(X, y)
    assert rfecv.support_[[2, 3]].all()
    assert rfecv.n_features_ <= 6


def test_pipelines_and_searches():
    X, y = noisy("iris")
    pipeline = make_pipeline(StandardScaler(), DualObjectiveSVC(max_iter=4))
    grid = {
        "dualobjectivesvc__criterion": ["dual", "radius_margin"],
        "dualobjectivesvc__C": [0.5, 5.0],
        "dualobjectivesvc__kernel": ["rbf", RBF(0.1) + Linear()],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0
    model = DualObjectiveSVC(kernel=RBF(0.1)).set_params(kernel__gamma=0.7)
    assert model.kernel.gamma == 0.7


def test_cross_validation_in_two_processes():
    X, y = noisy("iris")
    model = DualObjectiveSVC(max_iter=6)
    alone = cross_val_score(model, X, y, cv=4)
    assert_array_equal(cross_val_score(model, X, y, cv=4, n_jobs=2), alone)
    assert alone.mean() > cross_val_score(Reference(), X, y, cv=4).mean()


def test_calibration():
    X, y = noisy("iris")
    model = CalibratedClassifierCV(DualObjectiveSVC(max_iter=4), cv=3).fit(X, y)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert (proba.argmax(axis=1) == y).mean() > 0.9


def test_sample_weight_is_routed():
    X, y = noisy("iris")
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        svc = DualObjectiveSVC(max_iter=3).set_fit_request(sample_weight=True)
        svc.set_score_request(sample_weight=False)
        search = GridSearchCV(svc, {"C": [1.0]}, cv=2).fit(X, y, sample_weight=weights)
        refused = GridSearchCV(DualObjectiveSVC(), {"C": [1.0]}, cv=2)
        with pytest.raises(ValueError, match="sample_weight"):
            refused.fit(X, y, sample_weight=weights)
    expected = DualObjectiveSVC(max_iter=3).fit(X, y, sample_weight=weights)
    assert_identical(search.best_estimator_, expected)


@loop("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_keep_their_names(library):
    X, y = noisy("iris")
    names = [f"column {k}" for k in range(X.shape[1])]
    frame = library.DataFrame(dict(zip(names, X.T, strict=True)))
    model = DualObjectiveSVC(max_iter=4).fit(frame, library.Series(y))
    assert_identical(model, DualObjectiveSVC(max_iter=4).fit(X, y))
    assert_array_equal(model.feature_names_in_, names)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[names[::-1]])


CONFIGURATIONS = [
    DualObjectiveSVC(),
    DualObjectiveSVC(optimizer="paper", max_iter=4, weights="per_class"),
    DualObjectiveSVC(criterion="radius_margin", warm_start=True),
    DualObjectiveSVC(kernel=RBF(0.1) + Linear(), max_iter=4),
]


@loop("model", CONFIGURATIONS, ids=str)
@loop("travel", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_clones_and_files(model, travel):
    X, y = noisy("iris")
    params = model.get_params()
    fitted = clone(model).fit(X, y)
    assert repr(fitted) == repr(model)
    assert all(fitted.get_params()[name] is params[name] for name in params)
    assert not hasattr(clone(fitted), "feature_weights_")
    arrived = travel(fitted)
    assert_identical(arrived, fitted)
    assert_array_equal(arrived.decision_function(X), fitted.decision_function(X))
    assert_array_equal(arrived.history_["value"], fitted.history_["value"])


# --- The same answer -----------------------------------------------------------------------------

SETTINGS = [
    {},
    {"weights": "per_class"},
    {"optimizer": "paper", "max_iter": 5},
    {"kernel": "laplacian"},
    *({"criterion": criterion, "max_iter": 5} for criterion in CRITERIA[1:]),
]


@loop("settings", SETTINGS, ids=str)
@loop("n_jobs", [None, 2])
def test_fits_are_identical_to_the_bit(settings, n_jobs):
    X, y = noisy("wine")
    first, again = (DualObjectiveSVC(**settings, n_jobs=n).fit(X, y) for n in (None, n_jobs))
    assert_identical(first, again)
    assert_array_equal(first.history_["value"], again.history_["value"])
    assert_array_equal(first.decision_function(X), again.decision_function(X))


@loop(
    "settings",
    [
        {},
        {"kernel": "linear"},
        {"kernel": "poly"},
        {"kernel": "matern32", "max_iter": 5},
        {"criterion": "radius_margin"},
        {"weights": "per_class"},
        {"optimizer": "paper", "max_iter": 5},
    ],
    ids=str,
)
def test_sparse_rows_give_what_dense_ones_do(settings):
    X, y = noisy("iris")
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    X[:, 5] = 0.0
    dense, sparse = (
        DualObjectiveSVC(tol=1e-9, shrinkage=0.0, **settings).fit(rows, y)
        for rows in (X, sp.csr_array(X))
    )
    assert_allclose(sparse.feature_weights_, dense.feature_weights_, atol=1e-6)
    assert_allclose(sparse.feature_importances_, dense.feature_importances_, atol=1e-6)
    assert sp.issparse(sparse.support_vectors_)
    assert sp.issparse(sparse.dual_coef_)
    new = sp.csr_array(X)
    assert_allclose(sparse.decision_function(new), dense.decision_function(X), atol=1e-6)


# With the machines solved exactly, weights of the rows are copies of them.
@loop(
    "settings",
    [
        {},
        {"weights": "per_class"},
        {"optimizer": "paper", "max_iter": 6},
        {"kernel": "laplacian", "max_iter": 6},
        {"class_weight": "balanced"},
        {"criterion": "radius_margin", "max_iter": 1},
    ],
    ids=str,
)
def test_a_weight_of_two_is_a_copy(settings):
    X, y = noisy("iris")
    counts = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = DualObjectiveSVC(tol=1e-10, **settings).fit(X, y, sample_weight=counts)
    copied = DualObjectiveSVC(tol=1e-10, **settings)
    copied.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.gamma_ == pytest.approx(copied.gamma_, rel=1e-12)
    assert weighted.dual_objective_ == pytest.approx(copied.dual_objective_, rel=1e-8)
    assert_allclose(weighted.feature_weights_, copied.feature_weights_, atol=1e-6)
    assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-6)


@loop("criterion", CRITERIA)
def test_a_weight_of_zero_is_absence(criterion):
    X, y = noisy("iris")
    X = np.insert(X, 2, 0.0, axis=1)
    X[:10, 2] = 1.0  # a column that is constant among the rows that count
    counted = np.arange(len(y)) % 5 != 0
    counted[:10] = False
    settings = {"criterion": criterion, "max_iter": 4}
    weighted = DualObjectiveSVC(**settings).fit(X, y, sample_weight=counted)
    absent = DualObjectiveSVC(**settings).fit(X[counted], y[counted])
    assert_array_equal(weighted.feature_weights_, absent.feature_weights_)
    assert weighted.feature_weights_[2] == 0
    assert_array_equal(weighted.decision_function(X), absent.decision_function(X))
    assert_array_equal(weighted.support_, np.flatnonzero(counted)[absent.support_])


def test_class_weights_multiply_sample_weights():
    X, y = noisy("iris")
    rows = np.r_[0:50, 50:70, 100:140]
    X, y = X[rows], y[rows]
    balanced = DualObjectiveSVC(class_weight="balanced", gamma=0.1).fit(X, y)
    given = len(y) / (3 * np.bincount(y))
    assert_allclose(balanced.class_weight_, given)
    by_sample = DualObjectiveSVC(gamma=0.1).fit(X, y, sample_weight=given[y])
    assert_allclose(balanced.feature_weights_, by_sample.feature_weights_, rtol=1e-9)
    by_class = DualObjectiveSVC(gamma=0.1, class_weight=dict(enumerate(given))).fit(X, y)
    assert_identical(balanced, by_class)
    assert not np.allclose(DualObjectiveSVC(gamma=0.1).fit(X, y).intercept_, balanced.intercept_)


@loop("labels", [["setosa", "versicolor", "virginica"], [-7, 3, 40]], ids=str)
def test_any_labels_will_do(labels):
    X, y = noisy("iris")
    model = DualObjectiveSVC(max_iter=3).fit(X, np.array(labels)[y])
    plain = DualObjectiveSVC(max_iter=3).fit(X, y)
    assert_identical(model, plain)
    assert_array_equal(model.predict(X), np.array(labels)[plain.predict(X)])


def test_fit_changes_neither_its_parameters_nor_its_input():
    X, y = (np.array(part) for part in noisy("iris"))
    kernel = RBF(0.1, weights=np.ones(8))
    model = DualObjectiveSVC(kernel=kernel, max_iter=4)
    before = pickle.dumps((X, y, model.get_params()))
    model.fit(X, y)
    assert pickle.dumps((X, y, model.get_params())) == before
    assert model.kernel is kernel


# --- Hard data -----------------------------------------------------------------------------------


def settled(model, X, y, **fit):
    """Fit, check that everything is finite, and return the model."""
    model.fit(X, y, **fit)
    assert np.isfinite(model.feature_weights_).all()
    assert (model.feature_weights_ >= 0).all()
    assert np.isfinite(model.history_["value"]).all()
    assert np.isfinite(model.dual_objective_)
    assert np.isfinite(model.decision_function(X)).all()
    assert set(model.predict(X)) <= set(y)
    return model


each_criterion = loop("criterion", CRITERIA)


@each_criterion
@loop("C", [0.01, 1.0, 1000.0])
def test_overlapping_classes(criterion, C):
    """Labels without meaning: nothing to learn, and nothing breaks."""
    settled(DualObjectiveSVC(criterion=criterion, C=C, max_iter=6), ROWS, LABELS)


@each_criterion
def test_duplicates_with_conflicting_labels(criterion):
    X = np.repeat(ROWS[:5], 4, axis=0)
    model = settled(DualObjectiveSVC(criterion=criterion), X, LABELS)
    if criterion == "dual":  # each row has its opposite: no machine does better than the bias
        assert model.dual_objective_ == pytest.approx(20.0)
        assert_allclose(model.feature_weights_, 1.0)
        assert_allclose(model.decision_function(X), 0.0, atol=1e-6)


@each_criterion
@loop("value", [1.0, 0.0, 1e6])
def test_nothing_but_constant_columns(criterion, value):
    X = np.full((21, 3), value)
    y = np.r_[LABELS, 1]
    model = settled(DualObjectiveSVC(criterion=criterion), X, y)
    assert np.ptp(model.decision_function(X)) == pytest.approx(0.0, abs=1e-9)
    if criterion == "dual":
        assert_array_equal(model.feature_weights_, 1.0)
        assert_array_equal(model.predict(X), 1)


@each_criterion
@loop("optimizer", OPTIMIZERS)
def test_more_columns_than_rows(criterion, optimizer):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 200))
    X[:, 7] += 3 * y
    settings = {"criterion": criterion, "optimizer": optimizer, "max_iter": 8}
    model = settled(DualObjectiveSVC(**settings), X, y)
    assert model.criterion_value_ <= model.history_["value"][0]
    if optimizer == "lbfgs":
        assert model.feature_importances_.argmax() == 7


@each_criterion
@loop("weights", WEIGHTS)
def test_ten_rows(criterion, weights):
    X, y = noisy("iris")
    rows = np.r_[0:4, 50:53, 100:103]
    model = settled(DualObjectiveSVC(criterion=criterion, weights=weights), X[rows], y[rows])
    assert model.score(X[rows], y[rows]) >= 0.8


@loop("criterion", [c for c in CRITERIA if c != "cv"])
@loop("weights", WEIGHTS)
def test_a_class_with_one_row(criterion, weights):
    X, y = noisy("iris")
    X, y = X[:101], y[:101]
    model = settled(DualObjectiveSVC(criterion=criterion, weights=weights, max_iter=6), X, y)
    assert_array_equal(model.classes_, [0, 1, 2])
    assert model.decision_function(X).shape == (101, 3)
    assert model.score(X[:100], y[:100]) > 0.9


def test_a_class_with_one_row_cannot_be_held_out():
    X, y = noisy("iris")
    with pytest.raises(ValueError, match="two rows of each class"):
        DualObjectiveSVC(criterion="cv").fit(X[:101], y[:101])


@each_criterion
def test_two_rows(criterion):
    model = DualObjectiveSVC(criterion=criterion)
    if criterion == "cv":
        with pytest.raises(ValueError, match="two rows of each class"):
            model.fit(ROWS[:2], [0, 1])
    else:
        assert_array_equal(settled(model, ROWS[:2], [0, 1]).predict(ROWS[:2]), [0, 1])


def test_one_column_keeps_its_weight():
    X, y = noisy("cancer")
    model = settled(DualObjectiveSVC(), X[:, :1], y)
    assert_array_equal(model.feature_weights_, [1.0])
    assert_array_equal(model.feature_importances_, [1.0])


@each_criterion
@loop("size", [1e-150, 1e100, 1e150])
def test_huge_and_tiny_values_are_scaled_away(criterion, size):
    """With gamma="scale" the unit of the columns does not matter."""
    X, y = noisy("iris")
    settings = {"criterion": criterion, "max_iter": 3, "tol": 1e-6}
    model = settled(DualObjectiveSVC(**settings), size * X, y)
    plain = DualObjectiveSVC(**settings).fit(X, y)
    assert_allclose(model.feature_weights_, plain.feature_weights_, rtol=1e-3)


@loop("size", [1e200, 1e300])
@loop("kernel", ["rbf", "poly", "laplacian", "matern52"])
def test_values_that_overflow(size, kernel):
    with pytest.raises(ValueError, match=r"\bX\b.*(large|overflow).*scale.*StandardScaler"):
        DualObjectiveSVC(kernel=kernel).fit(size * ROWS, LABELS)


# --- Bad input -----------------------------------------------------------------------------------


def refuses(model, X=ROWS, y=LABELS, *, match, error=ValueError, **fit):
    """Assert that a fit ends in an error with these words, before any evaluation."""
    steps = []
    with pytest.raises(error, match=match):
        model.set_params(callback=steps.append).fit(X, y, **fit)
    assert steps == []


def with_value(value):
    out = ROWS.copy()
    out[3, 1] = value
    return out


def dot(A, B):
    return A @ B.T


@loop(
    ("X", "y", "words"),
    [
        (with_value(np.nan), LABELS, "X contains NaN"),
        (with_value(np.inf), LABELS, "X contains inf"),
        (sp.csr_array(with_value(np.nan)), LABELS, "X contains NaN"),
        (ROWS, np.zeros(20), "number of classes.*greater than one"),
        (ROWS, LABELS[:-1], r"numbers of samples: \[20, 19\]"),
        (ROWS[:0], LABELS[:0], r"0 sample\(s\)"),
        (ROWS[:, :0], LABELS, r"0 feature\(s\)"),
        (ROWS[:, 0], LABELS, "Expected 2D array"),
        (ROWS, ROWS[:, 0], "Unknown label type: continuous"),
        (ROWS, None, "requires y"),
        (pd.DataFrame({"a": ROWS[:, 0], "b": ["red", "blue"] * 10}), LABELS, "X.*OneHotEncoder"),
    ],
)
def test_tables_and_labels(X, y, words):
    refuses(DualObjectiveSVC(), X, y, match=words)


@loop(
    ("name", "value"),
    [
        *(("C", value) for value in (0, -1.0, np.nan, np.inf, "1")),
        *(("gamma", value) for value in (0, -1.0, np.nan, "large", [1.0, 2.0, 3.0], None)),
        *(("kernel", value) for value in ("gauss", None, 3, RBF)),
        *(("criterion", value) for value in ("loo", 3, None)),
        *(("optimizer", value) for value in ("sgd", None)),
        *(("weights", value) for value in ("all", None, [1.0, 1.0, 1.0])),
        *(("eta", value) for value in (0, -1.0, np.nan)),
        *(("max_iter", value) for value in (0, -1, 1.5)),
        *(("tol", value) for value in (0, -1e-3, np.nan)),
        *(("degree", value) for value in (0, 2.5)),
        *(("n_jobs", value) for value in (0, 1.5)),
        *(("class_weight", value) for value in ("even", [1, 2], {0: 1.0, 7: 2.0}, {0: -1.0})),
        ("coef0", np.nan),
        ("cache_size", 0),
        ("warm_start", "yes"),
        ("verbose", -1),
    ],
)
def test_parameters_are_refused_by_name(name, value):
    refuses(DualObjectiveSVC(**{name: value}), match=name)


def test_a_callback_must_be_callable():
    with pytest.raises(ValueError, match="callback"):
        DualObjectiveSVC(callback=3).fit(ROWS, LABELS)


@loop("kernel", ["sigmoid", "precomputed", dot])
def test_kernels_without_weights_are_refused(kernel):
    X = ROWS @ ROWS.T if kernel == "precomputed" else ROWS
    refuses(DualObjectiveSVC(kernel=kernel), X, match="'kernel' parameter.*'rbf'")


@loop(
    "kernel",
    [FunctionKernel(dot), Precomputed(), Ridge()],
    ids=["function", "precomputed", "ridge"],
)
def test_kernel_objects_without_weights_are_refused(kernel):
    X = ROWS @ ROWS.T if isinstance(kernel, Precomputed) else ROWS
    refuses(DualObjectiveSVC(kernel=kernel), X, match="kernel=.*no feature weights.*such as 'rbf'")


def test_kernel_objects_of_another_width_are_refused():
    kernel = RBF(weights=[1.0, 2.0])
    refuses(DualObjectiveSVC(kernel=kernel), match="weights has 2 entries.*X has 3 features")


@loop(
    ("weights", "words"),
    [
        (np.ones(19), r"sample_weight.*\(19,\).*\(20,\)"),
        (np.zeros(20), "Sample weights must contain"),
        (-np.ones(20), "all samples have zero or negative weights"),
        (np.r_[np.nan, np.ones(19)], "sample_weight contains NaN"),
        (LABELS.astype(float), "class among the samples of positive weight"),
    ],
)
def test_sample_weights(weights, words):
    refuses(DualObjectiveSVC(), sample_weight=weights, match=words)


@loop("kernel", ["laplacian", Laplacian()], ids=str)
def test_sparse_rows_need_a_kernel_of_them(kernel):
    words = re.compile("needs dense rows: convert it with X")
    refuses(DualObjectiveSVC(kernel=kernel), sp.csr_array(ROWS), error=TypeError, match=words)


def test_a_criterion_that_needs_the_whole_matrix_says_so():
    model = DualObjectiveSVC(criterion="radius_margin", cache_size=0.001)
    refuses(model, match="kernel matrix of 20 rows.*cache_size.*criterion='dual'")
    DualObjectiveSVC(cache_size=0.001).fit(ROWS, LABELS)


def test_prediction():
    model = DualObjectiveSVC().fit(ROWS, LABELS)
    with pytest.raises(ValueError, match=r"X has 2 features.*expecting 3"):
        model.predict(ROWS[:, :2])
    with pytest.raises(ValueError, match=r"sparse input.*trained on dense data"):
        model.predict(sp.csr_array(ROWS))
    with pytest.raises(ValueError, match=r"\bX\b.*large.*scale"):
        model.predict(1e200 * ROWS)
    with pytest.raises(NotFittedError, match="DualObjectiveSVC instance is not fitted yet"):
        DualObjectiveSVC().predict(ROWS)


# --- What once went wrong ------------------------------------------------------------------------


def test_inner_steps_are_limited_while_learning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(loc=100, size=(100, 2)), rng.integers(0, 2, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = DualObjectiveSVC(kernel="poly", max_iter=3).fit(X, y)
    assert model.history_["n_iter"].max() <= 110_000


def test_all_constant_columns_are_not_learned_on():
    X = np.tile([0.1, 0.7, 3.3], (20, 1))
    for criterion in ("dual", "radius_margin", "alignment"):
        model = DualObjectiveSVC(criterion=criterion).fit(X, LABELS)
        assert_array_equal(model.feature_weights_, np.ones(3))
        assert_array_equal(model.feature_importances_, np.zeros(3))


def test_values_that_overflow_are_refused_without_a_warning():
    with pytest.raises(ValueError, match="scale the columns of X"):
        DualObjectiveSVC(gamma=1.0).fit(1e200 * ROWS, LABELS)


@loop("kernel", [Sigmoid(), Polynomial(coef0=-1.0)])
def test_kernels_that_are_not_positive_semidefinite_are_refused(kernel):
    with pytest.raises(ValueError, match="not positive semi-definite"):
        DualObjectiveSVC(kernel=kernel).fit(ROWS, LABELS)


def test_weights_of_zero_are_no_start():
    with pytest.raises(ValueError, match="weights of zero only"):
        DualObjectiveSVC(kernel=RBF(weights=np.zeros(3))).fit(ROWS, LABELS)


def test_a_function_of_texts_is_refused_by_name():
    with pytest.raises(ValueError, match="no feature weights"):
        DualObjectiveSVC(kernel=FunctionKernel(len)).fit(["a", "b"] * 10, LABELS)


def test_warm_start_forgets_weights_of_other_columns():
    X = ROWS.copy()
    X[:, 2] = 1.0
    model = DualObjectiveSVC(warm_start=True).fit(X, LABELS)
    cold = DualObjectiveSVC().fit(X[:, [2, 0, 1]], LABELS)
    assert_array_equal(model.fit(X[:, [2, 0, 1]], LABELS).feature_weights_, cold.feature_weights_)


def test_a_callback_ends_the_learning_of_all_classes():
    X, y = noisy("iris")
    model = DualObjectiveSVC(weights="per_class", callback=lambda step: True).fit(X, y)
    assert_array_equal(np.bincount(model.history_["machine"]), [1, 1, 1])
