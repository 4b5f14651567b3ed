"""What the fits of a table are going to take, from small ones that are timed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from .._memory import allowance
from .._typing import Array, Index
from ..tabular import TableEncoder, Target
from .calibration import FITS
from .methods import Method, method_named

_SIZES = (250, 500, 1000, 2000, 4000, 8000)
_PART = 0.05  # of the forecast that a probe may take, about
_AT_LEAST = 1.0  # seconds that each may take in any case
_PROGRAM = 4e8  # bytes of the program itself, with its libraries
_COPIES = 6  # of the matrix that exist at once


@dataclass(frozen=True)
class Cost:
    """A forecast of time and memory.

    Parameters
    ----------
    seconds : float
        All fits together; right within a factor of two or three.
    memory : float
        Bytes at most, about.
    each : dict of str to float
        Seconds of one fit of each method.
    """

    seconds: float
    memory: float
    each: dict[str, float]


def forecast_cost(
    frame: Any,
    classes: Target,
    names: Collection[str],
    *,
    n_fits: float,
    part: float = 1.0,
    balanced: bool = False,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    seed: int = 0,
) -> Cost:
    """Forecast what fitting some methods is going to take.

    Small parts of the table are fitted, and the times extrapolated by the known growth.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    classes : Target
        Its classes, by `check_target`.
    names : collection of str
        The methods, keys of `methods`.
    n_fits : float
        How often each is fitted.
    part : float, default=1.0
        The part of the rows that it is fitted to.
    balanced : bool, default=False
        Whether all classes are to count alike.
    drop : collection of str, default=()
        Columns that are not wanted.
    keep : collection of str, default=()
        Columns that are wanted although they look like an id.
    seed : int, default=0
        Picks the rows.

    Returns
    -------
    cost : Cost
        Seconds and bytes.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernelwise.evaluation import forecast_cost
    >>> from kernelwise.tabular import check_target
    >>> frame = pd.DataFrame({"size": np.arange(600.0) ** 2, "kind": ["a", "b", "b"] * 200})
    >>> cost = forecast_cost(frame, check_target(frame, "kind"), ["svc"], n_fits=5)
    >>> cost.seconds < 60
    True
    """
    from sklearn.preprocessing import StandardScaler

    rows = frame.iloc[classes.rows].drop(columns=classes.name)
    n = max(2, round(part * len(rows)))
    order = _mixed(classes, min(len(rows), _SIZES[-1]), seed)
    begin = perf_counter()
    some = TableEncoder(drop=tuple(drop), keep=tuple(keep)).fit_transform(rows.iloc[order])
    encoding = (perf_counter() - begin) * n / len(order)
    X, y = StandardScaler().fit_transform(some), classes.y[order]
    chosen = [method_named(name) for name in names]
    each = {method.name: _seconds(method, X, y, n, n_fits, seed) for method in chosen}
    for method in chosen:
        each[method.name] *= FITS if balanced and method.shifts(classes.y) else 1
    memory = _memory(rows, n, X.shape[1], chosen)
    return Cost(n_fits * (encoding + sum(each.values())), memory, each)


def _mixed(classes: Target, size: int, seed: int) -> Index:
    """Return rows in an order in which each beginning has two rows of each class at least."""
    order = np.random.default_rng(seed).permutation(len(classes.y))
    first = [order[classes.y[order] == label][:2] for label in classes.classes]
    front = np.concatenate(first)
    return np.concatenate([front, order[~np.isin(order, front)]])[:size]


def _seconds(method: Method, X: Array, y: Any, n: int, n_fits: float, seed: int) -> float:
    """Return the seconds of a fit to n rows."""
    begin = partial(method.make, seed)
    seconds = _probed(begin, X, y, round(min(n, method.settles)), n_fits, method.growth)
    if method.last is not None and n > method.settles:
        seconds += method.n_last * _probed(method.last, X, y, n, n_fits, 2.0)
    return seconds


def _probed(
    make: Callable[[], Any], X: Array, y: Any, n: int, n_fits: float, growth: float
) -> float:
    """Return the seconds of a fit to n rows, from fits to fewer."""
    sizes = [size for size in _SIZES if size <= min(len(X), n / 2)] or [min(len(X), n)]
    _timed(make(), X[: sizes[0]], y[: sizes[0]])  # compiles
    probes: list[tuple[int, float]] = []
    for size in sizes:
        probes.append((size, _timed(make(), X[:size], y[:size])))
        seconds = extrapolate(probes, n, growth)
        next_one = 4 * probes[-1][1]
        if next_one > max(_AT_LEAST, _PART * n_fits * seconds):
            break
    return seconds


def extrapolate(probes: Sequence[tuple[int, float]], n: int, growth: float) -> float:
    """Return the seconds at n rows, from those of some sizes: a constant and a power."""
    size, seconds = probes[-1]
    if len(probes) == 1:
        return seconds * max(1.0, n / size) ** growth
    smaller, less = probes[-2]
    slope = max(seconds - less, 0.0) / (size**growth - smaller**growth)
    return seconds + slope * max(n**growth - size**growth, 0.0)


def _timed(model: Any, X: Array, y: Any) -> float:
    begin = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y)
        except ValueError:  # what it refuses is told of by the evaluation
            return 0.0
    return perf_counter() - begin


def _memory(rows: Any, n: int, d: int, chosen: Sequence[Method]) -> float:
    """Return the bytes at most: program, table, copies of the matrix, and the kernel."""
    table = 3.0 * float(rows.memory_usage(deep=True).sum())
    kernel = max(
        (min(allowance(None), 8.0 * n * n) for each in chosen if each.growth >= 2), default=0
    )
    return _PROGRAM + table + _COPIES * 8.0 * n * d + kernel
