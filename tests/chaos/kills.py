"""kill -9 at random moments: of a save, of commands, and of a large fit that keeps its trees."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from kernelwise import SVC, RelevanceSVC
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


_LARGE = """
import sys
import numpy as np
from tests.chaos.kills import large_fit
np.save(sys.argv[2], large_fit(sys.argv[1]))
"""


def large_fit(checkpoint: str | None) -> Any:
    """Fit a table by cells, with a folder for the finished trees; return decisions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 6))
    y = (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(int)
    model = RelevanceSVC(large="cells", cell_size=500, n_trees=4, checkpoint=checkpoint)
    return model.fit(X, y).decision_function(X[:500])


def killed_large_fits(folder: Path, n: int, seed: int) -> Tally:
    """Kill a fit that keeps its trees; the fit that goes on gives the model of one fit."""
    tally, rng = Tally("kill -9 during large fits"), np.random.default_rng(seed)
    out, trees = folder / "decisions.npy", folder / "trees"
    command = [sys.executable, "-W", "ignore", "-c", _LARGE, str(trees), str(out)]
    expected = large_fit(None)
    for trial in range(n):
        for _ in range(int(rng.integers(1, 3))):
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            _wait_for(trees, int(rng.integers(4)), process)
            time.sleep(rng.random())
            process.kill()
            process.wait()
        n_trees = len(list(trees.glob("*"))) if trees.exists() else 0
        out.unlink(missing_ok=True)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT)
        if done.returncode or not np.array_equal(np.load(out), expected):
            tally.broke(f"trial {trial}: {done.stderr.strip()[-160:] or 'another model'}")
        else:
            tally.held(f"went on from {n_trees} trees to the same model")
        for path in trees.iterdir():
            path.unlink()
    return tally


def _wait_for(trees: Path, n_trees: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a fit has stored so many trees."""
    while process.poll() is None:
        if trees.exists() and len(list(trees.iterdir())) >= n_trees:
            return
        time.sleep(0.02)


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
