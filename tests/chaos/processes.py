"""Whole processes: kill -9 while a model is saved, forks during fits, and limits on memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from kernelwise import SVC
from kernelwise.io import ModelFileError, load, save

from .tally import Tally

_LIMIT = 120  # seconds after which a process counts as one that hangs


def killed_saves(folder: Path, n: int, seed: int) -> Tally:
    """Kill children that save a model again and again; the file is always a whole model."""
    tally, rng = Tally("kill -9 while saving"), np.random.default_rng(seed)
    X, y = load_iris(return_X_y=True)
    model, path = SVC().fit(X, y), folder / "killed.kw"
    expected = model.decision_function(X)
    save(model, path)
    for trial in range(n):
        child = os.fork()
        if child == 0:
            while True:
                save(model, path)
        time.sleep(0.005 + 0.05 * rng.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        try:
            whole = np.array_equal(load(path).decision_function(X), expected)
        except ModelFileError as error:
            tally.broke(f"trial {trial}: {error}")
            continue
        (tally.held if whole else tally.broke)("a whole model" if whole else f"trial {trial}")
    return tally


def killed_commands(folder: Path, n: int, seed: int) -> Tally:
    """Kill ``kernelwise fit --out`` at random moments; there is no file, or a whole model."""
    tally, rng = Tally("kill -9 during fit --out"), np.random.default_rng(seed)
    X, y = load_iris(return_X_y=True)
    table, out = folder / "killed.csv", folder / "command.kw"
    rows = [f"{a},{b},{c},{d},k{k}" for (a, b, c, d), k in zip(X, y, strict=True)]
    table.write_text("\n".join(["a,b,c,d,kind", *rows]), encoding="utf-8")
    command = [sys.executable, "-m", "kernelwise", "fit", str(table), "--target", "kind"]
    command += ["--out", str(out), "--quiet"]
    begin = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, timeout=_LIMIT)
    seconds = time.monotonic() - begin
    for trial in range(n):
        out.unlink(missing_ok=True)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds * (0.3 + 0.8 * rng.random()))
        process.kill()
        process.wait()
        if not out.exists():
            tally.held("no file")
            continue
        try:
            load(out)
        except ModelFileError as error:
            tally.broke(f"trial {trial}: {error}")
        else:
            tally.held("a whole model")
    return tally


_FORKS = """
import os, signal, sys, threading
from sklearn.datasets import load_digits
from kernelwise import SVC
X, y = (part[:400] for part in load_digits(return_X_y=True))
stop = threading.Event()
def fit():
    while not stop.is_set():
        SVC(C=10.0).fit(X, y)
thread = threading.Thread(target=fit)
thread.start()
hung = 0
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        SVC().fit(X[:100], y[:100])
        os._exit(0)
    hung += os.waitpid(child, 0)[1] != 0
stop.set()
thread.join()
print(hung)
"""


def forks(n: int) -> Tally:
    """Fork n children while another thread fits; each of them fits as well."""
    tally = Tally("forks during fits")
    command = [sys.executable, "-W", "ignore", "-c", _FORKS, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60 * n)
    hung = int(done.stdout) if done.returncode == 0 else n
    for _ in range(n - hung):
        tally.held("the child fitted")
    for _ in range(hung):
        tally.broke(f"a child hung or failed: {done.stderr[-200:]}")
    return tally


_MEMORY = """
import resource, sys
import numpy as np
from kernelwise import {name}
X = np.random.default_rng(0).normal(size=({n}, 20))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
X[:300] @ X[:300].T  # BLAS ends the process where it cannot allocate its own buffers
{name}().fit(X[:60], y[:60])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {megabytes} * 2**20,) * 2)
try:
    {name}().fit(X, y)
    print("fitted")
except MemoryError:
    print("MemoryError")
except ValueError as error:
    print("ValueError")
"""


def memory_limits(cases: list[tuple[str, int, int]]) -> Tally:
    """Fit with little memory (``ulimit -v``): it fits, or says that the memory is not enough."""
    tally = Tally("limits on memory")
    for name, n, megabytes in cases:
        code = _MEMORY.format(name=name, n=n, megabytes=megabytes)
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
