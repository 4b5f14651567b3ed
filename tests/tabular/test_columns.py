"""The kind of each column is recognised, and its use explained."""

import numpy as np
import pandas as pd
import pytest

from kernelwise.app.evaluation import fit_table
from kernelwise.app.tabular import TableError, check_target, describe_columns
from kernelwise.app.tabular.columns import notes_on

from ..loop import loop
from .tables import patients

N = 40
COLUMNS = {
    "floats": (np.linspace(0, 1, N), "number", "as it is"),
    "numbers as text": ([f"{k / 7:.3f}" for k in range(N)], "number", "as it is"),
    "decimal commas": (
        [f"{k / 7:.3f}".replace(".", ",") for k in range(N)],
        "number",
        "is read as 0",
    ),
    "a word among numbers": (
        [*map(str, range(100, 100 + 2 * N - 2, 2)), "broken"],
        "number",
        "1 missing -> median; not numbers: 'broken' (1)",
    ),
    "a word for gaps": (
        [*map(str, range(100, 160, 2)), *["Unknown", "--"] * 5],
        "number",
        "10 missing -> median, and an indicator column; not numbers: 'Unknown' (5), '--' (5)",
    ),
    "few numbers": ([*["none"] * 35, *"12345"], "category", "6 different values: one column each"),
    "a gap among words": (["unknown", "low", "high", "low"] * 10, "category", "3 different values"),
    "a limit among numbers": (
        [*(str(k % 17 + 0.5) for k in range(N - 8)), *["< 5"] * 6, "ND", "ND"],
        "category",
        "19 different values: one column each; numbers except '< 5' (6), 'ND' (2)",
    ),
    "free text among numbers": (
        [*map(str, range(33)), *(f"{k} as the nurse says, roughly" for k in range(7))],
        "id",
        "(all different); numbers except '0 as the nurse says,' (1), '1 as the nurse says,' (1), "
        "'2 as the nurse says,' (1) and 4 more",
    ),
    "infinite": (
        [np.inf, *np.linspace(0, 1, N - 1)],
        "number",
        "1 infinite or beyond 1e100 -> median",
    ),
    "huge": ([1e300, 2e300] * (N // 2), "number", "huge: divided by 1.5e+300, its median size"),
    "yes or no": (["yes", "no"] * (N // 2), "boolean", "0 or 1"),
    "flag": (["x", None] * (N // 2), "boolean", "0 where missing, else 1"),
    "truth": ([True, False] * (N // 2), "boolean", "0 or 1"),
    "truth with gaps": (
        pd.array([True, False, None, True] * (N // 4), dtype="boolean"),
        "boolean",
        "10 missing -> the more frequent, and an indicator column",
    ),
    "money": ([f"${1000 * k + 0.5:,.2f}" for k in range(N)], "number", "'$0.50' is read as 0.5"),
    "thousands": ([f"{500 * k:,}" for k in range(N)], "number", "'1,000' is read as 1000"),
    "euros": (
        ["0,50 €", "1.234,50 €", "99,00 €", "7 €"] * (N // 4),
        "number",
        "'0,50 €' is read as 0.5",
    ),
    "percent": ([f"{k}.5%" for k in range(N)], "number", "'0.5%' is read as 0.5"),
    "moments": (
        [f"2024-01-{1 + k % 28:02d}T{k % 24:02d}:30:00+01:00" for k in range(N)],
        "date",
        "days since first, hour (UTC)",
    ),
    "colour": (["red", "green", "blue", None] * (N // 4), "category", "3 different values"),
    "words": ([f"w{k % 25}" for k in range(N)], "category", "25 different values: the 20 most"),
    "day": ([f"2024-01-{1 + k % 28:02d}" for k in range(N)], "date", "-> year, month"),
    "slashes": ([f"{1 + k % 28}/{1 + k % 12}/2024" for k in range(N)], "date", "the day before"),
    "us days": ([f"{1 + k % 12}/{1 + k % 28}/2024" for k in range(N)], "date", "-> year, month"),
    "stamps": (pd.date_range("2024-01-01", periods=N), "date", "-> year, month"),
    "name": ([f"person {k}" for k in range(N)], "id", "dropped: looks like an id"),
    "customer_id": (np.random.default_rng(0).permutation(N) * 7, "id", "dropped: looks like an"),
    "counted": (np.arange(5, 5 + N), "id", "dropped: looks like an id or a row number"),
    "part of the rows": (
        np.sort(np.random.default_rng(0).permutation(60)[:N]),
        "id",
        "looks like an id or a row number",
    ),
    "caseid": (np.arange(N) ** 3, "id", "looks like an id"),
    "paid": (np.arange(N) ** 3, "number", "as it is"),
    "weights": (np.random.default_rng(0).permutation(N) * 7, "number", "as it is"),
    "same": (["a"] * N, "constant", "dropped: one value"),
    "seven": ([7] * N, "constant", "dropped: one value"),
    "nothing": ([None] * N, "empty", "dropped: no values"),
    "not a number": ([np.nan] * N, "empty", "dropped: no values"),
}


@loop("name", list(COLUMNS))
def test_kind_and_reason(name):
    values, kind, why = COLUMNS[name]
    (column,) = describe_columns(pd.DataFrame({name: values}))
    assert (column.kind, column.used) == (kind, kind not in {"id", "constant", "empty"})
    assert why in column.why


def test_dropped_and_kept_columns_are_described_without_the_target():
    columns = describe_columns(patients(), "outcome", drop=["age"], keep=["patient"])
    by_name = {column.name: column for column in columns}
    assert "outcome" not in by_name
    assert by_name["age"].why == "dropped: not wanted"
    assert by_name["patient"].used
    assert by_name["patient"].kind == "category"
    assert by_name["dose"].n_missing > 0


def test_words_are_named_where_most_values_are_numbers():
    mixed = {f"{part} %": ["7", "8"] * (part // 2) + ["x"] * (100 - part) for part in (78, 80, 90)}
    columns = describe_columns(pd.DataFrame(mixed))
    assert [column.kind for column in columns] == ["category", "category", "number"]
    assert [column.strays for column in columns] == ["", "'x' (20)", "'x' (10)"]
    assert notes_on(columns) == [
        "80 %: numbers except 'x' (20); read as category",
        "90 %: numbers except 'x' (10); read as number, with these missing",
    ]
    many = notes_on([columns[1]] * 7)
    assert len(many) == 6
    assert many[-1] == "words among the numbers of 2 more columns"


@loop("which", ["drop", "keep"])
def test_unknown_columns_are_refused_with_the_nearest_name(which):
    with pytest.raises(TableError, match=f"{which}: .*'agee'; did you mean 'age'"):
        describe_columns(patients(), **{which: ["agee"]})


NOT_LISTS = {
    "text": "ab",
    "bytes": b"ab",
    "None": None,
    "a number": 3,
    "a generator": (name for name in "ab"),
    "far too many": np.broadcast_to("a", (10**8,)),
}


@loop("names", NOT_LISTS.values(), ids=NOT_LISTS)
@loop("where", ["drop", "keep", "category"])
def test_names_of_columns_are_a_list(where, names):
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [2, 1, 4, 3], "kind": [0, 1, 0, 1]})
    words = rf"^{where} (must be a list|names 100000000)"
    with pytest.raises((TypeError, TableError), match=words):
        describe_columns(frame, **{where: names})
    with pytest.raises((TypeError, TableError), match=words):
        fit_table(frame, check_target(frame, "kind"), **{where: names})
