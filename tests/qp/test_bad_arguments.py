"""Solvers refuse tolerances and limits that would end a solve at once, or never."""

import numpy as np
import pytest

from kernelwise.qp import SMO, Adatron, SeveralEqualities, StoredGram, Terms
from tests.loop import loop


@loop("solver", [SMO, Adatron, SeveralEqualities])
@loop("tol", [np.nan, -1e-3, np.inf, "a", None, 1j, True])
def test_tolerance(solver, tol):
    with pytest.raises((ValueError, TypeError), match="tol must be a finite number of at least 0"):
        solver(tol=tol)


@loop("max_iter", [-2, 1.5, np.nan, "a", None])
def test_limit_on_the_steps(max_iter):
    with pytest.raises((ValueError, TypeError), match="max_iter must be a whole number"):
        SMO(max_iter=max_iter)


@loop("name", ["memory", "budget"])
@loop("value", [np.nan, -1.0, None])
def test_memory_and_budget(name, value):
    with pytest.raises((ValueError, TypeError), match=f"{name} must be a finite number"):
        SMO(**{name: value})


@loop("K", [np.ones((2, 3)), np.ones(3), np.ones((2, 2, 2)), 1j * np.eye(2)])
def test_stored_matrix(K):
    with pytest.raises(ValueError, match="K must be"):
        StoredGram(K)


@loop("name", ["p", "lo", "hi"])
@loop("value", [None, "a", ["a", "b"], [1j, 1j]])
def test_terms_that_are_no_real_numbers(name, value):
    parts = {"p": np.ones(2), "lo": -np.ones(2), "hi": np.ones(2)} | {name: value}
    with pytest.raises((ValueError, TypeError), match=f"^{name} must be"):
        Terms(**parts)


def test_infinite_memory_is_no_limit():
    assert SMO(memory=np.inf).memory == np.inf
