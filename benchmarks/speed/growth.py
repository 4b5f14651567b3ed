"""Time and memory as the number of rows grows."""

import json
import math
import subprocess
import sys
from statistics import linear_regression

from ..environment import ROOT
from ..measure import Contender, Effort, compare, timing, with_ratios
from ..peers import classifiers
from ..problems import classification
from ..suite import Results, Row, Suite, Task
from ..text import digits, factor, gigabytes, seconds, spread, table

_MOST_FOR_SVC = 20_000  # rows


class Growth(Suite):
    """Fits of more and more rows; the largest table in processes of its own."""

    name = "speed-growth"
    title = "Growth with the number of rows"
    seconds = 60.0

    def cases(self, quick: bool) -> list[Task]:
        sizes = (100, 200, 400) if quick else (1000, 2000, 5000, 10_000, 20_000, 40_000)
        largest = {"n": 1000 if quick else 50_000, "p": 20, "C": 1, "process": "own"}
        return [{"n": n, "p": 20, "C": 1} for n in sizes] + [largest]

    def measure(self, case: Task, effort: Effort) -> Row:
        n, p = case["n"], case["p"]
        if "process" in case:
            return {"times": _in_own_processes(n, p, effort.least_slow)}
        X, y = classification(n, p)
        names = {"kernelwise", "SVC"} if n <= _MOST_FOR_SVC else {"kernelwise"}
        contenders = {
            name: Contender(lambda cls=cls: cls().fit(X, y))
            for name, cls in classifiers().items()
            if name in names
        }
        return {"times": compare(contenders, effort)[0]}

    def section(self, results: Results) -> str:
        rows = [row for row in results.rows if "process" not in row]
        cells = []
        for row in rows:
            ours, svc = row["times"]["kernelwise"], row["times"].get("SVC")
            peer = ["", ""] if svc is None else [seconds(svc["median"]), factor(svc["ratio"])]
            cells.append([f"{row['n']:,}", spread(ours), seconds(ours["cpu_median"]), *peer])
        return (
            f"p = 20, C = 1. The time grows like {_exponent(rows, 'kernelwise')}, and that of "
            f"`SVC` like {_exponent(rows, 'SVC')}.\n\n"
            + table(["n", "kernelwise", "CPU", "`SVC`", "ratio"], cells)
            + "".join(f"\n\n{_large(row)}" for row in results.rows if "process" in row)
        )


def _in_own_processes(n: int, p: int, repeats: int) -> dict:
    """Fit in new processes, to learn their peak memory."""
    command = [sys.executable, "-m", "benchmarks.speed.large", str(n), str(p)]
    found = []
    for _ in range(repeats):
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        found.append(json.loads(done.stdout))
    times = timing([one["wall"] for one in found], [one["cpu"] for one in found])
    times |= {
        key: max(one[key] for one in found)
        for key in ("peak_bytes", "bytes_before", "gap", "violation", "fit_status")
    }
    return with_ratios({"kernelwise": times})


def _exponent(rows: list[Row], name: str) -> str:
    """Return the slope of log time over log n."""
    found = [(row["n"], row["times"][name]["median"]) for row in rows if name in row["times"]]
    sizes, times = zip(*found, strict=True)
    slope, _ = linear_regression(list(map(math.log, sizes)), list(map(math.log, times)))
    return f"n^{digits(slope)} from {sizes[0]:,} to {sizes[-1]:,} rows"


def _large(row: Row) -> str:
    times = row["times"]["kernelwise"]
    status = "converged" if times["fit_status"] == 0 else "**did not converge**"
    return (
        f"{row['n']:,} rows of {row['p']} columns in a process of its own, where the whole "
        f"kernel would take {gigabytes(4 * row['n'] ** 2)}: {seconds(times['median'])} "
        f"({seconds(times['cpu_median'])} of CPU), {status} with KKT violation "
        f"{times['violation']:.1e}. The peak memory of the process was "
        f"{gigabytes(times['peak_bytes'])}, of which {gigabytes(times['bytes_before'])} were "
        "Python, libraries and data before the fit."
    )
