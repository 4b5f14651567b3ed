"""Targets of the speed suites."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from benchmarks.engine import Row

from ..targets import Grouped, Reading, Target
from .relevance import CLASSES


def _name(row: Row) -> str:
    return ", ".join(f"{key} = {row[key]:,}" for key in ("n", "p", "C") if key in row)


def _fit(peer: str, costs: tuple[int, ...], columns: tuple[int, ...] = (20, 100)) -> Callable:
    def read(row: Row) -> Reading | None:
        times = row["times"].get(peer)
        asked = 1000 <= row["n"] <= 5000 and row["C"] in costs and row["p"] in columns
        if times is None or not asked:
            return None
        return Reading(_name(row), times["ratio"], times["excess"])

    return read


def _predict(row: Row) -> Reading | None:
    return Reading(_name(row), row["times"]["SVC"]["ratio"]) if row["n"] >= 1000 else None


def _of_classes(row: Row) -> Reading | None:
    times = row["times"]["SVC"]
    return Reading(_name(row), times["ratio"], times["excess"])


def _first_fit(name: str) -> Callable:
    def read(row: Row) -> Reading | None:
        times = row["times"]
        if name not in times:
            return None
        return Reading("first fit", times[name]["cpu_median"] - times["SVC"]["cpu_median"])

    return read


def _grown(p: int, C: float) -> Callable:
    def read(row: Row) -> Reading | None:
        if "process" in row or (row["n"], row["p"], row["C"]) != (20_000, p, C):
            return None
        return Reading(_name(row), row["times"]["SVC"]["ratio"])

    return read


def _large(key: str, unit: float = 1.0) -> Callable:
    def read(row: Row) -> Reading | None:
        if "process" not in row or row["n"] != 50_000:
            return None
        return Reading(_name(row), row["times"]["kernelwise"][key] / unit)

    return read


def _shape(n: int, p: int, key: str) -> Callable:
    def read(row: Row) -> Reading | None:
        if (row["target"], row["n"], row["p"]) != (CLASSES, n, p):
            return None
        return Reading(f"{n:,} x {p:,}", row[key] / (1e6 if key == "bytes" else 1.0))

    return read


def _cliffs(rows: Sequence[Row]) -> list[Reading]:
    """Return the ratio of the times on both sides of each switch, the larger one above."""
    found = []
    for one, other in pairwise(sorted(rows, key=lambda row: (row["target"], row["p"], row["n"]))):
        same = one["target"] == other["target"] and one["p"] == other["p"]
        if same and other["n"] <= 1.1 * one["n"]:
            times = sorted((one["fit_seconds"], other["fit_seconds"]))
            name = f"{one['target']}, {one['n']:,} and {other['n']:,} rows"
            found.append(Reading(name, times[1] / times[0]))
    return found


TARGETS = (
    *(
        Target(
            f"`RelevanceSVC`, {n:,} x {p:,}: CPU time of a fit", "speed-relevance", goal,
            _shape(n, p, "fit_seconds"), " s", at_least=False,
        )
        for n, p, goal in ((20_000, 20, 15), (500_000, 20, 60), (200, 20_000, 6))
    ),
    Target(
        "`RelevanceSVC`, 200 x 20,000: pickle", "speed-relevance", 5, _shape(200, 20_000, "bytes"),
        " MB", at_least=False,
    ),
    Grouped(
        "time on both sides of a switch of size", "speed-relevance", 2, _cliffs, at_least=False,
    ),
    Target("fit, p = 20, C 1 and 10, against `SVC`", "speed-fit", 4, _fit("SVC", (1, 10), (20,))),
    Target("fit, p = 100, C 1 and 10, against `SVC`", "speed-fit", 9, _fit("SVC", (1, 10), (100,))),
    Target("fit, C = 100, against `SVC`", "speed-fit", 3.5, _fit("SVC", (100,))),
    Target("fit, C 1 and 10, against intelex", "speed-fit", 4.5, _fit("intelex", (1, 10))),
    Target("predict, against `SVC`", "speed-predict", 5, _predict),
    Target("fit, digits, 45 machines, against `SVC`", "speed-multiclass", 4, _of_classes),
    Target(
        "first fit in a new process, `SVC`: CPU time beyond scikit-learn's",
        "speed-startup", 0.1, _first_fit("kernelwise.SVC"), " s", at_least=False,
    ),
    Target(
        "first fit in a new process, `RelevanceSVC`: CPU time beyond scikit-learn's `SVC`",
        "speed-startup", 0.15, _first_fit("RelevanceSVC"), " s", at_least=False,
    ),
    Target("20,000 x 20, C = 1, against `SVC`", "speed-growth", 10, _grown(20, 1)),
    Target("20,000 x 20, C = 10, against `SVC`", "speed-growth", 8, _grown(20, 10)),
    Target("20,000 x 20, C = 100, against `SVC`", "speed-growth", 6, _grown(20, 100)),
    Target("20,000 x 50, C = 10, against `SVC`", "speed-growth", 5, _grown(50, 10)),
    Target(
        "50,000 x 20: peak memory of the process",
        "speed-growth", 1.0, _large("peak_bytes", 1e9), " GB", at_least=False,
    ),
    Target(
        "50,000 x 20: CPU time of the fit",
        "speed-growth", 5.0, _large("cpu_median"), " s", at_least=False,
    ),
)  # fmt: skip
