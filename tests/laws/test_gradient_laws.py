"""The gradient of every kernel by every parameter, for every form of cotangent."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from kernelwise.kernels import Cotangent
from tests.laws.registry import (
    differentiable,
    every_kernel,
    every_kernel_of_one_sum,
    every_stationary_kernel,
    kernels_where,
    rows_for,
)
from tests.loop import loop
from tests.oracles import derivative


def some_cotangent(n_rows, rows=None, seed=0):
    """Return a cotangent that has all its parts."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n_rows, n_rows))
    return Cotangent(
        rng.normal(size=(n_rows, 2)),
        scale=np.array([-0.5, 1.5]),
        diagonal=rng.normal(size=n_rows),
        dense=dense + dense.T,
        rows=rows,
    )


def in_full(cotangent, n):
    """Return a cotangent as an (n, n) array, from its definition."""
    scale = np.ones(cotangent.factors.shape[1]) if cotangent.scale is None else cotangent.scale
    block = cotangent.factors @ np.diag(scale) @ cotangent.factors.T
    block += 0 if cotangent.dense is None else cotangent.dense
    block += 0 if cotangent.diagonal is None else np.diag(cotangent.diagonal)
    rows = np.arange(n) if cotangent.rows is None else cotangent.rows
    full = np.zeros((n, n))
    full[np.ix_(rows, rows)] = block
    return full


def cotangents(n):
    rng = np.random.default_rng(1)
    rows = np.array([5, 0, 3])
    yield "rank-1", Cotangent(rng.normal(size=(n, 1)))
    yield "scale", Cotangent(rng.normal(size=(n, 2)), scale=np.array([-0.5, 2.0]))
    diagonal = rng.normal(size=n)
    yield "diagonal", Cotangent(rng.normal(size=(n, 1)), np.array([-1.0]), diagonal=diagonal)
    yield "everything", some_cotangent(n)
    yield "rows", Cotangent(rng.normal(size=(3, 2)), np.array([0.3, -1.0]), rows=rows)
    yield "everything-on-rows", some_cotangent(3, rows=rows)
    yield "not-symmetric", Cotangent(np.empty((n, 0)), dense=rng.normal(size=(n, n)))
    yield "array", rng.normal(size=(n, n))


N_ROWS = 7
every_cotangent = loop("dK", [pytest.param(dK, id=name) for name, dK in cotangents(N_ROWS)])


@cache  # all cotangents share it
def kernel_derivative(kernel, name):
    return derivative(kernel, rows_for(kernel, n=N_ROWS), name)


@every_kernel
@every_cotangent
def test_gradient_against_finite_differences(kernel, dK):
    X = rows_for(kernel, n=N_ROWS)
    D_full = in_full(dK, N_ROWS) if isinstance(dK, Cotangent) else dK
    gradient = kernel.vjp(X, dK)
    assert gradient.keys() == differentiable(kernel)
    for name, value in gradient.items():
        expected = np.sum(D_full * kernel_derivative(kernel, name), axis=(-2, -1))
        np.testing.assert_allclose(value, expected, rtol=1e-8, atol=1e-8, err_msg=name)


@every_kernel
def test_gradient_of_float32_rows(kernel):
    X = rows_for(kernel, dtype=np.float32)
    single, double = (kernel.vjp(rows, some_cotangent(12)) for rows in (X, X.astype(np.float64)))
    assert single.keys() == double.keys()
    for name, value in double.items():
        np.testing.assert_allclose(single[name], value, rtol=1e-5, atol=1e-5, err_msg=name)


@every_kernel_of_one_sum
def test_gradient_by_blocks_of_many_rows(kernel):
    n, step = 600, 1e-4  # more rows than a block has
    X, u = rows_for(kernel, n=n), np.random.default_rng(2).normal(size=n) / n
    up, down = (kernel.with_params(gamma=kernel.gamma + h)(X) for h in (step, -step))
    expected = u @ (up - down) @ u / (2 * step)
    gradient = kernel.vjp(X, Cotangent(u[:, None]))
    assert gradient["gamma"] == pytest.approx(expected, rel=1e-6, abs=1e-10)
    by_array = kernel.vjp(X, np.outer(u, u))
    np.testing.assert_allclose(gradient["weights"], by_array["weights"], rtol=1e-9, atol=1e-12)


@every_cotangent
def test_trace_and_blocks_of_a_cotangent_are_those_of_its_array(dK):
    cotangent = Cotangent.of(dK)
    n = cotangent.n_rows
    full = in_full(cotangent.everywhere(), n)
    assert cotangent.trace() == pytest.approx(np.trace(full), rel=1e-12)
    np.testing.assert_allclose(cotangent.block(0, n), full, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(cotangent.block(1, 3), full[1:3], rtol=1e-12, atol=1e-12)


@loop("kernel", kernels_where(lambda kernel: kernel.accepts_sparse))
def test_sparse_rows_give_the_gradient_of_dense_rows(kernel):
    X = rows_for(kernel)
    X[X < 0.3] = 0
    X[:, 0] += 0.1  # a row of zeros has no cosine to differentiate
    by_sparse, by_dense = (kernel.vjp(rows, some_cotangent(12)) for rows in (sp.csr_array(X), X))
    assert by_sparse.keys() == by_dense.keys()
    for name, value in by_dense.items():
        np.testing.assert_allclose(by_sparse[name], value, rtol=1e-10, atol=1e-10)


@every_stationary_kernel
def test_translation_leaves_the_gradient_alone(kernel):
    far = rows_for(kernel, n=40) + 1e6
    gradient = kernel.vjp(far, some_cotangent(40))
    expected = kernel.vjp(far - 1e6, some_cotangent(40))
    for name, value in expected.items():
        np.testing.assert_allclose(gradient[name], value, rtol=1e-6)


@every_kernel
@loop("n", [12, 300])  # in one block, and in several
def test_kernel_at_hand_leaves_the_gradient_alone(kernel, n):
    X = rows_for(kernel, n=n)
    for dK in (some_cotangent(n), Cotangent(some_cotangent(n).factors)):
        expected, gradient = kernel.vjp(X, dK), kernel.vjp(X, dK, K=kernel(X))
        assert gradient.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_allclose(gradient[name], value, rtol=1e-9, atol=1e-9 * n)
