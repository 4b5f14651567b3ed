"""The encoder makes finite numbers from any table, also from new ones with worse cells."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from kernelwise.app.tabular import TableEncoder, TableError

from ..loop import loop
from .tables import patients


@pytest.fixture(scope="module")
def frame():
    return patients().drop(columns="outcome")


@pytest.fixture(scope="module")
def encoder(frame):
    return TableEncoder().fit(frame)


def column(encoder, frame, name):
    return encoder.transform(frame)[:, encoder.get_feature_names_out().tolist().index(name)]


def test_matrix_is_finite_and_named(encoder, frame):
    X = encoder.transform(frame)
    names = encoder.get_feature_names_out().tolist()
    assert X.shape == (len(frame), len(names))
    assert np.isfinite(X).all()
    assert len(set(names)) == len(names)
    for name in ("age", "age=missing", "ward=north", "ward=missing", "town=other", "smoker=yes"):
        assert name in names
    for name in ("admitted: year", "admitted: month", "admitted: day of week", "admitted: days"):
        assert encoder.sources_[names.index(name)] == "admitted"
    assert encoder.unused_ == ["patient", "hospital"]
    assert sum(source == "town" for source in encoder.sources_) == 21


def test_values_are_right(encoder, frame):
    gaps = frame["age"].isna().to_numpy()
    expected = frame["age"].fillna(frame["age"].median()).to_numpy()
    np.testing.assert_array_equal(column(encoder, frame, "age"), expected)
    np.testing.assert_array_equal(column(encoder, frame, "age=missing"), gaps)
    np.testing.assert_array_equal(column(encoder, frame, "ward=north"), frame["ward"] == "north")
    dates = pd.to_datetime(frame["admitted"], format="%d.%m.%Y")
    np.testing.assert_array_equal(column(encoder, frame, "admitted: month"), dates.dt.month)
    days = (dates - dates.min()).dt.days
    np.testing.assert_array_equal(column(encoder, frame, "admitted: days"), days)


def test_only_training_rows_count(frame):
    encoder = TableEncoder().fit(frame.iloc[:80])
    median = frame["age"].iloc[:80].median()
    gap = frame.iloc[80:].assign(age=np.nan)
    assert set(column(encoder, gap, "age")) == {median}


def test_a_worse_table_is_encoded_all_the_same(encoder, frame):
    worse = frame.iloc[::-1, ::-1].assign(
        age=["old", *map(str, range(len(frame) - 1))],
        ward="moon",
        town="nowhere",
        smoker="perhaps",
        admitted="yesterday",
        dose=None,
    )
    X = encoder.transform(worse)
    assert np.isfinite(X).all()
    assert column(encoder, worse, "ward=north").sum() == 0
    assert column(encoder, worse, "town=other").all()
    assert column(encoder, worse, "age")[0] == frame["age"].median()
    assert column(encoder, worse, "age")[1:4].tolist() == [0.0, 1.0, 2.0]


def test_missing_and_extra_columns(encoder, frame):
    with pytest.raises(TableError, match="lacks columns that the model needs: 'age', 'ward'"):
        encoder.transform(frame.drop(columns=["age", "ward"]))
    without_useless = frame.drop(columns=["patient", "hospital"])
    np.testing.assert_array_equal(encoder.transform(without_useless), encoder.transform(frame))
    with pytest.warns(UserWarning, match="left out: 'more'"):
        encoder.transform(frame.assign(more=1))


def test_names_of_columns_that_look_like_made_ones():
    frame = pd.DataFrame(
        {
            "a": ["x", "y", "z"] * 5,
            "a=x": np.arange(15) % 4,
            "day": ["2024-01-01", "2024-02-02", "2025-03-03"] * 5,
            "day: year": np.arange(15) % 5,
        }
    )
    encoder = TableEncoder().fit(frame)
    assert encoder.transform(frame).shape == (15, 9)
    assert [encoder.sources_.count(name) for name in frame] == [3, 1, 4, 1]


@loop(
    ("first", "second"),
    [
        ([True, False, True] * 4, [True, None, False] * 4),
        ([True, None, False, True] * 3, [True, False] * 6),
    ],
    ids=["gaps later", "gaps first"],
)
def test_truth_is_the_same_with_and_without_gaps(first, second):
    """A file gives True and False as such, and as objects where a cell is empty."""
    encoder = TableEncoder().fit(pd.DataFrame({"truth": first, "x": np.arange(len(first)) % 3}))
    new = pd.DataFrame({"truth": second, "x": 1})
    expected = [value is not False for value in second]  # a gap is the more frequent, True
    assert column(encoder, new, "truth=True").tolist() == expected


def test_numbers_in_text_keep_their_decimal_sign():
    prices = pd.DataFrame({"price": ["0,5", "1,25", "3,75", "2,5"], "x": [1, 2, 1, 2]})
    encoder = TableEncoder().fit(prices)
    assert column(encoder, pd.DataFrame({"price": ["1,234"], "x": [1]}), "price") == [1.234]


def test_times_of_day_are_hours():
    stamps = [f"2024-03-{day:02d}T{day:02d}:30+01:00" for day in range(1, 21)]
    encoder = TableEncoder().fit(pd.DataFrame({"at": stamps}))
    hours = column(encoder, pd.DataFrame({"at": ["2024-05-05T12:15Z", "2024-05-05"]}), "at: hour")
    assert hours.tolist() == [12.25, 0.0]
    assert (
        "at: hour"
        not in TableEncoder().fit(pd.DataFrame({"at": [stamp[:10] for stamp in stamps]})).outputs_
    )


def test_clone_keeps_the_parameters(frame):
    encoder = clone(TableEncoder(drop=("town",), keep=("patient",))).fit(frame)
    assert "town" not in encoder.kinds_
    assert "patient" in encoder.kinds_


@loop(
    ("X", "reason"),
    [
        (np.zeros((3, 2)), "must be a pandas.DataFrame"),
        (pd.DataFrame({"a": [1, 1], "b": [None, None]}), "no column is left to learn from"),
    ],
    ids=["array", "useless"],
)
def test_tables_that_cannot_be_encoded_are_refused(X, reason):
    with pytest.raises(TableError, match=reason):
        TableEncoder().fit(X)


def test_no_rows(encoder, frame):
    with pytest.raises(TableError, match="no rows"):
        encoder.transform(frame.iloc[:0])


# --- Categories as they are -------------------------------------------------------------------


def with_codes(n=60):
    return pd.DataFrame(
        {
            "code": np.arange(n) % 7 + 100,
            "town": [None if k % 11 == 0 else f"town {k % 25}" for k in range(n)],
            "size": [np.nan if k % 10 == 0 else k / 7 for k in range(n)],
            "day": pd.date_range("2024-01-01", periods=n).astype(str),
        }
    )


def test_categories_stay_one_column_and_gaps_stay_gaps():
    frame = with_codes()
    encoder = TableEncoder(one_hot=False, category=["code"]).fit(frame)
    parts = ["year", "month", "day of week", "days"]
    assert encoder.outputs_ == ["code", "town", "size", *(f"day: {part}" for part in parts)]
    assert encoder.sources_ == ["code", "town", "size", *["day"] * 4]
    out = encoder.transform(frame)
    assert out["code"].tolist() == [f"{code}" for code in frame["code"]]
    assert out["town"].isna().tolist() == frame["town"].isna().tolist()
    np.testing.assert_array_equal(out["size"], frame["size"])
    assert out.index.equals(frame.index)


def test_floats_of_a_table_are_not_copied_until_somebody_writes():
    single, double = np.arange(9, dtype=np.float32), np.append(np.nan, np.arange(8.0))
    frame = pd.DataFrame({"a": single, "b": double, "c": [np.inf, *range(8)]}, index=range(3, 12))
    out = TableEncoder(one_hot=False).fit_transform(frame)
    assert [str(kind) for kind in out.dtypes] == ["float32", "float64", "float64"]
    assert np.isnan(out["c"].iloc[0])  # what is infinite counts as missing
    if int(pd.__version__.split(".")[0]) >= 3:
        for name in ("a", "b"):
            assert np.shares_memory(out[name].to_numpy(), frame[name].to_numpy())
    out.iloc[0, 0] = 7
    assert (out["a"].iloc[0], frame["a"].iloc[0]) == (7, 0)


def test_codes_are_categories_with_one_column_per_value_too():
    frame = with_codes()
    encoder = TableEncoder(category=["code"]).fit(frame)
    assert encoder.kinds_["code"] == "category"
    assert encoder.sources_.count("code") == 7
    with pytest.raises(TableError, match="category"):
        TableEncoder(category=["cod"]).fit(frame)
