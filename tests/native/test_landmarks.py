"""Limited distances against plain arrays."""

import numpy as np
from numpy.testing import assert_allclose

from kernelwise import _native
from tests.loop import loop


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
