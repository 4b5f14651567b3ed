"""Domains: what is inside, how a vector gets there, and the free coordinates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize

from kernelwise.outer import (
    LBFGS,
    Box,
    ExponentiatedGradient,
    FixedStep,
    L1Sphere,
    LogPositive,
    ProjectedGradient,
    Simplex,
)
from tests.loop import loop

RNG = np.random.default_rng(0)
LO, HI = np.array([-1.0, 0.0, 0.5, -2.0, 1.0]), np.array([1.0, 2.0, 0.5, 3.0, 4.0])

DOMAINS = {
    "simplex": Simplex(),
    "simplex of 5": Simplex(5.0),
    "sphere": L1Sphere(),
    "sphere of 5": L1Sphere(5.0),
    "everywhere": Box(),
    "unit box": Box(0.0, 1.0),
    "half open box": Box(lo=0.5),
    "box of vectors": Box(LO, HI),
    "positive": LogPositive(),
    "narrow positive": LogPositive(0.1, 10.0),
    "positive vectors": LogPositive(np.full(5, 0.1), np.array([0.1, 1.0, 2.0, 3.0, 4.0])),
}
each_domain = loop("domain", DOMAINS.values(), ids=DOMAINS)
ON_A_SIMPLEX = [name for name in DOMAINS if name.startswith("s")]
BETWEEN_BOUNDS = [name for name in DOMAINS if not name.startswith("s")]

# Far and near, negative, with ties, and with entries that no domain here holds.
VECTORS = [
    *RNG.normal(size=(4, 5)),
    *(100 * RNG.normal(size=(4, 5))),
    np.zeros(5),
    np.full(5, -3.0),
    np.array([7.0, 7.0, 7.0, 0.0, 0.0]),
    np.array([1e-12, 1.0, 1e12, -1e12, 0.0]),
]
each_vector = loop("theta", VECTORS, ids=str)


def assert_inside(domain, theta):
    if isinstance(domain, Simplex):
        assert (theta >= 0).all()
        assert theta.sum() == pytest.approx(domain.total, rel=1e-12)
    else:
        assert (theta >= domain.lo).all()
        assert (theta <= domain.hi).all()


# --- Projections ---------------------------------------------------------------------------------


@each_domain
@each_vector
def test_a_projection_lands_inside_and_stays(domain, theta):
    given = theta.copy()
    inside = domain.project(theta)
    assert_array_equal(theta, given, err_msg="the vector itself must not change")
    assert_inside(domain, inside)
    assert_allclose(domain.project(inside), inside, rtol=1e-12, atol=1e-15)


@each_domain
def test_a_vector_inside_is_its_own_projection(domain):
    inside = domain.project(np.array([0.5, 1.5, 0.5, 2.0, 1.5]))
    assert_allclose(domain.project(inside), inside, rtol=1e-14)


@loop("total", [0.3, 1.0, 5.0])
@loop("k", [1, 2, 5, 9])
def test_the_simplex_projects_to_the_nearest_point(k, total):
    """The shift theta - tau with sum max(0, theta - tau) = total, its root by bisection."""
    for theta in 3 * np.random.default_rng(k).normal(size=(20, k)):
        tau = optimize.brentq(
            lambda t, theta=theta: np.maximum(0, theta - t).sum() - total,
            theta.min() - 2 * total,
            theta.max(),
            xtol=1e-14,
        )
        assert_allclose(Simplex(total).project(theta), np.maximum(0, theta - tau), atol=1e-12)


def test_the_simplex_projects_to_the_nearest_point_by_a_general_solver():
    theta = np.array([0.9, -0.4, 0.5, 0.3])
    nearest = optimize.minimize(
        lambda v: 0.5 * ((v - theta) ** 2).sum(),
        np.full(4, 0.25),
        jac=lambda v: v - theta,
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15},
    )
    assert nearest.success
    assert_allclose(Simplex().project(theta), nearest.x, atol=1e-7)


@loop("total", [1.0, 8.0])
def test_the_sphere_clips_and_rescales_as_the_paper_does(total):
    theta = np.array([3.0, -2.0, 1.0, 0.0])
    expected = total * np.array([0.75, 0.0, 0.25, 0.0])
    assert_array_equal(L1Sphere(total).project(theta), expected)
    assert not np.allclose(Simplex(total).project(theta), expected)


@loop("theta", [np.zeros(4), np.array([-1.0, -2.0, 0.0, -1e-9])], ids=str)
def test_the_sphere_makes_weights_equal_where_nothing_is_positive(theta):
    assert_array_equal(L1Sphere(2.0).project(theta), np.full(4, 0.5))


def test_boxes_clip():
    theta = np.array([-9.0, 9.0, 9.0, 0.25, 2.0])
    assert_array_equal(Box(LO, HI).project(theta), [-1.0, 2.0, 0.5, 0.25, 2.0])
    assert_array_equal(LogPositive(0.5, 4.0).project(theta), [0.5, 4.0, 4.0, 0.5, 2.0])
    assert_array_equal(Box().project(theta), theta)


# --- Free coordinates ----------------------------------------------------------------------------


@each_domain
@loop("theta", [*RNG.uniform(0.2, 2.0, size=(4, 5)), np.ones(5)], ids=str)
def test_encode_and_decode_are_inverse(domain, theta):
    inside = domain.project(theta)
    if isinstance(domain, Simplex):  # inside for certain: no weight of zero
        inside = domain.total * theta / theta.sum()
    z = domain.encode(inside)
    assert_allclose(domain.decode(z), inside, rtol=1e-12)
    assert_allclose(domain.encode(domain.decode(z)), z, rtol=1e-12, atol=1e-12)


@loop("name", ON_A_SIMPLEX)
def test_a_weight_of_zero_has_finite_logits_and_hardly_counts(name):
    domain = DOMAINS[name]
    theta = domain.total * np.array([0.0, 0.25, 0.75, 0.0, 0.0])
    z = domain.encode(theta)
    assert np.isfinite(z).all()
    assert_allclose(domain.decode(z), theta, atol=1e-11 * domain.total)


@each_domain
@loop("z", [*RNG.normal(size=(3, 5)), np.full(5, 30.0), np.full(5, -30.0)])
def test_decode_lands_inside_whatever_the_coordinates(domain, z):
    assert_inside(domain, domain.decode(z))


@loop("name", ON_A_SIMPLEX)
def test_huge_logits_do_not_overflow(name):
    domain = DOMAINS[name]
    theta = domain.decode(np.array([0.0, 1e4, -1e4, 1e4, 0.0]))
    assert_array_equal(theta, domain.total * np.array([0, 0.5, 0, 0.5, 0]))


@each_domain
def test_pull_is_the_gradient_by_the_free_coordinates(domain):
    """Against finite differences of a function of theta, by the coordinates off their bounds."""
    A = np.random.default_rng(1).normal(size=(5, 5))

    def fun(theta):
        return np.sin(A @ theta).sum() + 0.5 * theta @ theta

    def gradient(theta):
        return A.T @ np.cos(A @ theta) + theta

    if isinstance(domain, Simplex):
        theta = domain.total * np.array([0.1, 0.2, 0.4, 0.05, 0.25])
    else:
        theta = domain.project(np.array([0.3, 0.7, 0.9, 1.3, 1.7]))
    z = domain.encode(theta)
    lo, hi = bounds_of(domain)
    free = np.flatnonzero((z > lo) & (z < hi))
    assert len(free) >= 3
    pulled = domain.pull(theta, gradient(theta))
    for k in free:
        step = 1e-6 * np.eye(5)[k]
        slope = (fun(domain.decode(z + step)) - fun(domain.decode(z - step))) / 2e-6
        assert pulled[k] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def bounds_of(domain):
    """Return lower and upper bounds of five free coordinates; infinite where there are none."""
    bounds = domain.bounds(5)
    if bounds is None:
        return np.full(5, -np.inf), np.full(5, np.inf)
    return np.array(bounds).T


@loop("name", ON_A_SIMPLEX)
def test_logits_are_free(name):
    assert DOMAINS[name].bounds(5) is None


@loop("name", ON_A_SIMPLEX)
def test_a_step_of_all_logits_changes_nothing(name):
    domain = DOMAINS[name]
    theta = domain.total * np.array([0.1, 0.2, 0.4, 0.05, 0.25])
    assert_allclose(domain.pull(theta, np.full(5, 7.0)), 0, atol=1e-14)
    assert domain.pull(theta, np.arange(5.0)).sum() == pytest.approx(0, abs=1e-14)


@loop("name", BETWEEN_BOUNDS)
def test_bounds_are_those_of_the_free_coordinates(name):
    domain = DOMAINS[name]
    bounds = domain.bounds(5)
    assert len(bounds) == 5
    assert all(isinstance(end, float) for pair in bounds for end in pair)
    lo, hi = np.broadcast_to(domain.lo, 5), np.broadcast_to(domain.hi, 5)
    ends = np.array(bounds).T
    if isinstance(domain, LogPositive):
        ends = np.exp(ends)
    assert_allclose(ends, [lo, hi], rtol=1e-12)


# --- Bad domains ---------------------------------------------------------------------------------


@loop(
    ("lo", "hi"), [(0.0, 1.0), (-1.0, 1.0), (2.0, 1.0), (np.array([1.0, 3.0]), 2.0), (np.nan, 1.0)]
)
def test_positive_bounds_are_checked(lo, hi):
    with pytest.raises(ValueError, match=r"lo must (be positive|not exceed hi)"):
        LogPositive(lo, hi)


@loop("domain", [Box, LogPositive])
@loop("lo", [None, "a", 1j, [], [[1.0]], [1.0, "b"], {}, [1.0, 1.0, 1.0]], ids=repr)
def test_bounds_of_other_kinds_are_refused(domain, lo):
    with pytest.raises((ValueError, TypeError), match=r"^lo"):
        domain(lo, [2.0, 2.0])


BAD_METHODS = [
    (FixedStep, {"eta": np.nan}),
    (FixedStep, {"eta": "a"}),
    (ProjectedGradient, {"armijo": 10**40}),
    (ProjectedGradient, {"shrink": 1.0}),
    (ExponentiatedGradient, {"first": -1.0}),
    (LBFGS, {"memory": 1j}),
    (LBFGS, {"memory": 10**18}),
    (LBFGS, {"first": None}),
]


@loop(("method", "wrong"), BAD_METHODS, ids=str)
def test_parameters_of_methods_are_checked(method, wrong):
    with pytest.raises((ValueError, TypeError), match=rf"^{next(iter(wrong))} must be"):
        method(**wrong)
