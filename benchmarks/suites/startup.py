"""New processes: what an import costs, and the first fit, with and without compiled code."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from ..environment import ROOT
from ..measure import Contender, Effort, compare

_FIRST_FIT = """
import numpy as np
from {module} import SVC
X = np.random.default_rng(0).normal(size=(200, 5))
SVC().fit(X, X[:, 0] > 0)
"""


def _run(code: str, cache: str) -> None:
    env = os.environ | {"NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, check=True)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def startup(effort: Effort) -> Iterator[dict]:
    """Start Python, import, and fit 200 rows of 5 columns."""
    with tempfile.TemporaryDirectory() as scratch:
        warm = tempfile.mkdtemp(dir=scratch)

        def in_new_process(code: str) -> Contender:
            return Contender(lambda: _run(code, warm))

        def without_cache(code: str) -> Contender:
            return Contender(lambda cache: _run(code, cache), lambda: tempfile.mkdtemp(dir=scratch))

        ours, theirs = (_FIRST_FIT.format(module=name) for name in ("kernelwise", "sklearn.svm"))
        jobs = {
            "import": {
                "from kernelwise import SVC": in_new_process("from kernelwise import SVC"),
                "import kernelwise": in_new_process("import kernelwise"),
                "import sklearn.svm": in_new_process("import sklearn.svm"),
                "Python alone": in_new_process("pass"),
            },
            "first fit": {
                "kernelwise, compiled code on disk": in_new_process(ours),
                "SVC": in_new_process(theirs),
            },
            "first fit, nothing compiled": {
                "kernelwise, empty cache": without_cache(ours),
                "SVC": in_new_process(theirs),
            },
        }
        for job, contenders in jobs.items():
            times, _ = compare(contenders, effort, _cpu_of_children)
            yield {"case": {"job": job}, "times": times}
