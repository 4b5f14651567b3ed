"""GeneralizedBiasSVC among its users' tools: columns, frames, errors, warnings, warm starts."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    OneHotEncoder,
    PolynomialFeatures,
    TargetEncoder,
)

from kernelwise import SVC, TopicFeatures
from kernelwise.kernels import RBF
from kernelwise.qp import Progress
from kernelwise.svm import bounds_of
from kernelwise.svm.generalized_bias.features import uses_labels
from kernelwise.svm.generalized_bias.machine import BiasMachine, trouble
from tests.loop import loop
from tests.svm.generalized_bias.test_generalized_bias import noisy, ones, trend
from tests.svm.problems import data

from .oracles import unpenalised

X, Y = noisy(80)


def decisions(**params):
    return unpenalised(tol=1e-8, **params).fit(X, Y).decision_function(X)


# --- Where features come from --------------------------------------------------------------------


@loop(
    "columns",
    [[2, 0], (0, 2), np.array([0, -1]), [True, False, True], slice(None, None, 2)],
    ids=["list", "tuple", "from the end", "mask", "slice"],
)
def test_columns_may_be_given_in_many_ways(columns):
    expected = decisions(bias_features=lambda X: X[:, [0, 2]])
    assert_allclose(decisions(bias_features=columns), expected, atol=1e-9)


def test_one_column_needs_no_list():
    assert_array_equal(decisions(bias_features=1), decisions(bias_features=[1]))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = unpenalised("b", tol=1e-8).fit(frame, Y)
    assert_array_equal(model.decision_function(frame), decisions(bias_features=[1]))


@loop("library", [pd, pl], ids=["pandas", "polars"])
def test_columns_of_frames_by_name(library):
    names = ["age", "dose", "height"]
    frame = library.DataFrame(dict(zip(names, X.T, strict=True)))
    model = unpenalised(["height", "age"], exclude_bias_from_kernel=True).fit(frame, Y)
    numbers = unpenalised([2, 0], exclude_bias_from_kernel=True).fit(X, Y)
    assert_array_equal(model.bias_feature_names_out_, ["height", "age"])
    assert_array_equal(numbers.bias_feature_names_out_, ["x2", "x0"])
    assert_array_equal(model.decision_function(frame), numbers.decision_function(X))
    assert model.support_vectors_.shape[1] == 1


def test_excluded_columns_are_not_in_the_kernel():
    model = unpenalised([0], exclude_bias_from_kernel=True, tol=1e-8).fit(X, Y)
    kernel = RBF(1 / (2 * X[:, 1:].var()))
    assert float(model.kernel_.gamma) == pytest.approx(float(kernel.gamma))
    by_hand = unpenalised(
        lambda X: X[:, :1], kernel=lambda A, B: kernel(A[:, 1:], B[:, 1:]), tol=1e-8
    ).fit(X, Y)
    assert_allclose(model.decision_function(X), by_hand.decision_function(X), atol=1e-7)
    moved = X + np.array([1.0, 0, 0])
    change = model.decision_function(moved) - model.decision_function(X)
    assert_allclose(change, model.bias_coef_[0, 0], atol=1e-9)  # a trend goes on for ever


def test_transformers_are_fitted_to_the_training_rows_only():
    model = unpenalised(PCA(2)).fit(X, Y)
    fitted = PCA(2).fit(X)
    assert_allclose(model.bias_transformer_.components_, fitted.components_)
    assert_array_equal(model.bias_feature_names_out_, ["pca0", "pca1"])
    assert not hasattr(model.bias_features, "components_")
    by_hand = unpenalised(fitted.transform).fit(X, Y)
    assert_allclose(model.decision_function(X), by_hand.decision_function(X), atol=1e-7)


def test_names_of_features():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    squares = PolynomialFeatures(2, include_bias=False)
    model = unpenalised(squares).fit(frame, Y)
    assert list(model.bias_feature_names_out_[:4]) == ["a", "b", "c", "a^2"]
    unnamed = unpenalised(make_pipeline(FunctionTransformer(trend))).fit(X, Y)
    assert_array_equal(unnamed.bias_feature_names_out_, ["bias0", "bias1"])
    assert_array_equal(unpenalised(trend).fit(X, Y).bias_feature_names_out_, ["bias0", "bias1"])


def test_levels_of_a_coded_column_are_fixed_effects():
    site = np.arange(80) % 4
    table = np.column_stack([X, site])
    encode = ColumnTransformer([("site", OneHotEncoder(handle_unknown="ignore"), [3])])
    model = unpenalised(encode, feature_weights=[1, 1, 1, 0], gamma=0.3, tol=1e-8)
    model.fit(table, Y)
    given = unpenalised(slice(3, 7), exclude_bias_from_kernel=True, gamma=0.3, tol=1e-8).fit(
        np.column_stack([X, np.eye(4)[site]]), Y
    )
    expected = given.decision_function(np.column_stack([X, np.eye(4)[site]]))
    assert_allclose(model.decision_function(table), expected, atol=1e-6)
    unknown = model.decision_function(np.column_stack([X, np.full(80, 9)]))
    assert np.isfinite(unknown).all()


def test_transformers_that_need_no_labels_do_not_see_them():
    class Curious(FunctionTransformer):
        def fit(self, X, y=None):
            assert y is None
            return super().fit(X)

    unpenalised(Curious(trend)).fit(X, Y)
    with pytest.raises(AssertionError):
        unpenalised(Curious(trend), cross_fit=True).fit(X, Y)


@loop(
    ("transformer", "uses"),
    [
        (PCA(), False),
        (TargetEncoder(), True),
        (make_pipeline(PCA(), TargetEncoder()), True),
        (make_pipeline(PCA(), MaxAbsScaler()), False),
    ],
    ids=["pca", "encoder", "encoder in a pipeline", "pipeline"],
)
def test_who_uses_labels(transformer, uses):
    assert uses_labels(transformer) is uses


def test_sparse_rows():
    table = np.where(np.abs(X) < 0.5, 0.0, X)
    for features in ([0], MaxAbsScaler()):
        dense = unpenalised(features, gamma=0.5, tol=1e-8).fit(table, Y)
        sparse = unpenalised(features, gamma=0.5, tol=1e-8).fit(sp.csr_array(table), Y)
        expected = dense.decision_function(table)
        assert_allclose(sparse.decision_function(sp.csr_array(table)), expected, atol=1e-6)
        assert_allclose(sparse.decision_function(table), expected, atol=1e-6)
    excluded = unpenalised([0], exclude_bias_from_kernel=True, gamma=0.5)
    expected = excluded.fit(table, Y).decision_function(table)
    found = excluded.fit(sp.csr_array(table), Y).decision_function(sp.csr_array(table))
    assert_allclose(found, expected, atol=1e-5)
    with pytest.raises(TypeError, match="needs dense rows: convert it with X"):
        unpenalised(PolynomialFeatures(), kernel="laplacian").fit(sp.csr_array(table), Y)


def test_topics_of_counts():
    counts = np.random.default_rng(0).poisson(np.exp(X @ np.ones((3, 8)) / 2))
    model = unpenalised(TopicFeatures(2, max_iter=1000, random_state=0), kernel="linear")
    model.fit(sp.csr_array(counts), Y)
    assert_array_equal(model.bias_feature_names_out_, ["topic_0", "topic_1"])
    assert model.score(sp.csr_array(counts), Y) > 0.6


def test_rows_that_only_a_function_understands():
    texts = np.array(
        [["aab", "b", "bba", "a", "ab", "bbb"][k % 6] for k in range(60)], dtype=object
    )
    y = [text.count("a") > 0 for text in texts]

    def shared(A, B):
        return np.array([[sum(min(s.count(c), t.count(c)) for c in "ab") for t in B] for s in A])

    def length(A):
        return np.array([[float(len(text))] for text in A])

    model = unpenalised(length, kernel=shared, C=10.0).fit(texts, y)
    assert model.score(texts, y) == 1.0
    with pytest.raises(ValueError, match="not a table"):
        unpenalised([0], kernel=shared).fit(texts, y)


# --- Tools ---------------------------------------------------------------------------------------


def test_clone_pickle_and_parameters():
    model = unpenalised(PCA(1), kernel=RBF(0.5), bias_penalty=0.1).fit(X, Y)
    assert_array_equal(
        pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X)
    )
    other = clone(model).set_params(bias_features__n_components=2, kernel__gamma=0.1)
    assert other.fit(X, Y).bias_coef_.shape == (1, 2)
    assert model.bias_features.n_components == 1
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_search_over_features_and_penalty():
    grid = {"bias_features": [None, [0], PCA(1)], "bias_penalty": [0.0, 1.0]}
    search = GridSearchCV(unpenalised(), grid, cv=3).fit(X, Y)
    assert search.best_score_ > 0.6


def test_a_fit_after_another_keeps_nothing_of_it():
    model = unpenalised(PCA(1)).fit(X, Y)
    model.set_params(bias_features=None).fit(X, Y)
    assert model.bias_transformer_ is None
    assert_array_equal(model.decision_function(X), SVC().fit(X, Y).decision_function(X))


@loop("rho", [0.0, 0.1])
def test_warm_start_takes_no_steps_and_finds_the_same(rho):
    table, y = data("moons")
    model = unpenalised([0], bias_penalty=rho, warm_start=True, tol=1e-6).fit(table, y)
    cold = model.decision_function(table)
    order = np.random.default_rng(0).permutation(len(y))
    model.fit(table[order], y[order])
    assert_array_equal(model.n_iter_, 0)
    assert_allclose(model.decision_function(table), cold, atol=1e-6)
    model.set_params(C=2.0).fit(table, y)
    expected = unpenalised([0], bias_penalty=rho, C=2.0, tol=1e-6).fit(table, y)
    assert_allclose(model.decision_function(table), expected.decision_function(table), atol=1e-5)


def test_warm_start_of_several_classes_after_one_was_dropped():
    table, y = data("iris")
    for multi_class in ("ovo", "ovr"):
        model = unpenalised([0], multi_class=multi_class, warm_start=True).fit(table, y)
        model.fit(table[y > 0], y[y > 0])
        expected = unpenalised([0]).fit(table[y > 0], y[y > 0]).decision_function(table)
        assert_allclose(model.decision_function(table), expected, atol=1e-2)


def test_callback_verbose_and_threads(capsys):
    table, y = data("iris")
    seen = []
    model = unpenalised([0], callback=seen.append, verbose=True, n_jobs=2).fit(table, y)
    assert all(isinstance(progress, Progress) for progress in seen)
    assert {progress.machine for progress in seen} == {0, 1, 2}
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all("converged" in line and "share of the kernel" in line for line in lines)
    single = unpenalised([0]).fit(table, y)
    assert_array_equal(model.decision_function(table), single.decision_function(table))


def test_share_of_the_kernel_is_of_variances():
    model = unpenalised(trend, tol=1e-8).fit(X, Y)
    by_features = trend(X) @ model.bias_coef_[0]
    by_kernel = model.decision_function(X) - by_features - model.intercept_
    share = by_kernel.var() / (by_kernel.var() + by_features.var())
    assert model.kernel_share_[0] == pytest.approx(share, rel=1e-6)
    penalised = unpenalised(trend, bias_penalty=3.0, tol=1e-8).fit(X, Y)
    by_features = trend(X) @ penalised.bias_coef_[0]
    by_kernel = penalised.decision_function(X) - by_features - penalised.intercept_
    share = by_kernel.var() / (by_kernel.var() + by_features.var())
    assert penalised.kernel_share_[0] == pytest.approx(share, rel=1e-6)


def test_certificate_holds():
    model = unpenalised([0, 1], tol=1e-6).fit(*data("moons"))
    certificate = model.certificate_
    assert_array_equal(certificate.status, "converged")
    assert (certificate.violation <= 1e-6).all()
    assert (certificate.gap <= 1e-6 * np.abs(certificate.objective)).all()
    assert model.fit_status_ == 0


# --- Warnings ------------------------------------------------------------------------------------


def test_many_features_for_few_rows():
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(30, 25)), np.arange(30) % 2
    with pytest.warns(UserWarning, match="21 independent features for 30 rows.*kernel_share_"):
        model = unpenalised(slice(20)).fit(table, y)
    assert model.kernel_share_[0] == pytest.approx(0, abs=1e-6)
    copies = np.hstack([table[:, :5]] * 5)  # many columns, few of them independent
    unpenalised(slice(20)).fit(copies, y)
    assert unpenalised(slice(20), bias_penalty=10.0).fit(table, y).kernel_share_[0] > 0.1


def powers(X):
    return X ** np.arange(1, 7)


def test_coefficients_without_bound():
    rng = np.random.default_rng(0)
    column = rng.normal(size=(40, 1))
    y = column[:, 0] + 0.3 * rng.normal(size=40) > 0
    with pytest.warns(UserWarning, match=r"values up to \d\S+e\+06 .* bias_penalty"):
        unpenalised(powers, C=1e4).fit(column, y)
    bounded = unpenalised(powers, C=1e4, bias_penalty=1.0).fit(column, y)
    assert np.abs(powers(column) @ bounded.bias_coef_[0]).max() < 1e4


@loop("status", ["degenerate", "stalled", "max_iter"])
def test_a_solver_that_gives_up_is_told_of(status, monkeypatch):
    real = BiasMachine.solve.__func__

    def gives_up(cls, *args, **kwargs):
        machine = real(cls, *args, **kwargs)
        return replace(machine, solution=replace(machine.solution, status=status, violation=0.5))

    monkeypatch.setattr(BiasMachine, "solve", classmethod(gives_up))
    with pytest.warns(
        ConvergenceWarning, match=rf"1 of 1 .*\({status}\).*violation is 0.5"
    ) as told:
        model = unpenalised([0]).fit(X, Y)
    assert len(told) == 1
    assert status == "max_iter" or "bias_penalty" in str(told[0].message)
    assert model.fit_status_ == 1
    assert trouble([], 1e-3) == []


# --- Errors --------------------------------------------------------------------------------------


LEVELS = OneHotEncoder(handle_unknown="ignore")  # a column a level that it has seen


def indefinite(A, B):
    return -(A @ B.T)


@loop(
    ("params", "words"),
    [
        ({"bias_features": [3]}, r"column\(s\) \[3\], but X has 3"),
        ({"bias_features": [-4]}, r"column\(s\) \[-4\]"),
        ({"bias_features": ["age"]}, "X has none; fit to a data frame"),
        ({"bias_features": [True, False]}, "each of the 3 columns of X; got 2"),
        ({"bias_features": [0.5]}, "names or numbers of columns"),
        ({"bias_features": [[0, 1]]}, "names or numbers of columns"),
        ({"bias_features": slice("a", "b")}, "slice of column numbers"),
        ({"bias_features": PCA}, r"not a class: PCA\(\)"),
        ({"bias_features": lambda X: X[:, 0]}, r"shape \(80, n_bias_features\); got \(80,\)"),
        ({"bias_features": lambda X: X[:5]}, r"got \(5, 3\)"),
        ({"bias_features": lambda X: X * np.nan}, "NaN or infinite"),
        ({"bias_features": lambda X: X / 0.0}, "NaN or infinite"),
        ({"bias_features": lambda X: [["a"]] * len(X)}, "must give numbers"),
        ({"bias_features": [0], "C": np.inf}, "finite C"),
        ({"fit_intercept": False, "C": np.inf}, "finite C"),
        ({"bias_features": [0], "kernel": "sigmoid"}, "not positive semi-definite"),
        ({"bias_features": [0], "kernel": indefinite}, "has the eigenvalue -"),
        ({"bias_features": [0], "kernel": "precomputed"}, "bias_features=None"),
        ({"bias_features": trend, "exclude_bias_from_kernel": True}, "list columns of X"),
        ({"exclude_bias_from_kernel": True}, "list columns of X"),
        ({"bias_features": slice(None), "exclude_bias_from_kernel": True}, r"3 feature\(s\), all"),
        ({"bias_features": [0], "cache_size": 0.001}, "raise cache_size"),
        ({"bias_features": TargetEncoder(), "cv": 100}, "n_splits=100"),
        ({"bias_features": TargetEncoder(), "cv": ShuffleSplit(2)}, "hold out every row once"),
        ({"bias_features": TargetEncoder(), "cv": [([0, 1], [2, 3])]}, "folds or a splitter"),
        ({"bias_features": LEVELS, "cross_fit": True}, "of all rows, and .* without those"),
        ({"bias_features": 1.5}, "'bias_features' parameter"),
        ({"bias_penalty": -1.0}, "'bias_penalty' parameter"),
        ({"multi_class": "both"}, "'multi_class' parameter"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_bad_input_is_refused_by_name(params, words):
    with pytest.raises(ValueError, match=words):
        unpenalised(**params).fit(X, Y)


def test_unknown_names_are_listed():
    frame = pd.DataFrame(X, columns=["age", "dose", "height"])
    with pytest.raises(ValueError, match=r"not have: \['weight'\]; its columns are \['age'"):
        unpenalised(["age", "weight"]).fit(frame, Y)


def test_features_of_new_rows_must_be_like_those_of_the_training_rows():
    model = unpenalised(lambda X: X[:, : 1 if len(X) == 80 else 2]).fit(X, Y)
    with pytest.raises(ValueError, match=r"shape \(10, 1\); got \(10, 2\)"):
        model.predict(X[:10])


def test_bounds_of_one_equality_do_not_take_it():
    with pytest.raises(ValueError, match="bounds_of supports"):
        bounds_of(unpenalised([0]).fit(X, Y), X, Y)


def test_indefinite_kernels_and_precomputed_ones_go_with_the_constant_alone():
    plain = SVC(kernel="sigmoid").fit(X, Y).decision_function(X)
    assert_array_equal(unpenalised(kernel="sigmoid").fit(X, Y).decision_function(X), plain)
    K = RBF(0.3)(X)
    given = unpenalised(kernel="precomputed", fit_intercept=False, tol=1e-8).fit(K, Y)
    expected = decisions(kernel=RBF(0.3), fit_intercept=False)
    assert_allclose(given.decision_function(K), expected, atol=1e-6)
    with pytest.raises(ValueError, match="has the eigenvalue -"):
        unpenalised(kernel="precomputed", fit_intercept=False).fit(-K, Y)
    constant = unpenalised(ones, fit_intercept=False, kernel=RBF(0.3)).fit(X, Y)
    assert constant.bias_feature_names_out_ == ["bias0"]
