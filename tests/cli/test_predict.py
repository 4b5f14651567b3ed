"""``kernelwise predict`` and ``explain``: by a classifier and by a regressor."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from kernelwise.app.io import load

from ..evaluation.tables import prices
from ..loop import loop
from ..tabular.tables import patients


def read(result):
    assert result.exit_code == 0, result.stderr
    return pd.read_csv(io.StringIO(result.stdout))


def test_classes_and_probabilities(run, table, model):
    found = read(run("predict", model, table, "--proba", "--keep", "patient", "--keep", "patient"))
    assert list(found) == ["patient", "prediction", "probability ill", "probability well"]
    assert len(found) == 120
    np.testing.assert_allclose(found.filter(like="probability").sum(axis=1), 1, atol=2e-6)
    assert (found["prediction"] == patients(120)["outcome"]).mean() > 0.8


def test_numbers_and_intervals(run, price_table, price_model):
    found = read(run("predict", price_model, price_table, "--interval"))
    fitted = load(price_model)
    rows = pd.read_csv(price_table).drop(columns="price")
    np.testing.assert_allclose(found["prediction"], fitted.predict(rows), rtol=1e-7)
    low, high = fitted[-1].predict_interval(fitted[0].transform(rows), confidence_level=0.9)
    np.testing.assert_allclose(found[["low", "high"]], np.column_stack([low, high]), rtol=1e-7)
    narrow = read(run("predict", price_model, price_table, "--interval", "--level", 0.5))
    assert ((narrow["high"] - narrow["low"]) < (found["high"] - found["low"])).all()
    assert list(read(run("predict", price_model, price_table))) == ["prediction"]
    assert max(len(line) for line in run("predict", price_model, price_table).stdout.split()) < 14


def test_options_of_the_other_task_are_refused(run, table, model, price_table, price_model):
    refused = run("predict", price_model, price_table, "--proba")
    assert refused.exit_code == 1
    assert "predicts numbers; --interval adds intervals to them" in refused.stderr
    refused = run("predict", model, table, "--interval")
    assert refused.exit_code == 1
    assert "predicts classes; --proba adds their probabilities" in refused.stderr


def test_reasons_of_predictions(run, table, model, price_table, price_model):
    for fitted, path, names in (
        (model, table, {"age", "dose"}),
        (price_model, price_table, {"size", "place"}),
    ):
        few = pd.read_csv(path)[:4].to_csv(index=False)
        found = read(run("predict", fitted, "-", "--explain", path, input=few))
        assert list(found) == ["prediction", "reasons"]
        assert found["reasons"].str.count(r" = .*? \([+-][\d.]+\)").between(1, 3).all()
        answer = run("predict", fitted, "-", "--explain", path, "--json", input=few)
        for row in json.loads(answer.stdout)["predictions"]:
            sizes = [abs(each["contribution"]) for each in row["reasons"]]
            assert sizes == sorted(sizes, reverse=True)
            assert names & {each["column"] for each in row["reasons"]}


def test_the_standard_input_and_files(run, model, tmp_path):
    frame = patients(30, seed=1).drop(columns=["outcome", "patient", "hospital"])
    new = frame.assign(ward="new", more="x").to_csv(index=False, sep=";", decimal=",")
    out = tmp_path / "out.csv"
    result = run("predict", model, "-", "--out", out, input=new)
    assert result.exit_code == 0, result.stderr
    assert "left out: 'more'" in result.stderr
    assert "30 predictions" in result.stderr
    assert set(pd.read_csv(out)["prediction"]) == {"ill", "well"}
    assert "ward: 100 % of the rows have values not seen in training: 'new'" in result.stderr
    found = json.loads(run("predict", model, "-", "--json", input=new).stdout)
    assert len(found["predictions"]) == 30
    ward = next(check for check in found["checks"] if check["name"] == "ward")
    assert (ward["unseen"], ward["selected"]) == (1.0, False)
    assert list(tmp_path.iterdir()) == [out]


@loop(
    "spoil, reason",
    [
        (lambda age: "old", "most of its values are not numbers"),
        (lambda age: None, "all of its values are missing"),
        (lambda age: 1000 * age, "most of its values are far outside the training range"),
    ],
    ids=["words", "empty", "far"],
)
def test_garbage_in_a_decisive_column_is_refused(run, model, table, spoil, reason):
    frame = pd.read_csv(table)
    garbage = frame.assign(age=frame["age"].map(spoil)).to_csv(index=False)
    result = run("predict", model, "-", input=garbage)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"the model relies on the column 'age', but {reason}" in result.stderr
    allowed = run("predict", model, "-", "--allow", "--json", input=garbage)
    assert allowed.exit_code == 0
    assert "note: age: " in allowed.stderr
    found = json.loads(allowed.stdout)
    age = next(check for check in found["checks"] if check["name"] == "age")
    assert age["unusable"].startswith(reason)
    assert len(found["predictions"]) == 120


def test_usual_rows_are_no_news_and_new_categories_are(run, model, table):
    frame = pd.read_csv(table)
    assert run("predict", model, table).stderr == ""
    frame.loc[:11, "ward"] = "attic"
    text = run("predict", model, "-", input=frame.to_csv(index=False)).stderr
    assert text == "note: ward: 10 % of the rows have values not seen in training: 'attic'\n"


def test_a_kept_column_cannot_share_its_name_with_the_predictions(run, model, table):
    frame = pd.read_csv(table).assign(prediction=1)
    for form in ([], ["--json"]):
        result = run("predict", model, "-", "--keep", "prediction", *form, input=frame.to_csv())
        assert result.exit_code == 1
        assert "the predictions have a column of that name" in result.stderr


def test_explain_shows_what_was_learned(run, model, price_model):
    for path, words in (
        (model, ("outcome", "log loss on held-out rows", "RelevanceSVC", "ill, well", "age")),
        (price_model, ("price", "RMSE on held-out rows", "RelevanceSVR", "regression", "size")),
    ):
        result = run("explain", path)
        assert (result.exit_code, result.stderr) == (0, "")
        assert all(word in result.stdout for word in words)
        numbers = json.loads(run("explain", path, "--json").stdout)
        assert numbers["header"]["summary"]["target"] == words[0]
        assert sum(weight["share"] for weight in numbers["weights"]) == pytest.approx(1)
        criteria = [point["criterion"] for point in numbers["path"]]
        assert criteria == sorted(criteria)


def test_effects_are_of_the_fit_or_of_another_table(run, table, model, price_model, price_table):
    assert "mean probability of ill, over 100 rows" in run("explain", model).stdout
    assert "mean prediction, over 100 rows" in run("explain", price_model).stdout
    for path, data in ((model, table), (price_model, price_table)):
        effects = json.loads(run("explain", path, "--json").stdout)["effects"]
        for each in effects:
            assert len(each["values"]) == len(each["mean"])
            assert each["direction"]
        given = json.loads(run("explain", path, "--data", data, "--json").stdout)["effects"]
        assert {each["column"] for each in given} & {each["column"] for each in effects}
    direction = {each["column"]: each["direction"] for each in effects}
    assert direction["size"].startswith("rises")
    assert direction["place"].startswith("highest for centre")


def test_long_names_take_three_lines_among_the_effects(run, tmp_path):
    frame = prices(80).rename(columns={"size": "a very long name " * 12})
    path, model = tmp_path / "long.csv", tmp_path / "long.kw"
    frame.to_csv(path, index=False)
    assert run("fit", path, "-t", "price", "--cv", 2, "--out", model).exit_code == 0
    effects = run("explain", model).stdout.partition("mean prediction")[2].splitlines()
    assert 2 <= sum(line.startswith((" a ", " long", " name", " very")) for line in effects) <= 5
