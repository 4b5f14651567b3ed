"""The suite that compares this version with the one before the native core."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from kernelwise.experiments import ExperimentError

from ..environment import VARIABLE
from ..measure import Effort
from ..suite import Results, Row, Suite, Task
from ..targets import Grouped, Overall, Reading, Target
from ..text import digits, table
from . import Installation

LEVELS = ("v3", "v4")  # instruction sets that are compared
_SLOWER = 0.97  # ratio below which a case is listed
_CASES: tuple[Task, ...] = (
    {
        "suites": "fit predict gram warm multiclass search weights path relevance margin_radius "
        "discrimination bias startup",
        "rounds": 5,
    },
    {"suites": "growth", "rounds": 3},
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
        with tempfile.TemporaryDirectory() as cache:
            there = Installation(os.environ[VARIABLE], cache, is_other=True)
            here = {
                level: Installation(sys.executable, cache, is_other=False, level=level)
                for level in LEVELS
            }
            contenders = {"before": there} | here
            for number in range(case["rounds"]):
                turn = number % len(contenders)
                order = [*contenders][turn:] + [*contenders][:turn]
                rounds.append(
                    {name: contenders[name].measure(suites, quick=quick)[1] for name in order}
                )
        return {"cpu_times": rounds}

    def section(self, results: Results) -> str:
        rows = results.rows
        by_level = {level: _ratios(rows, level) for level in LEVELS}
        cells = []
        for suite in dict.fromkeys(suite for suite, _ in by_level[LEVELS[0]]):
            own = [[r for (s, _), r in by_level[level].items() if s == suite] for level in LEVELS]
            numbers = [digits(f(each)) for each in own for f in (median, min)]
            cells.append([suite, len(own[0]), *numbers])
        every = [[*found.values()] for found in by_level.values()]
        numbers = [digits(f(each)) for each in every for f in (median, min)]
        cells.append(["all", len(every[0]), *numbers])
        header = [
            "suite",
            "cases",
            *(f"{level}, {w}" for level in LEVELS for w in ("median", "worst")),
        ]
        return (
            "CPU time of commit 288e5fa, whose core was compiled by numba when it was first used, "
            "divided by that of this version held to the instruction set v3 (AVX2) or v4 "
            "(AVX-512): above 1 this version is faster. numba used all that the processor has. "
            "Worker processes take turns; a ratio is the median over "
            f"{' or '.join(sorted({str(len(row['cpu_times'])) for row in rows}, reverse=True))} "
            "rounds. RelevanceSVC does more than it did: it mixes several parts and calibrates "
            "probabilities, for which it is fitted to two halves of the rows as well. The other "
            "cores of the machine were busy. Growth with n=10000 p=50 was measured before such "
            "tables were solved on a stored matrix: one round after that change gave 1.17 and 1.18 "
            "for it, and 1.20 and 1.37 for n=5000 p=20 C=100, which the change does not touch. "
            "All of it was measured while certificates of 5,000 rows and more skipped most support "
            "vectors where rounding seemed harmless; they measure all of them again, which makes "
            "fits of 5,000 rows slower than shown here.\n\n"
            + table(header, cells, left=1)
            + _slower(by_level)
        )


def _ratios(rows: Sequence[Row], level: str) -> Ratios:
    """Return the median ratio of each case that both versions have."""
    found: Ratios = {}
    for row in rows:
        rounds: Sequence[Round] = row["cpu_times"]
        for suite, cases in rounds[0][level].items():
            for case in cases:
                if case in rounds[0]["before"].get(suite, {}):
                    found[suite, case] = median(
                        each["before"][suite][case] / each[level][suite][case] for each in rounds
                    )
    return found


def _slower(by_level: Mapping[str, Ratios]) -> str:
    lines = [
        f"- {suite}, {case}, {level}: {digits(ratio)}"
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


def _single(rows: Sequence[Row]) -> list[Reading]:
    return [
        Reading(f"{suite}, {case}, {level}", ratio)
        for level in LEVELS
        for (suite, case), ratio in _ratios(rows, level).items()
    ]


TARGETS: tuple[Target, ...] = (
    *(
        Overall(f"speed of 288e5fa, {level}, median", Before.name, 1.05, _median(level))
        for level in LEVELS
    ),
    Grouped("speed of 288e5fa, every case", Before.name, _SLOWER, _single),
)
