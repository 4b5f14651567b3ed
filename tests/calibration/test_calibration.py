"""Sigmoids, temperatures and offsets: optima against independent minimisers, caps, targets."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, softmax

from kernelwise.calibration.scores import Calibration, calibrate_margins, coupled, probabilities
from kernelwise.calibration.sigmoids import Sigmoid, cap_slope, fit_intercept, fit_sigmoid
from kernelwise.calibration.softmax import fit_offsets, fit_temperature, smoothed_targets


def sigmoid_loss(parameters, decisions, positive, weight, mean, variance):
    """The penalised loss of one sigmoid, written row by row."""
    slope, intercept = parameters
    above, below = weight[positive].sum(), weight[~positive].sum()
    total = (slope - mean) ** 2 / (2 * variance)
    for f, is_positive, w in zip(decisions, positive, weight, strict=True):
        target = (above + 1) / (above + 2) if is_positive else 1 / (below + 2)
        p = expit(slope * f + intercept)
        total -= w * (target * np.log(p) + (1 - target) * np.log(1 - p))
    return total


def two_classes(seed=0, n=60, gap=1.5):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    return gap * (positive - 0.3) + rng.normal(size=n), positive, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("variance", [0.5, 2.0, np.inf])
@pytest.mark.parametrize("gap", [0.0, 1.5, 8.0, -2.0])
def test_sigmoid_is_the_constrained_minimum(gap, variance):
    f, positive, weight = two_classes(gap=gap)
    sigmoid = fit_sigmoid(f, positive, weight, prior_variance=variance)
    data = (f, positive, weight, 2.5, variance)
    free = minimize(sigmoid_loss, [1.0, 0.0], data, "L-BFGS-B", bounds=[(0.05, None), (None, None)])
    found = np.array([sigmoid.slope, sigmoid.intercept])
    np.testing.assert_allclose(found, free.x, rtol=1e-3, atol=1e-3)
    assert sigmoid_loss(found, *data) <= free.fun + 1e-9
    gradient = approx_fprime(found, sigmoid_loss, 1e-7, *data)
    assert gradient[1] == pytest.approx(0.0, abs=1e-4)
    assert sigmoid.slope == 0.05 or gradient[0] == pytest.approx(0.0, abs=1e-4)
    assert gradient[0] > -1e-4  # at the floor the loss grows with the slope


def test_negative_association_stands_at_the_floor():
    f, positive, weight = two_classes(gap=-2.0)
    assert fit_sigmoid(f, positive, weight, prior_variance=np.inf).slope == 0.05


def test_columns_are_independent():
    tables = [two_classes(seed) for seed in range(3)]
    f, positive, weight = (np.column_stack(each) for each in zip(*tables, strict=True))
    together = fit_sigmoid(f, positive, weight)
    for column, (own_f, own_positive, own_weight) in enumerate(tables):
        alone = fit_sigmoid(own_f, own_positive, own_weight)
        assert together.slope[column] == pytest.approx(float(alone.slope), rel=1e-6)
        assert together.intercept[column] == pytest.approx(float(alone.intercept), rel=1e-6)


def test_weight_is_a_number_of_copies():
    f, positive, _ = two_classes()
    counts = np.random.default_rng(1).integers(0, 4, len(f))
    weighted = fit_sigmoid(f, positive, counts.astype(float))
    repeated = fit_sigmoid(np.repeat(f, counts), np.repeat(positive, counts))
    assert weighted.slope == pytest.approx(float(repeated.slope), rel=1e-6)
    assert weighted.intercept == pytest.approx(float(repeated.intercept), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_hopeless_scales_and_separable_rows_stay_finite(scale):
    f = scale * np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]) + 1e3 * scale
    sigmoid = fit_sigmoid(f, f > 1e3 * scale, prior_variance=np.inf, slope_floor=0.0)
    shifted = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
    expected = fit_sigmoid(shifted, shifted > 0, prior_variance=np.inf, slope_floor=0.0)
    np.testing.assert_allclose(sigmoid.log_odds(f), expected.log_odds(shifted), rtol=1e-4)


def test_intercept_at_a_known_slope_is_the_minimum():
    f, positive, weight = two_classes()
    sigmoid = fit_intercept(np.array(0.7), f, positive, weight)
    found = minimize(
        lambda b: sigmoid_loss((0.7, b[0]), f, positive, weight, 0.7, 1.0), [0.0], tol=1e-9
    )
    assert sigmoid.slope == 0.7
    assert sigmoid.intercept == pytest.approx(found.x[0], rel=1e-4)


# --- The cap -------------------------------------------------------------------------------


def test_cap_acts_where_the_halves_find_nothing():
    f, positive, weight = two_classes(gap=3.0)
    noise = np.random.default_rng(5).normal(size=len(f))
    sigmoid = fit_sigmoid(f, positive, weight, prior_variance=0.5)
    crossed = fit_sigmoid(noise, positive, weight)
    capped, is_capped = cap_slope(sigmoid, noise, positive, weight)
    assert is_capped
    assert capped.slope == pytest.approx(max(0.05, 1.25 * float(crossed.slope)))
    refitted = fit_intercept(capped.slope, noise, positive, weight)
    assert capped.intercept == pytest.approx(float(refitted.intercept))


def test_cap_does_not_act_where_the_halves_agree():
    f, positive, weight = two_classes(gap=3.0)
    sigmoid = fit_sigmoid(f, positive, weight, prior_variance=0.5)
    assert cap_slope(sigmoid, f, positive, weight) == (sigmoid, False)


# --- Several classes -----------------------------------------------------------------------


def several_classes(seed=0, n=90, gap=2.0):
    rng = np.random.default_rng(seed)
    classes = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    scores = gap * (classes[:, None] == np.arange(3)) + rng.normal(size=(n, 3))
    return scores, classes, rng.uniform(0.2, 3.0, n)


def softmax_loss(scores, classes, weight):
    targets = smoothed_targets(classes, scores.shape[1], weight)
    return -(weight[:, None] * targets * np.log(softmax(scores, axis=1))).sum()


def test_smoothed_targets_by_hand():
    targets = smoothed_targets(np.array([0, 1, 2]), 3, np.array([4.0, 1.0, 3.0]))
    own = 4.25 / 4.5
    np.testing.assert_allclose(targets[0], [own, (1 - own) / 4, 3 * (1 - own) / 4])
    np.testing.assert_allclose(targets.sum(axis=1), 1.0)


@pytest.mark.parametrize("gap", [0.0, 1.0, 6.0])
def test_temperature_is_the_minimum(gap):
    scores, classes, weight = several_classes(gap=gap)

    def loss(t):
        return softmax_loss(t[0] * scores, classes, weight) + (t[0] - 1) ** 2 / (2 * 0.1)

    found = minimize(loss, [1.0], method="L-BFGS-B", bounds=[(0.05, None)], tol=1e-12)
    assert fit_temperature(scores, classes, weight) == pytest.approx(found.x[0], rel=1e-4)


def test_offsets_are_the_minimum():
    scores, classes, weight = several_classes()
    scores = scores + np.array([1.0, -2.0, 0.5])

    def loss(offsets):
        return softmax_loss(scores + offsets, classes, weight) + 0.5 * offsets @ offsets

    offsets = fit_offsets(scores, classes, weight)
    np.testing.assert_allclose(offsets, minimize(loss, np.zeros(3)).x, atol=1e-3)
    np.testing.assert_allclose(approx_fprime(offsets, loss, 1e-7), 0.0, atol=1e-4)
    assert offsets.sum() == pytest.approx(0.0, abs=1e-9)


# --- Calibrations --------------------------------------------------------------------------


def test_two_classes_of_margins_are_one_sigmoid():
    f, positive, weight = two_classes()
    calibration = calibrate_margins(f[:, None], positive.astype(int), weight)
    sigmoid = fit_sigmoid(f, positive, weight, prior_variance=0.5)
    np.testing.assert_allclose(calibration.scores(f[:, None])[:, 0], sigmoid.log_odds(f))
    assert not calibration.is_capped


def test_several_classes_of_margins_improve_on_a_bare_softmax():
    scores, classes, weight = several_classes()
    calibration = calibrate_margins(scores / 3, classes, weight)
    calibrated = softmax_loss(calibration.scores(scores / 3), classes, weight)
    assert calibrated < softmax_loss(scores / 3, classes, weight)
    assert calibration.offsets is None


def test_several_classes_are_capped_by_halves_of_noise():
    scores, classes, weight = several_classes(gap=4.0)
    noise = 5 * np.random.default_rng(3).normal(size=scores.shape)
    calibration = calibrate_margins(scores, classes, weight, noise)
    assert calibration.is_capped
    assert calibration.temperature < 0.5 * calibrate_margins(scores, classes, weight).temperature
    assert calibration.offsets.shape == (3,)


# --- Probabilities -------------------------------------------------------------------------


def test_probabilities_divide_by_class_weights():
    scores = np.array([[0.3], [-2.0]])
    plain = probabilities(scores)
    expected = plain / [1.0, 5.0]
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities(scores, np.array([1.0, 5.0])), expected)
    three = np.array([[0.3, 1.0, -1.0]])
    expected = softmax(three, axis=1) / [1.0, 5.0, 2.0]
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities(three, np.array([1.0, 5.0, 2.0])), expected)


PAIRS = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])


def test_coupling_of_consistent_pairs_gives_their_probabilities_back():
    logs = np.log(np.random.default_rng(0).dirichlet(np.ones(3), size=20))
    np.testing.assert_allclose(coupled(logs @ PAIRS.T, PAIRS), logs, rtol=1e-9)


def test_coupling_survives_certain_pairs():
    scores = coupled(np.array([[2000.0, 2000.0, 5.0]]), PAIRS)
    assert np.isfinite(scores).all()
    assert scores.argmax() == 0


def test_scores_are_coupled_before_the_temperature_and_offsets():
    sigmoid = Sigmoid(np.array([1.0, 2.0, 3.0]), np.zeros(3))
    calibration = Calibration(sigmoid, PAIRS, temperature=2.0, offsets=np.array([0.0, 1.0, 2.0]))
    decisions = np.array([[3.0, 3.0, 1.0]])
    expected = 2 * coupled(decisions * [1.0, 2.0, 3.0], PAIRS) + [0.0, 1.0, 2.0]
    np.testing.assert_allclose(calibration.scores(decisions), expected)


def test_pairs_are_fitted_to_their_own_rows():
    scores, classes, weight = several_classes(gap=3.0)
    decisions = scores @ PAIRS.T
    calibration = calibrate_margins(decisions, classes, weight, pairs=PAIRS)
    own = classes != 2
    alone = fit_sigmoid(decisions[own, 0], classes[own] == 0, weight[own], prior_variance=np.inf)
    assert calibration.sigmoid.slope[0] == pytest.approx(float(alone.slope), rel=1e-6)
    calibrated = softmax_loss(calibration.scores(decisions), classes, weight)
    assert calibrated < softmax_loss(scores, classes, weight)
