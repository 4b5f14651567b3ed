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
        sizes = (100, 200, 400) if quick else (1000, 2000, 5000, 10_000, 20_000, 40_000, 100_000)
        grown = [{"n": n, "p": 20, "C": C} for C in (1, 10, 100) for n in sizes]
        wide = [{"n": 400 if quick else 20_000, "p": 50, "C": 10}]
        tables = [(50_000, 20, 1), (60_000, 50, 10), (100_000, 20, 1), (100_000, 20, 10)]
        large = [
            {"n": n // 50 if quick else n, "p": p, "C": C, "process": "own"} for n, p, C in tables
        ]
        return grown + wide + large

    def measure(self, case: Task, effort: Effort) -> Row:
        n, p, C = case["n"], case["p"], case["C"]
        if "process" in case:
            return {"times": _in_own_processes(n, p, C, effort.least_slow)}
        X, y = classification(n, p)
        names = {"kernelwise", "SVC"} if n <= _MOST_FOR_SVC else {"kernelwise"}
        contenders = {
            name: Contender(lambda cls=cls: cls(C=C).fit(X, y))
            for name, cls in classifiers().items()
            if name in names
        }
        return {"times": compare(contenders, effort)[0]}

    def section(self, results: Results) -> str:
        rows = [row for row in results.rows if "process" not in row]
        narrow = [row for row in rows if row["p"] == 20]
        parts = [_of_cost(C, [row for row in narrow if row["C"] == C]) for C in _costs(narrow)]
        parts += [_rows_table([row]) for row in rows if row["p"] != 20]
        parts += [_large(row) for row in results.rows if "process" in row]
        return "\n\n".join(parts)


def _costs(rows: list[Row]) -> list[float]:
    return sorted({row["C"] for row in rows})


def _of_cost(C: float, rows: list[Row]) -> str:
    grows = ""
    if len(rows) > 1:
        grows = (
            f" The time grows like {_exponent(rows, 'kernelwise')}, and that of `SVC` like "
            f"{_exponent(rows, 'SVC')}."
        )
    return f"p = 20, C = {C:g}.{grows}\n\n{_rows_table(rows)}"


def _rows_table(rows: list[Row]) -> str:
    cells = []
    for row in rows:
        ours, svc = row["times"]["kernelwise"], row["times"].get("SVC")
        peer = ["", ""] if svc is None else [seconds(svc["median"]), factor(svc["ratio"])]
        name = f"{row['n']:,}" if row["p"] == 20 else f"{row['n']:,} x {row['p']}, C = {row['C']}"
        cells.append([name, spread(ours), seconds(ours["cpu_median"]), *peer])
    return table(["n", "kernelwise", "CPU", "`SVC`", "ratio"], cells)


def _in_own_processes(n: int, p: int, C: float, repeats: int) -> dict:
    """Fit in new processes, to learn their peak memory."""
    command = [sys.executable, "-m", "benchmarks.speed.large", *map(str, (n, p, C))]
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
        f"{row['n']:,} rows of {row['p']} columns, C = {row['C']}, in a process of its own, where "
        f"the whole kernel would take {gigabytes(4 * row['n'] ** 2)}: {seconds(times['median'])} "
        f"({seconds(times['cpu_median'])} of CPU), {status} with KKT violation "
        f"{times['violation']:.1e}. The peak memory of the process was "
        f"{gigabytes(times['peak_bytes'])}, of which {gigabytes(times['bytes_before'])} were "
        "Python, libraries and data before the fit."
    )
