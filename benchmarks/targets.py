"""What was to be reached, and whether it was: computed from the results."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .text import digits

EQUAL_OBJECTIVE = 1e-6  # ours may be this much higher, relatively
_FIRST_FIT = "kernelwise, compiled code on disk"


@dataclass(frozen=True)
class Case:
    """One row as a target sees it."""

    name: str
    value: float
    excess: float = 0.0


@dataclass(frozen=True)
class Target:
    """A bound on a number of some rows of a suite, all of which must keep it."""

    text: str
    suite: str
    goal: float
    read: Callable  # of a row; returns a Case, or None where the target is not about the row
    unit: str = "x"
    at_least: bool = True
    form: Callable[[float], str] = digits

    @property
    def goal_text(self) -> str:
        return f"{'at least' if self.at_least else 'at most'} {self.goal:g}{self.unit}"

    def show(self, value: float) -> str:
        return f"{self.form(value)}{self.unit}"

    def cases(self, results: dict) -> list[Case]:
        rows = results["suites"].get(self.suite, {}).get("rows", [])
        return [case for case in map(self.read, rows) if case is not None]

    def misses(self, cases: Iterable[Case]) -> list[str]:
        """Name the cases that miss, and why."""
        missed = []
        for case in cases:
            good = case.value >= self.goal if self.at_least else case.value <= self.goal
            if not good:
                missed.append(f"{case.name}: {self.show(case.value)}")
            elif case.excess > EQUAL_OBJECTIVE:
                missed.append(f"{case.name}: objective higher by {case.excess:.1g}")
        return missed


@dataclass(frozen=True)
class Overall(Target):
    """A bound on one number, which ``read`` makes of all rows of a suite."""

    def cases(self, results: dict) -> list[Case]:
        rows = results["suites"].get(self.suite, {}).get("rows", [])
        value = self.read(rows) if rows else None
        return [] if value is None else [Case("overall", value)]


def _name(case: dict) -> str:
    return ", ".join(f"{key} = {case[key]:,}" for key in ("n", "p", "C") if key in case)


def _fit(peer: str, costs: tuple[int, ...], columns: tuple[int, ...] = (20, 100)) -> Callable:
    def read(row: dict) -> Case | None:
        case, times = row["case"], row["times"].get(peer)
        asked = 1000 <= case["n"] <= 5000 and case["C"] in costs and case["p"] in columns
        if times is None or not asked:
            return None
        return Case(_name(case), times["ratio"], times["excess"])

    return read


def _predict(row: dict) -> Case | None:
    if row["case"]["n"] < 1000:
        return None
    return Case(_name(row["case"]), row["times"]["SVC"]["ratio"])


def _first_fit(row: dict) -> Case | None:
    times = row["times"]
    if _FIRST_FIT not in times:
        return None
    return Case("first fit", times[_FIRST_FIT]["median"] - times["SVC"]["median"])


def _large(key: str, unit: float = 1.0) -> Callable:
    def read(row: dict) -> Case | None:
        if row["case"].get("process") != "own" or row["case"]["n"] < 50_000:
            return None
        return Case(_name(row["case"]), row["times"]["kernelwise"][key] / unit)

    return read


TARGETS = (
    Target("fit, p = 20, C 1 and 10, against `SVC`", "fit", 4, _fit("SVC", (1, 10), (20,))),
    Target("fit, p = 100, C 1 and 10, against `SVC`", "fit", 9, _fit("SVC", (1, 10), (100,))),
    Target("fit, C = 100, against `SVC`", "fit", 3.5, _fit("SVC", (100,))),
    Target("fit, C 1 and 10, against intelex", "fit", 4.5, _fit("intelex", (1, 10))),
    Target("predict, against `SVC`", "predict", 5, _predict),
    Target(
        "first fit in a new process, compiled code on disk, over `SVC`'s",
        "startup", 1.0, _first_fit, " s", at_least=False,
    ),
    Target(
        "50,000 x 20: memory of the process",
        "growth", 1.0, _large("peak_bytes", 1e9), " GB", at_least=False,
    ),
    Target(
        "50,000 x 20: CPU time of the fit",
        "growth", 5.0, _large("cpu_median"), " s", at_least=False,
    ),
)  # fmt: skip


def outcomes(results: dict, targets: Iterable[Target] = TARGETS) -> list[dict]:
    """Return for each target its goal, the worst case, the misses and the verdict."""
    found = []
    for target in targets:
        cases = target.cases(results)
        misses = target.misses(cases)
        values = [case.value for case in cases]
        worst = min(values, default=None) if target.at_least else max(values, default=None)
        found.append(
            {
                "target": target.text,
                "goal": target.goal_text,
                "cases": len(cases),
                "worst": "" if worst is None else target.show(worst),
                "misses": misses,
                "verdict": _verdict(cases, misses),
            }
        )
    return found


def _verdict(cases: list, misses: list) -> str:
    if not cases:
        return "not measured"
    return f"**not reached** in {len(misses)} of {len(cases)}" if misses else "reached"
