"""Targets and their powers, left-out residuals, and the coverage of intervals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import boxcox_llf

from kernelwise import RelevanceSVR
from kernelwise.svm.relevance.intervals import LocalDeviation, ends
from kernelwise.svm.relevance.target import Target

from .tables import number_rows


def test_targets_go_to_their_power_and_back():
    rng = np.random.default_rng(0)
    y, weight = np.exp(rng.normal(1, 0.7, 200)), rng.uniform(0.5, 2, 200)
    for power in (None, 0.0, -0.4, 0.5, 1.8):
        target = Target.of(y, weight, power)
        t = target.apply(y)
        assert np.average(t, weights=weight) == pytest.approx(0, abs=1e-12)
        assert np.average(t**2, weights=weight) == pytest.approx(1)
        assert_allclose(target.back(t, np.zeros(200)), y, rtol=1e-9)
    logs = Target.of(y, weight, 0.0)
    residuals = rng.normal(0, 0.5, 20_000)  # the mean of exp, not exp of the mean
    mean = logs.back(np.zeros(1), residuals)[0]
    assert mean == pytest.approx(np.mean(np.exp(logs.centre + logs.scale * residuals)), rel=0.01)
    far = logs.back(np.array([-1e6, 1e6]), np.zeros(5))
    assert np.isfinite(far).all()
    assert far[1] < 10 * y.max()


def test_a_power_is_tried_where_it_makes_the_target_more_normal():
    rng = np.random.default_rng(0)
    z, one = rng.normal(size=300), np.ones(300)
    assert len(Target.all(z, one)) == 1
    assert len(Target.all(np.full(300, 2.0), one)) == 1
    assert len(Target.all(rng.integers(0, 5, 300).astype(float), one)) == 1
    _, power = Target.all(np.exp(z), one)
    assert abs(power.power) < 0.15
    y = (3 + z.clip(-2.5)) ** 2
    _, power = Target.all(y, one)
    grid = np.arange(-0.5, 2, 0.01)
    best = grid[np.argmax([boxcox_llf(p, y) for p in grid])]
    assert power.power == pytest.approx(best, abs=0.02)
    _, power = Target.all(np.exp(z) - 5, one)
    assert power.shift < (np.exp(z) - 5).min()


def test_ends_are_quantiles_that_a_new_row_lies_between():
    ratios = np.sort(np.random.default_rng(0).normal(size=99))
    low, high = ends(ratios, 0.9)
    assert (low, high) == (ratios[4], ratios[94])  # 90 of the 100 gaps
    assert ends(ratios[:5], 0.99) == (ratios[0], ratios[4])


def test_local_deviations_follow_the_spread_and_are_constant_without_one():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (500, 3))
    rows, f = number_rows(X), X[:, 0].copy()
    spread = np.exp(1.5 * X[:, 1])
    deviation, own = LocalDeviation.of(rows, f, f + spread * rng.normal(size=500))
    assert np.corrcoef(np.log(own), 1.5 * X[:, 1])[0, 1] > 0.9
    assert_allclose(deviation(rows, f), own, rtol=0.2)
    constant, own = LocalDeviation.of(rows, f, f + rng.normal(size=500))
    assert np.ptp(own) < 1e-9 * own.mean() or np.std(np.log(own)) < 0.1
    assert np.std(constant(rows, f)) < 0.1 * own.mean()


def test_intervals_cover_new_rows_at_their_level_and_widen_with_the_noise():
    covered, widths = {0.5: [], 0.9: []}, []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (2200, 3))
        spread = 0.1 + 0.4 * (X[:, 1] > 0)
        y = np.sin(3 * X[:, 0]) + spread * rng.normal(size=2200)
        model = RelevanceSVR().fit(X[:200], y[:200])
        for level, found in covered.items():
            low, high = model.predict_interval(X[200:], level)
            found.append(np.mean((low <= y[200:]) & (y[200:] <= high)))
        wide = X[200:, 1] > 0
        widths.append(np.mean((high - low)[wide]) / np.mean((high - low)[~wide]))
    for level, found in covered.items():
        assert np.mean(found) == pytest.approx(level, abs=0.04)
    assert np.mean(widths) > 2


def test_left_out_predictions_are_about_as_good_as_predictions_of_new_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=1200)
    model = RelevanceSVR().fit(X[:200], y[:200])
    without = np.mean((model.loo_predictions_ - y[:200]) ** 2)
    new = np.mean((model.predict(X[200:]) - y[200:]) ** 2)
    inside = np.mean((model.predict(X[:200]) - y[:200]) ** 2)
    assert without == pytest.approx(new, rel=0.25)
    assert inside < 0.8 * without


def test_a_target_that_was_never_negative_has_no_negative_ends():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.exp(X[:, 0] + 0.8 * rng.normal(size=150))
    low, high = RelevanceSVR().fit(X, y).predict_interval(X, 0.95)
    assert low.min() >= 0
    assert (low <= high).all()
