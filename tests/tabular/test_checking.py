"""New tables are compared with the training table of a model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline

from kernelwise.app.evaluation import evaluate, fit_table
from kernelwise.app.tabular import TableEncoder, TableError, check_new_rows, check_target
from kernelwise.app.tabular.encoder import column_weights
from kernelwise.app.tabular.profile import column_profile

from ..loop import loop
from .tables import patients


@pytest.fixture(scope="module")
def model():
    frame = patients(200)
    return fit_table(frame, check_target(frame, "outcome"), "margin-radius")


def checks_of(model, **changes):
    frame = patients(40, seed=3).drop(columns="outcome").assign(**changes)
    return {check.name: check for check in check_new_rows(model, frame)}


def test_usual_rows_have_no_notes(model):
    for seed in range(5):
        frame = patients(100, seed=seed).drop(columns="outcome")
        checks = check_new_rows(model, frame)
        assert [check.name for check in checks] == list(model[0].kinds_)
        assert not [check.notes for check in checks if check.notes]


def test_notes_allow_for_the_number_of_columns():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(120, 300))).add_prefix("g")
    encoder = TableEncoder().fit(wide[:60])
    plain = make_pipeline(encoder, DummyClassifier()).fit(wide[:60], [0, 1] * 30)
    assert sum(bool(check.notes) for check in check_new_rows(plain, wide[60:])) <= 1


def test_each_kind_of_trouble_is_measured(model):
    dates = pd.Series(["01.02.2021"] * 36 + ["01.02.2041"] * 4)
    found = checks_of(model, age=["x"] * 10 + [50.0] * 30, ward="attic", admitted=dates, dose=None)
    assert found["age"].unreadable == 0.25
    assert found["age"].notes == ("25 % of the rows are not numbers: 'x'",)
    assert not found["age"].unusable
    assert found["ward"].unseen == 1
    assert found["ward"].unusable == "no value was seen in training ('attic')"
    assert found["admitted"].outside == 0.1
    assert found["admitted"].notes[0].endswith("2020-01-01 to 2022-12-28: 2041-02-01")
    assert found["dose"].unusable == "all of its values are missing"


def test_selected_columns_are_those_with_an_equal_share(model):
    checks, weights = checks_of(model), column_weights(model)
    shares = {each.column: each.share for each in weights}
    selected = {name for name, check in checks.items() if check.selected}
    assert selected == {name for name in checks if shares.get(name, 0) >= 1 / len(weights)}
    assert {"age", "dose"} <= selected < set(checks)


def test_without_weights_every_column_is_selected():
    frame = patients(60)
    plain = fit_table(frame, check_target(frame, "outcome"), "svc")
    assert all(check.selected for check in check_new_rows(plain, frame.drop(columns="outcome")))


def test_one_row_with_a_gap_or_a_new_word_is_usable(model):
    row = patients(1).drop(columns="outcome").assign(age=None, ward="attic")
    found = {check.name: check for check in check_new_rows(model, row)}
    assert found["age"].notes
    assert found["ward"].notes
    assert not any(check.unusable for check in found.values())


def test_words_that_mean_a_gap_are_missing_and_not_of_another_kind(model):
    found = checks_of(model, age=["unknown"] * 20 + [50.0] * 20)
    assert (found["age"].missing, found["age"].unreadable) == (0.5, 0.0)
    assert "50 % of the values are missing" in found["age"].notes[0]


@loop("values", [range(20200101, 20200141), [True, False] * 20])
def test_numbers_are_no_dates(model, values):
    assert checks_of(model, admitted=values)["admitted"].unreadable == 1


def test_a_mark_may_be_missing_in_all_rows():
    frame = pd.DataFrame({"size": np.arange(40.0) % 7, "mark": ["x", None] * 20})
    frame["kind"] = ["a", "b"] * 20
    marked = fit_table(frame, check_target(frame, "kind"), "svc")
    found = check_new_rows(marked, pd.DataFrame({"size": [1.0] * 3, "mark": [None] * 3}))
    assert not found[1].unusable


def test_a_table_without_the_columns_of_the_model_is_refused(model):
    with pytest.raises(TableError, match="lacks columns that the model needs: 'age'"):
        check_new_rows(model, patients(5).drop(columns=["outcome", "age"]))
    with pytest.raises(TableError, match="does not read tables"):
        check_new_rows(model[-1], patients(5))


def test_the_profile_is_small_and_exact_where_values_are_few():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"few": rng.integers(0, 5, 3000), "many": rng.normal(size=3000)})
    frame["town"] = [f"town {k}" for k in rng.integers(0, 1500, 3000)]
    encoder = TableEncoder(one_hot=False).fit(frame)
    few, many = (column_profile(encoder.profile_, name) for name in ("few", "many"))
    np.testing.assert_array_equal(few.points, range(5))
    np.testing.assert_allclose(few.at_most, np.cumsum(np.bincount(frame["few"])) / 3000, atol=1e-7)
    assert (many.low, many.high) == (frame["many"].min(), frame["many"].max())
    assert len(many.points) == 65
    assert len(column_profile(encoder.profile_, "town").levels) == 0


def test_dates_that_can_be_read_in_two_ways_are_noted():
    days = [f"{day:02d}/{month:02d}/2024" for day in range(1, 29) for month in (3, 4)]
    frame = pd.DataFrame({"when": days, "kind": ["a", "b"] * 28})
    model = fit_table(frame, check_target(frame, "kind"))
    note = "dates are read with the day before the month, as in training; no day is above 12"
    (check,) = check_new_rows(model, pd.DataFrame({"when": ["03/04/2024", "12/03/2024", None]}))
    assert note in check.notes
    (check,) = check_new_rows(model, pd.DataFrame({"when": ["03/04/2024", "13/03/2024"]}))
    assert note not in check.notes
    found = evaluate(frame, "kind", "svc", against=(), cv=2)
    assert "when: dates are read with the day before the month" in found.notes
