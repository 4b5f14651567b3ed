"""The benchmark of large tables: the runner, the numbers and the page."""

import numpy as np
import pytest

from benchmarks.large import PAGE
from benchmarks.large.contenders import LIGHTGBM, OURS
from benchmarks.large.suite import GROWING, GROWTH, LARGE, MIDDLE, SMALL, LargeTables, exponent
from benchmarks.large.tables import NUMBERS, TABLES
from benchmarks.large.targets import TARGETS
from benchmarks.targets import verdicts

from ..loop import loop
from .helpers import assert_tables_are_rectangular, quick


def test_quick_run_measures_every_quick_case(tmp_path):
    quick(tmp_path, "large")
    found = PAGE.read(tmp_path, "quick")
    rows = found["large"].rows
    assert len(rows) == len(LargeTables().cases(quick=True))
    assert all(0.5 < row["accuracy"] <= 1 for row in rows)
    assert all(row["fit_seconds"] > 0 and row["peak_bytes"] > row["table_bytes"] for row in rows)
    (ours,) = (row for row in rows if row["contender"] == OURS)
    assert ours["file_bytes"] > 1000
    text = (tmp_path / "large_benchmarks.md").read_text(encoding="utf-8")
    assert text == PAGE.text(found)
    assert "Measured at tiny sizes" in text
    assert_tables_are_rectangular(text)


@loop("name", TABLES)
def test_tables_have_their_rows_and_classes(name):
    X, y = TABLES[name](400, 1)
    again, same = TABLES[name](400, 1)
    assert X.shape[0] == len(y) == 400
    np.testing.assert_array_equal(y, same)
    assert (np.asarray(X) == np.asarray(again)).all()
    if name in NUMBERS:
        assert len(np.unique(y)) == 400
    else:
        assert len(np.unique(y)) == (10 if name == "mixture" else 2)
        assert np.bincount(y).min() > 10


def row(name, n, contender, **values):
    """Return a row in which all is well."""
    good = {
        "accuracy": 0.8 if contender == LIGHTGBM else 0.81, "area": 0.9, "log_loss": 0.3,
        "fit_seconds": n * 1e-5, "predict_seconds": 1.0, "peak_bytes": 6e8, "table_bytes": 2e8,
        "file_bytes": 1e8,
    }  # fmt: skip
    return {"table": name, "n": n, "contender": contender} | good | values


def rows(**ours):
    """Return the rows of two tables and of the growth, with changes of our own on the first."""
    found = [
        row(GROWING, MIDDLE, OURS, **ours), row(GROWING, MIDDLE, LIGHTGBM),
        row("categories", MIDDLE, OURS), row("categories", MIDDLE, LIGHTGBM),
    ]  # fmt: skip
    return found + [row(GROWING, n, OURS) for n in (SMALL, LARGE)]


def missed(*rows):
    """Return the beginnings of the targets that are missed."""
    found = verdicts({"large": rows}, TARGETS)
    return [one["target"][:12] for one in found if one["verdict"] != "met"]


def test_targets():
    assert missed(*rows()) == []
    assert missed(*rows(accuracy=0.799)) == ["accuracy, or", "the same, me"]
    assert missed(*rows(accuracy=0.798, area=None)) == ["accuracy, or", "the same, me"]
    assert missed(*rows(predict_seconds=3.5)) == ["time of a pr"]
    assert missed(*rows(file_bytes=2.5e8)) == ["model file r"]
    assert missed(*rows(fit_seconds=4.0)) == ["time of a fi"]
    assert missed(*rows(), row(GROWING, LARGE, OURS, peak_bytes=1.3e9)) == ["peak memory "]
    assert missed(row(GROWING, MIDDLE, OURS), *rows()[1:-1]) == ["growth expon", "peak memory "]


def test_exponent_is_the_slope_of_the_logarithms():
    grown = [row(GROWING, n, OURS, fit_seconds=3e-6 * n**1.5) for n in GROWTH]
    assert exponent(grown) == pytest.approx(1.5)
    assert exponent(grown[1:]) is None
