"""The provider of kernel matrices: the same numbers, from as little work as possible."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kernelwise.svm.base.grams as grams_module
from kernelwise.kernels import RBF, FunctionKernel, Laplacian, LazyGram, Matern32, Precomputed
from kernelwise.qp import SMO
from kernelwise.svm.base.grams import Grams, kernel_key, square_block
from kernelwise.svm.base.solve import solve_machines

X = np.random.default_rng(0).normal(size=(500, 4))
ROWS = np.flatnonzero(np.arange(500) % 3)


def test_precision_follows_the_bound():
    grams = Grams(X, tol=1e-3)
    kernel = RBF(0.1)
    coarse, fine = grams.stored(kernel, 10.0), grams.stored(kernel, 1e5)
    assert (coarse.dtype, fine.dtype) == (np.float32, np.float64)
    assert grams.stored(kernel, 20.0) is coarse
    assert_allclose(coarse, fine, atol=1e-6)
    assert_allclose(fine, kernel(X), atol=1e-12)
    for how in ({"tol": 1e-6}, {"tol": 1e-3, "precise": True}, {"tol": 1e-3, "small": 500}):
        assert Grams(X, **how).stored(kernel, 10.0).dtype == np.float64


def test_a_matrix_is_made_once_until_it_is_forgotten():
    grams = Grams(X, tol=1e-3)
    K = grams.stored(RBF(0.1))
    assert grams.stored(RBF(0.1)) is K
    grams.forget(RBF(0.1))
    assert grams.stored(RBF(0.1)) is not K
    grams.forget(Laplacian())  # which was never made


def test_kernels_of_a_family_share_their_distances(monkeypatch):
    made = []

    class Counted(grams_module.KernelFamily):
        def __init__(self, *args):
            made.append(args)
            super().__init__(*args)

    monkeypatch.setattr(grams_module, "KernelFamily", Counted)
    kernels = [RBF(0.1), RBF(1.0), Matern32(0.5), Laplacian(0.3)]
    grams = Grams(X, tol=1e-3, kernels=kernels, precise=True)
    for kernel in kernels:
        assert_allclose(grams.stored(kernel), kernel(X), atol=1e-12)
    assert len(made) == 1  # the Laplacian is alone


def test_machines_share_a_matrix_or_compute_their_rows():
    kernel = RBF(0.1)
    for memory, share, stored in ((np.inf, True, True), (1e5, True, False), (np.inf, False, False)):
        grams = Grams(X, tol=1e-3, memory=memory, share=share, precise=True)
        K = grams.machine(kernel, ROWS)
        assert isinstance(K, np.ndarray) == stored == grams.is_stored(kernel)
        dense = K if stored else K.dense(np.float64)
        assert_allclose(dense, kernel(X[ROWS]), atol=1e-12)
        whole = grams.machine(kernel, np.arange(500))
        assert whole.shape == (500, 500)
    assert isinstance(grams.machine(kernel, ROWS), LazyGram)


def test_a_given_kernel_is_evaluated_once_and_must_be_symmetric():
    calls = []

    def linear(A, B):
        calls.append(len(A))
        return A @ B.T

    grams = Grams(X, tol=1e-3, share=False)
    kernel = FunctionKernel(linear)
    calls.clear()
    assert_allclose(grams.machine(kernel, ROWS), X[ROWS] @ X[ROWS].T)
    grams.machine(kernel, ROWS)
    assert calls == [500]
    K = X @ X.T
    assert_array_equal(Grams(K, tol=1e-3).machine(Precomputed(), ROWS), K[np.ix_(ROWS, ROWS)])
    with pytest.raises(ValueError, match="not symmetric"):
        Grams(K + np.eye(500, k=3), tol=1e-3).stored(Precomputed())


def test_many_small_machines_share_and_large_ones_do_not():
    solver, kernel = SMO(), RBF(0.1)
    small, large = [100, 200], [450, 450]
    assert Grams.of_members(X, small, solver, 1).is_stored(kernel)
    assert not Grams.of_members(X, small, solver, 1, one_kernel=False).is_stored(kernel)
    assert not Grams.of_members(X, large, solver, 1).is_stored(kernel)
    assert not Grams.of_members(X, small[:1], solver, 1).is_stored(kernel)


def test_keys_tell_kernels_apart():
    kernels = [
        *(RBF(0.1), RBF(0.2), Laplacian(0.1), RBF(0.1, weights=np.ones(4))),
        *(RBF(0.1) + Laplacian(0.1), RBF(0.2) + Laplacian(0.1), RBF(0.1) * Laplacian(0.1)),
    ]
    assert len({kernel_key(kernel) for kernel in kernels}) == len(kernels)
    assert kernel_key(RBF(0.1) + Laplacian(0.1)) == kernel_key(RBF(0.1) + Laplacian(0.1))


@pytest.mark.parametrize(
    "rows", [ROWS, np.arange(40, 90), np.r_[3:9, 20:40, 100:200], np.array([7])]
)
def test_square_blocks(rows):
    K = X @ X.T
    assert_array_equal(square_block(K, rows), K[np.ix_(rows, rows)])


@pytest.mark.parametrize("threads", [1, 2])
def test_the_loop_solves_each_machine_on_its_rows(threads):
    codes = np.zeros((500, 2))
    codes[:200, 0] = np.where(X[:200, 0] > 0, 1, -1)
    codes[150:, 1] = np.where(X[150:, 1] > 0, 1, -1)
    members = [np.arange(200), np.arange(150, 500)]
    kernels, solver = [RBF(0.1), Laplacian(0.2)], SMO(tol=1e-8)
    grams = Grams(X, tol=1e-8, threads=threads, share=False, n_machines=2)
    found = solve_machines(kernels, grams, codes, np.full(500, 2.0), solver, members=members)
    for j, solution in enumerate(found):
        own, rows = codes[members[j], j], members[j]
        decisions = kernels[j](X[rows]) @ solution.beta + solution.nu[0]
        assert solution.converged
        assert ((decisions > 0) == (own > 0)).mean() > 0.9
        assert (own * solution.beta >= 0).all()
        assert np.abs(solution.beta).max() <= 2
    again = solve_machines(
        kernels, grams, codes, np.full(500, 2.0), solver, members=members, start=found
    )
    assert sum(solution.n_iter for solution in again) == 0
