"""EmpiricalKernelMap: a linear model on its columns is the kernel model."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from kernelwise import EmpiricalKernelMap
from kernelwise.kernels import RBF, EmpiricalMap, Laplacian, Linear, Precomputed
from kernelwise.svm import SVC
from tests.loop import loop

X = np.random.default_rng(0).normal(size=(40, 4))
NEW = np.random.default_rng(1).normal(size=(15, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
NAMES = ["linear", "poly", "rbf", "laplacian", "matern32", "matern52"]


@loop("kernel", [*NAMES, RBF(gamma=0.2), Linear() + RBF()], ids=str)
def test_columns_are_those_of_the_map(kernel):
    transformer = EmpiricalKernelMap(kernel, coef0=1.0)
    F = transformer.fit_transform(X)
    svc = SVC(kernel=kernel, coef0=1.0).fit(X, Y)
    assert transformer.kernel_ == svc.kernel_
    expected = EmpiricalMap.of(svc.kernel_, X)
    assert_array_equal(F, expected.training)
    assert_array_equal(transformer.transform(NEW), expected.apply(NEW))
    assert_array_equal(transformer.eigenvalues_, expected.eigenvalues)


def test_cuts_are_passed_on():
    assert EmpiricalKernelMap(n_components=3).fit_transform(X).shape == (40, 3)
    share = EmpiricalKernelMap(n_components=0.9).fit(X)
    expected = EmpiricalMap.of(share.kernel_, X, n_components=0.9)
    assert 3 < share.map_.n_components == expected.n_components < 40
    assert EmpiricalKernelMap("linear", tol=0.999).fit(X).map_.n_components == 1


def test_one_width_a_feature():
    wide = EmpiricalKernelMap(gamma=[0.1, 0.0, 0.3, 0.2]).fit(X)
    assert wide.kernel_ == RBF(1.0, [0.1, 0.0, 0.3, 0.2])


def test_a_linear_machine_on_the_columns_is_the_kernel_machine():
    piped = make_pipeline(EmpiricalKernelMap(gamma=0.5), SVC(kernel="linear", tol=1e-8)).fit(X, Y)
    plain = SVC(kernel="rbf", gamma=0.5, tol=1e-8).fit(X, Y)
    assert_allclose(piped.decision_function(NEW), plain.decision_function(NEW), atol=1e-5)


def test_a_ridge_on_the_columns_is_the_kernel_ridge():
    piped = make_pipeline(EmpiricalKernelMap(gamma=0.5), Ridge(0.1, fit_intercept=False)).fit(X, Y)
    plain = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5).fit(X, Y)
    assert_allclose(piped.predict(NEW), plain.predict(NEW), atol=1e-8)


@loop("kernel", ["precomputed", Precomputed()], ids=str)
def test_precomputed(kernel):
    own = RBF(gamma=0.3)
    values = EmpiricalKernelMap(kernel).fit(own(X))
    plain = EmpiricalKernelMap(own).fit(X)
    assert_allclose(values.transform(own(NEW, X)), plain.transform(NEW), atol=1e-7)
    assert values.__sklearn_tags__().input_tags.pairwise
    search = GridSearchCV(
        make_pipeline(EmpiricalKernelMap(kernel), SVC(kernel="linear")), {"svc__C": [1.0]}, cv=2
    )
    assert np.isfinite(search.fit(own(X), Y).best_score_)


def test_functions():
    made = EmpiricalKernelMap(lambda A, B: A @ B.T).fit(X)
    assert_allclose(made.transform(NEW), EmpiricalKernelMap("linear").fit(X).transform(NEW))


@loop("container", [sp.csr_array, sp.csr_matrix, sp.coo_array])
def test_sparse_rows_as_dense_ones(container):
    rows, new = (np.where(np.abs(part) < 0.7, 0.0, part) for part in (X, NEW))
    dense, sparse = EmpiricalKernelMap().fit(rows), EmpiricalKernelMap().fit(container(rows))
    expected = dense.transform(new)
    # The smallest components turn by the rounding in which the two kernels differ.
    assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, atol=1e-12)
    assert_allclose(sparse.transform(container(new)), expected, atol=1e-6)
    assert_allclose(sparse.transform(new), expected, atol=1e-6)
    assert_allclose(dense.transform(container(new)), expected, atol=1e-12)


def test_sparse_rows_are_refused_where_the_kernel_refuses_them():
    for kernel in ("laplacian", Laplacian(), "precomputed"):
        with pytest.raises(TypeError, match="needs dense rows"):
            EmpiricalKernelMap(kernel).fit(sp.csr_array(X))


@loop(("name", "library"), [("pandas", pd), ("polars", pl)])
def test_frames_and_names(name, library):
    frame = library.DataFrame(dict(zip("abcd", X.T, strict=True)))
    transformer = EmpiricalKernelMap(n_components=2).set_output(transform=name)
    for out in (transformer.fit_transform(frame), transformer.transform(frame)):
        assert isinstance(out, library.DataFrame)
        assert list(out.columns) == ["empiricalkernelmap0", "empiricalkernelmap1"]
    assert_array_equal(transformer.feature_names_in_, list("abcd"))


def test_clone_and_pickle():
    transformer = EmpiricalKernelMap(RBF(gamma=0.2), n_components=5).fit(X)
    arrived = pickle.loads(pickle.dumps(transformer))
    assert_array_equal(arrived.transform(NEW), transformer.transform(NEW))
    copied = clone(transformer)
    assert copied.kernel is transformer.kernel
    assert not hasattr(copied, "map_")


@loop(
    ("name", "value"),
    [
        *(("kernel", value) for value in ("cosine", None, 3)),
        *(("gamma", value) for value in (-1.0, "wide", [1.0, 2.0])),
        *(("n_components", value) for value in (0, -1, 1.0, 1.5, "all")),
        *(("tol", value) for value in (-1e-3, 1.0, None)),
        ("degree", -1),
        ("coef0", np.inf),
    ],
)
def test_parameters_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        EmpiricalKernelMap(**{name: value}).fit(X)


@loop(
    ("kernel", "rows", "words"),
    [
        ("rbf", np.where(X > 2, np.nan, X), "X contains NaN"),
        ("linear", np.zeros((5, 2)), "no positive eigenvalue"),
        ("precomputed", X, "must be square"),
        ("rbf", pd.DataFrame({"a": ["x", "y"]}), "X.*not numbers.*OneHotEncoder"),
    ],
)
def test_tables(kernel, rows, words):
    with pytest.raises(ValueError, match=words):
        EmpiricalKernelMap(kernel).fit(rows)


def test_what_cannot_be_transformed():
    with pytest.raises(NotFittedError):
        EmpiricalKernelMap().transform(X)
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 4"):
        EmpiricalKernelMap().fit(X).transform(X[:, :3])
