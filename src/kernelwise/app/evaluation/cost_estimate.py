"""Time and memory that fits to a table will take, estimated from small fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ..._checks import check_kind, check_number
from ..._memory import peak_memory
from ..._typing import Index
from ..tabular import Target
from .encoding import ColumnChoice
from .methods import Method, method_named

_PROBE_SIZES = (250, 500, 1000, 2000, 4000, 8000)  # rows of the small fits
_PROBE_SHARE = 0.05  # share of the estimated time that one probe may take
_PROBE_SECONDS = 1.0  # seconds that one probe may take in any case


@dataclass(frozen=True)
class Cost:
    """An estimate of time and memory.

    Parameters
    ----------
    seconds : float
        Seconds of all fits together, within a factor of two or three.
    memory : float
        Peak memory in bytes, approximately.
    each : dict of str to float
        Seconds of one fit of each method.
    """

    seconds: float
    memory: float
    each: dict[str, float]


def forecast_cost(
    frame: Any,
    target: Target,
    names: Collection[str],
    *,
    n_fits: float,
    part: float = 1.0,
    balanced: bool = False,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    category: Collection[str] = (),
    seed: int = 0,
) -> Cost:
    """Estimate the time and memory of fitting some methods to a table.

    The methods are fitted to small samples, and the times extrapolated by their known growth.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : Target
        Its target, by `check_target`.
    names : collection of str
        The methods, keys of `methods`.
    n_fits : float
        Number of fits of each method.
    part : float, default=1.0
        Share of the rows that each fit takes.
    balanced : bool, default=False
        Whether all classes count alike.
    drop : collection of str, default=()
        Columns to leave out.
    keep : collection of str, default=()
        Columns to use although they look like an id.
    category : collection of str, default=()
        Columns that are categories although they hold numbers, such as codes.
    seed : int, default=0
        Seed of the samples.

    Returns
    -------
    cost : Cost
        Seconds and bytes.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernelwise.app.evaluation import forecast_cost
    >>> from kernelwise.app.tabular import check_target
    >>> frame = pd.DataFrame({"size": np.arange(600.0) ** 2, "kind": ["a", "b", "b"] * 200})
    >>> cost = forecast_cost(frame, check_target(frame, "kind"), ["svc"], n_fits=5)
    >>> cost.seconds < 60
    True
    """
    from sklearn.pipeline import Pipeline

    check_kind(target, "target", Target)
    check_number(part, "part")
    rows = target.rows_of(frame)
    n = max(2, round(part * len(rows)))
    order = _sample_order(target, min(len(rows), _PROBE_SIZES[-1]), seed)
    chosen = [method_named(name, target.task) for name in names]
    choice = ColumnChoice.of(frame, drop, keep, category)
    begin = perf_counter()
    samples = {
        one_hot: Pipeline(choice.steps(one_hot=one_hot)).fit_transform(rows.iloc[order])
        for one_hot in {not method.reads_categories for method in chosen}
    }
    encoding = (perf_counter() - begin) * n / len(order)
    y = target.y[order]
    each = {
        method.name: _fit_seconds(
            method,
            partial(method.estimator, seed, balanced=balanced, proba=True),
            samples[not method.reads_categories],
            y,
            n,
            n_fits,
        )
        for method in chosen
    }
    width = max(sample.shape[1] for sample in samples.values())
    memory = _peak_memory(len(rows), width, chosen)
    return Cost(n_fits * (encoding + sum(each.values())), memory, each)


def _sample_order(target: Target, size: int, seed: int) -> Index:
    """Return rows in random order, but two of each class first: any prefix can be fitted."""
    strata = target.strata
    order = np.random.default_rng(seed).permutation(len(strata))
    front = np.concatenate([order[strata[order] == k][:2] for k in np.unique(strata)])
    return np.concatenate([front, order[~np.isin(order, front)]])[:size]


def _fit_seconds(
    method: Method, make: Callable[[], Any], X: Any, y: Any, n: int, n_fits: float
) -> float:
    """Return the estimated seconds of one fit to n rows, from ever larger fits to fewer rows."""
    stage = [each for each in method.stages if each.rows <= n][-1]

    most, least = min(len(X), n / 2), max(_PROBE_SIZES[0], stage.min_probe_rows)
    sizes = [size for size in _PROBE_SIZES if least <= size <= most] or [min(len(X), n, least)]
    _time_fit(make(), X[: _PROBE_SIZES[0]], y[: _PROBE_SIZES[0]])  # imports what it needs
    probes: list[tuple[int, float]] = []
    for size in sizes:
        probes.append((size, _time_fit(make(), X[:size], y[:size])))
        seconds = extrapolate(probes, n, stage.growth)
        next_probe = 4 * probes[-1][1]
        if next_probe > max(_PROBE_SECONDS, _PROBE_SHARE * n_fits * seconds):
            break
    return seconds


def extrapolate(probes: Sequence[tuple[int, float]], n: int, growth: float) -> float:
    """Return the seconds at n rows, from pairs (rows, seconds): a constant plus a power of n."""
    size, seconds = probes[-1]
    if len(probes) == 1:
        return seconds * max(1.0, n / size) ** growth
    smaller, less = probes[-2]
    slope = max(seconds - less, 0.0) / (size**growth - smaller**growth)
    return seconds + slope * max(n**growth - size**growth, 0.0)


def _time_fit(model: Any, X: Any, y: Any) -> float:
    begin = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y)
        except ValueError:  # the evaluation itself reports methods that cannot be fitted
            return 0.0
    return perf_counter() - begin


def _peak_memory(n: int, d: int, chosen: Sequence[Method]) -> float:
    """Return the peak memory in bytes: the peak so far, plus the largest fit to come.

    So far it has read the table and fitted the methods to samples.
    """
    return peak_memory() + max(method.working_bytes(n, d) for method in chosen)
