"""Weights over resamples of the rows."""

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import RelevanceSVC
from kernelwise.app.inspection import weight_stability

FOREST = RandomForestClassifier(10, random_state=0)


@pytest.fixture(scope="module")
def table():
    """Return rows whose first two columns tell the classes apart."""
    X = np.random.default_rng(0).normal(size=(120, 6))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def test_shares_are_summed_up(table):
    calls = []
    found = weight_stability(FOREST, *table, n_resamples=6, callback=lambda *own: calls.append(own))
    assert calls == [(k, 6) for k in range(1, 7)]
    assert found.shares.shape == (6, 6)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    np.testing.assert_allclose(found.mean, found.shares.mean(axis=0))
    np.testing.assert_allclose(found.quantiles, np.quantile(found.shares, [0.05, 0.95], axis=0))
    often = (found.shares >= 1 / 6).mean(axis=0)
    np.testing.assert_allclose(found.selection_frequency, often)
    pairs = [
        spearmanr(found.shares[i], found.shares[j]).statistic for i in range(6) for j in range(i)
    ]
    assert found.rank_agreement == pytest.approx(np.mean(pairs))
    rows = found.table()
    assert (np.diff(rows["mean"]) <= 0).all()
    assert set(rows["feature"][:2]) == {"x0", "x1"}
    display = found.display().plot()
    lengths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(lengths, 100 * found.mean[display.order_])
    ends = np.array([path.vertices[:, 0] for path in display.interval_.get_paths()])
    np.testing.assert_allclose(ends, 100 * found.quantiles[:, display.order_].T)
    (right,) = display.ax_.child_axes
    labels = [text.get_text() for text in right.yaxis.get_ticklabels()]
    assert labels == [f"{100 * own:.0f} %" for own in often[display.order_]]


def test_each_resample_is_a_fit_to_those_rows(table):
    X, y = table
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y):
            seen.append((X[:, -1], y))
            return super().fit(X, y)

    spy = Spy(max_iter=1000)
    weight_stability(spy, X, y, n_resamples=3, fraction=0.25)
    assert [len(labels) for _, labels in seen] == [30] * 3
    assert all(abs(labels.mean() - y.mean()) < 0.02 for _, labels in seen)
    seen.clear()
    groups = np.arange(120) // 4
    weight_stability(spy, np.column_stack([X, groups]), y, n_resamples=3, groups=groups)
    for own, _ in seen:
        assert (np.unique(own, return_counts=True)[1] == 4).all()


def test_results_depend_on_the_seed_alone(table):
    one = weight_stability(FOREST, *table, n_resamples=3)
    with parallel_config(backend="threading"):
        same = weight_stability(FOREST, *table, n_resamples=3, n_jobs=2)
    other = weight_stability(FOREST, *table, n_resamples=3, random_state=1)
    np.testing.assert_array_equal(one.shares, same.shares)
    assert not np.array_equal(one.shares, other.shares)


def test_the_estimator_says_what_it_selects(table):
    found = weight_stability(RelevanceSVC(max_features=2), *table, n_resamples=2)
    assert found.selection_frequency.tolist() == [1, 1, 0, 0, 0, 0]


def test_names_go_through_pipelines_and_regressors_are_taken(wine):
    X, y = wine
    model = make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression())
    found = weight_stability(model, X, y, n_resamples=4)
    assert set(found.feature_names) <= set(X.columns)
    assert ((found.shares > 0).sum(axis=1) == 3).all()
    polars = pytest.importorskip("polars", reason="of the extra dev")
    frame = polars.DataFrame({name: X[name].to_numpy() for name in X.columns})
    again = weight_stability(model, frame, polars.Series(y.to_numpy()), n_resamples=4)
    assert again.feature_names == found.feature_names
    np.testing.assert_allclose(again.shares, found.shares)
    numbers = weight_stability(Lasso(0.1), X[["hue", "alcohol"]], 5 * X["alcohol"], n_resamples=2)
    assert numbers.mean.tolist() == [0, 1]


def test_bad_input_is_named(table, wine):
    for change, message in (
        ({"fraction": 1.5}, r"'fraction' parameter .* Got 1.5 instead"),
        ({"n_resamples": 1}, r"'n_resamples' parameter .* Got 1 instead"),
        ({"n_jobs": 10**18}, "'n_jobs' parameter"),
        ({"estimator": GaussianNB()}, "GaussianNB has no feature_importances_"),
        ({"X": wine[0].iloc[:120].set_axis(["a"] * 13, axis=1)}, "columns of the same name"),
    ):
        arguments = {"estimator": FOREST, "X": table[0], "y": table[1], "n_resamples": 2} | change
        with pytest.raises(ValueError, match=message):
            weight_stability(**arguments)
