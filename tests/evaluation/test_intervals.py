"""Confidence intervals hold the true value about as often as they say."""

import numpy as np
from scipy.stats import binomtest, norm
from sklearn.metrics import average_precision_score, roc_auc_score

from kernelwise.app.evaluation.intervals import (
    area_interval,
    mean_interval,
    mean_share_interval,
    share_interval,
)

from ..loop import loop


@loop(("k", "n"), [(0, 10), (7, 20), (50, 50), (300, 1000)])
def test_a_share_has_wilsons_interval(k, n):
    found = share_interval(k / n, n)
    expected = binomtest(k, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(found, (k / n, expected.low, expected.high), atol=1e-6)


def test_nothing_shrinks_to_a_point_where_all_rows_are_right():
    for found in (
        share_interval(1.0, 12),
        mean_share_interval(np.ones(2), np.full(2, 6)),
        area_interval(1.0, 6, 6),
    ):
        assert found.high == 1
        assert 0.3 < found.low < 0.95


def covered(draw, interval, truth, n=400):
    """Return how often intervals of samples hold the true value."""
    rng = np.random.default_rng(0)
    found = [interval(*draw(rng)) for _ in range(n)]
    return np.mean([each.low <= truth <= each.high for each in found])


def two_normals(rng, n_positive=25, n_negative=75):
    is_positive = np.arange(n_positive + n_negative) < n_positive
    return is_positive, rng.normal(size=len(is_positive)) + 1.5 * is_positive


def test_intervals_cover_the_truth():
    def of_two_areas(is_positive, scores):
        return area_interval(roc_auc_score(is_positive, scores), 25, 75)

    def of_precision(is_positive, scores):
        return share_interval(average_precision_score(is_positive, scores), is_positive.sum())

    area = norm.cdf(1.5 / np.sqrt(2))
    precision = average_precision_score(*two_normals(np.random.default_rng(1), 50_000, 150_000))
    recalls = np.array([0.9, 0.6])
    counts = np.array([20, 60])
    assert covered(two_normals, of_two_areas, area) > 0.93
    assert covered(two_normals, of_precision, precision) > 0.93
    assert (
        covered(
            lambda rng: (rng.binomial(counts, recalls) / counts, counts), mean_share_interval, 0.75
        )
        > 0.93
    )
    assert covered(lambda rng: (rng.exponential(size=100),), mean_interval, 1.0) > 0.92
