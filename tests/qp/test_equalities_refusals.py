"""Problems that the solver of several equalities refuses, or ends without a solution."""

import numpy as np
import pytest

from kernelwise.kernels import RBF, LazyGram, Sigmoid
from kernelwise.qp import DualQP, SeveralEqualities, StoredGram, Terms, hard_margin
from tests.loop import loop

from .equality_cases import machine, random_machine

EXACT = SeveralEqualities(tol=1e-6)


def test_refuses_what_it_cannot_solve():
    K, F, y = random_machine(30, 2)
    refused = {
        "finite bounds": hard_margin(K, y),
        "positive semi-definite": DualQP(
            StoredGram(K, is_psd=False), Terms(p=y, lo=-abs(y), hi=abs(y), A=F.T)
        ),
        "0.0 GB of the 0.0 GB that memory allows": machine(K, F, y, 1.0),
    }
    for reason, qp in refused.items():
        solver = SeveralEqualities(memory=7000.0)
        assert reason in solver.supports(qp)
        with pytest.raises(ValueError, match=reason):
            solver.solve(qp)
    assert SeveralEqualities().supports(machine(K, F, y, 1.0)) is None
    lazy = LazyGram(Sigmoid(), np.eye(30))
    assert "positive semi-definite" in SeveralEqualities().supports(machine(lazy, F, y, 1.0))


def test_memory_counts_the_rows_of_the_problem_alone():
    K, F, y = random_machine(40, 2)
    y[10:] = 0.0
    assert SeveralEqualities(memory=8 * 10**2).supports(machine(K, F, y, 1.0)) is None


@loop("value", [np.nan, np.inf])
def test_refuses_a_kernel_matrix_that_is_not_finite(value):
    K, F, y = random_machine(30, 2)
    K = K.copy()
    K[3, 5] = K[5, 3] = value
    with pytest.raises(ValueError, match="K must"):
        EXACT.solve(machine(K, F, y, 1.0))


def test_an_indefinite_matrix_ends_without_convergence():
    _, F, y = random_machine(30, 2)
    K = -np.eye(30)
    solution = SeveralEqualities().solve(machine(K, F, y, 1.0))
    assert not solution.converged


def test_equalities_that_contradict_each_other():
    K, F, y = random_machine(30, 2)
    A = np.vstack([F.T, F.T[:1]])
    qp = DualQP(K, Terms(p=y, lo=-abs(y), hi=abs(y), A=A, c=[0.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="no point satisfies A b = c"):
        EXACT.solve(qp)


def test_equalities_that_the_bounds_do_not_allow():
    K, F, y = random_machine(30, 2)
    qp = DualQP(K, Terms(p=y, lo=-abs(y), hi=abs(y), A=F.T, c=[100.0, 0.0]))
    solution = SeveralEqualities().solve(qp)
    assert not solution.converged
    assert solution.violation > 1e-3


@loop("seed", [0, 1])
@loop("degree", [6, 8, 10])
@loop("C", [1e2, 1e4, 1e8])
def test_a_start_far_from_the_solution_is_no_end(seed, degree, C):
    """Coefficients of thousands, from a kernel of little rank and powers of one column."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 1))
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)
    qp = machine(RBF(1 / x.var())(x), x ** np.arange(degree + 1), y, C)
    assert SeveralEqualities().solve(qp).converged
