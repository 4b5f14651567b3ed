"""What the criteria refuse, and that they say why."""

from dataclasses import replace

import numpy as np
import pytest

from kernelwise.criteria import Alignment, DualObjective, LeaveOneOut
from kernelwise.kernels import RBF, Polynomial
from tests.laws.criterion_cases import CRITERIA, codes_for
from tests.laws.registry import named, rows_for
from tests.loop import loop

every_criterion = loop("case", named(CRITERIA))
every_solved_criterion = loop("case", named(case for case in CRITERIA if case.solves))

X = rows_for(RBF())[:, :2]
Y24, WEIGHTS = codes_for()
K24 = RBF(gamma=0.3)(rows_for(RBF(), n=24))
Y12 = codes_for(n=12)[0]


@every_criterion
@loop(
    "Y",
    [
        np.where(Y24 == 1, 2.0, Y24),
        np.where(Y24 == 0, np.nan, Y24),
        0.5 * Y24,
        Y24[:, :, None],
        np.ones(()),
    ],
)
def test_codes(case, Y):
    with pytest.raises(ValueError, match="Y must hold codes -1, 0 and"):
        case.criterion.evaluate(K24, Y)


@every_criterion
@loop("n", [20, 30])
def test_codes_of_another_number_of_rows(case, n):
    with pytest.raises(ValueError, match=r"\d"):
        case.criterion.evaluate(K24, codes_for(n=n)[0])


@every_solved_criterion
@loop(
    "weights",
    [
        np.ones(23),
        np.ones((24, 1)),
        1.0,
        np.zeros(24),
        -WEIGHTS,
        np.where(np.arange(24) == 3, np.nan, WEIGHTS),
    ],
)
def test_weights(case, weights):
    with pytest.raises(ValueError, match="weights must be 24 positive numbers"):
        case.criterion.evaluate(K24, Y24, weights=weights)


@every_solved_criterion
def test_start_of_another_number_of_machines(case):
    start = case.criterion.evaluate(K24, Y24[:, 0]).carry
    with pytest.raises(ValueError, match="start has"):
        case.criterion.evaluate(K24, Y24, start=start)


@every_solved_criterion
def test_start_of_another_number_of_rows(case):
    small = replace(case.criterion, folds=np.arange(12) % 3) if has_folds(case) else case.criterion
    start = small.evaluate(K24[:12, :12], Y12).carry
    with pytest.raises(ValueError, match="start must be a vector of 24"):
        case.criterion.evaluate(K24, Y24, start=start)


def has_folds(case):
    return hasattr(case.criterion, "folds")


@every_solved_criterion
@loop("C", [-1.0, np.nan])
def test_cost(case, C):
    with pytest.raises(ValueError, match="C must"):
        replace(case.criterion, C=C).evaluate(K24, Y24)


@every_solved_criterion
def test_matrix_with_nan(case):
    K = K24.copy()
    K[2, 3] = K[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        case.criterion.evaluate(K, Y24)


def test_slack():
    with pytest.raises(ValueError, match="slack must be 'hinge' or 'squared'; got 'l2'"):
        DualObjective(slack="l2")


# --- The criterion as a function of parameters ------------------------------------------------


@loop("name", ["sigma", "left__gamma", "C_", ""])
def test_unknown_parameter(name):
    with pytest.raises(ValueError, match="has no parameter"):
        DualObjective().of(RBF(), name, X, Y12)


@loop("name", ["degree"])
def test_parameter_without_a_derivative(name):
    with pytest.raises(ValueError, match=name):
        DualObjective().of(Polynomial(degree=2), name, X, Y12)([2.0])


@loop("theta", [[], [1.0], [1.0, 1.0], [1.0, 1.0, 0.3], np.ones(5)])
@loop("names", [("weights", "gamma", "C"), ("gamma", "C", "weights")])
def test_vector_of_another_length(names, theta):
    objective = DualObjective().of(RBF(), names, X, Y12)
    with pytest.raises(ValueError, match=f"theta must hold 4 numbers; got {len(theta)}"):
        objective(theta)


def test_codes_of_a_function_of_parameters():
    with pytest.raises(ValueError, match="Y must hold codes"):
        Alignment().of(RBF(), "gamma", X, 3 * Y12)


def test_weights_of_a_function_of_parameters():
    with pytest.raises(ValueError, match="weights must be 12 positive numbers"):
        LeaveOneOut().of(RBF(), "gamma", X, Y12, weights=np.ones(5))([1.0])
