"""Normal scores against SciPy's ranks."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

from kernelwise.svm.relevance.parts.normal_scores import NormalScores


def expected(X):
    Z = ndtri((rankdata(X, axis=0) - 0.5) / len(X))
    return (Z - Z.mean(axis=0)) / Z.std(axis=0)


def table(m=30):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=m), np.exp(rng.normal(size=m)), np.arange(m) % 4])


def test_scores_of_training_rows_are_standardised_normal_quantiles_of_mean_ranks():
    X = table()
    scores = NormalScores.of(X, np.ones(len(X)))
    np.testing.assert_allclose(scores.apply(X), expected(X), atol=1e-12)


def test_a_count_of_two_is_the_row_given_twice():
    X, count = table(), 1.0 + np.arange(30) % 2
    twice = np.repeat(X, count.astype(int), axis=0)
    np.testing.assert_allclose(
        NormalScores.of(X, count).apply(X),
        NormalScores.of(twice, np.ones(len(twice))).apply(X),
        atol=1e-12,
    )


def test_equal_counts_give_the_scores_of_the_rows():
    X, count = table(), np.full(30, 0.1)
    scores, Z = NormalScores.of_rows(X, count)
    alone = NormalScores.of(X, count)
    for name, value in vars(scores).items():
        np.testing.assert_array_equal(getattr(alone, name), value)
    np.testing.assert_allclose(alone.apply(X), Z, atol=1e-12)


def test_new_values_are_interpolated_and_held_at_the_ends():
    X = np.array([[0.0], [1.0], [3.0]])
    scores = NormalScores.of(X, np.ones(3))
    z = scores.apply(X)[:, 0]
    new = scores.apply(np.array([[-9.0], [0.5], [2.5], [9.0]]))[:, 0]
    np.testing.assert_allclose(new, [z[0], (z[0] + z[1]) / 2, 0.25 * z[1] + 0.75 * z[2], z[2]])


def test_each_column_has_a_line_of_its_own():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(30, 4)).round(1), rng.normal(size=(50, 4))
    scores = NormalScores.of(X, rng.integers(1, 4, 30).astype(float))
    for j, (start, stop) in enumerate(pairwise(scores.stops)):
        knots = scores.values[start:stop], scores.scores[start:stop]
        np.testing.assert_allclose(scores.apply(new)[:, j], np.interp(new[:, j], *knots))


def test_scores_depend_on_the_order_of_values_alone():
    X, count = table(), np.ones(30)
    stretched = np.exp(3 * X)
    np.testing.assert_allclose(
        NormalScores.of(X, count).apply(X), NormalScores.of(stretched, count).apply(stretched)
    )


@pytest.mark.parametrize("m", [1, 5])
def test_a_constant_column_has_the_score_zero(m):
    X = np.full((m, 1), 7.0)
    assert NormalScores.of(X, np.ones(m)).apply(np.array([[7.0], [9.0]])).tolist() == [[0], [0]]


def test_training_rows_get_their_scores_at_once():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 4, 60), np.ones(60)])
    scores, Z = NormalScores.of_rows(X, rng.integers(1, 4, 60).astype(float))
    np.testing.assert_array_equal(Z, scores.apply(X))
