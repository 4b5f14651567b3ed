"""A small experiment for the tests of the engine, importable from other processes."""

import os
import time
from typing import ClassVar

import numpy as np

from benchmarks.engine import Experiment


class Toy(Experiment):
    """Draws a number per task; environment variables make it sleep or fail."""

    name = "toy-table1"
    title = "Toy, Table 1"
    repeats: ClassVar = {"full": 6, "quick": 2, "smoke": 1}
    seconds = 0.5
    seed_keys = ("dataset", "repeat")

    def tasks(self, scale):
        return [
            {"dataset": dataset, "repeat": repeat, "variant": variant}
            for dataset in ("a", "b")
            for repeat in range(scale.repeats)
            for variant in ("x", "y")
        ]

    def run(self, task, seed, data_dir):
        time.sleep(float(os.environ.get("TOY_SLEEP", "0")))
        if os.environ.get("TOY_FAIL") == task["dataset"]:
            raise ArithmeticError("no luck")
        value = np.random.default_rng(seed).normal()
        return {"value": value, "pid_seconds": os.getpid(), "draws": np.arange(2)}
