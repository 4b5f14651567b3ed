"""One rule for float32, read by the solver, the criteria and the searches."""

import numpy as np

from kernelwise.criteria import DualObjective, RadiusMargin
from kernelwise.kernels import RBF, LazyGram
from kernelwise.qp import SMO, c_svc
from kernelwise.qp.gram import SMALL, TIGHT, dtype_for
from tests.loop import loop

RNG = np.random.default_rng(5)
X = RNG.normal(size=(SMALL + 20, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=len(X)) > 0, 1.0, -1.0)


def largest_float32_bound(tol, kernel_size):
    """Return the bound up to which the rounding of a float32 entry cannot be felt."""
    return 0.2 * tol / (2e-8 * 30.0 * kernel_size)


@loop("tol", [TIGHT, 1e-3, 0.1])
@loop("size", [1e-6, 1.0, 1e6])
def test_float32_ends_at_the_largest_bound(tol, size):
    limit = largest_float32_bound(tol, size)
    assert dtype_for(tol, size, 0.999 * limit) == np.float32
    assert dtype_for(tol, size, 1.001 * limit) == np.float64


def test_a_tight_tolerance_needs_float64():
    assert dtype_for(0.99 * TIGHT, 1.0, 0.0) == np.float64


def test_a_kernel_of_zero_needs_no_precision():
    assert dtype_for(1e-3, 0.0, 1e300) == np.float32


def test_the_solver_reads_rows_by_the_rule():
    limit = largest_float32_bound(1e-3, 1.0)
    for C, expected in ((0.5 * limit, np.float32), (2 * limit, np.float64)):
        asked = []

        class Watched(LazyGram):
            def open(self, dtype, asked=asked):
                asked.append(np.dtype(dtype))
                return super().open(dtype)

        SMO(exact=False, max_iter=10).solve(c_svc(Watched(RBF(), X), Y, C))
        assert asked[0] == expected


def test_criteria_store_the_kernel_by_the_rule():
    gram, limit = LazyGram(RBF(), X), largest_float32_bound(1e-3, 1.0)
    assert DualObjective(C=0.5 * limit).dense(gram).dtype == np.float32
    assert DualObjective(C=2 * limit).dense(gram).dtype == np.float64
    assert DualObjective(C=0.5 * limit).dense(gram, largest_weight=4.0).dtype == np.float64
    assert RadiusMargin(C=2 * limit).dense(gram).dtype == np.float32  # its margin is hard
    assert DualObjective(C=0.1, solver=SMO(tol=1e-6)).dense(gram).dtype == np.float64


def test_a_small_kernel_is_exact_where_solutions_are_polished():
    gram = LazyGram(RBF(), X[:SMALL])
    assert DualObjective(solver=SMO()).dense(gram).dtype == np.float64
    assert DualObjective(solver=SMO(exact=False)).dense(gram).dtype == np.float32
