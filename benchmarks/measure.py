"""Contenders timed in turn: each goes first equally often, so background load affects all alike."""

import gc
import random
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Effort:
    """How much to measure.

    A case is measured for `budget` seconds or `most` rounds, whichever ends first, but for at least
    `least` rounds, or `least_slow` if a round takes more than `slow` seconds.
    """

    quick: bool = False
    budget: float = 5.0
    least: int = 6
    least_slow: int = 3
    slow: float = 4.0
    most: int = 24
    repeats: int = 3  # splits or draws of noise per accuracy

    def enough(self, rounds: int, seconds: float) -> bool:
        least = self.least_slow if seconds > self.slow * max(rounds, 1) else self.least
        return rounds >= least and (seconds >= self.budget or rounds >= self.most)


FULL = Effort()
QUICK = Effort(quick=True, budget=0.0, least=2, least_slow=2, repeats=1)


@dataclass(frozen=True)
class Contender:
    """A competitor that is timed: ``run(prepare())``, of which only `run` counts."""

    run: Callable[..., Any]
    prepare: Callable[[], Any] | None = None

    def once(self, cpu_clock: Callable[[], float]) -> tuple[float, float, Any]:
        """Return wall time, CPU time and the value."""
        arguments = () if self.prepare is None else (self.prepare(),)
        wall, cpu = time.perf_counter(), cpu_clock()
        value = self.run(*arguments)
        return time.perf_counter() - wall, cpu_clock() - cpu, value


def compare(
    contenders: dict[str, Contender],
    effort: Effort,
    cpu_clock: Callable[[], float] = time.process_time,
) -> tuple[dict[str, dict], dict[str, Any]]:
    """Time contenders in turn, and return times and last values by name.

    A first round, with imports and compilation, is not timed. Ratios refer to the first contender.
    """
    walls: dict[str, list[float]] = {name: [] for name in contenders}
    cpus: dict[str, list[float]] = {name: [] for name in contenders}
    values = {name: contender.once(cpu_clock)[2] for name, contender in contenders.items()}
    rounds, begin, turns = 0, time.perf_counter(), Turns()
    while not effort.enough(rounds, time.perf_counter() - begin):
        for name, (wall, cpu, value) in take_turns(contenders, turns, cpu_clock).items():
            walls[name].append(wall)
            cpus[name].append(cpu)
            values[name] = value
        rounds += 1
    return with_ratios({name: timing(walls[name], cpus[name]) for name in contenders}), values


class Turns:
    """Orders in which contenders run: a random one, then its rotations, then another random one.

    A contender inherits caches and clock speed from the one before it, and the first of a round
    runs after a garbage collection. So no two are always neighbours, and each goes first equally
    often.
    """

    def __init__(self) -> None:
        self._random = random.Random(0)
        self._next: list[list[str]] = []

    def of(self, names: Iterable[str]) -> list[str]:
        """Return the order of the next round; other names start a new series."""
        names = sorted(names)
        if not self._next or sorted(self._next[0]) != names:
            order = self._random.sample(names, len(names))
            self._next = [order[k:] + order[:k] for k in range(len(order))]
        return self._next.pop()


def take_turns(
    contenders: dict[str, Contender],
    turns: Turns,
    cpu_clock: Callable[[], float] = time.process_time,
) -> dict[str, tuple[float, float, Any]]:
    """Run every contender once; return wall time, CPU time and value of each."""
    gc.collect()
    gc.disable()
    try:
        found = {name: contenders[name].once(cpu_clock) for name in turns.of(contenders)}
    finally:
        gc.enable()
    return {name: found[name] for name in contenders}


def timing(wall: list[float], cpu: list[float]) -> dict:
    """Return raw times in seconds, their medians and the inter-quartile range."""
    wall, cpu = [rounded(t) for t in wall], [rounded(t) for t in cpu]
    low, _, high = statistics.quantiles(wall, n=4, method="inclusive") if wall[1:] else wall * 3
    return {
        "median": rounded(statistics.median(wall)),
        "iqr": rounded(high - low),
        "cpu_median": rounded(statistics.median(cpu)),
        "threads": round(sum(cpu) / sum(wall), 3),  # busy threads, on average
        "wall": wall,
        "cpu": cpu,
    }


def with_ratios(times: dict[str, dict]) -> dict[str, dict]:
    """Add to each timing the ratio of its median to that of the first."""
    reference = next(iter(times.values()))["median"]
    return {name: t | {"ratio": rounded(t["median"] / reference)} for name, t in times.items()}


def rounded(number: float) -> float:
    """Return the number with five significant digits."""
    return float(f"{number:.5g}")
