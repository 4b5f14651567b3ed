"""Whole processes: forks during fits, and limits on memory."""

from __future__ import annotations

import subprocess
import sys

from .tally import Tally

_LIMIT = 900  # seconds after which a process counts as one that hangs

# Classifiers, and the code that makes one.
MADE = {
    "SVC": "SVC(C=10.0)",
    "RelevanceSVC": "RelevanceSVC()",
    "AdaptiveKernelSVC": "AdaptiveKernelSVC(widths=3)",
    "DualObjectiveSVC": "DualObjectiveSVC(max_iter=3)",
    "FeatureDiscriminationSVC": "FeatureDiscriminationSVC()",
    "GeneralizedBiasSVC": "GeneralizedBiasSVC([0])",
    "MarginRadiusSVC": "MarginRadiusSVC()",
    "SVR": "SVR()",
}

_FORKS = """
import os, signal, sys, threading
from sklearn.datasets import load_digits
from kernelwise import *
X, y = (part[:400] for part in load_digits(return_X_y=True))
stop = threading.Event()
def fit():
    while not stop.is_set():
        {make}.fit(X, y)
thread = threading.Thread(target=fit)
thread.start()
hung = 0
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        {make}.fit(X[:100], y[:100])
        os._exit(0)
    hung += os.waitpid(child, 0)[1] != 0
stop.set()
thread.join()
print(hung)
"""


def forks(n: int, names: list[str] | None = None) -> Tally:
    """Fork n children of each classifier while another thread fits; each of them fits as well."""
    tally = Tally("forks during fits")
    for name in names or MADE:
        code = _FORKS.format(make=MADE[name])
        command = [sys.executable, "-W", "ignore", "-c", code, str(n)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=90 * n)
        hung = int(done.stdout) if done.returncode == 0 else n
        for _ in range(n - hung):
            tally.held("the child fitted")
        for _ in range(hung):
            tally.broke(f"{name}: a child hung or failed: {done.stderr[-200:]}")
    return tally


_MEMORY = """
import sys
import numpy as np
from kernelwise import *
from tests.chaos.child import limit_memory
X = np.random.default_rng(0).normal(size=({n}, 20))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
X[:300] @ X[:300].T  # BLAS ends the process where it cannot allocate its own buffers
{make}.fit(X[:60], y[:60])
limit_memory({megabytes})
try:
    {make}.fit(X, y)
    print("fitted")
except MemoryError:
    print("refused")
except ValueError as error:
    if "memory" not in str(error):
        raise
    print("refused")
"""


def memory_limits(cases: list[tuple[str, int, int]]) -> Tally:
    """Fit with little memory (``ulimit -v``): it fits, or says that the memory is not enough."""
    tally = Tally("limits on memory")
    for name, n, megabytes in cases:
        code = _MEMORY.format(make=MADE[name], n=n, megabytes=megabytes)
        command = [sys.executable, "-W", "ignore", "-c", code]
        what = f"{name}, {n} rows, {megabytes} MB"
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_LIMIT
            )
        except subprocess.TimeoutExpired:
            tally.broke(f"{what}: no end within {_LIMIT} s")
            continue
        if done.returncode:
            tally.broke(f"{what}: exit {done.returncode}: {done.stderr.strip()[-160:]}")
        else:
            tally.held("fitted" if "fitted" in done.stdout else "refused: not enough memory")
    return tally
