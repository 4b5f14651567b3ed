"""How the outputs of a model change with single columns: direction, shape and spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._parameters import Options, checked_arguments
from ..._typing import Array, Index
from ._arguments import SEED, TABLE, count
from .row_pool import OUTPUTS, ColumnValues, ModelReader, RowPool

_FLAT = 0.1  # range of a mean curve, over the spread of the outputs, below which it is flat
_MIN_SPREAD = 0.2  # least spread of probabilities: a change by two points is always flat
_APART = 2.0  # ratio of what rows do on their own to what they do in common that hides the latter
_TURN = 0.15  # change against the direction, over the range of the curve, that counts as a turn
_MANY = 0.25  # share of rows that go the other way from which a direction holds on average only
_ENDS = (0.02, 0.98)  # quantiles of a number between which its values are shown
_QUANTILES = (0.1, 0.9)  # quantiles over the rows that bound the band around a mean curve


FLAT = "hardly any change"  # direction of a column that does not matter


@dataclass(frozen=True)
class ColumnEffect:
    """The outputs of a model over the values of one column.

    Parameters
    ----------
    name : str
        The column.
    labels : tuple of str
        The values as text.
    grid : ndarray of shape (n_values,) or None
        The values as ascending numbers, days since 1970 for dates; None for words.
    curves : ndarray of shape (n_rows, n_values, n_outputs)
        The outputs of each row with the column set to each value, all other columns as they are.
    missing : ndarray of shape (n_rows, n_outputs) or None
        The outputs with the number missing; None where no row lacks it.
    scale : ndarray of shape (n_outputs,)
        The standard deviation of the outputs over the rows as they are, at least 0.2 for
        probabilities: a mean curve that changes by less than a tenth of it is called flat.
    is_date : bool, default=False
        Whether the grid has dates.
    """

    name: str
    labels: tuple[str, ...]
    grid: Array | None
    curves: Array
    missing: Array | None
    scale: Array
    is_date: bool = False

    @property
    def mean(self) -> Array:
        """The partial dependence, of shape (n_values, n_outputs): the mean over the rows."""
        return self.curves.mean(axis=0)

    @property
    def band(self) -> Array:
        """Where the middle 80 % of the rows are, of shape (2, n_values, n_outputs).

        The curves are moved to the same mean first: the band shows how much the effect differs
        between rows, not how much the rows differ.
        """
        level = self.curves.mean(axis=1, keepdims=True)
        moved = self.curves - level + level.mean(axis=0)
        ends = self.curves.min(axis=(0, 1)), self.curves.max(axis=(0, 1))  # such as 0 and 1
        return np.clip(np.quantile(moved, _QUANTILES, axis=0), *ends)

    @property
    def range(self) -> Array:
        """The largest minus the smallest mean, of shape (n_outputs,)."""
        return np.ptp(self.mean, axis=0)

    def direction(self, output: int = -1) -> str:
        """Return how the mean output changes along the values, in words.

        Parameters
        ----------
        output : int, default=-1
            The output; the last is that of the second of two classes, or a single target.

        Returns
        -------
        direction : str
            Such as "rises" or "rises, then falls"; for words the values with the largest and the
            smallest mean; "depends on other columns" where rows change and their mean does not.
        """
        mean, curves = self.mean[:, output], self.curves[:, :, output]
        least = _FLAT * self.scale[output]
        centred = curves - curves.mean(axis=1, keepdims=True)
        common = centred.mean(axis=0)
        apart = float(np.sqrt(np.mean((centred - common) ** 2)))
        if apart > max(least, _APART * float(np.sqrt(np.mean(common**2)))):
            return "depends on other columns"
        if np.ptp(mean) <= least:
            return FLAT
        if self.grid is None:
            high, low = self.labels[int(np.argmax(mean))], self.labels[int(np.argmin(mean))]
            return f"highest for {high}, lowest for {low}"
        turns = _turning_points(mean)
        words = ["rises" if b > a else "falls" for a, b in pairwise(turns)]
        if len(words) > 2:
            return "goes up and down"
        against = float(np.mean((curves[:, -1] - curves[:, 0]) * (mean[-1] - mean[0]) < 0))
        return ", then ".join(words) + " on average" * (len(words) == 1 and against > _MANY)


def _turning_points(curve: Array) -> list[float]:
    """Return the first value, the values at which the curve turns, and the last extreme.

    Changes against the direction of less than a share of the range do not count.
    """
    least, way = _TURN * np.ptp(curve), 0.0
    points, extreme = [float(curve[0])], float(curve[0])
    for value in curve.tolist():
        if way == 0:
            if abs(value - extreme) >= least:
                way, extreme = np.sign(value - extreme), value
        elif (value - extreme) * way > 0:
            extreme = value
        elif (extreme - value) * way >= least:
            points.append(extreme)
            way, extreme = -way, value
    return [*points, extreme]


@dataclass(frozen=True)
class ColumnEffects:
    """The effects of several columns.

    Parameters
    ----------
    effects : tuple of ColumnEffect
        One entry per column, that of the largest effect first.
    classes : ndarray of shape (n_classes,) or None
        The classes; None for a regressor.
    output : {"decision", "probability", "prediction"}
        What the curves show; predictions are in the units of the target.
    n_rows : int
        Number of rows over which they are averaged.
    positive : object, default=None
        The one of two classes to speak of; None is the second.
    """

    effects: tuple[ColumnEffect, ...]
    classes: Any
    output: str
    n_rows: int
    positive: Any = None

    def __iter__(self) -> Any:
        return iter(self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    @property
    def outputs(self) -> list[int]:
        """The outputs to show: one for two classes, else all."""
        n_outputs = self.effects[0].curves.shape[2] if self.effects else 0
        if self.classes is None or len(self.classes) > 2 or not n_outputs:
            return list(range(n_outputs))
        return [0 if n_outputs == 2 and self.positive == self.classes[0] else n_outputs - 1]

    def without_flat(self) -> ColumnEffects:
        """Return the effects of the columns that change some shown output.

        Returns
        -------
        effects : ColumnEffects
            All but those whose direction is "hardly any change" for every output.
        """
        kept = [e for e in self.effects if any(e.direction(k) != FLAT for k in self.outputs)]
        return replace(self, effects=tuple(kept))

    def leading_output(self, effect: ColumnEffect) -> int:
        """Return the shown output that changes most with a column.

        Parameters
        ----------
        effect : ColumnEffect
            One of the effects.

        Returns
        -------
        output : int
            Its number.
        """
        return max(self.outputs, key=lambda output: float(effect.range[output]))

    def class_of(self, output: int) -> str:
        """Return the class that an output speaks for.

        Parameters
        ----------
        output : int
            The number of the output.

        Returns
        -------
        name : str
            The class; "" for the only target of a regressor.
        """
        several = bool(self.effects) and self.effects[0].curves.shape[2] > 1
        if self.classes is None:
            return f"target {output}" if several else ""
        return str(self.classes[output] if several else self.classes[-1])

    def name_of(self, output: int) -> str:
        """Return what an output is, in words.

        Parameters
        ----------
        output : int
            The number of the output.

        Returns
        -------
        name : str
            Such as "probability of ill", or "prediction".
        """
        what = "decision value" if self.output == "decision" else self.output
        own = self.class_of(output)
        return f"{what} of {own}" if own else what

    def table(self) -> dict[str, Any]:
        """Return one row per column, for the class that changes most, for ``pandas.DataFrame``.

        Returns
        -------
        table : dict of ndarray
            "column", "class", "direction", "lowest" and "highest" mean output.
        """
        leading = [self.leading_output(effect) for effect in self.effects]
        rows = list(zip(self.effects, leading, strict=True))
        words = {
            "column": [effect.name for effect, _ in rows],
            "class": [self.class_of(output) for _, output in rows],
            "direction": [effect.direction(output) for effect, output in rows],
        }
        return {name: np.array(own, dtype=object) for name, own in words.items()} | {
            "lowest": np.array([effect.mean[:, output].min() for effect, output in rows]),
            "highest": np.array([effect.mean[:, output].max() for effect, output in rows]),
        }


@checked_arguments(
    X=TABLE,
    columns=["array-like", None],
    max_columns=count(1),
    n_rows=count(1),
    n_values=count(2),
    output=[Options(set(OUTPUTS))],
    random_state=SEED,
)
def column_effects(
    model: Any,
    X: Any,
    *,
    columns: Sequence[str] | None = None,
    max_columns: int = 6,
    n_rows: int = 100,
    n_values: int = 20,
    output: str = "auto",
    positive: Any = None,
    random_state: Any = 0,
) -> ColumnEffects:
    """Measure how the outputs of a model change with its leading columns.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor, or a pipeline that ends with one.
    X : data frame or array-like of shape (n, n_columns)
        Rows such as those that the model was fitted to.
    columns : sequence of str, default=None
        The columns; None is those that change the outputs most.
    max_columns : int, default=6
        Most columns, where they are not given.
    n_rows : int, default=100
        Most rows over which outputs are averaged, picked at random.
    n_values : int, default=20
        Most values of a column: quantiles of numbers between 2 % and 98 %, or the most frequent
        words.
    output : {"auto", "decision", "probability", "prediction"}, default="auto"
        What is measured; "auto" is the prediction of a regressor, and the probability of a
        classifier where it gives one.
    positive : object, default=None
        The one of two classes to speak of; None is the second. Decision values always speak of the
        second.
    random_state : int, RandomState instance or None, default=0
        Picks rows.

    Returns
    -------
    effects : ColumnEffects
        Partial dependence with one curve per row, and its direction in words.

    Notes
    -----
    Every value comes from a row, and a column of the table is changed as a whole, whatever an
    encoder makes of it. Rows may become unlike any real one where columns are correlated.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.inspection import column_effects
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = RelevanceSVC().fit(X, X[:, 1] - X[:, 2] ** 2 > -0.5)
    >>> [(each.name, each.direction()) for each in column_effects(model, X)][:2]
    [('x1', 'rises'), ('x2', 'rises, then falls')]
    """
    reader, random = ModelReader(model, output), check_random_state(random_state)
    pool, places = RowPool(reader, X), np.arange(np.shape(X)[0])
    averaged = np.sort(random.permutation(places)[:n_rows])
    if columns is None:
        chosen = pool.leading(averaged, max_columns, random).tolist()
    else:
        chosen = _numbers_of(columns, pool.names)
    least = _MIN_SPREAD if reader.output == "probability" else 0.0
    scale = np.maximum(least, pool.outputs(averaged).std(axis=0))
    effects = [_effect(pool, column, places, averaged, n_values, scale) for column in chosen]
    if columns is None:
        effects.sort(key=lambda each: -float(each.range.max()))
    return ColumnEffects(tuple(effects), reader.classes, reader.output, len(averaged), positive)


def _numbers_of(columns: Sequence[str], names: Sequence[str]) -> list[int]:
    if len(columns) > len(names):
        raise ValueError(f"columns has {len(columns)} names, but the table {len(names)} columns.")
    unknown = [name for name in columns if name not in names]
    if unknown:
        raise ValueError(f"columns has {unknown[0]!r}, but the table has {', '.join(names[:20])}.")
    return [names.index(name) for name in columns]


def _effect(
    pool: RowPool, column: int, places: Index, averaged: Index, n_values: int, scale: Array
) -> ColumnEffect:
    """Measure one column: every value is taken from a row that has it."""
    values = pool.values(column)
    donors, grid, gap = _donors(values, places, n_values)
    shown = donors if gap is None else np.append(donors, gap)
    rows = np.repeat(averaged, len(shown))
    curves = pool.outputs(rows, [column], np.tile(shown, len(averaged)))
    curves = curves.reshape(len(averaged), len(shown), -1)
    return ColumnEffect(
        values.name,
        tuple(values.text(row) for row in donors.tolist()),
        grid,
        curves[:, : len(donors)],
        None if gap is None else curves[:, -1],
        scale,
        values.is_date,
    )


def _donors(
    values: ColumnValues, places: Index, n_values: int
) -> tuple[Index, Array | None, int | None]:
    """Return a row for each value to show, the numbers themselves, and a row without a number."""
    if values.numbers is None:
        found = np.unique(values.words[places], return_index=True, return_counts=True)
        _, first, counts = found
        kept = np.sort(np.argsort(-counts, kind="stable")[:n_values])
        return places[first[kept]], None, None
    known = places[np.isfinite(values.numbers[places])]
    gaps = np.setdiff1d(places, known)
    if not len(known):
        return gaps[:1], np.full(1, np.nan), None
    known = known[np.argsort(values.numbers[known], kind="stable")]
    ordered = values.numbers[known]
    distinct = np.unique(ordered)
    if len(distinct) > n_values:
        shown = np.linspace(*_ENDS, n_values) * (len(known) - 1)
        distinct = np.unique(ordered[np.round(shown).astype(int)])
    gap = int(gaps[0]) if len(gaps) else None
    return known[np.searchsorted(ordered, distinct)], distinct, gap
