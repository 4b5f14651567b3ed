"""The speed of this kernelwise against that of another interpreter, such as an older version's.

Worker processes of the two interpreters take turns at every case, because the speed of a machine
changes within minutes; each goes first equally often. A ratio is the time here divided by the time
there, in the same round; a case counts by the median of its ratios over the rounds, each of which
has new processes. Both interpreters must have the same packages beside kernelwise: scikit-learn
imports pandas wherever it is installed, which takes longer than kernelwise itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
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

    def start(self, suites: Sequence[str], *, quick: bool) -> Worker:
        """Start a worker process for the cases of some suites."""
        options = [*self._options, *(["--quick"] if quick else [])]
        return Worker([self._python, "-P", str(_WORKER), *suites, *options], self._environment)

    def packages(self) -> dict[str, str]:
        """Return the versions of the packages on which the time of an import depends."""
        found: dict[str, str] = self._run("-c", _VERSIONS, *_IMPORTED)
        return found

    def _run(self, *arguments: str) -> Any:
        """Run the interpreter, and return what it printed as JSON."""
        with _starting(self._python):
            done = subprocess.run(
                [self._python, "-P", *arguments],
                env=self._environment,
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            raise _failure(self._python, done.stderr)
        return json.loads(done.stdout)


@contextmanager
def _starting(python: str) -> Iterator[None]:
    """Name the interpreter that cannot be started."""
    try:
        yield
    except OSError as error:
        raise ExperimentError(f"{python} cannot be started: {error.strerror}") from error


def _failure(python: str, said: str) -> ExperimentError:
    last = said.strip().splitlines()[-1:] or ["it said nothing"]
    return ExperimentError(f"the worker of {python} failed: {last[0]}")


class Worker:
    """A worker process, which measures the next case whenever it is asked to.

    Parameters
    ----------
    command : sequence of str
        The interpreter and its arguments.
    environment : mapping
        The environment of the process.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._python = command[0]
        with _starting(self._python):
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,  # of a traceback, at most
                text=True,
            )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.communicate()

    def place(self) -> str:
        """Return the place of the package, which is the first thing that a worker says."""
        place: str = self._answer()
        return place

    def next_case(self) -> tuple[str, str, float] | None:
        """Return suite, name and CPU time of the next case; None after the last one."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        found = self._answer()
        return None if found is None else tuple(found)

    def _answer(self) -> Any:
        line = self._process.stdout.readline()
        if not line:
            raise _failure(self._python, self._process.stderr.read())
        return json.loads(line)


def measure_in_turns(
    contenders: Mapping[str, Installation], suites: Sequence[str], first: int, *, quick: bool
) -> dict[str, Times]:
    """Return the times of new worker processes that take turns at every case.

    Parameters
    ----------
    contenders : mapping
        The installations by name.
    suites : sequence of str
        Suites of the worker; empty is all.
    first : int
        The contender that begins; the next case begins with the next one.
    quick : bool
        Whether to use tiny sizes.

    Returns
    -------
    times : dict
        The times of each contender.
    """
    names, times = list(contenders), {name: {} for name in contenders}
    with ExitStack() as stack:
        workers = {
            name: stack.enter_context(each.start(suites, quick=quick))
            for name, each in contenders.items()
        }
        for worker in workers.values():
            worker.place()
        for number in count(first):
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                found = workers[name].next_case()
                if found is None:  # all have the same cases, and so the same end
                    return times
                suite, case, seconds = found
                times[name].setdefault(suite, {})[case] = seconds


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
        The number of rounds. Ctrl-C ends them early, with a report.
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
        check_places(here, there, suites)
        check_packages(here, there)
        contenders = {"here": here, "there": there}
        found: list[tuple[Times, Times]] = []
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            try:
                times = measure_in_turns(contenders, suites, number, quick=quick)
            except KeyboardInterrupt:  # what is complete is reported
                if not found:
                    raise
                break
            found.append((times["here"], times["there"]))
    return report(found)


def check_places(here: Installation, there: Installation, suites: Sequence[str]) -> None:
    """Refuse to compare a package with itself."""
    with here.start(suites, quick=True) as one, there.start(suites, quick=True) as other:
        place = one.place()
        if place == other.place():
            raise ExperimentError(f"both interpreters have the same kernelwise, {place}")


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
