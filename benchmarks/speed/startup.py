"""New processes: the cost of an import and of the first fit."""

import os
import resource
import subprocess
import sys
from dataclasses import replace
from functools import partial

from ..environment import ROOT
from ..measure import Contender, Effort, compare
from ..suite import Results, Row, Suite, Task
from ..text import seconds, spread, table

_FIRST_FIT = """
from sklearn.datasets import load_iris
from {module} import {name}
{name}().fit(*load_iris(return_X_y=True))
"""
_ROUNDS = 9  # at least: the differences are a tenth of the times
_PLAIN = _FIRST_FIT.format(module="sklearn.svm", name="SVC")
_JOBS = {
    "import": {
        "from kernelwise import SVC": "from kernelwise import SVC",
        "import kernelwise": "import kernelwise",
        "import sklearn.svm": "import sklearn.svm",
        "Python alone": "pass",
    },
    "first fit": {
        "kernelwise.SVC": _FIRST_FIT.format(module="kernelwise", name="SVC"),
        "RelevanceSVC": _FIRST_FIT.format(module="kernelwise", name="RelevanceSVC"),
        "SVC": _PLAIN,
    },
}


def _run(code: str) -> None:
    # With compiled modules, as an installation has them: where the sources are used in place, the
    # first round writes them, which is not timed.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Startup(Suite):
    """The start of Python, imports, and a fit of the iris table."""

    name = "speed-startup"
    title = "Start of a process"
    seconds = 40.0

    def cases(self, quick: bool) -> list[Task]:
        return [{"job": job} for job in _JOBS]

    def measure(self, case: Task, effort: Effort) -> Row:
        jobs = _JOBS[case["job"]].items()
        contenders = {name: Contender(partial(_run, code)) for name, code in jobs}
        if not effort.quick:
            effort = replace(effort, least=_ROUNDS, least_slow=_ROUNDS)
        return {"times": compare(contenders, effort, _cpu_of_children)[0]}

    def section(self, results: Results) -> str:
        cells = [
            [row["job"], name, spread(times), seconds(times["cpu_median"])]
            for row in results.rows
            for name, times in row["times"].items()
        ]
        times = results.rows[-1]["times"]
        ours, relevance = (
            times[name]["cpu_median"] - times["SVC"]["cpu_median"]
            for name in ("kernelwise.SVC", "RelevanceSVC")
        )
        return (
            "Each in a new process, from its start to its end. Compared with scikit-learn's `SVC`, "
            "an import and a first fit of the iris table take "
            f"{1e3 * ours:+.0f} ms of CPU with `SVC` and {1e3 * relevance:+.0f} ms with "
            "`RelevanceSVC`. Nothing compiles at run time.\n\n"
            + table(["job", "what", "time", "CPU"], cells, left=2)
        )
