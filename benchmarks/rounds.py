"""Estimators fitted and scored on the same splits, with the times of their fits."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .data import Table, standardised
from .measure import Contender, Turns, rounded, take_turns, timing, with_ratios
from .names import GRID


@dataclass(frozen=True)
class Round:
    """Training and test rows, standardised by the training rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @classmethod
    def of(cls, table: Table, train: np.ndarray, test: np.ndarray) -> "Round":
        """Return these rows of a table."""
        X = standardised(table.X, train)
        return cls(X[train], table.y[train], X[test], table.y[test])


def stratified(y: np.ndarray, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return n splits into 80 % training and 20 % test rows, by class."""
    from sklearn.model_selection import StratifiedShuffleSplit

    splits = StratifiedShuffleSplit(n, test_size=0.2, random_state=0)
    return list(splits.split(np.zeros(len(y)), y))


def judge(make: Callable[[np.ndarray, int], dict[str, Any]], rounds: Iterable[Round]) -> dict:
    """Fit and score the models of ``make(X, number)`` in each round.

    Returns times by contender, of which the first is the reference, with the accuracy of each round
    that it took part in. Before the first round all are fitted once untimed, except for the slow
    grid, which compiles nothing.
    """
    turns = Turns()
    walls: dict[str, list] = {}
    cpus: dict[str, list] = {}
    scores: dict[str, list] = {}
    with quiet():
        for number, one in enumerate(rounds):
            models = make(one.X, number)
            if number == 0:
                for name, model in make(one.X, number).items():
                    if name != GRID:
                        model.fit(one.X, one.y)
            contenders = {
                name: Contender(lambda model=model, one=one: model.fit(one.X, one.y))
                for name, model in models.items()
            }
            for name, (wall, cpu, model) in take_turns(contenders, turns).items():
                walls.setdefault(name, []).append(wall)
                cpus.setdefault(name, []).append(cpu)
                scores.setdefault(name, []).append(rounded(model.score(one.X_test, one.y_test)))
    times = with_ratios({name: timing(walls[name], cpus[name]) for name in walls})
    for name in times:
        times[name]["accuracy"] = scores[name]
    return times


@contextmanager
def quiet() -> Iterator[None]:
    """Hide expected warnings: classes smaller than a fold, and hard margins that do not exist."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
