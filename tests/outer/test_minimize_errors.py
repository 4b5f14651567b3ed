"""Bad starts, values that are not finite, and descents that fail."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelwise.outer import (
    LBFGS,
    Box,
    ExponentiatedGradient,
    L1Sphere,
    LogPositive,
    ProjectedGradient,
    Simplex,
    minimize,
)
from tests.loop import loop

from .test_minimize import METHODS, Counted, each_method, square


@loop("start", [[np.nan, 1.0], [[1.0, 2.0]], 3.0], ids=str)
@loop("domain", [None, Box(-1.0, 1.0), LogPositive(), L1Sphere()], ids=str)
def test_a_start_that_is_no_vector_of_numbers(start, domain):
    fun = Counted(square)
    with pytest.raises(ValueError, match="theta0 must be a vector of finite numbers"):
        minimize(fun, start, method=LBFGS(), domain=domain)
    assert not fun.calls


def test_an_infinite_start_without_bounds():
    with pytest.raises(ValueError, match="theta0 must be a vector of finite numbers"):
        minimize(square, [np.inf, 1.0], method=LBFGS())


@each_method
@loop("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite(method, value):
    def fun(theta):
        return (value if theta[0] != 0.9 else 1.0), np.array([1.0, 0.0])

    with pytest.raises(ValueError, match="or its gradient, is NaN or inf"):
        minimize(fun, [0.9, 0.1], method=method, domain=Simplex())


@loop("method", METHODS, ids=lambda method: type(method).__name__)
def test_a_gradient_that_is_not_finite(method):
    def fun(theta):
        return 1.0, np.array([np.nan, 0.0])

    with pytest.raises(ValueError, match="or its gradient, is NaN or inf"):
        minimize(fun, [0.9, 0.1], method=method, domain=Simplex())


@loop("start", [[np.nan, 1.0], [np.inf, 1.0], []])
@loop("domain", [Simplex(), L1Sphere(), Box(), LogPositive()], ids=str)
def test_a_start_that_is_not_finite_or_empty(domain, start):
    with pytest.raises(ValueError, match="theta0 must be a vector of finite numbers"):
        minimize(square, start, method=LBFGS(), domain=domain)


def test_a_line_search_that_finds_nothing_is_no_convergence():
    values = iter(range(1000))

    def fun(theta):  # each evaluation is worse than all before
        return float(next(values)), -2 * theta

    assert minimize(fun, [1.0, 2.0], method=LBFGS()).status == "stalled"
    assert minimize(fun, [1.0, 2.0], method=ProjectedGradient()).status == "stalled"


def test_exponentiated_gradient_scales_back_on_a_simplex():
    slope = np.array([1.0, 2.0, 3.0])

    def fun(theta):
        return float(theta @ slope), slope

    method = ExponentiatedGradient()
    found = minimize(fun, np.ones(3) / 3, method=method, domain=Simplex(), max_evaluations=2)
    powers = np.exp(-slope / 2)  # the first rate: one, divided by the spread of the gradient
    assert_allclose(found.theta, powers / powers.sum())


def test_exponentiated_gradient_lets_positive_parameters_grow():
    def fun(theta):
        return float(((theta - 3) ** 2).sum()), 2 * (theta - 3)

    method = ExponentiatedGradient(first=0.3)
    found = minimize(fun, np.ones(2), method=method, domain=LogPositive())
    assert_allclose(found.theta, 3, rtol=1e-2)


@loop("limit", [0, -1])
def test_no_evaluations(limit):
    with pytest.raises(ValueError, match="'max_evaluations' parameter of minimize must be an int"):
        minimize(square, [1.0], method=LBFGS(), max_evaluations=limit)


def test_a_function_that_overflows_names_a_remedy():
    with pytest.raises(ValueError, match="scale what it depends on"):
        minimize(lambda theta: (np.inf, theta), [1.0], method=LBFGS())
