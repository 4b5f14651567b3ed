"""A family makes the kernels that evaluating each of them makes."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF, Laplacian, Linear, Matern32, Matern52, Polynomial, Sigmoid
from kernelwise.kernels.family import KernelFamily, family_of
from tests.loop import loop

KERNELS = [
    RBF(gamma=0.1),
    Matern32(gamma=0.5),
    Matern52(gamma=0.5),
    Laplacian(gamma=0.1),
    Linear(gamma=2.0),
    Polynomial(gamma=0.2, degree=2, coef0=1.0),
    Sigmoid(gamma=0.01, coef0=-0.5),
]
WEIGHTS = [0.0, 1.0, 2.5, 0.3, 1.0]


def rows(n=300, d=5, scale=1.0):
    return scale * np.random.default_rng(0).normal(size=(n, d))


@loop("weights", [None, WEIGHTS], ids=["plain", "weights"])
@loop("kernel", KERNELS, ids=repr)
@loop("dtype", [np.float32, np.float64])
def test_it_makes_the_kernels_of_all_widths(kernel, weights, dtype):
    X = rows()
    kernel = kernel.with_params(weights=weights)
    family = KernelFamily(kernel.with_params(gamma=3.0), X, dtype)
    for gamma in (0.0, 1e-3, 0.1, 3.0):
        own = kernel.with_params(gamma=gamma)
        K, expected = family.gram(own, dtype), own(X)
        assert K.dtype == dtype
        rounding = 4e-7 if dtype == np.float32 else 1e-13
        assert_allclose(K, expected, rtol=0, atol=rounding * max(1.0, np.abs(expected).max()))
        assert_array_equal(K.diagonal(), own.diag(X).astype(dtype))


@loop("kernel", KERNELS, ids=repr)
def test_sparse_rows(kernel):
    X = np.where(np.abs(rows()) < 0.8, 0.0, rows())
    if not kernel.accepts_sparse:
        with pytest.raises(TypeError, match="dense rows only"):
            KernelFamily(kernel, sp.csr_matrix(X))
        return
    K = KernelFamily(kernel, sp.csr_matrix(X), np.float64).gram(kernel, np.float64)
    assert_allclose(K, kernel(X), atol=1e-12)


def test_threads_change_nothing():
    X = rows(700)
    one, two = (KernelFamily(RBF(), X, threads=threads) for threads in (1, 2))
    assert_array_equal(one.T, two.T)
    assert_array_equal(one.gram(RBF(gamma=0.3)), two.gram(RBF(gamma=0.3)))


def test_kernels_of_one_kind_and_weights_are_of_one_family():
    assert family_of(RBF()) == family_of(Matern32(gamma=3.0)) == family_of(Matern52())
    assert family_of(Linear()) == family_of(Sigmoid()) == family_of(Polynomial(degree=7))
    names = {family_of(k) for k in (RBF(), Linear(), Laplacian(), RBF(weights=[1.0, 2.0]))}
    assert len(names) == 4
    assert family_of(RBF() + Linear()) is None
    family = KernelFamily(RBF(gamma=2.0), rows())
    assert_allclose(family.gram(Matern32(gamma=0.5)), Matern32(gamma=0.5)(rows()), atol=4e-7)
    for other in (Linear(), RBF(weights=WEIGHTS)):
        with pytest.raises(ValueError, match="does not belong to this family"):
            family.gram(other)


@loop("scale", [1e-60, 1e-30, 1e-3, 1e3, 1e30, 1e60])
def test_rows_of_any_size_that_gamma_makes_up_for(scale):
    X = rows(scale=scale)
    gamma = 0.1 / scale**2
    family = KernelFamily(RBF(gamma=16 * gamma), X)
    for multiple in (1 / 16, 1.0, 16.0):
        kernel = RBF(gamma=multiple * gamma)
        assert_allclose(family.gram(kernel), kernel(X), rtol=0, atol=4e-7)


def test_narrow_widths_are_as_exact_as_wide_ones():
    """Rows far apart and pairs close to each other: float32 differences would be noise."""
    X = np.repeat(rows(100, scale=100.0), 2, axis=0)
    X[1::2] += 1e-3
    family = KernelFamily(RBF(gamma=1e5), X)
    assert_allclose(family.gram(RBF(gamma=1e5)), RBF(gamma=1e5)(X), atol=1e-5)


def test_float64_where_float32_cannot_hold_a_kernel():
    X = rows(scale=1e7)
    kernel = Polynomial(degree=3)
    K = KernelFamily(kernel, X).gram(kernel)
    assert K.dtype == np.float64
    assert_allclose(K, kernel(X), rtol=1e-6, atol=1e-6 * np.abs(K).max())
    distances = KernelFamily(RBF(), rows(scale=1e25))
    assert distances.T.dtype == np.float64


def test_what_overflows_is_refused():
    for kernel in (RBF(), Polynomial()):
        with pytest.raises(ValueError, match="overflows"):
            KernelFamily(kernel, rows(scale=1e160)).gram(kernel)
    with pytest.raises(ValueError, match="overflows"):
        KernelFamily(Polynomial(degree=9), rows(scale=1e40)).gram(Polynomial(degree=9))


def test_no_rows_and_one_row():
    assert KernelFamily(RBF(), np.empty((0, 3))).gram(RBF()).shape == (0, 0)
    assert KernelFamily(RBF(), np.ones((1, 3))).gram(RBF()).item() == 1.0
