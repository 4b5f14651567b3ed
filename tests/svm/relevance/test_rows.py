"""Rows as the model reads them, and the prior's covariances, against loops over the columns."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata

from kernelwise.svm.relevance.columns.bins import ColumnBins
from kernelwise.svm.relevance.columns.scores import ColumnScores, mean_differences
from kernelwise.svm.relevance.prior import between, equal_prior, mean_prior
from kernelwise.svm.relevance.rows import Rows, step_matrix

from .tables import (
    SETTINGS,
    additive_covariance,
    distances,
    kernel,
    mixed_frame,
    model_rows,
    number_rows,
    some_prior,
    squares,
)


def test_covariances_are_those_of_loops_over_the_columns():
    rng = np.random.default_rng(0)
    for n_levels, groups in ((4, None), (38, [["a", "words"], ["b", "gaps"]])):
        rows = model_rows(
            mixed_frame(120, n_levels=n_levels), rng.uniform(0.5, 2, 120), feature_groups=groups
        )
        a, b = rows.part(np.arange(50)), rows.part(np.arange(30, 120))
        prior = some_prior(rows)
        assert_allclose(a.distances(b, prior.w), distances(prior.w, a, b), rtol=2e-5, atol=1e-5)
        assert_allclose(a.squares(b, prior.w), squares(prior.w, a, b), rtol=1e-4, atol=1e-4)
        assert_allclose(prior.kernel(a, b), kernel(prior, a, b), rtol=1e-4)
        product = prior.root(a) @ prior.root(b).T
        assert_allclose(product, additive_covariance(prior, a, b), rtol=1e-4, atol=1e-4)


def test_kinds_of_the_prior():
    rows = model_rows(mixed_frame(80))
    prior = some_prior(rows)
    assert prior.of_kind("joint") is prior
    additive, linear = prior.of_kind("additive"), prior.of_kind("linear")
    assert prior.has_kernel
    assert not additive.has_kernel
    assert not linear.has_kernel
    assert_allclose(
        linear.root(rows) @ linear.root(rows).T,
        additive_covariance(replace(prior, tau=0.0), rows, rows),
        rtol=1e-4,
        atol=1e-4,
    )
    assert additive.root(rows).shape[1] > linear.root(rows).shape[1]
    assert prior.shares(rows.columns.group_size).sum() == pytest.approx(1)


def test_a_dropped_group_has_no_part_in_any_covariance():
    rows = model_rows(mixed_frame(60))
    prior = some_prior(rows)
    w, v = prior.w.copy(), prior.v.copy()
    w[4] = v[4] = 0  # the category
    without = replace(prior, w=w, v=v)
    Z, places = rows.Z.copy(), rows.places.copy()
    Z[:, 4] = places[:, 4] = 0
    others = replace(rows, Z=Z, places=places)
    assert_array_equal(without.kernel(rows, rows), without.kernel(others, others))
    assert_array_equal(without.root(rows), without.root(others))
    assert (prior.kernel(rows, rows) != prior.kernel(others, others)).any()


def test_parts_blocks_and_columns_of_rows():
    frame = mixed_frame(90)
    rows = model_rows(frame, np.linspace(1, 2, 90))
    joined = Rows.joined([rows.part(slice(0, 40)), rows.part(slice(40, 90))])
    for name in ("Z", "lines", "places", "weight"):
        assert_array_equal(getattr(joined, name), getattr(rows, name))
    encoding = rows.columns.encoding
    sources = np.array([2, 4])  # gaps, whose mark comes along, and words
    own = encoding.columns_of(sources)
    small = rows.only(own, rows.columns.part(own, encoding.part(sources)))
    again = small.columns.rows(small.columns.encoding.apply(frame[["gaps", "words"]]), rows.weight)
    for name in ("Z", "lines", "places"):
        assert_array_equal(getattr(small, name), rows_part := getattr(rows, name)[:, own], name)
        assert_array_equal(getattr(again, name), rows_part, name)
    w = np.ones(small.columns.n_groups)
    assert_allclose(small.bare().distances(small, w), small.distances(small, w))
    assert_array_equal(small.bare().squares(small, w), small.squares(small, w))
    assert small.bare(gaussian=False).lines.shape == small.bare().places.shape == (90, 0)


def test_equal_weights_put_typical_rows_at_distance_one():
    rows = model_rows(mixed_frame(300))
    kept = np.array([0, 1, 4])
    prior = equal_prior(rows, kept, np.random.default_rng(0))
    assert_array_equal(prior.kept, kept)
    D = rows.distances(rows, prior.w)[np.triu_indices(300, 1)]
    assert np.median(D) == pytest.approx(1, abs=0.1)
    Q = rows.squares(rows, prior.w)[np.triu_indices(300, 1)]
    assert prior.rho / 2 * np.median(Q) == pytest.approx(1, abs=0.2)


def test_means_of_priors_and_points_between_them():
    rows = number_rows(np.random.default_rng(0).normal(size=(100, 4)))
    a, b = some_prior(rows, 0, s2=0.1), some_prior(rows, 1, s2=0.4)
    mean = mean_prior([a, b], np.array([0, 2, 3]))
    assert_array_equal(mean.kept, [0, 2, 3])
    assert_allclose(mean.w[[0, 2, 3]], (a.w + b.w)[[0, 2, 3]] / 2)
    assert mean.s2 == pytest.approx(0.2)
    w = a.w.copy()
    w[0] = 1e-9  # no group of the mean has next to nothing
    least = mean_prior([replace(a, w=w)], np.arange(4))
    assert least.w[0] == pytest.approx(0.05 * w.mean())
    equal = equal_prior(rows, np.array([1, 2]), np.random.default_rng(0))
    start = between(a, equal)
    assert_array_equal(start.kept, [1, 2])
    scaled = a.w[1:3] * equal.w.sum() / a.w[1:3].sum()
    assert_allclose(start.w[1:3], np.sqrt(scaled * equal.w[1:3]))


# --- Scores, bins and steps ------------------------------------------------------------------


def test_scores_are_normal_scores_over_their_mean_difference():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.exponential(size=200), rng.integers(0, 4, 200), np.full(200, 3.0)])
    flags = np.zeros(3, dtype=bool)
    scores = ColumnScores.of(X, flags, np.ones(200))
    Z = scores.apply(X)
    for j in range(2):
        z = norm.ppf((rankdata(X[:, j]) - 0.5) / 200)
        z = (z - z.mean()) / z.std()
        z /= np.abs(z[:, None] - z).mean()
        assert_allclose(Z[:, j], z, rtol=2e-3, atol=2e-3)
    assert_array_equal(Z[:, 2], 0)
    ends = scores.apply(np.array([[-1e9, -5, 0.0], [1e9, 50, 9.0]]))
    assert_allclose(ends[:, :2], [Z[:, :2].min(axis=0), Z[:, :2].max(axis=0)])
    weight = rng.integers(1, 4, 200)
    again = ColumnScores.of(np.repeat(X, weight, axis=0), flags, np.ones(weight.sum()))
    assert_allclose(ColumnScores.of(X, flags, weight).apply(X), again.apply(X), atol=1e-5)
    expected = np.abs(X[:, None, :] - X).mean(axis=(0, 1))
    assert_allclose(mean_differences(X, np.ones(200)), expected, atol=1e-12)


def test_bins_have_equal_weight_and_levels_share_the_last_place():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.integers(0, 3, 400), rng.integers(0, 9, 400)])
    X[:5, 2] = 9  # the rarest level
    bins = ColumnBins.of(X, np.array([False, False, True]), np.ones(400), 16, 9)
    places = bins.places(X) - bins.starts[:-1]
    assert_array_equal(np.bincount(places[:, 0]), 25)
    assert_array_equal(places[:, 1], X[:, 1])
    assert_array_equal(places[:5, 2], 9)
    assert_array_equal(places[5:, 2], X[5:, 2])
    assert bins.places(np.array([[0.0, 0.0, 77.0]]))[0, 2] == bins.starts[3] - 1
    for j in range(3):
        own = bins.part(np.array([j]))
        assert_array_equal(own.places(X[:, [j]])[:, 0], places[:, j])


def test_steps_of_a_bin_are_those_below_it():
    S = step_matrix(5)
    assert S.shape == (5, 4)
    assert_allclose((S > 0).sum(axis=1), np.arange(5))
    assert_allclose(S.max(), 1)
    assert step_matrix(1).shape == (1, 0)


def test_wide_tables_have_few_places():
    rng = np.random.default_rng(0)
    for d in (10, 100, 400):
        rows = number_rows(rng.normal(size=(300, d)))
        assert rows.columns.bins.n_places <= max(SETTINGS.n_places, d)
        assert rows.additive(np.ones(d, dtype=bool)).A.shape == (
            300,
            1 + d + rows.columns.bins.n_places,
        )


def test_squares_of_narrow_kernels_do_not_cancel():
    rng = np.random.default_rng(0)
    rows = number_rows(rng.normal(size=(60, 2)))
    w = np.full(2, 300.0)
    R = rows.gaussian(np.ones(2, dtype=bool))[0].astype(float)
    exact = ((R[:, None] - R[None]) ** 2).sum(axis=2) * 300.0**2
    assert_allclose(rows.squares(rows, w), exact, rtol=1e-6, atol=1e-6)
