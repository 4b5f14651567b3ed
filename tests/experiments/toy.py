"""Small experiments for the tests of the runner, importable from other processes."""

import os
import time
from typing import ClassVar

import numpy as np

from kernelwise.experiments import (
    Check,
    Claim,
    Column,
    Drawing,
    Experiment,
    Summary,
    Table,
    against,
    compared,
)


class Toy(Experiment):
    """Draws a number a task; what happens besides is told by environment variables."""

    name = "toy-table1"
    title = "Toy, Table 1"
    paper = "N. N., Toy, 1999"
    description = "Numbers | with `code`."
    reproduces = ("Table 1: means",)
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

    def summarise(self, rows):
        columns = [Column("set"), *compared("value", 1)]
        values = {d: [r["value"] for r in rows if r["dataset"] == d] for d in ("a", "b")}
        table = Table("Means", columns, [[d, *against(0.5, values[d])] for d in values], "A note.")
        checks = [Check("rows", len(rows), ">=", 24), Check("other", None, "<", 1)]
        claims = [Claim("b is larger", "0.5", {"A": "0.1", "B": "0.6"}, {"A": False, "B": True})]
        return Summary([table], checks, [f"There are {len(rows)} rows."], claims)

    def figures(self, rows):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3, 2))
        figure.add_subplot().plot([row["value"] for row in rows])
        return [Drawing("line", "The values.", figure)]
