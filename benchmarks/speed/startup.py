"""New processes: the cost of an import and of the first fit, with and without compiled code."""

import os
import resource
import subprocess
import sys
import tempfile
from functools import partial

from ..environment import ROOT
from ..measure import Contender, Effort, compare
from ..suite import Results, Row, Suite, Task
from ..text import seconds, spread, table

_FIRST_FIT = """
import numpy as np
from {module} import SVC
X = np.random.default_rng(0).normal(size=(200, 5))
SVC().fit(X, X[:, 0] > 0)
"""
_OURS, _THEIRS = (_FIRST_FIT.format(module=name) for name in ("kernelwise", "sklearn.svm"))
_JOBS = {
    "import": {
        "from kernelwise import SVC": "from kernelwise import SVC",
        "import kernelwise": "import kernelwise",
        "import sklearn.svm": "import sklearn.svm",
        "Python alone": "pass",
    },
    "first fit": {"kernelwise, compiled code on disk": _OURS, "SVC": _THEIRS},
    "first fit, nothing compiled": {"kernelwise, empty cache": _OURS, "SVC": _THEIRS},
}


def _run(code: str, cache: str) -> None:
    env = os.environ | {"NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, check=True)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Startup(Suite):
    """The start of Python, imports, and a fit of 200 rows of 5 columns."""

    name = "speed-startup"
    title = "Start of a process"
    seconds = 40.0

    def cases(self, quick: bool) -> list[Task]:
        return [{"job": job} for job in _JOBS]

    def measure(self, case: Task, effort: Effort) -> Row:
        with tempfile.TemporaryDirectory() as scratch:
            warm = tempfile.mkdtemp(dir=scratch)
            contenders = {}
            for name, code in _JOBS[case["job"]].items():
                cache = partial(tempfile.mkdtemp, dir=scratch) if "empty" in name else lambda: warm
                contenders[name] = Contender(partial(_run, code), prepare=cache)
            return {"times": compare(contenders, effort, _cpu_of_children)[0]}

    def section(self, results: Results) -> str:
        cells = [
            [row["job"], name, spread(times), seconds(times["cpu_median"])]
            for row in results.rows
            for name, times in row["times"].items()
        ]
        fits = [list(row["times"].values()) for row in results.rows[1:]]
        cached, compiled = (ours["median"] - theirs["median"] for ours, theirs in fits)
        return (
            "Each in a new process, from its start to its end. An import and a first fit of 200 "
            f"rows of 5 columns take {seconds(cached)} longer than with scikit-learn if the "
            f"compiled code is on disk, and {seconds(compiled)} longer if it is not, which "
            "happens once after an installation.\n\n"
            + table(["job", "what", "time", "CPU"], cells, left=2)
        )
