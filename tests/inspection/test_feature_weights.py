"""Bars and maps show the weights, the largest first, few features or many."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC, AdaptiveKernelSVC, RelevanceSVC, SVCSearchCV
from kernelwise.inspection import FeatureWeightsDisplay
from kernelwise.inspection.style import short

WITH_IMPORTANCES = (
    "RelevanceSVC",
    "DualObjectiveSVC",
    "MarginRadiusSVC",
    "FeatureDiscriminationSVC",
)


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


@pytest.mark.parametrize("name", WITH_IMPORTANCES)
def test_bars_are_the_importances_in_order(models, wine, name):
    display = FeatureWeightsDisplay.from_estimator(models[name])
    shares = models[name][-1].feature_importances_
    lengths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(lengths, 100 * np.sort(shares)[::-1], rtol=1e-9)
    names = [wine[0].columns[k] for k in display.order_]
    assert labels(display.ax_.yaxis) == [short(own) for own in names]
    np.testing.assert_allclose(display.equal_share_.get_xdata(), 100 / len(shares))
    assert display.rest_ == ""


def test_bars_are_from_the_top_down():
    display = FeatureWeightsDisplay([1.0, 3.0, 2.0]).plot()
    heights = [display.ax_.transData.transform((0, bar.get_y()))[1] for bar in display.bars_]
    assert heights == sorted(heights, reverse=True)
    assert labels(display.ax_.yaxis) == ["x1", "x2", "x0"]


def test_features_that_are_not_selected_are_paler(models):
    display = FeatureWeightsDisplay.from_estimator(models["RelevanceSVC"])
    selected = models["RelevanceSVC"][-1].selected_features_[display.order_]
    assert 0 < selected.sum() < len(selected)
    opacity = np.array([bar.get_facecolor()[3] for bar in display.bars_])
    np.testing.assert_array_equal(opacity == 1, selected)


def test_many_features_are_summed_up():
    weights = np.random.default_rng(0).exponential(size=5000) ** 4
    names = [f"a feature of a long name, with the number {k}" for k in range(5000)]
    display = FeatureWeightsDisplay(weights, feature_names=names).plot()
    assert len(display.bars_) == 30
    written = labels(display.ax_.yaxis)
    assert written[-1] == "4,970 others"
    assert len(set(written)) == 31  # the numbers at the ends of the names are left
    assert max(map(len, written)) <= 28
    rest = np.sort(weights)[:-30]
    assert display.rest_.startswith(f"{100 * rest.sum() / weights.sum():.3g} % together")
    assert display.figure_.get_figheight() < 12


def test_rest_of_zeros_and_rest_of_one():
    assert FeatureWeightsDisplay([1.0, 0.0, 0.0]).plot(max_features=1).rest_ == "no weight"
    display = FeatureWeightsDisplay([3.0, 1.0]).plot(max_features=1)
    assert display.rest_ == "25 %"
    assert labels(display.ax_.yaxis) == ["x0", "1 other"]


def test_machines_are_the_columns_of_a_map(models):
    model = models["MarginRadiusSVC"]
    display = FeatureWeightsDisplay.from_estimator(
        model, attribute="feature_weights_", max_features=5
    )
    assert display.bars_ is None
    shown = display.image_.get_array()
    expected = 100 * model[-1].feature_weights_[:, display.order_].T  # they sum to one
    np.testing.assert_allclose(shown, expected, rtol=1e-9)
    assert labels(display.ax_.xaxis) == ["0 / rest", "1 / rest", "2 / rest"]


def test_machines_of_pairs_are_named_so(models):
    display = FeatureWeightsDisplay.from_estimator(
        models["FeatureDiscriminationSVC"], attribute="feature_weights_"
    )
    assert labels(display.ax_.xaxis) == ["0 / 1", "0 / 2", "1 / 2"]


def test_signs_of_coefficients_are_taken_away(two_classes):
    model = LogisticRegression().fit(*two_classes)
    display = FeatureWeightsDisplay.from_estimator(model)
    shares = np.abs(model.coef_[0]) / np.abs(model.coef_).sum()
    lengths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(lengths, 100 * np.sort(shares)[::-1])


def test_names_are_those_behind_the_steps_before(wine):
    X, y = wine
    model = make_pipeline(StandardScaler(), SelectKBest(k=4), LogisticRegression()).fit(X, y)
    display = FeatureWeightsDisplay.from_estimator(model)
    assert set(display.feature_names) == set(X.columns[model[1].get_support()])


def test_search_is_looked_into(wine):
    X, y = wine
    search = SVCSearchCV(SVC(kernel="linear"), {"C": [0.1]}, cv=2).fit(X, y)
    assert FeatureWeightsDisplay.from_estimator(search).feature_names == list(X.columns)


def test_colours_of_features_stay_with_them():
    display = FeatureWeightsDisplay([1.0, 3.0, 2.0]).plot(color=["red", "green", "blue"])
    found = [bar.get_facecolor() for bar in display.bars_]
    assert [colour[:3] for colour in found] == [(0, 128 / 255, 0), (0, 0, 1), (1, 0, 0)]


def test_one_colour_is_that_of_all_bars():
    for color in ("red", (1.0, 0.0, 0.0)):
        display = FeatureWeightsDisplay([1.0, 3.0, 2.0]).plot(color=color)
        assert {bar.get_facecolor() for bar in display.bars_} == {(1.0, 0.0, 0.0, 1.0)}


@pytest.mark.parametrize(
    "color", ["no colour", 5, ["red"], range(10**12), ["red", "x", "blue"], {}]
)
def test_what_is_no_colour_is_refused(color):
    with pytest.raises(ValueError, match="color must be a colour of matplotlib, or one for each"):
        FeatureWeightsDisplay([1.0, 3.0, 2.0]).plot(color=color)


def test_square_root_scale_keeps_the_values():
    display = FeatureWeightsDisplay([98.0, 1.0, 1.0]).plot(scale="sqrt")
    assert [bar.get_width() for bar in display.bars_] == [98.0, 1.0, 1.0]
    left, middle, right = display.ax_.transData.transform([(0, 0), (25, 0), (100, 0)])[:, 0]
    assert middle - left == pytest.approx((right - left) / 2)


def test_given_axes_are_used():
    figure, ax = plt.subplots()
    display = FeatureWeightsDisplay([1.0, 2.0]).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is figure


@pytest.mark.parametrize("model", [AdaptiveKernelSVC(widths=2, C=1.0), SVC()], ids=["path", "svc"])
def test_estimators_without_weights_are_refused(two_classes, model):
    with pytest.raises(ValueError, match=r"SVC has no feature_importances_ and no coef_; give"):
        FeatureWeightsDisplay.from_estimator(model.fit(*two_classes))


def test_estimator_must_be_fitted():
    with pytest.raises(NotFittedError):
        FeatureWeightsDisplay.from_estimator(RelevanceSVC())


@pytest.mark.parametrize(
    ("kwargs", "plot", "message"),
    [
        ({"weights": [1.0, -1.0]}, {}, "not negative"),
        ({"weights": []}, {}, "not be empty"),
        ({"weights": [1.0, 2.0], "feature_names": ["a"]}, {}, "feature_names has 1 entries"),
        ({"weights": [1.0, 2.0], "interval": [[0.0, 1.0]]}, {}, r"interval must .* \(2, 2\)"),
        ({"weights": [1.0, 2.0]}, {"max_features": 0}, "max_features=0"),
        ({"weights": [1.0, 2.0]}, {"scale": "log"}, "scale='log'"),
    ],
    ids=["negative", "empty", "names", "interval", "max_features", "scale"],
)
def test_bad_input_is_named(kwargs, plot, message):
    with pytest.raises(ValueError, match=message):
        FeatureWeightsDisplay(**kwargs).plot(**plot)


def test_feature_names_must_be_as_many_as_weights(models):
    with pytest.raises(ValueError, match="feature_names has 2 names, but there are 13 weights"):
        FeatureWeightsDisplay.from_estimator(models["RelevanceSVC"], feature_names=["a", "b"])
