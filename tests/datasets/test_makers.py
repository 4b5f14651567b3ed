"""Noise columns and toy problems."""

import numpy as np
import pytest

from kernelwise.datasets import (
    make_mirror_symmetry,
    make_noisy,
    make_sign_product,
    make_two_gaussians,
)


@pytest.mark.parametrize("make", [make_mirror_symmetry, make_two_gaussians, make_sign_product])
def test_toys_belong_to_their_seed(make):
    (X, y), (same, _), (other, _) = (make(50, random_state=seed) for seed in (1, 1, 2))
    assert X.shape[0] == len(y) == 50
    assert (same == X).all()
    assert (other != X).any()
    rng = np.random.default_rng(1)
    assert (make(50, random_state=rng)[0] == X).all()
    assert (make(50, random_state=rng)[0] != X).any()  # it goes on
    with pytest.raises(ValueError, match="n_samples must be a whole number of at least"):
        make(0)


@pytest.mark.parametrize(("n", "p"), [(200, 30), (201, 31), (2, 2), (100, 3)])
def test_mirror_symmetry(n, p):
    X, y = make_mirror_symmetry(n, p, random_state=0)
    assert X.shape == (n, p)
    assert set(np.unique(X)) == {-1.0, 1.0}
    expected = [1 if row[::-1] == row else -1 for row in X.tolist()]
    assert y.tolist() == expected
    assert (y == 1).sum() == n // 2


def test_mirror_symmetry_shows_in_no_single_column():
    X, y = make_mirror_symmetry(20_000, 6, random_state=0)
    assert np.abs(X[y == 1].mean(axis=0)).max() < 0.03  # 3 deviations of a mean of 10,000
    assert np.abs(X[y == -1].mean(axis=0)).max() < 0.03
    assert len(set(np.flatnonzero(y == 1)[:20])) == 20
    assert 0 < (y[:100] == 1).sum() < 100  # mixed, not one class after the other
    with pytest.raises(ValueError, match="n_features must be a whole number of at least 2"):
        make_mirror_symmetry(n_features=1)


def test_two_gaussians():
    X, y = make_two_gaussians(20_001, random_state=0)
    assert np.bincount(y).tolist() == [10_001, 10_000]
    assert X[y == 0].mean(axis=0) == pytest.approx([0, 0], abs=0.04)
    assert X[y == 1].mean(axis=0) == pytest.approx([2, 1], abs=0.04)
    for label in (0, 1):
        assert np.cov(X[y == label].T) == pytest.approx(np.eye(2), abs=0.06)
    assert make_two_gaussians(10, mean=(1.0, 0.0, 0.0), random_state=0)[0].shape == (10, 3)


@pytest.mark.parametrize("factors", [1, 2, 3])
def test_sign_product(factors):
    X, y = make_sign_product(4000, 5, n_factors=factors, random_state=0)
    negatives = (X[:, :factors] < 0).sum(axis=1)
    assert (y == (negatives % 2 == 0)).all()
    assert y.mean() == pytest.approx(0.5, abs=0.04)
    with pytest.raises(ValueError, match=r"n_features must be a whole number of at least 3"):
        make_sign_product(10, 2, n_factors=3)


def test_normal_noise():
    X = np.full((5000, 3), np.nan)
    for n_noise, width in [(None, 6), (12, 15), (0, 3)]:
        noisy = make_noisy(X, n_noise=n_noise, random_state=0)
        assert noisy.shape == (5000, width)
        assert np.isnan(noisy[:, :3]).all()
    noise = make_noisy(X, n_noise=4, random_state=0)[:, 3:]
    assert noise.mean(axis=0) == pytest.approx(0, abs=0.05)
    assert np.cov(noise.T) == pytest.approx(np.eye(4), abs=0.06)
    assert (make_noisy(X, n_noise=4, random_state=0)[:, 3:] == noise).all()


def test_noise_of_another_set():
    source = np.arange(5.0) * 100 + np.arange(3.0)[:, None]
    source[0, 0] = np.nan
    drawn = make_noisy(np.zeros((50, 1)), n_noise=7, source=source, random_state=0)[:, 1:]
    features = (drawn // 100).astype(int)
    assert (features == features[0]).all()  # a column is tied to one feature
    assert sorted(features[0, :5]) == [0, 1, 2, 3, 4]
    assert len(set(features[0, 5:])) == 2  # none serves again while there is another
    assert not np.isnan(drawn).any()
    assert len({tuple(column) for column in (drawn % 100).T}) == 7  # drawn entry by entry
    many = make_noisy(np.zeros((9000, 1)), n_noise=1, source=source[:, 1:2], random_state=0)
    assert np.bincount((many[:, 1] - 100).astype(int)) / 9000 == pytest.approx(1 / 3, abs=0.02)


def test_bad_noise_options_are_refused():
    X = np.zeros((4, 2))
    with pytest.raises(ValueError, match="n_noise=-1 must not be negative"):
        make_noisy(X, n_noise=-1)
    with pytest.raises(ValueError, match="X must have two dimensions, not 1"):
        make_noisy(X[0])
    for source in (np.full((4, 1), np.nan), np.zeros((4, 0)), np.zeros(4)):
        with pytest.raises(ValueError, match="source must have two dimensions and a number"):
            make_noisy(X, source=source)
