"""The test of columns: its averages against a slow oracle, its error rates on small samples."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from kernelwise.inspection import relevance_test
from kernelwise.qp import SMO
from kernelwise.svm.base.multiclass import one_vs_rest
from kernelwise.svm.paths.rows import TrainingRows
from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.hinge import HingeSettings, fit_hinge
from kernelwise.svm.relevance.testing import ColumnTests, _gains, _student, holm
from kernelwise.transform import RelevanceSelector

SETTINGS = HingeSettings(
    kernel="laplacian",
    ensemble=True,
    standardize=True,
    max_iter=4,
    weight_rows=1000,
    path_rows=1000,
    copy_weight=np.inf,
    solver=SMO(),
)


def table_of(X, y):
    n_classes = int(y.max()) + 1
    codes = one_vs_rest(y, n_classes)
    return TrainingRows.of_table(X, codes, y, np.ones(len(y)), np.ones(n_classes))


def problem(n=120, d=4, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    edges = np.linspace(0, 1, n_classes + 1)[1:-1]
    return X, np.digitize(X[:, 0], np.quantile(X[:, 0], edges))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("with_category", [False, True])
def test_gains_equal_the_mean_over_all_values_of_the_column(n_classes, with_category):
    X, y = problem(n=100, n_classes=n_classes)
    layout = ColumnLayout.plain(4)
    if with_category:
        X[:, 1] = np.digitize(X[:, 1], [-1, 0, 1])
        layout = ColumnLayout(np.arange(4) == 1, np.arange(4), np.arange(4), 4)
    table = table_of(X, y)
    rest, held = np.arange(20, len(table)), np.arange(20)
    machines = fit_hinge(table.part(rest), layout, SETTINGS, np.random.RandomState(0))
    part = machines.part()
    for column in range(4):
        changed = np.repeat(table.X[held], len(table), axis=0)
        changed[:, column] = np.tile(table.X[:, column], len(held))
        mean = part.decision_values(changed).reshape(len(held), len(table), -1).mean(axis=1)
        losses = part.decision_values(table.X[held]) - mean
        expected = (table.Y[held] * losses).sum(axis=1)
        found = _gains(machines, table, held, np.array([column]))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_the_statistic_is_that_of_student_where_all_rows_were_tested():
    gains = np.random.default_rng(0).normal(loc=0.1, size=(50, 3))
    tests = _student(gains, np.ones(gains.shape, dtype=bool), np.ones(50))
    expected = ttest_1samp(gains, 0.0, alternative="greater")
    np.testing.assert_allclose(tests.statistic, expected.statistic)
    np.testing.assert_allclose(tests.pvalues, np.minimum(1, 2 * expected.pvalue))


def test_a_column_that_no_fold_tested_has_the_p_value_one():
    is_tested = np.array([[True, False]] * 10)
    gains = np.column_stack([np.linspace(0.5, 1, 10), np.zeros(10)])
    tests = _student(gains, is_tested, np.ones(10))
    assert tests.tested.tolist() == [True, False]
    assert tests.pvalues[0] < 1e-4
    assert tests.pvalues[1] == 1


def test_holm_steps_down():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])


def test_benjamini_and_hochberg_step_up():
    tests = ColumnTests(np.array([0.01, 0.04, 0.03]), np.zeros(3), np.ones(3, dtype=bool))
    np.testing.assert_allclose(tests.adjusted("fdr"), [0.03, 0.04, 0.04])


@pytest.mark.parametrize("test", ["fdr", "fwer"])
def test_the_selector_finds_two_columns_that_matter_only_together(test):
    X = np.random.default_rng(1).normal(size=(300, 12))
    y = X[:, 3] * X[:, 8] > 0
    selector = RelevanceSelector(test=test).fit(X, y)
    assert np.flatnonzero(selector.selected_features_).tolist() == [3, 8]
    assert selector.transform(X).shape == (300, 2)
    assert selector.pvalues_[[3, 8]].max() < 1e-6


def test_noise_is_seldom_selected():
    """Ten tables of noise: at a level of 0.1, four or more would have a probability of 0.013."""
    n_selected = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(100, 10)), np.arange(100) % 2
        n_selected += relevance_test(X, y).selected("fwer", alpha=0.1).any()
    assert n_selected <= 3


def test_weights_count_as_copies():
    X, y = problem(n=60, d=3, seed=3)
    weights = 1 + np.arange(60) % 2
    weighted = relevance_test(X, y, sample_weight=weights)
    copied = relevance_test(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.pvalues, copied.pvalues)


def test_a_table_with_names_categories_and_gaps():
    X, y = problem(n=200)
    frame = pd.DataFrame(X, columns=["signal", "gaps", "noise", "more"])
    frame.loc[::7, "gaps"] = np.nan
    frame["town"] = pd.Categorical(np.random.default_rng(0).choice(list("abcdefgh"), 200))
    test = relevance_test(frame, y)
    table = pd.DataFrame(test.table())
    assert table["feature"][0] == "signal"
    assert sorted(table["feature"]) == sorted(frame.columns)
    assert test.selected().tolist() == [True, False, False, False, False]


def test_what_cannot_be_is_refused():
    X, y = problem(n=40)
    with pytest.raises(ValueError, match="max_features and test"):
        RelevanceSelector(test="fdr", max_features=2).fit(X, y)
    with pytest.raises(ValueError, match="two different rows of each class"):
        RelevanceSelector(test="fdr").fit(X, np.arange(40) == 0)
    with pytest.raises(ValueError, match="error_rate must be"):
        relevance_test(X, y).selected("any")
