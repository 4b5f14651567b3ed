"""kill -9 at random moments: of a save, and of commands."""

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
from kernelwise.app.io import ModelFileError, load, save

from .tally import Tally

_LIMIT = 900  # seconds after which a process counts as one that hangs


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
    command = ["fit", str(table), "--target", "kind", "--method", "svc", "--test-size", "0.3"]
    command += ["--out", str(out), "--quiet"]
    seconds = _run(command)
    for trial in range(n):
        out.unlink(missing_ok=True)
        _kill_after(command, seconds * (0.3 + 0.8 * rng.random()))
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


_COMMAND = """
import sys
from kernelwise.app.cli import main
sys.argv[0] = "kernelwise"
main()
"""


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    nothing = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    whole = [sys.executable, "-W", "ignore", "-c", _COMMAND, *command]
    return subprocess.Popen(whole, **nothing)


def _run(command: list[str]) -> float:
    """Run a command of kernelwise; return its seconds."""
    begin = time.monotonic()
    if _started(command).wait(_LIMIT):
        raise RuntimeError(f"{command} failed")
    return time.monotonic() - begin


def _kill_after(command: list[str], seconds: float) -> None:
    process = _started(command)
    time.sleep(seconds)
    process.kill()
    process.wait()
