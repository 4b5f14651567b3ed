"""The speed of this kernelwise against that of another interpreter, such as an older version's.

Worker processes of the two interpreters alternate, and each goes first equally often. A ratio is
the time here divided by the time there, in the same round; a case counts by the median of its
ratios over the rounds. Both interpreters must have the same packages beside kernelwise:
scikit-learn imports pandas wherever it is installed, which takes longer than kernelwise itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from kernelwise.experiments import ExperimentError

from ..environment import ONE_THREAD
from ..text import digits, table

_WORKER = Path(__file__).with_name("worker.py")
# Packages that scikit-learn, or joblib or pandas for it, imports where they are installed.
_IMPORTED = (
    "numpy", "scipy", "scikit-learn", "joblib", "psutil", "threadpoolctl", "narwhals", "pandas",
    "pyarrow", "numexpr", "bottleneck",
)  # fmt: skip
_VERSIONS = """
import importlib.metadata as m, json, sys
found = {d.name.lower(): d.version for d in m.distributions()}
print(json.dumps({name: found.get(name, "none") for name in sys.argv[1:]}))
"""
LIMIT = 1.03  # ratio from which a case is listed as slower
Times = dict[str, dict[str, float]]  # CPU seconds by suite and case


class Installation:
    """An interpreter with its kernelwise, and a folder for its compiled code.

    Parameters
    ----------
    python : str
        The interpreter.
    cache : str
        Folder for compiled code.
    is_other : bool
        Whether to ignore PYTHONPATH, which may lead to the kernelwise of this interpreter.
    level : str, default=None
        The instruction set to which the native core is held; None takes the best one.
    numba_has_avx2 : bool, default=False
        Whether numba is held to AVX2, for a version that is compiled by it; else it takes the best.
    """

    def __init__(
        self,
        python: str,
        cache: str,
        *,
        is_other: bool,
        level: str | None = None,
        numba_has_avx2: bool = False,
    ) -> None:
        self._python, self._options = python, ["--avx2"] if numba_has_avx2 else []
        self._environment = os.environ | ONE_THREAD | {"NUMBA_CACHE_DIR": cache}
        # pip compiles what it installs: a checkout must keep its bytecode, too
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if level is not None:
            self._environment["KERNELWISE_CPU"] = level
        if is_other:
            self._environment.pop("PYTHONPATH", None)

    def measure(self, suites: Sequence[str], *, quick: bool) -> tuple[str, Times]:
        """Return the place of the package and the times of a new worker process."""
        options = [*self._options, *(["--quick"] if quick else [])]
        found = self._run(str(_WORKER), *suites, *options)
        return found["kernelwise"], found["times"]

    def packages(self) -> dict[str, str]:
        """Return the versions of the packages on which the time of an import depends."""
        found: dict[str, str] = self._run("-c", _VERSIONS, *_IMPORTED)
        return found

    def _run(self, *arguments: str) -> Any:
        """Run the interpreter, and return what it printed as JSON."""
        done = subprocess.run(
            [self._python, "-P", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise ExperimentError(f"the worker of {self._python} failed: {last[0]}")
        return json.loads(done.stdout)


def check_packages(here: Installation, there: Installation) -> None:
    """Refuse interpreters whose packages differ, apart from kernelwise and what compiles it."""
    own, other = here.packages(), there.packages()
    differing = [
        f"{name} ({own[name]} here, {other[name]} there)"
        for name in own
        if own[name] != other[name]
    ]
    if differing:
        raise ExperimentError(
            f"the interpreters have different packages, which biases every ratio: "
            f"{', '.join(differing)}; install the same ones in both"
        )


def compare(python: Path, suites: Sequence[str], rounds: int, *, quick: bool = False) -> str:
    """Return a report on the speed here relative to that of another interpreter.

    Parameters
    ----------
    python : Path
        The other interpreter.
    suites : sequence of str
        Suites of the worker, with or without "speed-"; empty is all.
    rounds : int
        Rounds that count, after one that does not. Ctrl-C ends them early, with a report.
    quick : bool, default=False
        Whether to use tiny sizes.

    Returns
    -------
    report : str
        Markdown.
    """
    suites = [suite.removeprefix("speed-") for suite in suites]
    with tempfile.TemporaryDirectory() as scratch:
        here = Installation(sys.executable, f"{scratch}/here", is_other=False)
        there = Installation(str(python), f"{scratch}/there", is_other=True)
        places = [each.measure(suites, quick=quick)[0] for each in (here, there)]
        if places[0] == places[1]:
            raise ExperimentError(f"both interpreters have the same kernelwise, {places[0]}")
        check_packages(here, there)
        found: list[tuple[Times, Times]] = []
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            order = (here, there) if number % 2 else (there, here)
            try:
                times = {each: each.measure(suites, quick=quick)[1] for each in order}
            except KeyboardInterrupt:  # what is complete is reported
                if not found:
                    raise
                break
            found.append((times[here], times[there]))
    return report(found)


def ratios(found: Sequence[tuple[Times, Times]]) -> dict[str, dict[str, float]]:
    """Return the median ratio of each case, for cases that both interpreters have."""
    first_here, first_there = found[0]
    return {
        suite: {
            case: median(here[suite][case] / there[suite][case] for here, there in found)
            for case in cases
            if case in first_there[suite]
        }
        for suite, cases in first_here.items()
        if suite in first_there
    }


def report(found: Sequence[tuple[Times, Times]]) -> str:
    """Return a table of the suites, and the cases that are slower here."""
    by_suite = ratios(found)
    cells = [
        [suite, len(cases), digits(median(cases.values())), digits(max(cases.values()))]
        for suite, cases in by_suite.items()
    ]
    slower = [
        f"- {suite}, {case}: {digits(ratio)}"
        for suite, cases in by_suite.items()
        for case, ratio in cases.items()
        if ratio > LIMIT
    ]
    header = ["suite", "cases", "median ratio", "worst case"]
    return (
        "CPU time here divided by that of the other interpreter: medians over "
        f"{len(found)} rounds; below 1 is faster here.\n\n{table(header, cells, left=1)}"
        + (f"\n\nCases above {LIMIT:g}:\n\n" + "\n".join(slower) if slower else "")
    )
