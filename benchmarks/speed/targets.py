"""Targets of the speed suites."""

from collections.abc import Callable

from benchmarks.engine import Row

from ..targets import Reading, Target


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


TARGETS = (
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
