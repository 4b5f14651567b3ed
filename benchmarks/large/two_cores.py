"""Two cores against one: threads of one process, and workers of a cluster.

Wall times, unlike all other times of these pages: the machine has to be idle.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from ..environment import ROOT
from ..measure import Effort
from ..suite import Results, Row, Suite, Task
from ..targets import Grouped, Overall, Reading, Target
from ..text import digits, gigabytes, seconds, table

ROWS = 2_000_000
THREADS, WORKERS = "threads", "workers"
_QUICK = ("--rows", "4000", "--test-rows", "500", "--memory", "1GB", "--table", "spirals")


class TwoCores(Suite):
    """The table whose growth is measured, on one and on two cores."""

    name = "two-cores"
    title = "Two cores"
    seconds = 200.0

    def cases(self, quick: bool) -> list[Task]:
        kinds = (
            ((THREADS, 1),) if quick else ((THREADS, 1), (THREADS, 2), (WORKERS, 1), (WORKERS, 2))
        )
        return [{"kind": kind, "cores": cores} for kind, cores in kinds]

    def measure(self, case: Task, effort: Effort) -> Row:
        option = "--threads" if case["kind"] == THREADS else "--workers"
        arguments = [option, str(case["cores"]), *(_QUICK if effort.quick else ())]
        arguments += ["--rows", str(ROWS)] if not effort.quick else []
        command = [sys.executable, "-m", "benchmarks.large.cluster", *arguments]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        found: Row = json.loads(done.stdout.splitlines()[-1])
        return found

    def section(self, results: Results) -> str:
        cells = [
            [
                _name(row),
                seconds(row["seconds"]),
                f"{100 * row['accuracy']:.2f}",
                gigabytes(row["table_bytes"]),
                row["memory"] if row["kind"] == WORKERS else "",
                ", ".join(gigabytes(each["peak_bytes"]) for each in row["processes"]),
            ]
            for row in results.rows
        ]
        header = ["cores", "wall time of a fit", "accuracy, %", "table", "limit of a worker",
                  "peak memory"]  # fmt: skip
        return (
            "The table `classification`, from parquet files of 50,000 rows in float64: a process "
            "with one or two threads, which reads it into memory first, and a local cluster of "
            "Dask, whose workers have less memory than the table takes. The client of the "
            "cluster runs on the same two cores.\n\n"
            + table(header, cells, left=1)
            + _summary(results.rows)
        )


def _summary(rows: Sequence[Row]) -> str:
    """Return the speed-ups that are measured."""
    said = [
        f"Two {kind} are {digits(ratio)} times as fast as one."
        for kind in (THREADS, WORKERS)
        if (ratio := speed_up(rows, kind)) is not None
    ]
    return "\n\n" + " ".join(said) if said else ""


def _name(row: Row) -> str:
    unit = row["kind"][:-1] if row["cores"] == 1 else row["kind"]
    return f"{'one' if row['cores'] == 1 else 'two'} {unit}"


def _found(rows: Sequence[Row], kind: str, cores: int) -> Row | None:
    wanted = {"kind": kind, "cores": cores}
    return next((row for row in rows if wanted.items() <= row.items()), None)


def speed_up(rows: Sequence[Row], kind: str) -> float | None:
    """Return the wall time on one core divided by that on two; None where one is missing."""
    one, two = _found(rows, kind, 1), _found(rows, kind, 2)
    return None if one is None or two is None else one["seconds"] / two["seconds"]


def _memory(rows: Sequence[Row]) -> list[Reading]:
    return [
        Reading(f"{_name(row)}, worker {number + 1}", each["peak_bytes"] / row["table_bytes"])
        for row in rows
        if row["kind"] == WORKERS
        for number, each in enumerate(row["processes"])
    ]


TARGETS: tuple[Target, ...] = (
    Overall(
        "speed-up of two threads, wall time", TwoCores.name, 1.7,
        lambda rows: speed_up(rows, THREADS),
    ),
    Overall(
        "speed-up of two workers of a cluster, wall time", TwoCores.name, 1.6,
        lambda rows: speed_up(rows, WORKERS),
    ),
    Grouped(
        "peak memory of a worker relative to the table", TwoCores.name, 1.0, _memory,
        at_least=False,
    ),
)  # fmt: skip
