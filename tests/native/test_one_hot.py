"""Products with one-hot columns, and limited distances, against plain arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelwise import _native
from tests.loop import loop


def one_hot(n=53, sizes=(3, 1, 7, 2), seed=0):
    """Return places of ones, and the columns themselves."""
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes[:-1]])
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    places = (codes + starts).astype(np.int32)
    B = np.zeros((n, sum(sizes)))
    B[np.arange(n)[:, None], places] = 1
    return places, B, rng


def test_gram_adds_up_on_and_above_the_diagonal():
    places, B, rng = one_hot()
    weights, out = rng.random(len(B)), np.zeros((B.shape[1],) * 2)
    _native.one_hot_gram(places[:20], weights[:20], out)
    _native.one_hot_gram(places[20:], weights[20:], out)
    assert_allclose(out, np.triu(B.T @ (weights[:, None] * B)), atol=1e-12)


@loop("q", [1, 5, 40])
def test_products_with_dense_columns(q):
    places, B, rng = one_hot()
    D = rng.normal(size=(len(B), q)).astype(np.float32)
    weights, sums = rng.random(len(B)), np.ones((B.shape[1], q))
    _native.one_hot_sums(places, weights, D, sums)
    assert_allclose(sums, 1 + B.T @ (weights[:, None] * D), atol=1e-10)
    R = rng.normal(size=(B.shape[1], q)).astype(np.float32)
    product = np.ones((len(B), q), dtype=np.float32)
    _native.one_hot_product(places, R, product)
    assert_allclose(product, 1 + B @ R, atol=1e-5)


def test_quadratic_forms_of_rows():
    places, B, rng = one_hot()
    Q = rng.normal(size=(B.shape[1],) * 2)
    Q, out = Q + Q.T, np.empty(len(B))
    _native.one_hot_forms(places, Q, out)
    assert_allclose(out, np.einsum("ij,jk,ik->i", B, Q, B), atol=1e-12)


@loop(("n", "m", "d"), [(1, 1, 1), (5, 3, 2), (70, 37, 9), (131, 64, 4)])
def test_limited_distances_and_their_contraction(n, m, d):
    rng = np.random.default_rng(n)
    X = rng.integers(0, 4, size=(n, d)).astype(np.float32)
    X[:, ::2] = rng.normal(size=X[:, ::2].shape)
    Z = np.ascontiguousarray(np.resize(X, (m, d)).T)
    limits = np.where(np.arange(d) % 2, 1, np.inf).astype(np.float32)
    scales = rng.random(d).astype(np.float32)
    terms = np.minimum(np.abs(X[:, None].astype(float) - Z.T[None]), limits)
    out = np.empty((n, m), dtype=np.float32)
    _native.limited_distances(X, Z, scales, limits, out)
    assert_allclose(out, terms @ scales.astype(float), rtol=1e-5, atol=1e-6)
    S, sums = rng.normal(size=(n, m)).astype(np.float32), np.ones(d)
    _native.limited_contraction(S, X, Z, limits, sums)
    assert_allclose(sums, 1 + np.einsum("ij,ijk->k", S.astype(float), terms), rtol=1e-4, atol=1e-4)


def test_places_that_do_not_ascend_are_refused():
    places, B, _ = one_hot()
    for wrong in (places[:, ::-1].copy(), places - 1, places + 1):
        with pytest.raises(ValueError, match="ascend"):
            _native.one_hot_gram(wrong, np.ones(len(B)), np.zeros((B.shape[1],) * 2))
