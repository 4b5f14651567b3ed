"""RelevanceSVC of another interpreter, such as an older version's, in a worker process."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kernelwise.experiments import ExperimentError

from ..environment import ONE_THREAD, VARIABLE
from .tables import Split

_SCRIPT = Path(__file__).with_name("today_worker.py")


def interpreter() -> str:
    """Return the other interpreter; fail with instructions if none is given."""
    value = os.environ.get(VARIABLE)
    if not value:
        raise ExperimentError(
            "these cases need an interpreter with the older kernelwise: give --today PYTHON, or "
            "leave them out by --only contender=NAME"
        )
    return value


class Worker:
    """A process that fits the RelevanceSVC of its interpreter on one split after another."""

    def __init__(self, python: str) -> None:
        environment = os.environ | ONE_THREAD
        environment.pop("PYTHONPATH", None)  # may lead to the kernelwise of this interpreter
        self._process = subprocess.Popen(
            [python, "-P", str(_SCRIPT)], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        atexit.register(self.close)

    def fit(self, split: Split, **options: Any) -> dict[str, Any]:
        """Fit on a split of numbers, and return what the worker found, with arrays."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "split.npz"
            np.savez(path, X=split.X, y=split.y, X_test=split.X_test)
            answer = self._ask({"path": str(path), **options})
            with np.load(Path(folder) / "found.npz") as found:
                return answer | {name: found[name] for name in found.files}

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            raise ExperimentError("the worker of the older kernelwise ended; see its message above")
        found: dict[str, Any] = json.loads(answer)
        if "error" in found:
            raise RuntimeError(f"the older kernelwise failed: {found['error']}")
        return found

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()


@cache
def worker() -> Worker:
    """Return the worker of this process."""
    return Worker(interpreter())
