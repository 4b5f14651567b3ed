"""The evidence equals its formula, and its gradient that formula's finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import cho_factor, cho_solve

from kernelwise.svm.relevance.evidence import Evidence, learn
from kernelwise.svm.relevance.path import rank
from kernelwise.svm.relevance.prior import equal_prior

from .tables import SETTINGS, covariance, mixed_frame, model_rows, number_rows, some_prior

GROUPS = [["a", "few"]]


def energy(theta, evidence, prior, centre, rows, T, nugget=0.0):
    """Return E by its formula, in float64."""
    own = evidence.unpack(theta, prior)
    diagonal = own.noise / rows.weight + nugget
    C = covariance(own, rows, rows) + np.diag(diagonal)
    factor = cho_factor(C, lower=True)
    off = theta - evidence.pack(centre)
    g = len(centre.kept)
    deviations = np.full(len(theta), SETTINGS.spread)
    names = [n for n in ("s2", "tau", "noise", "r2", "rho") if getattr(centre, n) > 0]
    names = [n for n in names if n != "rho" or centre.r2 > 0]
    deviations[2 * g :] = [SETTINGS.spreads[n] for n in names]
    fit = 0.5 * np.sum(T * cho_solve(factor, T))
    logdet = T.shape[1] * np.log(np.diagonal(factor[0])).sum()
    return fit + logdet + 0.5 * np.sum((off / deviations) ** 2)


CASES = {
    "both kernels": {},
    "a Laplacian only": {"r2": 0.0},
    "a Gaussian only": {"s2": 0.0},
    "no steps": {"tau": 0.0},
    "additive": {"s2": 0.0, "r2": 0.0},
}


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_value_and_gradient_are_those_of_the_formula(real):
    rng = np.random.default_rng(0)
    n, tolerance = 90, {np.float32: 2e-4, np.float64: 1e-5}[real]
    weight = rng.uniform(0.2, 3.0, n)
    rows = model_rows(mixed_frame(n, n_levels=35), weight, feature_groups=GROUPS)
    for name, changes in CASES.items():
        for n_targets in (1, 3):
            T = rng.normal(size=(n, n_targets))
            centre, prior = some_prior(rows, **changes), some_prior(rows, 1, **changes)
            evidence = Evidence(rows, T, centre, SETTINGS, real)
            theta = evidence.pack(prior)
            nugget = 3e-6 * (prior.s2 + prior.r2) if real is np.float64 else 0.0
            args = evidence, prior, centre, rows, T, nugget
            value, gradient = evidence(theta)
            assert value == pytest.approx(energy(theta, *args), rel=tolerance), name
            steps = 1e-5 * np.eye(len(theta))
            slopes = [(energy(theta + h, *args) - energy(theta - h, *args)) / 2e-5 for h in steps]
            size = np.abs(slopes).max()
            assert_allclose(gradient, slopes, atol=tolerance * size, err_msg=name)


def test_dropped_groups_take_no_part():
    rows = model_rows(mixed_frame(60))
    T = np.random.default_rng(0).normal(size=(60, 1))
    w, v = some_prior(rows).w, some_prior(rows).v
    w[[0, 2]] = v[[0, 2]] = 0
    prior = some_prior(rows, w=w, v=v)
    evidence = Evidence(rows, T, prior, SETTINGS, np.float64)
    theta = evidence.pack(prior)
    assert len(theta) == 2 * (len(w) - 2) + 5
    expected = energy(theta, evidence, prior, prior, rows, T)
    assert evidence(theta)[0] == pytest.approx(expected, rel=2e-5)
    back = evidence.unpack(theta, prior)
    assert_allclose(back.w, w)
    assert_allclose(back.v, v)


def test_learning_lowers_the_evidence_within_bounds_and_holds_what_it_is_told_to():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    rows, t = number_rows(X), np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=200)
    T = ((t - t.mean()) / t.std())[:, None]
    equal = equal_prior(rows, np.arange(5), rng)
    evidence = Evidence(rows, T, equal, SETTINGS)
    found = learn(rows, T, equal, equal, 30, SETTINGS)
    assert evidence(evidence.pack(found))[0] < evidence(evidence.pack(equal))[0] - 50
    shares = found.shares(np.ones(5))
    assert shares[:2].min() > 3 * shares[2:].max()
    assert found.noise == pytest.approx(0.09 / t.var(), rel=0.5)
    held = learn(rows, T, equal, equal, 5, SETTINGS, hold=("w", "noise", "rho"))
    assert_allclose(held.w, equal.w)
    assert_allclose([held.noise, held.rho], [equal.noise, equal.rho])
    assert held.s2 != equal.s2
    for name, (low, high) in SETTINGS.bounds.items():
        assert low * 0.999 <= getattr(found, name) <= high * 1.001


def test_hardly_any_noise_is_found_in_float64_only():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (150, 2))
    t = X[:, 0] + 0.5 * X[:, 0] * X[:, 1]
    rows, T = number_rows(X), ((t - t.mean()) / t.std())[:, None]
    equal = equal_prior(rows, np.arange(2), rng)
    coarse, fine = (learn(rows, T, equal, equal, 60, SETTINGS, fine=f) for f in (False, True))
    assert coarse.noise >= SETTINGS.bounds["noise"][0] * 0.999
    assert SETTINGS.bounds["noise"][0] * 0.999 <= fine.noise < coarse.noise


def test_a_matrix_that_is_not_positive_definite_turns_a_line_search_back():
    rows = number_rows(np.zeros((20, 1)) + np.arange(20)[:, None] // 10)
    prior = some_prior(rows, noise=1e-300)
    evidence = Evidence(rows, np.ones((20, 1)), prior, SETTINGS)
    value, gradient = evidence(evidence.pack(prior))
    assert value >= 1e10
    assert_array_equal(gradient, 0)


def test_ranking_finds_columns_that_matter_alone_and_together():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 12))
    t = np.sign(X[:, 3] * X[:, 7]) + 0.8 * X[:, 5]
    T = ((t - t.mean()) / t.std())[:, None]
    shares = rank(number_rows(X), T, np.arange(12), rng, SETTINGS)
    assert shares.sum() == pytest.approx(1, abs=1e-6)
    assert set(np.argsort(-shares)[:3]) == {3, 5, 7}
