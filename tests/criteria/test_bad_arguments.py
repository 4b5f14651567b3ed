"""Functions of a kernel matrix refuse wrong kinds, shapes, NaN and tolerances, and name them."""

import numpy as np
import pytest

from kernelwise.criteria import (
    CrossValidation,
    DualObjective,
    LeaveOneOut,
    RadiusMargin,
    alignment,
    loo_decisions,
    loo_error,
    margin,
    radius,
    span,
)
from kernelwise.kernels import RBF, LazyGram
from kernelwise.qp import c_svc, enclosing_ball, hard_margin, l2_svm
from tests.loop import loop

N = 6
K = np.eye(N) + 0.5
Y = np.array([1.0, -1.0] * 3)
BETA, DECISIONS = 0.1 * Y, 0.5 * Y
HOLED = np.where(np.arange(N) == 2, np.nan, Y)

OF_A_MATRIX = {
    "span": lambda K: span(K, BETA),
    "loo_decisions": lambda K: loo_decisions(K, DECISIONS, BETA),
    "loo_error": lambda K: loo_error(K, Y, DECISIONS, BETA),
    "alignment": lambda K: alignment(K, Y),
    "margin": lambda K: margin(K, BETA),
    "radius": radius,
    "c_svc": lambda K: c_svc(K, Y),
    "hard_margin": lambda K: hard_margin(K, Y),
    "l2_svm": lambda K: l2_svm(K, Y),
    "enclosing_ball": enclosing_ball,
}
BAD_MATRICES = {
    "complex": K + 1j,
    "three dimensions": np.stack([K, K]),
    "one dimension": K[0],
    "not square": K[:, :4],
    "nan": np.where(K > 1, np.nan, K),
    "infinite": np.where(K > 1, np.inf, K),
    "no rows": np.empty((0, 0)),
    "None": None,
    "text": "abc",
    "objects that are no numbers": np.full((N, N), "a", dtype=object),
}


@loop("matrix", BAD_MATRICES.values(), ids=BAD_MATRICES)
@loop("function", OF_A_MATRIX.values(), ids=OF_A_MATRIX)
def test_a_bad_matrix_is_named(function, matrix):
    with pytest.raises((ValueError, TypeError), match=r"\bK (must be|has)"):
        function(matrix)


@loop("dtype", [np.float16, np.float32, object, int])
@loop("function", OF_A_MATRIX.values(), ids=OF_A_MATRIX)
def test_other_real_numbers_and_lists_are_converted(function, dtype):
    matrix = (2 * K).astype(dtype)
    wanted = function(matrix.astype(np.float64))
    if not isinstance(wanted, float | np.ndarray):
        wanted, convert = wanted.gram.diag(), lambda qp: qp.gram.diag()
    else:
        convert = np.asarray
    np.testing.assert_allclose(convert(function(matrix)), wanted, rtol=1e-5)
    np.testing.assert_allclose(convert(function(matrix.tolist())), wanted, rtol=1e-5)


BAD_VECTORS = {
    "None": None,
    "short": Y[:4],
    "nan": HOLED,
    "complex": Y + 1j,
    "text": ["a"] * N,
    "two columns": np.column_stack([Y, Y]),
    "no rows": [],
}
OF_A_VECTOR = {
    "beta of span": ("beta", lambda v: span(K, v)),
    "decisions": ("decisions", lambda v: loo_decisions(K, v, BETA)),
    "y of loo_error": ("y", lambda v: loo_error(K, v, DECISIONS, BETA)),
    "decisions of loo_error": ("decisions", lambda v: loo_error(K, Y, v, BETA)),
    "beta of margin": ("beta", lambda v: margin(K, v)),
    "y of hard_margin": ("y|K", lambda v: hard_margin(K, v)),
    "y of alignment": ("y|Y|K", lambda v: alignment(K, v)),
    "C of span": ("C", lambda v: span(K, BETA, v)),
    "C of c_svc": ("C", lambda v: c_svc(K, Y, v)),
}


@loop("vector", BAD_VECTORS.values(), ids=BAD_VECTORS)
@loop(("name", "function"), OF_A_VECTOR.values(), ids=OF_A_VECTOR)
def test_a_bad_vector_is_named(name, function, vector):
    with pytest.raises((ValueError, TypeError), match=rf"^({name}) (must|has)"):
        function(vector)


@loop("tol", [np.nan, -1.0, np.inf, "a", None, 1j, [1.0]])
def test_tolerance_of_the_radius(tol):
    with pytest.raises((ValueError, TypeError), match="tol must be a finite number"):
        radius(K, tol=tol)


@loop("criterion", [DualObjective, RadiusMargin, LeaveOneOut, CrossValidation])
@loop("C", ["a", None, 1j, [1.0]])
def test_cost_that_is_no_number(criterion, C):
    with pytest.raises(TypeError, match="C must be a positive number"):
        criterion(C=C)


@loop("threads", [0, -1, 1.0, np.inf, "a", None, [], 10**18, np.ones((3, 3))])
def test_threads_that_are_no_count(threads):
    for make in (lambda: RadiusMargin(threads=threads), lambda: LazyGram(RBF(), K, threads)):
        with pytest.raises((ValueError, TypeError), match="threads must be a whole number"):
            make()
