"""Columns of a table: their layout and their encoding."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from kernelwise.svm.relevance.columns import encoding as columns
from kernelwise.svm.relevance.columns.encoding import ColumnEncoding, ColumnLayout
from kernelwise.svm.relevance.columns.options import ColumnOptions


def test_plain_layout_has_one_number_per_column():
    layout = ColumnLayout.plain(3)
    assert layout.n_source == 3
    assert_array_equal(layout.source, [0, 1, 2])
    assert_array_equal(layout.group, [0, 1, 2])
    assert_array_equal(layout.to_source(np.array([3.0, 1.0, 2.0])), [3, 1, 2])


def test_values_of_encoded_columns_add_up_at_their_source():
    layout = ColumnLayout(
        is_category=np.array([False, True, False]),
        source=np.array([0, 3, 0]),  # the third column marks the gaps of the first
        group=np.array([0, 1, 2]),
        n_source=4,
    )
    values = np.array([[1.0, 2.0, 4.0], [0.5, 0.25, 0.0]])
    assert_array_equal(layout.to_source(values), [[5, 0, 0, 2], [0.5, 0, 0, 0.25]])


# --- Kinds of columns ------------------------------------------------------------------------


def encoding_of(X, names=None, counts=None, **options):
    names = list(X.columns) if names is None else names
    counts = np.ones(X.shape[0]) if counts is None else counts
    return ColumnEncoding.of(X, names, counts, ColumnOptions(**options))


WORDS = ["b", "a", "c", "a", "b"] * 4
PANDAS = {
    "words": (pd.Series(WORDS, dtype=object), True),
    "string": (pd.Series(WORDS, dtype="string"), True),
    "str": (pd.Series(WORDS), True),
    "category": (pd.Series(WORDS, dtype="category"), True),
    "category of numbers": (pd.Series([3, 1, 2, 1, 3] * 4, dtype="category"), True),
    "intervals": (pd.cut(pd.Series(np.arange(20.0)), 4), True),
    "words that look like numbers": (pd.Series(["1", "2"] * 10, dtype=object), True),
    "mixed words and numbers": (pd.Series(["1", 2] * 10, dtype=object), True),
    "objects that are numbers": (pd.Series([1, 2.5] * 10, dtype=object), False),
    "bool": (pd.Series([True, False] * 10), False),
    "nullable boolean": (pd.Series([True, None] * 10, dtype="boolean"), False),
    "nullable integer": (pd.Series([1, None] * 10, dtype="Int64"), False),
    "nullable float": (pd.Series([1.5, None] * 10, dtype="Float32"), False),
    "arrow integer": (pd.Series([1, None] * 10, dtype="int64[pyarrow]"), False),
    "arrow string": (pd.Series(WORDS, dtype="string[pyarrow]"), True),
    "uint8": (pd.Series([1, 2] * 10, dtype="uint8"), False),
    "float": (pd.Series([1.0, np.nan] * 10), False),
}
POLARS = {
    "String": (pl.Series(WORDS), True),
    "Categorical": (pl.Series(WORDS, dtype=pl.Categorical), True),
    "Enum": (pl.Series(WORDS, dtype=pl.Enum(["a", "b", "c"])), True),
    "Boolean": (pl.Series([True, None] * 10), False),
    "Int64": (pl.Series([1, None] * 10), False),
    "Float32": (pl.Series([1.0, None] * 10, dtype=pl.Float32), False),
    "Decimal": (pl.Series(["1.5", "2"] * 10).cast(pl.Decimal(10, 2)), False),
}


def test_types_of_pandas_and_polars():
    for library, cases in ((pd, PANDAS), (pl, POLARS)):
        for name, (series, is_category) in cases.items():
            frame = library.DataFrame({"it": series})
            encoding = encoding_of(frame)
            assert encoding.layout.is_category[0] == is_category, name
            out = encoding.apply(frame)
            assert np.isfinite(out).all(), name
            if library is pd and not is_category:
                known = series.notna().to_numpy()
                assert_array_equal(out[known, 0], series[known].astype(float), name)
            elif is_category and library is pl:
                of_words = encoding_of(pd.DataFrame({"it": WORDS}))
                assert_array_equal(out, of_words.apply(frame), name)


def test_other_types_are_refused_by_the_name_of_their_column():
    refused = [
        pd.Series(pd.period_range("2024-01", periods=3, freq="M")),
        pl.Series([None] * 3, dtype=pl.List(pl.Int64)),
    ]
    for values in refused:
        library = pd if isinstance(values, pd.Series) else pl
        encoding = encoding_of(library.DataFrame({"when": [1.0, 2.0, 3.0]}))
        for read in (encoding_of, encoding.apply):
            with pytest.raises(ValueError, match=r"column 'when' is of type .*TableEncoder"):
                read(library.DataFrame({"when": values}))


def test_objects_that_are_neither_words_nor_numbers_are_refused():
    with pytest.raises(ValueError, match=r"value of type date.*TableEncoder"):
        encoding_of(pd.DataFrame({"when": [date(2024, 1, 1)] * 3}))
    with pytest.raises(TypeError, match=r"column 'it'.*cannot be compared.*\{'a': 1\}"):
        encoding_of(pd.DataFrame({"it": ["x", {"a": 1}]}), categorical_features=["it"])


def test_words_in_a_column_of_numbers_are_refused_by_name():
    encoding = encoding_of(pd.DataFrame({"age": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="column 'age' holds numbers, but has the value 'old'"):
        encoding.apply(pd.DataFrame({"age": [1.0, "old"]}))
    with pytest.raises(ValueError, match="column 'age' holds numbers, but has the value 'a'"):
        encoding.apply(pl.DataFrame({"age": ["a", "b"]}))
    with pytest.raises(ValueError, match="column 'it' holds numbers, but has the value 'b'"):
        encoding_of(pd.DataFrame({"it": WORDS}), categorical_features=None)


def test_arrays_of_words_hold_numbers_too():
    X = np.column_stack([np.arange(20.0), WORDS])
    for rows in (X, X.astype(object)):
        encoding = encoding_of(rows, ["x0", "x1"])
        assert_array_equal(encoding.layout.is_category, [False, True])
        assert_array_equal(encoding.apply(rows)[:, 0], np.arange(20.0))


# --- Codes -----------------------------------------------------------------------------------


def test_codes_do_not_depend_on_the_order_of_the_rows():
    frame = pd.DataFrame({"it": WORDS * 3})
    encoding = encoding_of(frame)
    assert encoding_of(frame[::-1]).categories == encoding.categories
    codes = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert_array_equal(encoding.apply(frame)[:, 0], [codes[word] for word in frame["it"]])


def test_every_level_has_a_code_and_unseen_ones_share_one():
    values = ["a"] * 5 + ["b"] * 2 + ["c"] + [None] + ["d"] * 9
    encoding = encoding_of(pd.DataFrame({"it": values}))
    (own,) = encoding.categories
    assert own.levels == ("a", "b", "c", "d")
    assert own.n_codes == 6
    new = pd.DataFrame({"it": ["a", "b", "c", None, "d", "never", "nor this"]})
    assert_array_equal(encoding.apply(new)[:, 0], [1, 2, 3, 5, 4, 0, 0])
    encoding = encoding_of(pd.DataFrame({"it": ["a", "b"] * 5}))
    assert_array_equal(encoding.apply(pd.DataFrame({"it": [None, "a"]}))[:, 0], [0, 1])


def test_levels_of_one_row_each_say_nothing_of_other_rows():
    frame = pd.DataFrame({"it": [f"row {k}" for k in range(50)]})
    encoding = encoding_of(frame)
    assert_array_equal(encoding.apply(frame)[:, 0], np.zeros(50))


def test_the_rarest_of_too_many_levels_share_a_code(monkeypatch):
    monkeypatch.setattr(columns, "MAX_LEVELS", 3)
    values = ["d"] * 2 + ["a"] * 3 + ["c"] * 2 + ["b"] * 2 + ["e"]
    for order in (values, values[::-1]):
        (own,) = encoding_of(pd.DataFrame({"it": order})).categories
        assert own.levels == ("a", "b", "c")


def test_missing_categories_are_a_level():
    values = ["a"] * 5 + [None] * 5
    encoding = encoding_of(pd.DataFrame({"it": values}))
    assert_array_equal(encoding.apply(pd.DataFrame({"it": values}))[:, 0], [1.0] * 5 + [2.0] * 5)
    numbers = np.array([[3.0], [np.nan]] * 6)
    encoding = encoding_of(numbers, ["x0"], categorical_features=[0])
    assert_array_equal(encoding.apply(numbers)[:2, 0], [1, 2])


def test_hundreds_of_levels():
    values = [f"level {k}" for k in range(700) for _ in range(5)]
    encoding = encoding_of(pd.DataFrame({"it": values}))
    codes = encoding.apply(pd.DataFrame({"it": values}))[:, 0]
    assert len(np.unique(codes)) == 700
    assert codes.max() == 700


def test_numbers_and_booleans_of_equal_value_are_one_level():
    frame = pd.DataFrame({"it": [1, 1.0, True, "1", "1"] * 5}, dtype=object)
    (own,) = encoding_of(frame, categorical_features=["it"]).categories
    assert own.levels == (1.0, "1")


def test_weights_count_rows_and_small_ones_do_not_remove_levels():
    frame = pd.DataFrame({"it": ["a", "b", "c"]})
    (own,) = encoding_of(frame, counts=np.array([1.0, 2.0, 1.0])).categories
    assert own.levels == ("a", "b", "c")
    (own,) = encoding_of(frame, counts=np.full(3, 1e-3)).categories
    assert own.levels == ()
    frame = pd.DataFrame({"it": ["a"] * 8 + ["b"] * 4})
    (own,) = encoding_of(frame, counts=np.full(12, 1e-3)).categories
    assert own.levels == ("a", "b")


# --- Numbers ---------------------------------------------------------------------------------


def test_gaps_are_filled_by_medians_and_marked():
    X = np.tile([[1.0, np.nan], [2.0, 5.0], [9.0, 7.0], [4.0, np.nan]], (5, 1))
    X[0, 0] = np.nan  # one gap is filled and not marked
    encoding = encoding_of(X, ["x0", "x1"])
    assert_array_equal(encoding.medians, [4, 6])
    assert_array_equal(encoding.apply(X[:4]), [[4, 6, 2], [2, 5, 0], [9, 7, 0], [4, 6, 2]])
    assert_array_equal(encoding.apply(np.full((1, 2), np.nan)), [[4, 6, 2]])
    assert_array_equal(encoding.layout.source, [0, 1, 1])
    assert_array_equal(encoding.layout.group, [0, 1, 3])
    assert_array_equal(encoding_of(X, ["x0", "x1"], counts=np.full(20, 10.0)).marked, [0, 1])


def test_medians_are_those_of_copies_and_leave_gaps_out():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, counts = rng.integers(0, 9, (30, 3)).astype(float), rng.integers(1, 5, 30)
        X[rng.random(X.shape) < 0.3] = np.nan
        names = ["x0", "x1", "x2"]
        for weight in (counts, np.full(30, 2.0)):
            expected = np.nanmedian(np.repeat(X, weight.astype(int), axis=0), axis=0)
            assert_array_equal(encoding_of(X, names, counts=weight).medians, expected)


def test_infinities_are_refused_by_name():
    X = np.array([[1.0, np.inf], [2.0, 5.0]])
    with pytest.raises(ValueError, match=r"contains infinity: column 'x1'.*by NaN"):
        encoding_of(X, ["x0", "x1"]).apply(X)


# --- What a user says ------------------------------------------------------------------------

FRAME = pd.DataFrame({"a": [1.0, 2.0] * 5, "b": [3, 4] * 5, "c": ["x", "y"] * 5})


def test_categories_by_number_name_or_mask():
    for given in ([1, 2], [-1, 1], ["b", "c"], [False, True, True], np.array(["c", "b"])):
        found = encoding_of(FRAME, categorical_features=given).layout.is_category
        assert_array_equal(found, [False, True, True])


def test_categories_that_are_no_columns_are_refused():
    for given, words in (
        ([3], "categorical_features has 3, which is no column"),
        (["d"], "names the column 'd', which X does not have"),
        ([True], "is a mask of 1 columns, but X has 3"),
        ([0.5], r"has 0\.5, which is no column"),
        (["a"], "column 'c' holds numbers, but has the value 'x'"),
    ):
        with pytest.raises(ValueError, match=words):
            encoding_of(FRAME, categorical_features=given)


def test_groups_by_lists_or_labels():
    for given, group in (
        (None, [0, 1, 2, 3]),
        ([["b", "d"]], [0, 1, 2, 1]),
        ([[3, 0], ("b", "c")], [0, 1, 1, 0]),
        (["k", "l", "k", "m"], [0, 1, 0, 3]),
        (np.array([5, 5, 5, 1]), [0, 0, 0, 3]),
    ):
        assert_array_equal(ColumnOptions(feature_groups=given).groups(list("abcd")), group)


def test_groups_that_make_no_sense_are_refused():
    for given, words in (
        ([["a", "b"], ["b"]], "column 'b' in two groups"),
        ([["z"]], "feature_groups names the column 'z'"),
        ([0, 1], "2 labels, but X has 4 columns"),
    ):
        with pytest.raises(ValueError, match=words):
            ColumnOptions(feature_groups=given).groups(list("abcd"))
