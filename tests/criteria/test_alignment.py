"""Kernel-target alignment, by hand and from its definition."""

import numpy as np
import pytest

from kernelwise.criteria import Alignment, alignment
from kernelwise.kernels import RBF, Polynomial
from tests.loop import loop

Y4 = np.array([-1.0, 1.0, 1.0, -1.0])


def by_definition(K, y, centered):
    """Compute the alignment from its formula, with the centring matrix written out."""
    target = np.outer(y, y)
    if centered:
        H = np.eye(len(y)) - 1 / len(y)
        K, target = H @ K @ H, H @ target @ H
    return np.sum(K * target) / np.sqrt(np.sum(K**2) * np.sum(target**2))


@loop("centered", [False, True])
def test_by_hand(centered):
    assert alignment(np.outer(Y4, Y4), Y4, centered=centered) == pytest.approx(1, rel=1e-12)
    assert alignment(-np.outer(Y4, Y4), Y4, centered=centered) == pytest.approx(-1, rel=1e-12)
    # <I, yy'> = 4, |I| = 2, |yy'| = 4; centred |HIH| = sqrt(3).
    expected = 1 / np.sqrt(3) if centered else 1 / 2
    assert alignment(np.eye(4), Y4, centered=centered) == pytest.approx(expected, rel=1e-12)
    assert Alignment(centered=centered).evaluate(np.eye(4), Y4).value == pytest.approx(
        1 - expected, rel=1e-12
    )


def test_unbalanced_by_hand():
    # y = (1, 1, 1, -1), centred (1, 1, 1, -3) / 2 of squared length 3; K = yy' + 11'.
    y = np.array([1.0, 1.0, 1.0, -1.0])
    K = np.outer(y, y) + 1
    assert alignment(K, y) == pytest.approx(1, rel=1e-12)
    # Not centred <K, yy'> = 16 + 4 and |K|^2 = 16 + 2 * 4 + 16.
    assert alignment(K, y, centered=False) == pytest.approx(20 / (np.sqrt(40) * 4), rel=1e-12)


@loop("centered", [False, True])
def test_definition(centered):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.sign(rng.normal(size=20) + 0.4)
    K = RBF(gamma=0.4)(X)
    assert alignment(K, y, centered=centered) == pytest.approx(
        by_definition(K, y, centered), rel=1e-12
    )


@loop("centered", [False, True])
def test_rows_outside_do_not_count(centered):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 3)), rng.choice([-1.0, 0.0, 1.0], size=20)
    K, inside = RBF(gamma=0.4)(X), np.flatnonzero(y)
    expected = by_definition(K[np.ix_(inside, inside)], y[inside], centered)
    assert alignment(K, y, centered=centered) == pytest.approx(expected, rel=1e-12)


@loop("value", [1.0, 0.1, 123456.789, 1e-6 / 3])
@loop("n", [7, 13])
def test_constant_kernel_is_not_aligned_and_has_no_slope(value, n):
    K, y = np.full((n, n), value), np.where(np.arange(n) < 3, 1.0, -1.0)
    assert alignment(K, y) == 0
    found = Alignment().evaluate(K, y)
    assert found.value == 1
    np.testing.assert_array_equal(found.cotangent.block(0, n), np.zeros((n, n)))


def test_constant_kernel_of_features_has_no_gradient():
    X, y = np.random.default_rng(0).normal(size=(7, 2)), np.array([1.0, 1, 1, -1, -1, -1, -1])
    kernel = Polynomial(gamma=0.0, degree=2, coef0=0.7)
    value, gradient = Alignment().of(kernel, ["coef0", "weights"], X, y)([0.7, 1.0, 1.0])
    assert value == 1
    np.testing.assert_array_equal(gradient, np.zeros(3))


def test_one_class_alone_is_not_aligned():
    assert alignment(np.eye(3), np.ones(3)) == 0
    assert alignment(np.eye(3), np.ones(3), centered=False) == pytest.approx(1 / np.sqrt(3))


@loop("scale", [1e-15, 1e-8, 1e8])
@loop("centered", [False, True])
def test_scale_does_not_count(scale, centered):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.sign(rng.normal(size=20))
    K = RBF(gamma=0.4)(X)
    expected = alignment(K, y, centered=centered)
    assert alignment(scale * K, y, centered=centered) == pytest.approx(expected, rel=1e-9)


def test_solves_nothing():
    found = Alignment().evaluate(np.eye(4), Y4)
    assert found.machines == ()
    assert found.by_C == 0
