"""The screen of pairs: its statistic, what it finds, and what it does not."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose
from scipy.stats import chi2

from kernelwise.svm.relevance import pairs
from kernelwise.svm.relevance.pairs import pair_shares
from tests.loop import loop

from .tables import model_rows, number_rows


def screened(rows, y):
    """Return the shares of columns by pairs for codes or numbers."""
    T = np.asarray(y, dtype=float).reshape(len(rows), -1)
    T = (T - T.mean(axis=0)) / T.std(axis=0)
    return pair_shares(rows, T, np.arange(len(rows.columns.group)))


def genotypes(rng, n, p):
    return rng.choice(3, size=(n, p), p=[0.5, 0.3, 0.2]).astype(float)


def test_statistic_is_the_distance_from_an_additive_fit():
    rng = np.random.default_rng(0)
    n, codes = 500, rng.integers(0, 3, size=(500, 4))
    codes[:, 1] = np.where(rng.random(n) < 0.7, codes[:, 0], codes[:, 1])  # correlated
    t = rng.normal(size=n) + codes[:, 0] * codes[:, 1] + codes[:, 2]
    hot = (codes[:, :, None] == np.arange(3)).astype(np.float32).reshape(n, -1)
    found = pairs._interactions(hot, t[:, None], 0, np.arange(4))
    for a, b in ((0, 1), (0, 2), (1, 3), (2, 3)):
        A = np.hstack([hot[:, 3 * a : 3 * a + 3], hot[:, 3 * b : 3 * b + 3]])
        left = t - A @ np.linalg.lstsq(A, t, rcond=None)[0]
        cells = 3 * codes[:, a] + codes[:, b]
        sums, counts = np.bincount(cells, left, 9), np.bincount(cells, minlength=9)
        assert_allclose(found[a, b], (sums**2 / (counts + 1)).sum(), rtol=0.02)


def test_noise_has_about_a_chi_squared_distribution():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, size=(400, 60))
    hot = (codes[:, :, None] == np.arange(3)).astype(np.float32).reshape(400, -1)
    t = rng.permutation(np.arange(400) % 2) * 2.0 - 1
    upper = np.triu_indices(60, 1)
    found = pairs._interactions(hot, t[:, None], 0, np.arange(60))[upper]
    for level in (0.5, 0.05, 0.01):
        assert abs((found > chi2.isf(level, 4)).mean() - level) < 0.25 * level + 0.005


@loop("seed", range(3))
def test_a_pair_among_many_columns(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 400))
    y = (X[:, 3] * X[:, 350] > 0) ^ (rng.random(400) < 0.1)
    shares = screened(number_rows(X), y)
    assert set(np.flatnonzero(shares)) == {3, 350}
    assert_allclose(shares.sum(), 1)


def test_genotypes_categories_and_several_classes():
    rng = np.random.default_rng(2)
    G = genotypes(rng, 600, 120)
    y = ((G[:, 7] + G[:, 90]) % 3).astype(int)
    T = (y[:, None] == np.arange(3)).astype(float)
    for options in ({}, {"categorical_features": list(range(120))}):
        shares = screened(model_rows(pd.DataFrame(G), **options), T)
        assert set(np.argsort(-shares)[:2]) == {7, 90}


@loop("kind", ["numbers", "rare", "tails", "genotypes"])
def test_nothing_is_found_in_noise(kind):
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = genotypes(rng, 300, 80) if kind == "genotypes" else rng.normal(size=(300, 80))
        y = rng.random(300) < (0.08 if kind == "rare" else 0.5)
        y = rng.standard_t(2, 300) if kind == "tails" else y
        found += screened(number_rows(X), y) is not None
    assert found <= 2


def test_effects_of_correlated_columns_are_no_interaction():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 10))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    assert screened(number_rows(X), X[:, 0] + 0.5 * rng.normal(size=500)) is None


def test_tables_without_pairs():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=50), np.ones(50)])
    assert screened(number_rows(X), X[:, 0] > 0) is None
