"""Effects of single columns: the curves, their direction in words, and the display."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import PartialDependenceDisplay, partial_dependence
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelwise import SVC
from kernelwise.app.inspection import ColumnEffectsDisplay, column_effects
from kernelwise.app.inspection.effects import ColumnEffect


def effect(curves):
    curves = np.atleast_2d(np.asarray(curves, dtype=float))[:, :, None]
    labels = tuple("abcdefghijklmnopqrst"[: curves.shape[1]])
    return ColumnEffect("x", labels, np.arange(curves.shape[1]), curves, None, np.ones(1))


def test_curves_are_the_partial_dependence_of_scikit_learn(shaped):
    X, classifier, regressor = shaped
    for model, method in ((classifier, "predict_proba"), (regressor, "auto")):
        (own,) = column_effects(model, X, columns=["x1"], n_rows=len(X))
        known = partial_dependence(
            model, X, [1], custom_values={1: own.grid}, response_method=method, kind="both"
        )
        np.testing.assert_allclose(own.mean[:, -1], known["average"][-1], atol=1e-8)
        np.testing.assert_allclose(own.curves[:, :, -1], known["individual"][-1], atol=1e-8)


def test_direction_is_found_for_classes_and_numbers(shaped):
    X, classifier, regressor = shaped
    for model, output in ((classifier, "probability"), (regressor, "prediction")):
        effects = column_effects(model, X)
        assert effects.output == output
        words = {each.name: each.direction() for each in effects}
        assert words["x1"] == "rises"
        assert words["x2"] == "rises, then falls"
        assert {words.get(name, "hardly any change") for name in ("x0", "x3")} == {
            "hardly any change"
        }
    assert effects.name_of(0) == "prediction"
    curve = next(each for each in effects if each.name == "x1")
    slope = np.polyfit(curve.grid, curve.mean[:, 0], 1)[0]
    assert slope == pytest.approx(10, rel=0.15)  # in units of the target


def test_words_for_a_curve():
    up, down = np.linspace(0, 1, 5), np.linspace(1, 0, 5)
    for curves, words in (
        (up, "rises"),
        (down, "falls"),
        ([0, 0.5, 0.45, 1], "rises"),
        ([0, 1, 0.2, 0.1], "rises, then falls"),
        ([1, 0, 0, 0.9], "falls, then rises"),
        ([0, 1, 0, 1], "goes up and down"),
        ([0, 0.01, 0, 0.01], "hardly any change"),
        ([up, down], "depends on other columns"),
        ([2 * up, 2 * up, down], "rises on average"),
    ):
        assert effect(curves).direction() == words, curves


def test_product_of_two_columns_depends_on_other_columns():
    X = np.random.default_rng(1).normal(size=(300, 2))
    model = RandomForestClassifier(30, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    effects = column_effects(model, X, columns=["x0", "x1"])
    assert [each.direction() for each in effects] == ["depends on other columns"] * 2
    low, high = effects.effects[0].band
    assert (high - low).max() > 0.5


def test_tables_have_words_gaps_and_dates(hospital, hospital_model):
    X = hospital[0]
    effects = column_effects(hospital_model, X, columns=list(X.columns), n_rows=50)
    found = {each.name: each for each in effects}
    assert found["age"].direction() == "rises"
    assert found["age"].missing is None
    assert found["ward"].labels == ("intensive", "north", "south")
    assert found["ward"].direction().startswith("highest for intensive")
    assert found["smoker"].labels == ("no", "yes")
    assert found["pressure"].missing.shape == (50, 2)
    assert found["admitted"].is_date
    assert found["admitted"].labels[0].startswith("2020-01")
    opposite = column_effects(hospital_model, X, columns=["age"], positive="fine")
    assert opposite.table()["direction"].tolist() == ["falls"]
    assert opposite.name_of(opposite.outputs[0]) == "probability of fine"


def test_pipelines_and_frames_of_others_are_taken(hospital, shaped):
    frame, y = hospital[0][["age", "ward"]], hospital[1]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    assert {each.name for each in column_effects(model.fit(frame, y), frame)} == {"age", "ward"}
    polars = pytest.importorskip("polars", reason="of the extra dev")
    X = polars.DataFrame(shaped[0], schema=["a", "b", "c", "d"])
    scaled = make_pipeline(StandardScaler(), SVC(gamma=0.3)).fit(X, shaped[0][:, 1] > 0)
    effects = column_effects(scaled, X, max_columns=1)
    assert effects.table()["column"].tolist() == ["b"]
    assert effects.name_of(0) == "decision value of True"


def test_several_outputs_have_the_one_that_changes_most(wine, wine_model):
    effects = column_effects(wine_model, wine[0], max_columns=2)
    first = effects.effects[0]
    np.testing.assert_allclose(first.mean.sum(axis=1), 1)
    assert effects.table()["class"][0] == str(np.argmax(first.range))
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = LinearRegression().fit(X, X @ [[1.0, 0.0], [0.0, -5.0]])
    table = column_effects(model, X).table()
    assert table["column"].tolist() == ["x1", "x0"]
    assert table["class"].tolist() == ["target 1", "target 0"]
    assert table["direction"].tolist() == ["falls", "rises"]


def test_bad_arguments_are_named(shaped):
    X, model, regressor = shaped
    with pytest.raises(ValueError, match="columns has 'nix'"):
        column_effects(model, X, columns=["nix"])
    with pytest.raises(ValueError, match="'output' parameter of column_effects must be a str amo"):
        column_effects(model, X, output="odds")
    with pytest.raises(ValueError, match="output='probability' is not what SVC gives; take 'deci"):
        column_effects(SVC().fit(X, X[:, 0] > 0), X, output="probability")
    with pytest.raises(ValueError, match="is not what RelevanceSVR gives; take 'prediction'"):
        column_effects(regressor, X, output="decision")
    effects = column_effects(model, X, columns=[])
    assert effects.table()["column"].tolist() == []
    with pytest.raises(ValueError, match="effects is empty"):
        ColumnEffectsDisplay(effects).plot()


def test_display_has_a_panel_per_column(hospital, hospital_model, wine, wine_model, shaped):
    names = ["age", "ward", "pressure"]
    display = ColumnEffectsDisplay.from_estimator(hospital_model, hospital[0], columns=names)
    age, ward, pressure = display.axes_
    assert [len(lines) for lines in display.lines_] == [1, 1, 1]
    assert age.get_ylim() == pressure.get_ylim() == ward.get_xlim()
    assert {text.get_text() for text in pressure.texts} == {"missing"}
    assert [label.get_text() for label in ward.get_yticklabels()][-1] == "intensive"
    assert display.figure_.get_supylabel() == "probability of sick"
    several = ColumnEffectsDisplay.from_estimator(wine_model, wine[0], max_columns=2)
    assert [len(lines) for lines in several.lines_] == [3, 3]
    with pytest.raises(ValueError, match="ax has 1 axes for 2 columns"):
        several.plot(plt.subplots()[1])
    numbers = ColumnEffectsDisplay.from_estimator(shaped[2], shaped[0], max_columns=1)
    assert numbers.figure_.get_supylabel() == "prediction"


def test_partial_dependence_display_of_scikit_learn_works(shaped):
    X, model, regressor = shaped
    for own in (model, regressor):
        PartialDependenceDisplay.from_estimator(own, X[:40], [1, (1, 2)], grid_resolution=4)
    frame = pd.DataFrame(X, columns=list("abcd"))
    PartialDependenceDisplay.from_estimator(
        type(model)().fit(
            frame[["b"]].assign(word=np.where(frame["a"] > 0, "u", "v")), X[:, 1] > 0
        ),
        frame[["b"]].assign(word="u"),
        ["b", "word"],
        categorical_features=["word"],
        response_method="predict_proba",
        grid_resolution=4,
    )
