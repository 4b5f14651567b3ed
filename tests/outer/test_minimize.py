"""Descent: known minima, exact steps, limits, callbacks, histories and errors."""

from time import sleep

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.outer import (
    LBFGS,
    Box,
    ExponentiatedGradient,
    FixedStep,
    L1Sphere,
    LogPositive,
    ProjectedGradient,
    Simplex,
    Step,
    minimize,
)
from tests.loop import loop

METHODS = [FixedStep(0.3), ProjectedGradient(), ExponentiatedGradient(), LBFGS()]
SEARCHES = METHODS[1:]
named = {"ids": lambda value: type(value).__name__}
each_method = loop("method", METHODS, **named)
each_search = loop("method", SEARCHES, **named)


def square(theta):
    return float(theta @ theta), 2 * theta


class Counted:
    """A function that counts its calls and keeps their arguments."""

    def __init__(self, fun=square):
        self.fun, self.calls = fun, []

    def __call__(self, theta, *more):
        self.calls.append((np.array(theta), *more))
        return self.fun(theta)


# --- Known minima --------------------------------------------------------------------------------

B = np.random.default_rng(0).normal(size=(6, 4))
H = B.T @ B / 6 + 0.1 * np.eye(4)
# The slope of the quadratic at its minimum: what the multipliers of the domain allow there.
MINIMA = {
    "simplex, inside": (Simplex(2.0), [0.3, 0.5, 0.8, 0.4], [-1.5] * 4),
    "simplex, on a face": (Simplex(2.0), [1.2, 0.0, 0.8, 0.0], [0.7, 1.7, 0.7, 1.2]),
    "simplex, at a corner": (Simplex(1.0), [0.0, 0.0, 1.0, 0.0], [1.5, 1.1, 0.2, 3.0]),
    "sphere, inside": (L1Sphere(2.0), [0.3, 0.5, 0.8, 0.4], [-1.5] * 4),
    "sphere, flat": (L1Sphere(2.0), [0.3, 0.5, 0.8, 0.4], [0.0] * 4),
    "everywhere": (Box(), [1.0, -2.0, 0.5, 0.3], [0.0] * 4),
    "box, inside": (Box(0.0, 1.0), [0.1, 0.4, 0.9, 0.5], [0.0] * 4),
    "box, on its sides": (Box(0.0, 1.0), [0.0, 1.0, 0.6, 1.0], [0.8, -0.9, 0.0, -0.4]),
    "positive, inside": (LogPositive(0.1, 10.0), [0.3, 2.0, 5.0, 1.0], [0.0] * 4),
    "positive, at its bounds": (LogPositive(0.1, 2.0), [0.1, 2.0, 0.6, 1.0], [0.5, -0.4, 0, 0]),
}
_ON_A_SIMPLEX = [name for name in MINIMA if name.startswith("s")]
# Clipping and rescaling is no projection: steps of the gradient itself rest elsewhere on a sphere.
_PROJECTING = [name for name in MINIMA if name != "sphere, inside"]
SUITED = [
    *((FixedStep(0.3), name) for name in _PROJECTING),
    *((ProjectedGradient(), name) for name in _PROJECTING),
    *((LBFGS(), name) for name in MINIMA),
    *((ExponentiatedGradient(), name) for name in _ON_A_SIMPLEX),
]


@loop(("method", "name"), SUITED, **named)
def test_each_method_finds_the_minimum_of_a_quadratic(method, name):
    domain, where, slope = MINIMA[name]
    where = np.array(where)
    centre = where - np.linalg.solve(H, slope)

    def fun(theta):
        away = theta - centre
        return 3 + float(0.5 * away @ H @ away), H @ away

    assert_allclose(fun(where)[1], slope, atol=1e-12)
    out = minimize(fun, np.full(4, 0.5), method=method, domain=domain, max_evaluations=400, tol=0.0)
    assert out.value == pytest.approx(fun(where)[0], rel=1e-12)
    assert_allclose(out.theta, where, atol=1e-5)
    assert out.value == fun(out.theta)[0]


@loop(("method", "most"), [(ProjectedGradient(), 12), (LBFGS(), 9), (ExponentiatedGradient(), 15)])
def test_searches_take_few_evaluations(method, most):
    """Measured 9, 7 and 12: a step rule that got worse is noticed."""
    domain, where, slope = MINIMA["simplex, inside"]
    centre = np.array(where) - np.linalg.solve(H, slope)

    def fun(theta):
        away = theta - centre
        return 3 + float(0.5 * away @ H @ away), H @ away

    out = minimize(fun, np.full(4, 0.5), method=method, domain=domain, tol=1e-6)
    assert out.status == "converged"
    assert out.value == pytest.approx(fun(np.array(where))[0], rel=1e-6)
    assert out.n_evaluations <= most


@each_search
def test_a_start_at_the_minimum_stays_there(method):
    out = minimize(square, [0.5, 0.5], method=method, domain=Simplex())
    assert out.status == "converged"
    assert_allclose(out.theta, 0.5, rtol=1e-12)
    assert out.n_evaluations <= 3


@each_search
def test_a_flat_function_converges_at_once(method):
    out = minimize(lambda t: (1.0, 0 * t), [0.3, 0.7], method=method, domain=Simplex())
    assert (out.status, out.n_evaluations) == ("converged", 1)
    assert_allclose(out.theta, [0.3, 0.7])


@each_search
def test_the_tolerance_is_of_the_relative_improvement(method):
    """A larger tolerance stops earlier, and scaling the function changes nothing."""
    start, domain = [0.9, 0.06, 0.04], Simplex()
    scales = np.array([1.0, 3.0, 5.0])

    def fun(theta, factor=1.0):
        return factor * float(theta @ (scales * theta)), factor * 2 * scales * theta

    runs = [minimize(fun, start, method=method, domain=domain, tol=t) for t in (1e-1, 1e-4, 1e-9)]
    assert runs[0].n_evaluations < runs[1].n_evaluations < runs[2].n_evaluations
    assert runs[0].value > runs[2].value
    huge = minimize(lambda t: fun(t, 2.0**40), start, method=method, domain=domain, tol=1e-4)
    assert huge.n_evaluations == runs[1].n_evaluations
    assert_allclose(huge.theta, runs[1].theta, rtol=1e-9)


# --- The paper's step ----------------------------------------------------------------------------


def test_fixed_steps_are_exact():
    """Three updates of theta <- project(theta - gradient / 8) in numbers without rounding."""

    def fun(theta):
        return float(theta @ theta), 2 * theta

    out = minimize(fun, [1.0, -2.0], method=FixedStep(0.125), max_evaluations=4)
    assert_array_equal(
        [step.theta for step in out.history],
        [[1.0, -2.0], [0.75, -1.5], [0.5625, -1.125], [0.421875, -0.84375]],
    )
    assert [step.value for step in out.history] == [5.0, 2.8125, 1.58203125, 0.889892578125]
    assert_array_equal(out.theta, [0.421875, -0.84375])


def test_fixed_steps_clip_and_rescale_on_the_sphere():
    """By hand: the gradient is (1, -1, 0, 4), the sum stays 4."""

    def fun(theta):
        return float(theta @ [1.0, -1.0, 0.0, 4.0]), np.array([1.0, -1.0, 0.0, 4.0])

    out = minimize(fun, np.ones(4), method=FixedStep(0.5), domain=L1Sphere(4.0), max_evaluations=4)
    # (0.5, 1.5, 1, -1) -> sum 3; (1/6, 2.5, 4/3, -2) -> sum 4; (-1/3, 3, 4/3, ...) -> sum 13/3
    expected = [
        [1, 1, 1, 1],
        [2 / 3, 2, 4 / 3, 0],
        [1 / 6, 2.5, 4 / 3, 0],
        [0, 3 * 12 / 13, 4 / 3 * 12 / 13, 0],
    ]
    assert_allclose([step.theta for step in out.history], expected, rtol=1e-14)


def test_fixed_steps_on_the_sphere_rest_where_the_gradient_is_parallel_to_the_weights():
    """What rescaling does: of sum c_k theta_k^2 the steps do not end at the minimum."""
    c = np.array([1.0, 2.0, 4.0])

    def fun(theta):
        return float(c @ theta**2) / 2, c * theta

    out = minimize(
        fun,
        np.ones(3),
        method=FixedStep(0.1),
        domain=L1Sphere(3.0),
        max_evaluations=400,
    )
    # The minimum has equal slopes, theta ~ 1 / c; the steps end at the corner of the least c.
    assert_allclose(out.history[-1].theta, [3.0, 0.0, 0.0], atol=1e-6)
    least = minimize(fun, np.ones(3), method=LBFGS(), domain=L1Sphere(3.0), tol=1e-12)
    assert_allclose(least.theta, 3 * (1 / c) / (1 / c).sum(), atol=1e-5)


def test_an_exponentiated_step_multiplies_and_rescales():
    """The first step changes logarithms by one at most: weights ~ exp(0), exp(-1/2), exp(-1)."""
    slopes = np.array([1.0, 2.0, 3.0])
    out = minimize(
        lambda theta: (float(slopes @ theta), slopes),
        np.ones(3),
        method=ExponentiatedGradient(),
        domain=L1Sphere(3.0),
        max_evaluations=2,
    )
    expected = np.exp([0.0, -0.5, -1.0])
    assert_allclose(out.theta, 3 * expected / expected.sum(), rtol=1e-14)


# --- Limits --------------------------------------------------------------------------------------


def banana(theta):
    a, b = theta
    value = (1 - a) ** 2 + 100 * (b - a * a) ** 2 + 1
    return float(value), np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])


@each_method
@loop("limit", [1, 2, 3, 7])
def test_the_limit_of_evaluations_is_exact(method, limit):
    fun = Counted(banana)
    domain = Simplex(1.0) if isinstance(method, ExponentiatedGradient) else Box(-2.0, 2.0)
    method = FixedStep(1e-4) if isinstance(method, FixedStep) else method
    out = minimize(fun, [0.01, 0.99], method=method, domain=domain, max_evaluations=limit, tol=0.0)
    assert len(fun.calls) == out.n_evaluations == len(out.history) == limit
    assert out.status == "max_evaluations"


@each_method
def test_evaluations_stay_in_the_domain(method):
    fun = Counted(square)
    minimize(fun, [5.0, 1.0, -1.0], method=method, domain=Simplex(3.0), max_evaluations=40)
    for (theta,) in fun.calls:
        assert (theta >= 0).all()
        assert theta.sum() == pytest.approx(3.0)


def test_the_start_is_brought_into_the_domain():
    start = np.array([9.0, -9.0])
    out = minimize(square, start, method=FixedStep(), domain=Box(-1, 1), max_evaluations=1)
    assert_array_equal(out.theta, [1.0, -1.0])
    assert_array_equal(start, [9.0, -9.0])


# --- The best point ------------------------------------------------------------------------------


def test_the_best_point_is_kept_and_the_start_competes():
    """A step of 1.25 overshoots: the values grow from the start on."""
    best = minimize(square, [1.0], method=FixedStep(1.25), max_evaluations=4)
    assert [step.value for step in best.history] == [1.0, 2.25, 5.0625, 11.390625]
    assert (best.theta, best.value) == ([1.0], 1.0)


def test_the_best_point_may_lie_in_the_middle():
    values = iter([4.0, 1.0, 3.0, 2.0])
    out = minimize(
        lambda t: (next(values), -np.ones(1)), [0.0], method=FixedStep(1.0), max_evaluations=4
    )
    assert (out.theta, out.value) == ([1.0], 1.0)


# --- Callbacks and history -----------------------------------------------------------------------


@each_method
def test_the_callback_sees_each_step(method):
    seen = []
    out = minimize(
        square, [0.9, 0.1], method=method, domain=Simplex(), max_evaluations=5, callback=seen.append
    )
    assert all(isinstance(step, Step) for step in seen)
    assert len(seen) == out.n_evaluations > 1
    assert all(mine is theirs for mine, theirs in zip(seen, out.history, strict=True))


@each_method
@loop("stop_at", [1, 3])
def test_a_true_value_of_the_callback_stops(method, stop_at):
    fun, seen = Counted(square), []

    def callback(step):
        seen.append(step)
        return len(seen) == stop_at

    out = minimize(
        fun, [0.98, 0.01, 0.01], method=method, domain=Simplex(), tol=0.0, callback=callback
    )
    assert out.status == "stopped"
    assert len(fun.calls) == len(seen) == out.n_evaluations == stop_at
    assert out.value == min(step.value for step in seen)


def test_an_error_of_the_callback_or_the_function_is_not_swallowed():
    def fail(*args):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        minimize(square, [1.0], method=LBFGS(), callback=fail)
    with pytest.raises(KeyboardInterrupt):
        minimize(fail, [1.0], method=LBFGS())


def test_the_history_is_complete():
    class Slow:
        n_iter = 0

        def __call__(self, theta):
            self.n_iter += 7
            sleep(0.002)
            return square(theta)

    fun = Slow()
    out = minimize(fun, [1.0, 2.0], method=FixedStep(0.125), max_evaluations=3)
    assert [step.n_iter for step in out.history] == [7, 14, 21]
    assert all(step.seconds >= 0.002 for step in out.history)
    for step in out.history:
        assert step.value == float(step.theta @ step.theta)
    assert minimize(square, [1.0], method=FixedStep(), max_evaluations=1).history[0].n_iter == 0


@each_method
def test_the_history_does_not_change_when_the_function_writes(method):
    """A function that works in place on its argument must not rewrite the past."""
    seen = []
    out = minimize(
        lambda t: (seen.append(t.copy()), square(t))[1],
        [0.9, 0.1],
        method=method,
        domain=Simplex(),
        max_evaluations=4,
    )
    assert_array_equal([step.theta for step in out.history], seen)


@loop("domain", [None, Simplex(), Box(-0.5, 0.75), Box(0.2), LogPositive(0.1, 2.0)], **named)
def test_scipys_routine_and_its_public_function_take_the_same_steps(domain, monkeypatch):
    start, histories = [0.3, 0.6], []
    for _ in range(2):
        out = minimize(banana, start, method=LBFGS(), domain=domain, tol=0.0, max_evaluations=12)
        histories.append([step.theta for step in out.history])
        monkeypatch.setattr("kernelwise.outer.lbfgsb._routine", None)
    assert_array_equal(*histories)
