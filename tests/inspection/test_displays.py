"""Displays plot the measured values."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import t
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC, MarginRadiusSVC, RelevanceSVC, SVCSearchCV
from kernelwise.app.inspection import (
    ColumnImportance,
    ComparisonDisplay,
    FeatureWeightsDisplay,
    ImportanceDisplay,
    PathDisplay,
)
from kernelwise.app.inspection.style import PALETTE


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def lengths(display):
    return [bar.get_width() for bar in display.bars_]


def test_weights_are_bars_from_the_top_down(wine, wine_model):
    display = FeatureWeightsDisplay.from_estimator(wine_model)
    shares = wine_model.feature_importances_
    np.testing.assert_allclose(lengths(display), 100 * np.sort(shares)[::-1])
    names = [wine[0].columns[k] for k in display.order_]
    assert [each[:8] for each in labels(display.ax_.yaxis)] == [name[:8] for name in names]
    np.testing.assert_allclose(display.equal_share_.get_xdata(), 100 / len(shares))
    heights = [display.ax_.transData.transform((0, bar.get_y()))[1] for bar in display.bars_]
    assert heights == sorted(heights, reverse=True)
    display = FeatureWeightsDisplay([1.0, 3.0, 2.0], selected=[True, False, True]).plot()
    assert labels(display.ax_.yaxis) == ["x1", "x2", "x0"]
    assert [bar.get_facecolor()[3] == 1 for bar in display.bars_] == [False, True, True]


def test_many_features_are_summed_up():
    weights = np.random.default_rng(0).exponential(size=5000) ** 4
    names = [f"a feature of a long name, with the number {k}" for k in range(5000)]
    display = FeatureWeightsDisplay(weights, feature_names=names).plot()
    assert len(display.bars_) == 30
    written = labels(display.ax_.yaxis)
    assert written[-1] == "4,970 others"
    assert len(set(written)) == 31  # the numbers at the ends of the names are left
    assert max(map(len, written)) <= 28
    rest = 100 * np.sort(weights)[:-30].sum() / weights.sum()
    assert any(text.get_text().startswith(f"{rest:.3g} % together") for text in display.ax_.texts)
    assert display.figure_.get_figheight() < 12
    for own, text in (([1.0, 0.0, 0.0], "no weight"), ([3.0, 1.0], "25 %")):
        display = FeatureWeightsDisplay(own).plot(max_features=1)
        assert text in {each.get_text() for each in display.ax_.texts}


def test_weights_of_pipelines_searches_and_machines(wine):
    X, y = wine
    model = make_pipeline(StandardScaler(), SelectKBest(k=4), LogisticRegression()).fit(X, y)
    display = FeatureWeightsDisplay.from_estimator(model)
    assert set(display.feature_names) == set(X.columns[model[1].get_support()])
    sizes = np.abs(model[-1].coef_)
    expected = 100 * (sizes / sizes.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(lengths(display), np.sort(expected)[::-1])
    search = SVCSearchCV(SVC(kernel="linear"), {"C": [0.1]}, cv=2).fit(X, y)
    assert FeatureWeightsDisplay.from_estimator(search).feature_names == list(X.columns)
    learned = MarginRadiusSVC().fit(X, y)
    display = FeatureWeightsDisplay.from_estimator(learned)
    np.testing.assert_allclose(lengths(display), 100 * np.sort(learned.feature_importances_)[::-1])


def test_colours_of_features_stay_with_them():
    display = FeatureWeightsDisplay([1.0, 3.0, 2.0]).plot(color=["red", "green", "blue"])
    found = [bar.get_facecolor() for bar in display.bars_]
    assert [colour[:3] for colour in found] == [(0, 128 / 255, 0), (0, 0, 1), (1, 0, 0)]
    for color in ("red", (1.0, 0.0, 0.0)):
        display = FeatureWeightsDisplay([1.0, 3.0, 2.0]).plot(color=color)
        assert {bar.get_facecolor() for bar in display.bars_} == {(1.0, 0.0, 0.0, 1.0)}
    for color in ("no colour", 5, ["red"], range(10**12), ["red", "x", "blue"], {}):
        with pytest.raises(ValueError, match="color must be a colour of matplotlib, or one for"):
            FeatureWeightsDisplay([1.0, 3.0, 2.0]).plot(color=color)


def test_bad_weights_are_named():
    for kwargs, message in (
        ({"weights": [1.0, -1.0]}, "not negative"),
        ({"weights": []}, "not be empty"),
        ({"weights": [[1.0, 2.0]]}, "one dimension"),
        ({"weights": [1.0, 2.0], "feature_names": ["a"]}, "feature_names has 1 entries"),
        ({"weights": [1.0, 2.0], "interval": [[0.0, 1.0]]}, r"interval must .* \(2, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            FeatureWeightsDisplay(**kwargs).plot()
    with pytest.raises(ValueError, match="max_features=0"):
        FeatureWeightsDisplay([1.0, 2.0]).plot(max_features=0)
    with pytest.raises(ValueError, match=r"SVC has no feature_importances_ and no coef_; give"):
        FeatureWeightsDisplay.from_estimator(SVC().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(NotFittedError):
        FeatureWeightsDisplay.from_estimator(RelevanceSVC())


def importance(n=4):
    loss = np.array([0.1, 0.4, np.nan, 0.02])[:n]
    shares = np.array([0.5, 0.3, 0.0, 0.2])[:n]
    names = tuple("abcd"[:n])
    return ColumnImportance(names, loss, loss - 0.05, loss + 0.05, shares, "log loss", 0.3, 90)


def test_importance_is_drawn_with_intervals_and_shares(shaped):
    display = ImportanceDisplay(importance()).plot()
    assert lengths(display) == [0.4, 0.1, 0.02]
    assert labels(display.ax_.yaxis) == ["b", "a", "d", "1 other"]
    assert "not measured" in {text.get_text() for text in display.ax_.texts}
    assert [bar.get_facecolor()[3] == 1 for bar in display.bars_] == [True, True, False]
    ends = np.array([path.vertices[:, 0] for path in display.interval_.get_paths()])
    np.testing.assert_allclose(ends, [[0.35, 0.45], [0.05, 0.15], [-0.03, 0.07]])
    (right,) = display.ax_.child_axes
    assert labels(right.yaxis) == ["30 %", "50 %", "20 %"]
    assert display.ax_.get_xlabel() == "increase of the log loss when shuffled"
    few = ImportanceDisplay(importance()).plot(max_features=1)
    assert "0.1 at most" in {text.get_text() for text in few.ax_.texts}
    X, _, regressor = shaped
    drawn = ImportanceDisplay.from_estimator(regressor, X, X[:, 1], cv="prefit", max_features=2)
    assert len(drawn.bars_) == 2
    assert drawn.ax_.get_xlabel() == "increase of the root mean squared error when shuffled"
    with pytest.raises(TypeError, match="importance must be of type ColumnImportance"):
        ImportanceDisplay({})


def test_path_has_a_line_for_each_member_and_rings(wine_model, shaped):
    path = {
        "member": np.array([0, 0, 0, 1, 1, 1]),
        "n_features": np.array([8, 4, 2] * 2),
        "loss": np.array([0.3, 0.2, np.nan, 0.4, 0.3, 0.5]),
        "weight": np.array([0.2, 0.8, 0.0, 0.0, 1.0, 0.0]),
    }
    display = PathDisplay(path).plot()
    first, second = display.lines_
    np.testing.assert_array_equal(first.get_xydata(), [[8, 0.3], [4, 0.2]])
    np.testing.assert_array_equal(second.get_ydata(), [0.4, 0.3, 0.5])
    rings = display.rings_.get_offsets()
    np.testing.assert_array_equal(rings, [[8, 0.3], [4, 0.2], [4, 0.3]])
    assert labels(display.ax_.xaxis) == ["2", "4", "8"]
    drawn = PathDisplay.from_estimator(make_pipeline(StandardScaler(), wine_model))
    assert drawn.ax_.get_ylabel() == "log loss on held-out rows"
    assert len(drawn.lines_[0].get_xdata()) == np.isfinite(wine_model.path_["loss"]).sum()
    drawn = PathDisplay.from_estimator(shaped[2])
    assert drawn.ax_.get_ylabel() == "mean squared error on held-out rows"
    with pytest.raises(ValueError, match="SVC has no path over numbers of columns; RelevanceSVC"):
        PathDisplay.from_estimator(SVC().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(ValueError, match="path has no column 'weight'"):
        PathDisplay({name: path[name] for name in ("member", "n_features", "loss")}).plot()


def test_comparison_is_paired():
    results = {"a": [0.8, 0.9, 0.7, 0.8], "b": [0.82, 0.91, 0.74, 0.81], "c": [0.5] * 4}
    display = ComparisonDisplay(results).plot()
    assert len(display.joins_) == 4
    np.testing.assert_allclose(display.joins_[2].get_xdata(), [0.7, 0.74, 0.5])
    np.testing.assert_allclose(display.means_.get_offsets()[:, 0], [0.8, 0.82, 0.5])
    gains = np.array([0.02, 0.01, 0.04, 0.01])
    half = t.ppf(0.975, 3) * gains.std(ddof=1) / 2
    np.testing.assert_allclose(
        display.intervals_["b"], [gains.mean(), gains.mean() - half, gains.mean() + half]
    )
    assert set(display.intervals_) == {"b", "c"}
    assert labels(display.ax_.yaxis) == ["a", "b", "c"]
    wide = ComparisonDisplay(results, test_ratio=0.25).plot().intervals_["b"]
    np.testing.assert_allclose(np.ptp(wide[1:]), 2 * np.sqrt(2) * half)


def test_comparison_claims_what_it_has_shown():
    """A method is green where its interval is on the better side; equal differences have none."""
    results = {"a": [0.8, 0.9, 0.7], "b": [0.82, 0.92, 0.72], "c": [0.9, 0.99, 0.81]}
    for lower_is_better, colour in ((False, PALETTE[2]), (True, PALETTE[1])):
        display = ComparisonDisplay(results, lower_is_better=lower_is_better).plot()
        mean, *ends = display.intervals_["b"]
        assert mean == pytest.approx(0.02)
        assert np.isnan(ends).all()
        lines = display.axes_[1].lines
        found = [line.get_color() for line in lines if line.get_markersize() == 7]
        assert found == [PALETTE[0], colour]


def test_bad_comparisons_are_named():
    for results, kwargs, message in (
        ({"a": [1.0, 2.0]}, {}, "two methods"),
        ({"a": [1.0, 2.0], "b": [1.0]}, {}, "same number of splits"),
        ({"a": [1.0, 2.0], "b": [1.0, np.nan]}, {}, "finite"),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0]}, {"reference": "c"}, "reference='c'"),
    ):
        with pytest.raises(ValueError, match=message):
            ComparisonDisplay(results, **kwargs).plot()


def test_axes_are_made_taken_or_divided():
    results = {"a": [0.8, 0.9], "b": [0.82, 0.91]}
    figure, ax = plt.subplots()
    divided = ComparisonDisplay(results).plot(ax)
    assert divided.figure_ is figure
    assert len(figure.axes) == 3
    assert not ax.axison
    _, pair = plt.subplots(1, 2)
    assert list(ComparisonDisplay(results).plot(pair).axes_) == list(pair)
    _, three = plt.subplots(1, 3)
    with pytest.raises(ValueError, match="ax has 3 axes, but 2 are needed"):
        ComparisonDisplay(results).plot(three)
    with pytest.raises(ValueError, match="ax cannot be divided"):
        ComparisonDisplay(results).plot(plt.figure().add_axes((0, 0, 1, 1)))
    figure, ax = plt.subplots()
    assert FeatureWeightsDisplay([1.0, 2.0]).plot(ax).ax_ is ax
