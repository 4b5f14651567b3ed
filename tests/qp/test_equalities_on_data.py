"""The solver of several equalities on images and documents: a part of what the benchmark solves."""

import numpy as np
import pytest

from benchmarks.equalities.cases import documents, images
from benchmarks.equalities.suite import largest_violation, orthonormal
from kernelwise.qp import SeveralEqualities
from tests.loop import loop

from .equality_cases import machine


def assert_solved(cases, tol):
    """Solve, and compute anew how far the solutions are from optimal."""
    for case in cases:
        qp = machine(case.K, case.F, case.y, case.C)
        solution = SeveralEqualities(tol=tol).solve(qp)
        found = largest_violation(qp, orthonormal(case.F), solution.beta, case.F @ solution.nu)
        # Decision values of 1e6 that cancel leave too few digits for the tighter tolerance.
        degenerate = tol < 1e-3 and np.abs(case.F * solution.nu).max() > 1e6
        assert solution.status in ({"converged", "degenerate"} if degenerate else {"converged"})
        assert found <= (tol if solution.converged else 1e-2), case.name
        assert solution.gap >= 0


@loop("tol", [1e-3, 1e-6])
def test_pairs_of_images(data_dir, tol):
    cases = [case for angles in (6, 24, 48) for case in images(angles)]
    assert len(cases) == 3 * 190 * 2
    assert_solved(cases[::7], tol)


@pytest.fixture(scope="module")
def pairs_of_documents(data_dir):
    """Return all pairs of two draws, and pairs of some 33 documents, l = 11."""
    many = [case for draw in range(2) for case in documents("comp", 400, draw, folds=0)]
    few = [case for draw in range(2) for case in documents("sci", 100, draw, folds=3)]
    assert len(many) == 2 * 10 * 3
    assert len(few) == 2 * 3 * 6 * 3
    assert np.median([len(case.y) for case in few]) < 40
    return many, few


@pytest.mark.filterwarnings("ignore:.*iterations:sklearn.exceptions.ConvergenceWarning")
@loop("tol", [1e-3, 1e-6])
def test_pairs_of_documents(pairs_of_documents, tol):
    for cases in pairs_of_documents:
        assert_solved(cases, tol)
