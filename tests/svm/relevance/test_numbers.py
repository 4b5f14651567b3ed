"""Targets and their powers, left-out residuals, and the coverage of intervals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import boxcox_llf

from kernelwise import RelevanceSVR
from kernelwise.svm.relevance import number_model
from kernelwise.svm.relevance.intervals import LocalDeviation, ends, quantiles
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
    assert_array_equal(quantiles(ratios, [0.05, 0.95]), [low, high])
    assert_array_equal(ends(ratios[:5], 0.99), ratios[[0, 4]])
    assert_array_equal(quantiles(ratios[:5], [0.005, 0.5, 0.995]), ratios[[0, 2, 4]])


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


def test_quantiles_have_their_share_of_new_rows_below_and_never_cross():
    q, below, errors = np.array([0.9, 0.02, 0.25, 0.5, 0.98]), [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (2200, 3))
        spread = 0.1 + 0.4 * (X[:, 1] > 0)
        y = np.sin(3 * X[:, 0]) + spread * (rng.exponential(size=2200) - 1)
        model, new = RelevanceSVR().fit(X[:200], y[:200]), X[200:]
        found = model.predict_quantile(new, q)
        assert found.shape == (2000, 5)
        assert (np.diff(found[:, np.argsort(q)], axis=1) >= 0).all()
        assert_array_equal(model.predict_quantile(new, 0.25), found[:, 2])
        low, high = model.predict_interval(new, 0.5)
        assert ((low <= found[:, 2]) & (found[:, 3] <= high)).all()
        below.append(np.mean(y[200:, None] <= found, axis=0))
        predicted, std = model.predict(new, return_std=True)
        assert_array_equal(predicted, model.predict(new))
        z = (y[200:] - predicted) / std
        wide = new[:, 1] > 0
        errors.append([np.mean(z**2), std[wide].mean() / std[~wide].mean()])
    assert_allclose(np.mean(below, axis=0), q, atol=0.04)
    mean, ratio = np.mean(errors, axis=0)
    assert mean == pytest.approx(1, abs=0.25)
    assert ratio > 1.5
    for wrong in (0, 1.0, np.nan, [0.5, 1.2], [[0.5]], []):
        with pytest.raises(ValueError, match="q must be one or several numbers between 0 and 1"):
            model.predict_quantile(new, wrong)


def test_several_targets_have_quantiles_and_deviations_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    Y = np.column_stack([X[:, 0] + 0.3 * rng.normal(size=80), rng.poisson(np.exp(X[:, 1]))])
    model = RelevanceSVR().fit(X, Y)
    assert model.predict_quantile(X, 0.3).shape == (80, 2)
    found, std = model.predict_quantile(X, [0.1, 0.9]), model.predict(X, return_std=True)[1]
    assert found.shape == (80, 2, 2)
    for j in range(2):
        single = RelevanceSVR().fit(X, Y[:, j])
        assert_allclose(found[:, j], single.predict_quantile(X, [0.1, 0.9]), rtol=1e-6, atol=1e-6)
        assert_allclose(std[:, j], single.predict(X, return_std=True)[1], rtol=1e-6)
    assert found[:, 0].min() < 0
    assert found[:, 1].min() >= 0


def test_a_random_state_gives_the_same_model_again():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.normal(size=120)
    one, same, other = (RelevanceSVR(random_state=seed).fit(X, y) for seed in (3, 3, 4))
    for answer in (
        RelevanceSVR.predict,
        lambda model, X: model.predict_quantile(X, [0.1, 0.7]),
        lambda model, X: model.loo_predictions_,
    ):
        assert_array_equal(answer(one, X), answer(same, X))
    assert not np.array_equal(one.loo_predictions_, other.loo_predictions_)


def test_outliers_of_a_heavy_tailed_target_do_not_lead_astray(monkeypatch):
    def errors():
        """Return errors over those of the mean, and shares below a quantile, of new rows."""
        out = []
        for seed in (6, 7, 9):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(2300, 4))
            y = X[:, 0] + np.exp(3 * rng.normal(size=2300))
            model, new = RelevanceSVR().fit(X[:300], y[:300]), y[300:]
            squares = (model.predict(X[300:]) - new) ** 2
            ratio = np.sqrt(np.mean(squares) / np.mean((y[:300].mean() - new) ** 2))
            out.append([ratio, np.mean(new <= model.predict_quantile(X[300:], 0.9))])
        return np.transpose(out)

    ratios, below = errors()
    assert max(ratios) < 1.01
    assert_allclose(below, 0.9, atol=0.05)
    monkeypatch.setattr(number_model, "_pull", lambda *args: (1.0, 0.0))
    assert max(errors()[0]) > 10


def test_predictions_better_than_the_mean_stay_as_they_are():
    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=100), rng.uniform(0.5, 2, 100)
    pull = number_model._pull
    assert pull(y + rng.normal(size=100) / 2, y, weight) == (1.0, 0.0)
    assert pull(rng.normal(size=30), y[:30], weight[:30]) == (1.0, 0.0)  # too few to decide
    noisy = y + 3 * rng.normal(size=100)
    slope, shift = pull(noisy, y, weight)
    mean = np.average(y, weights=weight)
    assert slope == pytest.approx(np.polyfit(noisy, y, 1, w=np.sqrt(weight))[0], abs=0.02)
    assert slope * mean + shift == pytest.approx(mean)
    assert pull(-y, y, weight) == (0.0, pytest.approx(mean))


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


def test_a_target_that_was_never_negative_has_no_negative_answers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    for y in (
        np.exp(X[:, 0] + 0.8 * rng.normal(size=150)),
        rng.poisson(np.exp(X[:, 0] - 1)),
        np.maximum(X[:, 0] + 0.1 * rng.normal(size=150), 0),
    ):
        model = RelevanceSVR().fit(X, y)
        below = RelevanceSVR().fit(X, y - 1.0)
        low, high = model.predict_interval(X, 0.95)
        assert (low <= high).all()
        for found in (
            model.predict(X),
            model.loo_predictions_,
            model.predict_quantile(X, [0.01, 0.5]),
            low,
        ):
            assert found.min() >= 0
        assert below.predict_quantile(X, 0.01).min() < -1
    assert model.predict(X).min() == 0  # some would be negative
    assert below.predict(X).min() < -1
