"""Weights of the mixture against SciPy, and what the mixture does with good and bad parts."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, softmax

from kernelwise.svm.base.sigmoids import fit_sigmoid
from kernelwise.svm.base.softmax import fit_temperature
from kernelwise.svm.relevance.parts.mixture import EQUAL_WEIGHTS, Mixture, mix, simplex_weights

from .problems import counts, part_rows


def log_odds(n_parts, n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    skill = rng.normal(size=(n_parts, 1))
    return skill * y + rng.normal(size=(n_parts, n)), y, rng.random(n) + 0.5


@pytest.mark.parametrize("n_parts", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_those_of_a_general_optimiser(n_parts, seed):
    Z, y, price = log_odds(n_parts, seed=seed)

    def loss(w):
        penalty = EQUAL_WEIGHTS * np.sum((w - 1 / n_parts) ** 2)
        return price @ np.logaddexp(0, -y * (w @ Z)) + penalty

    weights = simplex_weights(Z, y, price)
    found = minimize(
        loss,
        np.full(n_parts, 1 / n_parts),
        bounds=[(0, 1)] * n_parts,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-12},
    )
    np.testing.assert_allclose(weights, found.x, atol=1e-5)
    assert loss(weights) <= found.fun + 1e-9


def test_a_useless_part_gets_the_weight_zero():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(2000) < 0.5, 1.0, -1.0)
    Z = np.array([3 * y + rng.normal(size=2000), -2 * y, 2.5 * y + rng.normal(size=2000)])
    weights = simplex_weights(Z, y, np.ones(2000))
    assert weights[1] == 0
    assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_are_weighted_sums_of_sigmoids(n_classes):
    rows = part_rows(n_classes=n_classes, count=counts())
    rng = np.random.default_rng(0)
    left_out = [s * rows.codes + rng.normal(size=rows.codes.shape) for s in (1.0, 0.3)]
    mixture = mix(left_out, rows)
    own = [fit_sigmoid(f, rows.codes > 0, rows.price).log_odds(f) for f in left_out]
    expected = mixture.weights[0] * own[0] + mixture.weights[1] * own[1]
    if n_classes > 2:
        expected *= fit_temperature(expected, rows.classes, rows.price, prior_variance=0.5)
    np.testing.assert_allclose(mixture.decisions(left_out), expected, atol=1e-6)
    assert mixture.weights[0] > mixture.weights[1]


def test_the_softmax_of_several_classes_does_not_count_its_evidence_twice():
    rows = part_rows(4000, n_classes=3)
    rng = np.random.default_rng(0)
    truth = 1.5 * rng.normal(size=(4000, 3))
    shares = softmax(truth, axis=1)
    rows.classes[:] = (rng.random((4000, 1)) > shares.cumsum(axis=1)).sum(axis=1)
    one_against_rest = np.log(shares / (1 - shares))
    found = softmax(mix([one_against_rest], rows).decisions([one_against_rest]), axis=1)
    assert np.abs(found - shares).mean() < 0.03
    assert np.abs(softmax(one_against_rest, axis=1) - shares).mean() > 0.06


def test_log_odds_are_those_of_the_rows():
    rows = part_rows(4000, n_classes=2)
    rng = np.random.default_rng(0)
    truth = 2 * rng.normal(size=(4000, 1)) - 1
    rows.classes[:] = rng.random(4000) < expit(truth[:, 0])
    mixture = mix([truth / 3 + 1, rng.normal(size=(4000, 1))], rows)
    errors = mixture.decisions([truth / 3 + 1, np.zeros((4000, 1))]) - truth
    assert np.abs(errors).mean() < 0.2


def test_the_mixture_adds_up_factors_and_offset():
    mixture = Mixture(np.array([0.5, 0.5]), np.array([[[2.0]], [[3.0]]]), np.array([1.0]))
    one, two = np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]])
    assert mixture.decisions([one, two]).tolist() == [[3.0], [4.0]]
