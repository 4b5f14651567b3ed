"""Displays plot the measured values."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import t
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from kernelwise import SVC, AdaptiveKernelSVC, RelevanceSVC
from kernelwise.inspection import (
    ComparisonDisplay,
    ConvergenceDisplay,
    DecisionSurfaceDisplay,
    KernelPathDisplay,
)
from kernelwise.inspection.style import PALETTE


def test_path_has_a_line_for_each_cost_and_a_mark(models):
    svc = models["AdaptiveKernelSVC"][-1]
    display = KernelPathDisplay.from_estimator(models["AdaptiveKernelSVC"])
    assert display.quantities_ == ["bound", "loo_error"]
    path = svc.path_
    for cost, line in zip((1.0, 10.0, 100.0), display.lines_[1], strict=True):
        own = path["C"] == cost
        order = np.argsort(path["sigma"][own])
        np.testing.assert_array_equal(line.get_xdata(), path["sigma"][own][order])
        np.testing.assert_allclose(line.get_ydata(), 100 * path["loo_error"][own][order])
    (mark,) = display.chosen_[1].get_xydata()
    np.testing.assert_allclose(mark, [svc.sigma_, 100 * svc.loo_error_])
    legend = display.axes_[-1].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["1", "10", "100"]
    assert f"{svc.sigma_:.3g} selected, C = {svc.C_:g}" in display.ax_.get_xlabel()


@pytest.mark.parametrize(
    ("settings", "parameter", "n_lines"),
    [
        ({"kernel": "poly", "parameter": "degree", "values": [1, 2]}, "degree", 2),
        ({"parameter": None}, "C", 1),
    ],
    ids=["degree", "cost"],
)
def test_path_of_another_parameter(two_classes, settings, parameter, n_lines):
    model = AdaptiveKernelSVC(C=[0.1, 1.0], **settings).fit(*two_classes)
    display = KernelPathDisplay.from_estimator(model)
    assert display.parameter == parameter
    assert [len(lines) for lines in display.lines_] == [n_lines] * len(display.quantities_)


def test_bound_is_called_so_for_a_hard_margin_only(models):
    soft = KernelPathDisplay.from_estimator(models["AdaptiveKernelSVC"])
    assert soft.ax_.get_title(loc="left") == "R² Σα / n"
    path = {"sigma": np.array([1.0, 2.0]), "C": np.full(2, np.inf), "bound": np.array([0.4, 0.3])}
    hard = KernelPathDisplay(path, parameter="sigma").plot()
    assert hard.ax_.get_title(loc="left") == "bound on the error, R² Σα / n"
    assert hard.chosen_ == []


def test_path_is_refused_without_one(models):
    with pytest.raises(ValueError, match="RelevanceSVC has no path over kernel widths"):
        KernelPathDisplay.from_estimator(models["RelevanceSVC"])
    path = models["AdaptiveKernelSVC"][-1].path_
    with pytest.raises(ValueError, match="no column 'beauty'"):
        KernelPathDisplay(path, parameter="sigma").plot(quantities=["beauty"])


def test_history_of_two_kernels(models):
    history = models["RelevanceSVC"][-1].history_
    display = ConvergenceDisplay.from_estimator(models["RelevanceSVC"], max_features=4)
    assert len(display.axes_) == 3
    for kernel, value, weights in zip(
        ("laplacian", "rbf"), display.value_lines_, display.weight_lines_, strict=True
    ):
        own = history["kernel"] == kernel
        assert value.get_label() == kernel
        np.testing.assert_allclose(value.get_ydata(), history["value"][own])
        table = history["weights"][own]
        shares = 100 * table / table.sum(axis=1, keepdims=True)
        assert len(weights) == 4
        for line in weights:
            name = line.get_label()
            k = [n[:11] for n in models["RelevanceSVC"][0].feature_names_in_].index(name[:11])
            np.testing.assert_allclose(line.get_ydata(), shares[:, k])


def test_history_of_machines_is_named_by_classes(models):
    display = ConvergenceDisplay.from_estimator(
        models["DualObjectiveSVC"], parts=["1 / rest"], max_features=2
    )
    assert [line.get_label() for line in display.value_lines_] == [
        "0 / rest",
        "1 / rest",
        "2 / rest",
    ]
    assert [len(lines) for lines in display.weight_lines_] == [2]
    with pytest.raises(ValueError, match="parts contains 'none'"):
        ConvergenceDisplay.from_estimator(models["DualObjectiveSVC"], parts=["none"])


def test_history_of_a_gap_has_a_logarithmic_axis():
    display = ConvergenceDisplay({"gap": 10.0 ** -np.arange(6)}).plot()
    assert display.ax_.get_yscale() == "log"
    assert display.weight_lines_ == []


def test_history_is_refused_without_one(models):
    with pytest.raises(ValueError, match="MarginRadiusSVC has no history_"):
        ConvergenceDisplay.from_estimator(models["MarginRadiusSVC"])
    with pytest.raises(ValueError, match='needs a column "value" or "gap"'):
        ConvergenceDisplay({"C": [1.0]}).plot()


def test_surface_is_of_the_two_most_important_features(two_classes):
    X, y = two_classes
    model = RelevanceSVC(ensemble=False).fit(X, y)
    display = DecisionSurfaceDisplay.from_estimator(model, X, y, baseline="svc", grid_resolution=20)
    assert sorted(display.feature_names) == ["x1", "x3"]
    first, second = (int(name[1]) for name in display.feature_names)
    at = np.median(X, axis=0)
    at[first], at[second] = display.xx0[4, 7], display.xx1[4, 7]
    response = display.responses["RelevanceSVC"][4, 7]
    assert response == pytest.approx(model.decision_function(at[None])[0])
    assert len(display.axes_) == 2
    assert len(display.rings_[1].get_offsets()) == len(model.support_)
    np.testing.assert_array_equal(
        np.sort(display.rings_[1].get_offsets(), axis=0),
        np.sort(X[model.support_][:, [first, second]], axis=0),
    )
    shown = [len(dots.get_offsets()) for dots in display.scatters_[0]]
    assert shown == [(y == "no").sum(), (y == "yes").sum()]
    assert "6 other features at their medians" in display.ax_.get_xlabel()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_surface_of_several_classes_from_a_frame(wine, kind):
    X, y = wine
    if kind == "polars":
        polars = pytest.importorskip("polars")
        X = polars.DataFrame({name: X[name].to_numpy() for name in X.columns})
    model = SVC(kernel="linear").fit(X, y)
    display = DecisionSurfaceDisplay.from_estimator(
        model, X, y, features=["hue", "proline"], grid_resolution=15
    )
    assert display.feature_names == ["hue", "proline"]
    assert set(np.unique(display.responses["SVC"])) <= {0.0, 1.0, 2.0}
    assert len(display.scatters_[0]) == 3


def test_surface_of_a_classifier_without_decision_values(two_classes):
    X, y = two_classes
    X = X[:, [1, 3]]
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    display = DecisionSurfaceDisplay.from_estimator(model, X, y, baseline=LogisticRegression())
    assert set(np.unique(display.responses["DecisionTreeClassifier"])) == {-1.0, 1.0}
    assert list(display.responses) == ["LogisticRegression", "DecisionTreeClassifier"]
    assert display.rings_ == []
    assert display.ax_.get_xlabel() == "x0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": ["x0", "nothing"]}, "features="),
        ({"features": [1]}, "must be two"),
        ({"baseline": "forest"}, r"'baseline' parameter .* Got 'forest' instead"),
        ({"grid_resolution": 1}, r"'grid_resolution' parameter .* Got 1 instead"),
    ],
    ids=["unknown", "one", "baseline", "resolution"],
)
def test_surface_names_bad_input(two_classes, change, message):
    X, y = two_classes
    model = SVC(kernel="linear").fit(X, y)
    with pytest.raises(ValueError, match=message):
        DecisionSurfaceDisplay.from_estimator(model, X, y, **change)


def test_comparison_is_paired():
    results = {"a": [0.8, 0.9, 0.7, 0.8], "b": [0.82, 0.91, 0.74, 0.81], "c": [0.5] * 4}
    display = ComparisonDisplay.from_results(results)
    assert len(display.joins_) == 4
    np.testing.assert_allclose(display.joins_[2].get_xdata(), [0.7, 0.74, 0.5])
    np.testing.assert_allclose(display.means_.get_offsets()[:, 0], [0.8, 0.82, 0.5])
    gains = np.array([0.02, 0.01, 0.04, 0.01])
    half = t.ppf(0.975, 3) * gains.std(ddof=1) / 2
    np.testing.assert_allclose(
        display.intervals_["b"], [gains.mean(), gains.mean() - half, gains.mean() + half]
    )
    assert set(display.intervals_) == {"b", "c"}
    labels = [text.get_text() for text in display.ax_.yaxis.get_ticklabels()]
    assert labels == ["a", "b", "c"]


def test_equal_differences_have_no_interval_and_claim_nothing():
    results = {"a": [0.8, 0.9, 0.7], "b": [0.82, 0.92, 0.72], "c": [0.9, 0.99, 0.81]}
    display = ComparisonDisplay.from_results(results)
    mean, *ends = display.intervals_["b"]
    assert mean == pytest.approx(0.02)
    assert np.isnan(ends).all()
    colours = [line.get_color() for line in display.axes_[1].lines if line.get_markersize() == 7]
    assert colours == [PALETTE[0], PALETTE[2]]


def test_overlap_of_training_rows_widens_the_interval():
    results = {"a": [0.8, 0.9, 0.7, 0.8], "b": [0.82, 0.91, 0.74, 0.81]}
    plain = ComparisonDisplay.from_results(results).intervals_["b"]
    wide = ComparisonDisplay.from_results(results, test_ratio=0.25).intervals_["b"]
    assert wide[2] - wide[0] == pytest.approx(np.sqrt(2) * (plain[2] - plain[0]))


def test_a_comparison_without_splits_is_refused(two_classes):
    methods = {"most": DummyClassifier(), "tree": DecisionTreeClassifier()}
    with pytest.raises(ValueError, match="cv makes no splits"):
        ComparisonDisplay.from_estimators(methods, *two_classes, cv=[])


def test_comparison_of_estimators_scores_the_same_splits(two_classes):
    methods = {"most": DummyClassifier(), "tree": DecisionTreeClassifier(random_state=0)}
    display = ComparisonDisplay.from_estimators(methods, *two_classes, cv=4, reference="tree")
    assert display.test_ratio == pytest.approx(1 / 3)
    assert set(display.intervals_) == {"most"}
    assert display.intervals_["most"][0] == pytest.approx(
        display.scores["most"].mean() - display.scores["tree"].mean()
    )
    assert display.ax_.get_xlabel() == "accuracy: 4 splits and mean"


@pytest.mark.parametrize(
    ("results", "kwargs", "message"),
    [
        ({"a": [1.0, 2.0]}, {}, "two methods"),
        ({"a": [1.0, 2.0], "b": [1.0]}, {}, "same number of splits"),
        ({"a": [1.0, 2.0], "b": [1.0, np.nan]}, {}, "finite"),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0]}, {"reference": "c"}, "reference='c'"),
    ],
    ids=["one", "lengths", "nan", "reference"],
)
def test_comparison_names_bad_input(results, kwargs, message):
    with pytest.raises(ValueError, match=message):
        ComparisonDisplay.from_results(results, **kwargs)


def test_axes_are_made_taken_or_divided():
    results = {"a": [0.8, 0.9], "b": [0.82, 0.91]}
    figure, ax = plt.subplots()
    divided = ComparisonDisplay.from_results(results, ax=ax)
    assert divided.figure_ is figure
    assert len(figure.axes) == 3
    assert not ax.axison
    _, pair = plt.subplots(1, 2)
    assert list(ComparisonDisplay.from_results(results, ax=pair).axes_) == list(pair)
    _, three = plt.subplots(1, 3)
    with pytest.raises(ValueError, match="ax has 3 axes, but 2 are needed"):
        ComparisonDisplay.from_results(results, ax=three)
    with pytest.raises(ValueError, match="ax cannot be divided"):
        ComparisonDisplay.from_results(results, ax=plt.figure().add_axes((0, 0, 1, 1)))
