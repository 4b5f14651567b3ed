"""Large tables: time, memory and accuracy, each fit in a process of its own."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from statistics import linear_regression

from ..environment import ROOT
from ..measure import Effort
from ..suite import Results, Row, Suite, Task
from ..text import digits, gigabytes, seconds, table
from .contenders import HISTOGRAMS, LIGHTGBM, NYSTROEM, OURS
from .tables import NUMBERS, TABLES

SMALL, MIDDLE, LARGE = 30_000, 200_000, 1_000_000  # rows
GROWTH = (SMALL, MIDDLE, LARGE)  # rows of the table whose growth is measured
GROWING = "classification"
_SEED = 0
_QUICK_ROWS, _QUICK_TEST_ROWS = 1500, 500


class LargeTables(Suite):
    """Generated tables of up to a million rows."""

    name = "large"
    title = "Generated tables"
    seconds = 60.0

    def cases(self, quick: bool) -> list[Task]:
        if quick:
            return [_case("spirals", _QUICK_ROWS, who) for who in (OURS, HISTOGRAMS, NYSTROEM)]
        by_size = {
            SMALL: (OURS, LIGHTGBM),
            MIDDLE: (OURS, LIGHTGBM, HISTOGRAMS, NYSTROEM),
        }
        cases = [
            _case(name, n, who)
            for n, contenders in by_size.items()
            for name in TABLES
            for who in contenders
            if who != NYSTROEM or name not in {"categories", *NUMBERS}  # which it cannot read
        ]
        return cases + [_case(GROWING, LARGE, who) for who in (OURS, LIGHTGBM)]

    def measure(self, case: Task, effort: Effort) -> Row:
        arguments = [case["contender"], case["table"], str(case["n"]), str(_SEED)]
        arguments += [str(_QUICK_TEST_ROWS)] if effort.quick else []
        command = [sys.executable, "-m", "benchmarks.large.worker", *arguments]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        found: Row = json.loads(done.stdout)
        return found

    def section(self, results: Results) -> str:
        sizes = sorted({row["n"] for row in results.rows})
        parts = [_of_size(n, [row for row in results.rows if row["n"] == n]) for n in sizes]
        slope = exponent(results.rows)
        if slope is not None:
            parts.append(
                f"The time of kernelwise on {GROWING} grows like n^{digits(slope)} from "
                f"{GROWTH[0]:,} to {GROWTH[-1]:,} rows."
            )
        return "\n\n".join(parts)


def score(row: Row) -> float:
    """Return the accuracy, or R² for a numeric target."""
    return row["r2"] if "r2" in row else row["accuracy"]


def _case(name: str, n: int, contender: str) -> Task:
    return {"table": name, "n": n, "contender": contender}


def _of_size(n: int, rows: Sequence[Row]) -> str:
    cells = [
        [
            row["table"],
            row["contender"],
            f"{100 * score(row):.2f}",
            f"{100 * row['area']:.2f}" if row.get("area") is not None else "",
            f"{row['log_loss']:.4f}" if "log_loss" in row else "",
            seconds(row["fit_seconds"]),
            seconds(row["predict_seconds"]),
            gigabytes(row["peak_bytes"]),
            gigabytes(row["table_bytes"]),
            gigabytes(row["file_bytes"]) if "file_bytes" in row else "",
        ]
        for row in rows
    ]
    header = [
        "table", "method", "accuracy or R², %", "area, %", "log loss", "fit", "prediction",
        "peak memory", "table", "model file",
    ]  # fmt: skip
    return f"### {n:,} rows\n\n{table(header, cells, left=2)}"


def found_row(rows: Sequence[Row], name: str, n: int, contender: str) -> Row | None:
    """Return the row of a case; None where it is not measured."""
    wanted = _case(name, n, contender)
    return next((row for row in rows if wanted.items() <= row.items()), None)


def exponent(rows: Sequence[Row]) -> float | None:
    """Return the slope of log time over log n; None where a size is not measured."""
    found = [found_row(rows, GROWING, n, OURS) for n in GROWTH]
    times = [math.log(row["fit_seconds"]) for row in found if row is not None]
    if len(times) < len(GROWTH):
        return None
    return linear_regression(list(map(math.log, GROWTH)), times).slope
