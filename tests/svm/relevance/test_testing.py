"""The test of columns: its distributions are right, and what it finds is there."""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import cauchy, chi2

from kernelwise._threads import single_blas
from kernelwise.svm.relevance import testing
from kernelwise.svm.relevance.losses import LogLoss
from kernelwise.svm.relevance.testing import column_tests, combined, holm, mixture_sf
from tests.loop import loop

from .tables import SETTINGS, mixed_frame, model_rows, number_rows


def of_numbers(rows, t, seed=0, threads=1):
    """Test columns for numbers."""
    t = (np.asarray(t, dtype=float) - np.mean(t)) / np.std(t)
    with single_blas():
        return column_tests(rows, t[:, None], np.random.default_rng(seed), SETTINGS, threads)


def of_classes(rows, classes, seed=0):
    """Test columns for classes."""
    loss = LogLoss(classes, int(classes.max()) + 1, rows.weight, SETTINGS)
    with single_blas():
        return column_tests(rows, loss.targets, np.random.default_rng(seed), SETTINGS)


# --- Distributions -------------------------------------------------------------------------------


def test_tail_of_equal_values_is_that_of_chi_squared():
    for k, most in ((1, 0.15), (2, 0.07), (5, 0.03), (50, 0.002)):
        p = np.array([0.9, 0.5, 0.3, 0.05, 1e-3, 1e-8, 1e-40])
        found = [mixture_sf(3 * chi2.isf(each, k), np.full(k, 3.0)) for each in p]
        assert_allclose(found, p, rtol=most)


def test_tail_of_unlike_values_is_that_of_draws():
    rng = np.random.default_rng(0)
    values = 2.0 ** -np.arange(8)
    draws = np.sort(rng.chisquare(1, size=(200_000, 8)) @ values)
    for p in (0.5, 0.1, 0.01, 0.001):
        found = mixture_sf(float(draws[int(len(draws) * (1 - p))]), values)
        assert_allclose(found, p, rtol=0.12)


def test_tail_has_no_jump_at_the_mean_and_no_end():
    values = np.array([3.0, 1.0, 0.5])
    near = [mixture_sf(values.sum() * (1 + e), values) for e in (-1e-3, -1e-7, 0, 1e-7, 1e-3)]
    assert (np.diff(near) <= 1e-6).all()
    assert near[0] - near[-1] < 2e-3
    assert mixture_sf(0.0, values) == 1
    assert mixture_sf(1.0, np.zeros(3)) == 1
    assert 0 < mixture_sf(1e6, values) <= 1e-299


def test_combination_is_that_of_cauchy():
    for pair in ([0.2, 0.03], [1e-5, 0.6], [0.5, 0.5]):
        own = np.tan((0.5 - np.array(pair)) * np.pi).mean()
        assert_allclose(combined(pair), cauchy.sf(own))
    assert_allclose(combined([1e-30, 0.5]), 2e-30)
    assert_allclose([combined([p, p]) for p in (1e-13, 1e-15, 1e-200)], [1e-13, 1e-15, 1e-200])
    assert combined([1e-4, 1.0]) < 3e-4  # a p-value of one does not hide another


def test_holm_is_as_defined():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert_allclose(holm(p), [0.03, 0.06, 0.06, 0.02])
    assert_array_equal(holm(np.ones(3)), np.ones(3))


# --- What is found -------------------------------------------------------------------------------


def test_lines_curves_and_products_are_told_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 7))
    t = X[:, 0] + X[:, 1] ** 2 + 2 * X[:, 2] * X[:, 3] + rng.normal(size=300)
    found = of_numbers(number_rows(X), t)
    assert found.alone[:2].max() < 1e-4
    assert found.together[[2, 3]].max() < 1e-4
    assert found.alone[[2, 3]].min() > 1e-2
    assert_array_equal(found.adjusted("fwer") < 0.01, [True] * 4 + [False] * 3)
    assert_allclose(found.shares.sum(), 1)


@loop("n_classes", [2, 3, 6])
def test_classes(n_classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    score = X[:, 1] + 0.5 * rng.normal(size=300)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    found = of_classes(number_rows(X), np.digitize(score, cuts))
    assert_array_equal(found.adjusted("fwer") < 0.01, np.arange(6) == 1)


def test_a_rare_class():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 6))
    classes = (X[:, 4] > np.quantile(X[:, 4], 0.97)).astype(int)
    found = of_classes(number_rows(X), classes)
    assert_array_equal(found.adjusted("fwer") < 0.01, np.arange(6) == 4)


def test_categories_and_gaps():
    frame = mixed_frame(300)
    for name, classes in (
        ("words", frame["words"].isin(["level 00", "level 01"])),
        ("gaps", frame["gaps"].isna()),
    ):
        found = of_classes(model_rows(frame), classes.to_numpy().astype(int))
        assert frame.columns[found.pvalues.argmin()] == name
        assert found.pvalues.min() < 1e-10


def test_groups_are_tested_once():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(250, 6)))
    rows = model_rows(frame, feature_groups=[0, 0, 0, 1, 1, 2])
    found = of_numbers(rows, frame[1] + rng.normal(size=250))
    assert_array_equal(found.group, [0, 0, 0, 1, 1, 2])
    assert_array_equal(found.pvalues[:3], found.pvalues[0])
    assert found.pvalues[0] < 1e-6
    assert_allclose(found.adjusted("fwer")[0], 3 * found.pvalues[0])


def test_copies_do_not_hide_each_other_and_others_are_explained():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 6))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]  # a copy
    X[:, 2] = X[:, 0] + 1.5 * X[:, 2]  # says less of the target than column 0
    found = of_numbers(number_rows(X), X[:, 0] + rng.normal(size=400))
    assert found.pvalues[:2].max() < 1e-20
    assert found.pvalues[2:].min() > 1e-3


def test_constant_columns_and_constant_targets():
    X = np.random.default_rng(5).normal(size=(60, 3))
    X[:, 1] = 7.0
    found = of_numbers(number_rows(X), X[:, 0])
    assert found.pvalues[1] == 1
    assert found.shares[1] == 0
    nothing = of_numbers(number_rows(np.ones((30, 2))), np.arange(30))
    assert_array_equal(nothing.pvalues, 1)
    assert_allclose(nothing.shares, 0.5)
    flat = column_tests(number_rows(X), np.zeros((60, 1)), np.random.default_rng(0), SETTINGS)
    assert (flat.pvalues > 0.1).all()


def test_one_column():
    X = np.random.default_rng(6).normal(size=(100, 1))
    assert of_numbers(number_rows(X), X[:, 0] ** 2).pvalues[0] < 1e-6


def test_threads_and_the_scale_of_weights_do_not_matter():
    rng = np.random.default_rng(7)
    X, weight = rng.normal(size=(150, 5)), rng.uniform(0.2, 2, 150)
    rows = number_rows(X, weight)
    t = X[:, 0] + rng.normal(size=150)
    plain = of_numbers(rows, t)
    assert_array_equal(of_numbers(rows, t, threads=2).pvalues, plain.pvalues)
    scaled = of_numbers(replace(rows, weight=50 * weight), t)
    assert_allclose(scaled.pvalues, plain.pvalues, rtol=1e-6)
    unweighted = of_numbers(number_rows(X), t).pvalues
    assert np.abs(np.log(plain.pvalues / unweighted)).max() > 0.1


# --- Error rates ---------------------------------------------------------------------------------


def pooled(draw, n_tables):
    """Return the p-values of columns that say nothing."""
    found = []
    for seed in range(n_tables):
        rng = np.random.default_rng(100 + seed)
        rows, target = draw(rng)
        test = of_classes if target.dtype == int else of_numbers
        found.append(test(rows, target, seed).pvalues)
    return np.concatenate(found)


NOISE = {
    "classes": lambda rng: (number_rows(rng.normal(size=(150, 20))), rng.permutation(150) % 2),
    "rare": lambda rng: (
        number_rows(rng.normal(size=(200, 20))),
        (rng.permutation(200) < 8).astype(int),
    ),
    "three": lambda rng: (number_rows(rng.normal(size=(150, 20))), rng.permutation(150) % 3),
    "tails": lambda rng: (number_rows(rng.standard_t(2, size=(150, 20))), rng.standard_t(3, 150)),
    "wide": lambda rng: (number_rows(rng.normal(size=(60, 100))), rng.permutation(60) % 2),
    "mixed": lambda rng: (model_rows(mixed_frame(150)), rng.permutation(150) % 2),
}


@loop("name", list(NOISE))
def test_noise_is_hardly_ever_small(name):
    p = pooled(NOISE[name], 6)
    for level in (0.05, 0.01):
        most = level * len(p) + 4 * np.sqrt(level * len(p)) + 1  # columns of a table go together
        assert (p < level).sum() <= most
    assert (p < 0.5).mean() > 0.15  # cautious if there are few columns, but not blind


def test_many_rows_are_read_from_landmarks(monkeypatch):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(1500, 5))
    t = X[:, 0] * X[:, 1] + 0.3 * X[:, 2] + rng.normal(size=1500)
    rows = number_rows(X)
    found = of_numbers(rows, t)
    assert found.pvalues[:3].max() < 1e-10
    assert found.pvalues[3:].min() > 1e-3
    monkeypatch.setattr(testing, "_ROWS", 400)
    fewer = of_numbers(rows, t)
    assert found.pvalues[2] < fewer.pvalues[2]  # all rows say more
