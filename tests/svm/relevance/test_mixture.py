"""Weights of mixtures against scipy, temperatures, and shifts by the levels of categories."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit

from kernelwise.svm.relevance.levels import find_families
from kernelwise.svm.relevance.losses import LogLoss, log_probabilities
from kernelwise.svm.relevance.simplex import log_weights, simplex_minimum, squared_weights

from .tables import LEVELS, SETTINGS, model_rows


def on_simplex(value, J):
    """Return the minimum of a convex function on the simplex, by scipy."""
    found = minimize(
        value,
        np.full(J, 1 / J),
        method="SLSQP",
        bounds=[(0, 1)] * J,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x


def test_weights_on_the_simplex_are_those_of_scipy():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        J, n = 2 + seed % 4, 60
        cost_factor, y = rng.uniform(0.2, 2, n), rng.choice([-1.0, 1.0], n)
        Z = y * rng.normal(1, 2, (J, n)) * rng.uniform(0.2, 1.5, (J, 1))
        centre = rng.dirichlet(np.ones(J))

        def log_loss(w, Z=Z, y=y, cost_factor=cost_factor, centre=centre):
            return cost_factor @ np.logaddexp(0, -y * (w @ Z)) + 3 * np.sum((w - centre) ** 2)

        found = log_weights(Z, y, cost_factor, centre, 3.0)
        assert_allclose(found, on_simplex(log_loss, J), atol=2e-4)
        assert found.sum() == pytest.approx(1)
        size = ((Z**2) @ cost_factor).min() / cost_factor.sum()

        def squared(w, Z=Z, cost_factor=cost_factor, centre=centre, size=size):
            return cost_factor @ (w @ Z) ** 2 / (2 * size) + 3 * np.sum((w - centre) ** 2)

        found = squared_weights(Z, cost_factor, centre, 3.0)
        assert_allclose(found, on_simplex(squared, J), atol=2e-4)
        A = rng.normal(size=(J, J))
        H, g = A @ A.T + 0.1 * np.eye(J), 3 * rng.normal(size=J)
        expected = on_simplex(lambda w, H=H, g=g: 0.5 * w @ H @ w + g @ w, J)
        assert_allclose(simplex_minimum(H, g), expected, atol=2e-4)


def test_a_mixture_undoes_what_is_wrong_with_its_parts():
    rng = np.random.default_rng(0)
    n = 3000
    z = rng.normal(0, 2, n)
    classes = (rng.random(n) < expit(z)).astype(int)
    loss = LogLoss(classes, 2, np.ones(n), SETTINGS)
    parts = [3 * z[:, None] + 1, rng.normal(size=(n, 1))]  # too sure, and noise
    mixture = loss.mix(parts)
    assert mixture.weights[0] > 0.9
    assert np.abs(mixture.decisions(parts)[:, 0] - z).mean() < 0.25
    assert loss.row_losses(parts).mean() < np.logaddexp(0, -np.where(classes, z, -z)).mean() + 0.01
    assert loss.base.mean() == pytest.approx(np.log(2), abs=0.01)

    p = rng.dirichlet([1, 1, 1], n)
    several = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    loss = LogLoss(several, 3, np.ones(n), SETTINGS)
    odds = np.log(p) - np.log1p(-p)
    found = np.exp(log_probabilities(loss.mix([0.2 * odds]).decisions([0.2 * odds])))
    assert np.abs(found - p).mean() < 0.05
    assert_allclose(found.sum(axis=1), 1)


def test_rows_to_learn_from_are_balanced_over_the_classes():
    classes = np.repeat([0, 1, 2], [2000, 900, 20])
    loss = LogLoss(classes, 3, np.ones(2920), SETTINGS)
    some = loss.learning_rows(500, np.random.default_rng(0))
    assert np.bincount(classes[some]).tolist() == [240, 240, 20]
    assert len(np.unique(some)) == 500


# --- Levels ----------------------------------------------------------------------------------


def families_of(rows, y, z):
    """Return the families for a squared loss of noise variance one."""
    return find_families(
        rows,
        z,
        lambda z: 0.5 * float(np.sum((y - z[:, 0]) ** 2)),
        lambda z: (y[:, None] - z, np.ones_like(z)),
        SETTINGS,
    )


def test_levels_shift_decisions_by_shrunken_means():
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame({"place": LEVELS[rng.integers(0, 30, n)], "x": rng.normal(size=n)})
    effect = dict(zip(LEVELS, rng.normal(0, 1.5, 40), strict=True))
    y = frame["place"].map(effect).to_numpy() + rng.normal(size=n)
    rows = model_rows(frame)
    (family,) = families_of(rows, y, np.zeros((n, 1)))
    assert family.first == family.second == 0
    shift = family.shift(rows.Z)[:, 0]
    by_level = pd.DataFrame({"place": frame["place"], "y": y, "shift": shift}).groupby("place")
    sums, sizes = by_level["y"].sum(), by_level["y"].size()
    ridges = (sums / by_level["shift"].first() - sizes).to_numpy()
    assert np.ptp(ridges) < 1e-3
    assert min(abs(ridges[0] - np.array([0.5, 2, 8, 32]))) < 1e-3
    unseen = rows.columns.rows(
        rows.columns.encoding.apply(pd.DataFrame({"place": ["?"], "x": [0.0]}))
    )
    assert family.shift(unseen.Z)[0, 0] == 0
    assert families_of(rows, rng.normal(size=n), np.zeros((n, 1))) == []


def test_two_columns_shift_decisions_together():
    rng = np.random.default_rng(0)
    n = 800
    frame = pd.DataFrame({"a": LEVELS[rng.integers(0, 4, n)], "b": LEVELS[rng.integers(0, 4, n)]})
    frame["x"] = rng.normal(size=n)
    same = (frame["a"] == frame["b"]).to_numpy()
    rows = model_rows(frame)
    first = families_of(rows, 2.0 * same - 1 + rng.normal(size=n), np.zeros((n, 1)))[0]
    assert (first.first, first.second) == (0, 1)
    above = (frame["a"] == LEVELS[0]) * np.sign(frame["x"])
    first = families_of(rows, 2 * above.to_numpy() + rng.normal(size=n), np.zeros((n, 1)))[0]
    assert (first.first, first.second) == (0, 2)
    assert len(first.cuts) == 7


def test_values_that_repeat_shift_decisions():
    rng = np.random.default_rng(0)
    n = 1200
    limits = np.where(rng.random(n) < 0.7, 0.0, rng.integers(1, 30, n) * 100.0)
    rows = model_rows(pd.DataFrame({"limit": limits, "x": rng.normal(size=n)}))
    special = np.isin(limits, [700.0, 1300.0, 2200.0])
    (family,) = families_of(rows, 3.0 * special + rng.normal(size=n), np.zeros((n, 1)))
    assert family.first == family.second == 0
    shift = family.shift(rows.Z)[:, 0]
    assert shift[special].min() > 1.5
    assert abs(shift[~special]).max() < 1
    assert families_of(rows, rng.normal(size=n), np.zeros((n, 1))) == []
