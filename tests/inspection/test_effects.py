"""Effects of single columns: the curves, their direction in words, and the display."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import PartialDependenceDisplay, partial_dependence
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelwise import SVC, RelevanceSVC
from kernelwise.evaluation import fit_table
from kernelwise.inspection import ColumnEffectsDisplay, column_effects
from kernelwise.inspection.effects import ColumnEffect
from kernelwise.io import load, save
from kernelwise.tabular import check_target


def hospital(n=300):
    """Return a table with numbers, gaps, a category, two words and a date."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "pressure": rng.normal(130, 20, n).round(),
            "ward": rng.choice(["north", "south", "intensive"], n),
            "smoker": rng.choice(["yes", "no"], n),
            "admitted": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
        }
    )
    log_odds = (frame["age"] - 55) / 10 + 2.0 * (frame["ward"] == "intensive")
    frame["outcome"] = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "sick", "fine")
    frame.loc[::5, "pressure"] = np.nan
    return frame


@pytest.fixture(scope="module")
def table():
    frame = hospital()
    return fit_table(frame, check_target(frame, "outcome")), frame.drop(columns="outcome")


@pytest.fixture(scope="module")
def additive():
    """Return rows, and a model of known shape."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    return X, RelevanceSVC().fit(X, X[:, 1] - X[:, 2] ** 2 > -0.5)


def effect(curves, grid=None, scale=1.0):
    curves = np.atleast_2d(np.asarray(curves, dtype=float))[:, :, None]
    labels = tuple("abcdefghijklmnopqrst"[: curves.shape[1]])
    own = np.arange(curves.shape[1]) if grid is None else grid
    return ColumnEffect("x", labels, own, curves, None, np.array([scale]))


def test_curves_are_the_partial_dependence_of_scikit_learn(additive):
    X, model = additive
    (own,) = column_effects(model, X, columns=["x1"], n_rows=300)
    known = partial_dependence(
        model, X, [1], custom_values={1: own.grid}, response_method="predict_proba", kind="both"
    )
    np.testing.assert_allclose(own.mean[:, 1], known["average"][0], atol=1e-12)
    np.testing.assert_allclose(own.curves[:, :, 1], known["individual"][0], atol=1e-12)


def test_direction_is_found(additive):
    X, model = additive
    words = {each.name: each.direction() for each in column_effects(model, X)}
    assert words["x1"] == "rises"
    assert words["x2"] == "rises, then falls"
    assert words["x0"] == words["x3"] == "hardly any change"


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        (np.linspace(0, 1, 10), "rises"),
        (-np.linspace(0, 1, 10), "falls"),
        ([0, 0.5, 0.45, 1], "rises"),
        ([0, 1, 0.2, 0.1], "rises, then falls"),
        ([1, 0, 0, 0.9], "falls, then rises"),
        ([0, 1, 0, 1], "goes up and down"),
        ([0, 0.01, 0, 0.01], "hardly any change"),
    ],
)
def test_words_for_a_curve(curve, words):
    assert effect([curve, curve]).direction() == words


def test_opposite_rows_are_not_called_flat_or_rising():
    up, down = np.linspace(0, 1, 5), np.linspace(1, 0, 5)
    assert effect([up, down]).direction() == "depends on other columns"
    assert effect([2 * up, 2 * up, down]).direction() == "rises on average"
    assert effect([up, up, up, up]).direction() == "rises"


def test_product_of_two_columns_depends_on_other_columns():
    X = np.random.default_rng(1).normal(size=(300, 3))
    effects = column_effects(RelevanceSVC().fit(X, X[:, 0] * X[:, 1] > 0), X, columns=["x0", "x1"])
    assert [each.direction() for each in effects] == ["depends on other columns"] * 2
    assert np.ptp(effects.effects[0].band[1, :, 1]) >= 0
    assert (effects.effects[0].band[1] - effects.effects[0].band[0]).max() > 0.5


def test_table_of_the_command_line_has_words_gaps_and_dates(table):
    model, X = table
    found = {each.name: each for each in column_effects(model, X, columns=list(X.columns))}
    assert found["age"].direction() == "rises"
    assert found["ward"].labels == ("intensive", "north", "south")
    assert found["ward"].direction().startswith("highest for intensive")
    assert found["smoker"].labels == ("no", "yes")
    assert found["pressure"].missing.shape == (100, 2)
    assert found["age"].missing is None
    assert found["admitted"].is_date
    assert found["admitted"].labels[0].startswith("2020-01")


def test_model_file_alone_suffices(table, tmp_path):
    model, X = table
    loaded = load(save(model, tmp_path / "model.kw"))
    found = {each.name: each for each in column_effects(loaded)}
    assert found["age"].direction() == "rises"
    assert found["ward"].direction().startswith("highest for intensive")
    if "admitted" in found:
        days = X["admitted"]
        first, last = found["admitted"].labels[0], found["admitted"].labels[-1]
        assert str(days.min().date()) <= first < last <= str(days.max().date())


@pytest.mark.parametrize("method", ["svc", "dual-objective"])
def test_other_methods_of_the_command_line_need_a_table(method):
    frame = hospital(150)
    model = fit_table(frame, check_target(frame, "outcome"), method)
    X = frame.drop(columns="outcome")
    effects = column_effects(model, X, columns=["age", "ward"])
    assert effects.output == "decision"
    assert effects.effects[0].direction().startswith("rises")
    assert effects.effects[1].labels == ("intensive", "north", "south")
    with pytest.raises(ValueError, match="keeps no training rows; give X"):
        column_effects(model)


def test_models_of_scikit_learn_and_mixing_steps_are_taken(additive):
    frame = hospital(150)[["age", "ward", "outcome"]]
    X, y = frame[["age", "ward"]], frame["outcome"]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()).fit(X, y)
    names = {each.name for each in column_effects(model, X)}
    assert names == {"age", "ward"}
    polars = pytest.importorskip("polars", reason="of the extra dev")
    numbers, model = additive
    X = polars.DataFrame(numbers, schema=["a", "b", "c", "d"])
    scaled = make_pipeline(StandardScaler(), SVC()).fit(X, numbers[:, 1] > 0)
    assert column_effects(scaled, X, max_columns=1).effects[0].direction() == "rises"


def test_several_classes_have_one_row_per_class(wine):
    X, y = wine
    effects = column_effects(RelevanceSVC().fit(X, y), max_columns=2)
    table = effects.table()
    assert table["class"].tolist() == ["0", "1", "2"] * 2
    assert (table["lowest"] < table["highest"]).all()
    (first, _) = effects
    np.testing.assert_allclose(first.mean.sum(axis=1), 1)


def ward(n=2500):
    """Return a table with three effects of single columns and one of a pair of columns."""
    rng = np.random.default_rng(0)
    left, right = rng.uniform(-1, 1, (2, n))
    frame = pd.DataFrame(
        {"age": rng.uniform(20, 80, n), "ward": rng.choice(list("ABC"), n), "x": left, "y": right}
    )
    shift = frame["ward"].map({"A": -1.5, "B": 0.0, "C": 1.5})
    log_odds = 2 - ((frame["age"] - 50) / 12) ** 2 + shift + 2 * np.sign(left * right)
    return frame, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)


def test_additive_curves_show_what_single_columns_do():
    frame, y = ward()
    model = RelevanceSVC().fit(frame, y)
    effects = column_effects(model, frame, output="additive")
    found = {each.name: each for each in effects}
    assert [each.name for each in effects][:2] == ["age", "ward"]
    assert found["age"].direction() == "rises, then falls"
    assert found["ward"].direction() == "highest for C, lowest for A"
    assert max(found[name].range[0] for name in "xy") < 0.3 * found["ward"].range[0]
    for each in effects:
        apart = each.curves - each.curves.mean(axis=1, keepdims=True)
        assert np.ptp(apart, axis=0).max() < 1e-9  # the same for all rows
    display = ColumnEffectsDisplay(effects).plot()
    assert display.figure_.get_supylabel() == "additive log-odds of 1"
    plt.close(display.figure_)


def test_additive_curves_have_the_scale_of_the_log_odds():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=1500), rng.normal(size=1500)])
    y = rng.random(1500) < 1 / (1 + np.exp(-2 * X[:, 0] - X[:, 1]))
    effects = column_effects(RelevanceSVC().fit(X, y), X, output="additive")
    for each, slope in zip(effects, (2, 1), strict=True):
        # What the kernel has of them is missing, and a ridge shrinks the rest.
        assert 0.4 * slope < np.polyfit(each.grid, each.mean[:, 0], 1)[0] < 1.2 * slope


@pytest.mark.parametrize("calibration", ["halves", None])
def test_additive_curves_of_a_small_table_and_several_classes(wine, calibration):
    X, y = wine
    model = RelevanceSVC(calibration=calibration).fit(X, y)
    effects = column_effects(model, X, output="additive", max_columns=2)
    assert effects.effects[0].curves.shape[2] == 3
    assert effects.table()["class"].tolist() == ["0", "1", "2"] * 2


def test_models_without_additive_functions_have_no_additive_curves(additive):
    X, _ = additive
    for model in (SVC(), RelevanceSVC(ensemble=False, max_iter=2)):
        with pytest.raises(ValueError, match="needs a RelevanceSVC with ensemble=True"):
            column_effects(model.fit(X, X[:, 0] > 0), X, output="additive")


def test_bad_arguments_are_named(additive):
    X, model = additive
    with pytest.raises(ValueError, match="columns has 'nix'"):
        column_effects(model, X, columns=["nix"])
    with pytest.raises(
        ValueError, match="'output' parameter of column_effects must be a str among"
    ):
        column_effects(model, X, output="odds")
    with pytest.raises(ValueError, match="needs a model with predict_proba"):
        column_effects(SVC().fit(X, X[:, 0] > 0), X, output="probability")
    constant = RelevanceSVC().fit(X, X[:, 1] > 0)
    effects = column_effects(constant, X, columns=[])
    with pytest.raises(ValueError, match="effects is empty"):
        ColumnEffectsDisplay(effects).plot()
    assert effects.table()["column"].tolist() == []


def test_display_has_a_panel_per_column(table, wine):
    model, X = table
    display = ColumnEffectsDisplay.from_estimator(model, X, columns=["age", "ward", "pressure"])
    age, ward, pressure = display.axes_
    assert [len(lines) for lines in display.lines_] == [1, 1, 1]
    assert age.get_ylim() == pressure.get_ylim() == ward.get_xlim()
    assert {text.get_text() for text in pressure.texts} == {"missing"}
    assert [label.get_text() for label in ward.get_yticklabels()][-1] == "intensive"
    several = ColumnEffectsDisplay.from_estimator(RelevanceSVC().fit(*wine), max_columns=4)
    assert len(several.axes_) == 4
    assert len(several.lines_[0]) == 3
    with pytest.raises(ValueError, match="ax has 1 axes for 4 columns"):
        several.plot(plt.subplots()[1])


def test_partial_dependence_display_of_scikit_learn_works(table, additive):
    model, X = table
    clean = X[["age", "ward"]]
    own = RelevanceSVC().fit(clean, model.predict(X))
    display = PartialDependenceDisplay.from_estimator(
        own, clean.astype({"age": float}), ["age", "ward"], categorical_features=["ward"],
        response_method="predict_proba", grid_resolution=10,
    )  # fmt: skip
    assert len(display.lines_.ravel()) == 2
    X, model = additive
    PartialDependenceDisplay.from_estimator(model, X[:50], [1, (1, 2)], grid_resolution=5)
