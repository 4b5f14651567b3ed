"""Bad input ends in an error that names the argument or says the remedy."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from kernelwise import SVC
from kernelwise.kernels import RBF, FunctionKernel, Laplacian, Precomputed

X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.arange(20) % 2
KERNELS = ["linear", "poly", "rbf", "sigmoid", "laplacian", "matern32", "matern52"]
VECTORS = ["gamma", "feature_weights"]


def with_value(value):
    out = X.copy()
    out[3, 1] = value
    return out


def refuses(model, X=X, y=Y, *, match, error=ValueError, **fit):
    """Assert that a fit ends in an error with these words."""
    with pytest.raises(error, match=match):
        model.fit(X, y, **fit)


def dot(A, B):
    return A @ B.T


# --- The table and the labels --------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "X contains NaN"), (np.inf, "X contains inf"), (-np.inf, "inf")]
)
def test_missing_and_infinite_values(kernel, value, words):
    refuses(SVC(kernel=kernel), with_value(value), match=words)
    refuses(SVC(kernel=kernel), with_value(value).astype(np.float32), match=words)
    fitted = SVC(kernel=kernel).fit(X, Y)
    with pytest.raises(ValueError, match=words):
        fitted.predict(with_value(value))


def test_missing_values_in_other_containers():
    refuses(SVC(), sp.csr_array(with_value(np.nan)), match="X contains NaN")
    refuses(SVC(), pd.DataFrame(with_value(np.nan)), match="X contains NaN")
    refuses(SVC(kernel="precomputed"), np.full((20, 20), np.nan), match="X contains NaN")
    refuses(SVC(), y=np.where(Y == 0, np.nan, 1.0), match="y contains NaN")


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", dot])
def test_one_class(kernel):
    rows = X @ X.T if kernel == "precomputed" else X
    refuses(SVC(kernel=kernel), rows, np.zeros(20), match="number of classes.*greater than one")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((20, 0)), r"0 feature\(s\)"),
        (X[:, 0], "Expected 2D array.*Reshape"),
        (X[:, :, None], "dim 3"),
        (X * 1j, "Complex data not supported"),
    ],
)
def test_tables_of_the_wrong_shape(rows, words):
    refuses(SVC(), rows, Y[: len(rows)], match=re.compile(words, re.DOTALL))


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", dot])
def test_labels_of_another_length(kernel):
    rows = X @ X.T if kernel == "precomputed" else X
    refuses(SVC(kernel=kernel), rows, Y[:-1], match=r"numbers of samples: \[20, 19\]")


def test_labels_that_are_not_classes():
    refuses(SVC(), y=X[:, 0], match="Unknown label type: continuous.*classifier")
    refuses(SVC(kernel=dot), y=X[:, 0], match="Unknown label type: continuous.*classifier")
    refuses(SVC(), y=np.c_[Y, Y], match="y should be a 1d array")
    refuses(SVC(), y=None, match="requires y")
    mixed = np.array(["a", 1], dtype=object)[Y]
    refuses(SVC(), y=mixed, error=(TypeError, ValueError), match=r"\by\b|label|class")


@pytest.mark.parametrize("labels", [["no", "yes"], [True, False], [-7, 3], [0.0, 5.0]], ids=str)
def test_any_discrete_labels_will_do(labels):
    y = np.array(labels)[Y]
    model = SVC(C=100.0, gamma=10.0).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert model.predict(X).dtype == y.dtype
    assert_array_equal(model.classes_, np.unique(y))


def test_string_labels_as_objects():
    y = np.array(["no", "yes"], dtype=object)[Y]
    model = SVC(C=100.0, gamma=10.0).fit(X, y)
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_columns_that_are_not_numbers(library):
    frame = library.DataFrame({"height": X[:, 0], "colour": ["red", "blue"] * 10})
    refuses(SVC(), frame, match=r"\bX\b|colour")


def test_rows_of_text_need_a_kernel_of_text():
    texts = ["a b", "a", "b", "b b", "a b a"]
    refuses(SVC(), [[t] for t in texts], [0, 0, 1, 1, 0], match=r"\bX\b")

    def letters(rows):
        return np.array([[text.count("a"), text.count("b")] for text in rows], dtype=float)

    model = SVC(kernel=lambda A, B: letters(A) @ letters(B).T, C=10.0).fit(texts, [0, 0, 1, 1, 0])
    assert_array_equal(model.predict(texts), [0, 0, 1, 1, 0])


# --- Parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("C", value) for value in (0, -1.0, np.nan, "1", None)),
        *(("gamma", value) for value in (-1.0, np.nan, np.inf, "large", None)),
        *(("feature_weights", value) for value in (-1.0, 1.0, "abc")),
        *(("tol", value) for value in (0, -1e-3, np.nan)),
        *(("degree", value) for value in (-1, 2.5)),
        *(("coef0", value) for value in (np.nan, np.inf)),
        *(("cache_size", value) for value in (0, -1, "big")),
        *(("max_iter", value) for value in (-2, 1.5)),
        *(("class_weight", value) for value in ("even", [1, 2])),
        *(("kernel", value) for value in ("gauss", None, 3)),
        *(("n_jobs", value) for value in (0, 1.5)),
        ("decision_function_shape", "pairs"),
        ("break_ties", "yes"),
        ("probability", "maybe"),
        ("callback", 3),
        ("verbose", -1),
        ("warm_start", "yes"),
        ("shrinking", 2),
        ("random_state", "seed"),
    ],
)
def test_parameters_are_refused_by_name(name, value):
    refuses(SVC(**{name: value}), match=name)


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1.0, 2.0], "one for each of the 3 features"),
        ([1.0, 2.0, 3.0, 4.0], "one for each of the 3 features"),
        ([], "one for each of the 3 features"),
        ([[1.0, 2.0, 3.0]], "one for each of the 3 features"),
        ([1.0, -1.0, 1.0], "not negative"),
        ([1.0, np.nan, 1.0], "finite"),
        ([1.0, np.inf, 1.0], "finite"),
        (["a", "b", "c"], ""),
    ],
)
def test_vectors_over_the_features(name, value, words):
    refuses(SVC(**{name: value}), match=f"{name}.*{words}")


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed(), dot, FunctionKernel(dot), RBF()])
def test_feature_weights_go_with_named_kernels(kernel):
    rows = X @ X.T if kernel == "precomputed" or isinstance(kernel, Precomputed) else X
    model = SVC(kernel=kernel, feature_weights=np.ones(rows.shape[1]))
    refuses(model, rows, match="feature_weights goes with the named kernels")


def test_kernel_objects():
    refuses(SVC(kernel=RBF(weights=[1.0, 2.0])), match="weights has 2 entries.*X has 3 features")
    refuses(SVC(kernel=RBF), match="kernel", error=(TypeError, ValueError))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda A, B: A, r"kernel.*shape \(20, 3\).*must return shape \(20, 20\)"),
        (lambda A, B: (A @ B.T)[:-1], r"kernel.*must return shape \(20, 20\)"),
        (lambda A, B: 1.0, r"kernel.*must return shape \(20, 20\)"),
        (lambda A, B: None, r"kernel.*must return shape \(20, 20\)"),
        (lambda A, B: "K", "kernel"),
        (lambda A, B: np.triu(A @ B.T), "kernel is not symmetric"),
        (lambda A, B: (A @ B.T) * np.nan, "kernel.*NaN or inf"),
        (lambda A, B: (A @ B.T) * np.inf, "kernel.*NaN or inf"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda f: f, FunctionKernel], ids=["function", "object"])
def test_kernel_functions(function, words, wrap):
    refuses(SVC(kernel=wrap(function)), match=words)


def test_a_kernel_function_that_fails_at_prediction():
    model = SVC(kernel=lambda A, B: A @ B.T if A is B else (A @ B.T)[:, :1]).fit(X, Y)
    with pytest.raises(ValueError, match="kernel function returned shape"):
        model.predict(X[:5])


# --- Weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(19), r"sample_weight.*\(19,\).*\(20,\)"),
        (np.ones((20, 1)), "[Ss]ample.weight.*1D"),
        (np.zeros(20), "Sample weights must contain"),
        (-np.ones(20), "all samples have zero or negative weights"),
        (np.r_[np.nan, np.ones(19)], "sample_weight contains NaN"),
        (np.r_[np.inf, np.ones(19)], "sample_weight contains inf"),
        (["heavy"] * 20, "sample_weight"),
        (Y.astype(float), "class among the samples of positive weight"),
    ],
)
@pytest.mark.parametrize("kernel", ["rbf", dot])
def test_sample_weights(weights, words, kernel):
    refuses(SVC(kernel=kernel), sample_weight=weights, match=words)


@pytest.mark.parametrize("weights", [{0: 1.0, 7: 2.0}, {0: 0.0}, {0: -1.0}, {0: np.nan}, {0: "x"}])
def test_class_weights(weights):
    refuses(SVC(class_weight=weights), match="class_weight")


# --- Sparse and precomputed ----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["laplacian", Laplacian()], ids=str)
def test_sparse_rows_with_a_kernel_that_needs_dense_ones(kernel):
    refuses(SVC(kernel=kernel), sp.csr_array(X), error=TypeError, match="needs dense rows")
    fitted = SVC(kernel=kernel).fit(X, Y)
    with pytest.raises(TypeError, match=r"needs dense rows.*toarray"):
        fitted.predict(sp.csr_array(X))


def test_a_sparse_precomputed_kernel():
    K = sp.csr_array(X @ X.T)
    refuses(SVC(kernel="precomputed"), K, error=TypeError, match="[Ss]parse")


def test_sparse_prediction_after_a_dense_fit():
    with pytest.raises(ValueError, match=r"sparse input.*trained on dense data"):
        SVC().fit(X, Y).predict(sp.csr_array(X))


def test_precomputed_shapes():
    refuses(SVC(kernel="precomputed"), X, match="square matrix.*20x3")
    refuses(SVC(kernel="precomputed"), np.triu(X @ X.T), match="not symmetric.*precomputed")
    model = SVC(kernel="precomputed").fit(X @ X.T, Y)
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 20"):
        model.predict(X)


def test_prediction_needs_a_fit_and_rows_of_the_same_width():
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError, match="SVC instance is not fitted yet"):
            getattr(SVC(), method)("whatever")
        with pytest.raises(ValueError, match=r"X has 2 features.*expecting 3"):
            getattr(SVC().fit(X, Y), method)(X[:, :2])
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            getattr(SVC().fit(X, Y), method)(X[:0])


# --- Values so large that they overflow ----------------------------------------------------------


def refusal(action):
    """Return what the ValueError says that ends the action; None where nothing ends it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            action()
    except ValueError as error:
        return str(error)
    return None


def is_clear(message):
    return re.search(r"\bX\b.*(large|overflow).*scale", message) is not None


@pytest.mark.parametrize("gamma", ["scale", 1.0])
@pytest.mark.parametrize("size", [1e100, 1e150, 1e200, 1e300])
@pytest.mark.parametrize("kernel", KERNELS)
def test_huge_values(kernel, size, gamma):
    model = SVC(kernel=kernel, gamma=gamma, max_iter=10_000)
    message = refusal(lambda: model.fit(size * X, Y))
    if message is None:
        assert np.isfinite(model.decision_function(size * X)).all()
    else:
        assert is_clear(message), message


@pytest.mark.parametrize("kernel", KERNELS)
def test_huge_values_at_prediction(kernel):
    model = SVC(kernel=kernel).fit(X, Y)
    message = refusal(lambda: model.decision_function(1e200 * X))
    if message is None:
        assert np.isfinite(model.decision_function(1e200 * X)).all()
    else:
        assert is_clear(message), message


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_huge_values_in_sparse_rows(kernel):
    message = refusal(lambda: SVC(kernel=kernel).fit(sp.csr_array(1e200 * X), Y))
    assert is_clear(message), message
