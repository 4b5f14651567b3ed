"""The suite that compares this version with the one before the native core."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from kernelwise.experiments import ExperimentError

from ..environment import VARIABLE
from ..measure import Effort
from ..suite import Results, Row, Suite, Task
from ..targets import Grouped, Overall, Reading, Target
from ..text import digits, table
from . import Installation, check_packages, measure_in_turns

LEVELS = ("v3", "v4")  # instruction sets that are compared
_SLOWER = 0.97  # ratio below which a case is listed
_CERTIFIED = 5000  # rows from which a fit measures its violation in float64, as it did not before
_GREW = "relevance"  # suite of the method that now mixes parts and gives probabilities
_LEAST_GROWN = 1 / 1.7  # ratio from which the speed of that method is good enough
_CASES: tuple[Task, ...] = (
    {"suites": "large", "rounds": 1, "levels": "v4"},  # minutes per case
    {"suites": "growth", "rounds": 9},
    {"suites": "relevance", "rounds": 9},
    {
        "suites": "fit predict gram warm multiclass search weights path margin_radius "
        "discrimination bias startup",
        "rounds": 9,
    },
)
Ratios = dict[tuple[str, str], float]  # by suite and case
Round = Mapping[str, Mapping[str, Mapping[str, float]]]  # CPU seconds by contender, suite and case


class Before(Suite):
    """CPU times of an older interpreter and of this one, as worker processes that take turns."""

    name = "before"
    title = "Against the version before the native core"
    seconds = 3600.0

    def cases(self, quick: bool) -> list[Task]:
        return [{"suites": "gram", "rounds": 1}] if quick else list(_CASES)

    def measure(self, case: Task, effort: Effort) -> Row:
        if VARIABLE not in os.environ:
            raise ExperimentError("name the interpreter of the older version by --today PYTHON")
        suites, quick = case["suites"].split(), bool(case.get("quick"))
        rounds = []
        with tempfile.TemporaryDirectory() as scratch:
            levels = case["levels"].split() if "levels" in case else LEVELS
            contenders = _contenders(os.environ[VARIABLE], scratch, levels)
            check_packages(contenders[levels[0]], contenders[f"before {levels[0]}"])
            for number in range(case["rounds"]):
                rounds.append(measure_in_turns(contenders, suites, number, quick=quick))
        return {"cpu_times": rounds}

    def section(self, results: Results) -> str:
        rows = results.rows
        by_level = {level: _ratios(rows, level) for level in LEVELS}
        cells = []
        for suite in dict.fromkeys(suite for found in by_level.values() for suite, _ in found):
            own = [[r for (s, _), r in by_level[level].items() if s == suite] for level in LEVELS]
            cells.append(_summary(suite, own))
        cells.append(_summary("all", [[*found.values()] for found in by_level.values()]))
        header = [
            "suite",
            "cases",
            *(f"{level}, {w}" for level in LEVELS for w in ("median", "worst")),
        ]
        return (
            "CPU time of commit 288e5fa, whose core was compiled by numba when it was first used, "
            "divided by that of this version: above 1 this version is faster. Both are held to the "
            "instruction set v3 (AVX2), or both have v4 (AVX-512), and both have the same "
            "packages. Worker processes take turns; a ratio is the median over "
            f"{' or '.join(sorted({str(len(row['cpu_times'])) for row in rows}, reverse=True))} "
            "rounds, more of them where a case is short. RelevanceSVC does more than it did: it "
            "mixes several parts and calibrates probabilities, for which it is fitted to two "
            "halves of the rows as well. Fits to 5,000 rows and more pay for a certificate that "
            "they did not have: the violation in float64 on all support vectors and 2,000 other "
            "rows.\n\n" + table(header, cells, left=1) + _slower(by_level)
        )


def _contenders(python: str, scratch: str, levels: Sequence[str]) -> dict[str, Installation]:
    """Return both versions at each level, by name."""
    found = {}
    for level in levels:
        found[f"before {level}"] = Installation(
            python, f"{scratch}/{level}", is_other=True, numba_has_avx2=level == "v3"
        )
        found[level] = Installation(sys.executable, scratch, is_other=False, level=level)
    return found


def _ratios(rows: Sequence[Row], level: str) -> Ratios:
    """Return the median ratio of each case that both versions have."""
    found: Ratios = {}
    for row in rows:
        rounds: Sequence[Round] = row["cpu_times"]
        for suite, cases in rounds[0].get(level, {}).items():
            for case in cases:
                older = f"before {level}"
                if case in rounds[0][older].get(suite, {}):
                    found[suite, case] = median(
                        each[older][suite][case] / each[level][suite][case] for each in rounds
                    )
    return found


def _summary(name: str, of_levels: Sequence[Sequence[float]]) -> list[Any]:
    """Return a line: how many cases, and the median and least ratio at each level."""
    numbers = [digits(f(each)) if each else "" for each in of_levels for f in (median, min)]
    return [name, max(map(len, of_levels)), *numbers]


def _added_work(suite: str, case: str) -> str | None:
    """Return the work that a case does and did not do before; None where there is none."""
    if suite == _GREW:
        return "several parts and probabilities"
    n_rows = re.search(r"n=(\d+)", case) if suite in ("fit", "growth", "large") else None
    is_certified = n_rows is not None and int(n_rows[1]) >= _CERTIFIED
    return "a certificate in float64" if is_certified else None


def _slower(by_level: Mapping[str, Ratios]) -> str:
    lines = [
        f"- {suite}, {case}, {level}: {digits(ratio)}"
        + (f", with work that is new: {added}" if (added := _added_work(suite, case)) else "")
        for level, found in by_level.items()
        for (suite, case), ratio in found.items()
        if ratio < _SLOWER
    ]
    return f"\n\nCases below {_SLOWER:g}:\n\n" + "\n".join(lines) if lines else ""


def _median(level: str) -> Any:
    def read(rows: Sequence[Row]) -> float | None:
        found = _ratios(rows, level)
        return median(found.values()) if found else None

    return read


def _readings(rows: Sequence[Row], wanted: Callable[[str, str], bool]) -> list[Reading]:
    return [
        Reading(f"{suite}, {case}, {level}", ratio)
        for level in LEVELS
        for (suite, case), ratio in _ratios(rows, level).items()
        if wanted(suite, case)
    ]


def _same_work(rows: Sequence[Row]) -> list[Reading]:
    return _readings(rows, lambda suite, case: _added_work(suite, case) is None)


def _grown(rows: Sequence[Row]) -> list[Reading]:
    return _readings(rows, lambda suite, case: suite == _GREW)


def _large(n_rows: int) -> Callable[[Sequence[Row]], list[Reading]]:
    return lambda rows: _readings(
        rows, lambda suite, case: suite == "large" and f"n={n_rows} " in case
    )


TARGETS: tuple[Target, ...] = (
    *(
        Overall(f"speed of 288e5fa, {level}, median", Before.name, 1.05, _median(level))
        for level in LEVELS
    ),
    Grouped("speed of 288e5fa, cases that do the same work", Before.name, _SLOWER, _same_work),
    Grouped(
        "speed of 288e5fa, RelevanceSVC, now mixed and calibrated",
        Before.name,
        _LEAST_GROWN,
        _grown,
    ),
    Grouped("speed of 288e5fa, 60,000 x 50", Before.name, 4.0, _large(60_000)),
    Grouped("speed of 288e5fa, 100,000 x 20", Before.name, 6.0, _large(100_000)),
)
