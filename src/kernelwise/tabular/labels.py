"""The column of the classes: whether it can be one, and what to do where it cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, Index
from .column_values import as_numbers, as_text, date_format, holds_numbers
from .errors import TableError, named, require_columns

MOST_CLASSES = 100
_MANY_NUMBERS = 20  # different whole numbers from which they may be measured ones
_SKEWED = 3.0  # the largest class over the smallest


@dataclass(frozen=True)
class Target:
    """The classes of a table's rows.

    Parameters
    ----------
    name : str
        The column.
    y : ndarray of shape (n_rows,)
        The classes of the rows that have one: whole numbers, or text.
    rows : ndarray of shape (n_rows,)
        The places of those rows in the table.
    classes : tuple
        The classes, sorted.
    counts : tuple of int
        Their rows.
    positive : int or str or None
        The class that a yes is; None with more than two classes.
    notes : tuple of str
        What was done on the way.
    """

    name: str
    y: Any
    rows: Index
    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    positive: Any
    notes: tuple[str, ...]

    @property
    def smallest(self) -> int:
        """Rows of the smallest class."""
        return min(self.counts)

    @property
    def skewed(self) -> bool:
        """Whether guessing the largest class looks good: the accuracy alone says little then."""
        return max(self.counts) >= _SKEWED * self.smallest


def check_target(frame: Any, target: str, *, positive: Any = None) -> Target:
    """Return the classes of the rows, or say why a column cannot be the target.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        The column of the classes.
    positive : int or str, default=None
        The class that a yes is, of two; None is the rarer one.

    Returns
    -------
    classes : Target
        The classes; rows without one are left out.

    Raises
    ------
    TableError
        If there is no such column, or it is no class: real numbers, one value, too many values,
        classes of one row.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.tabular import check_target
    >>> frame = pd.DataFrame({"ill": ["no", "yes", "no", None, "yes", "no"]})
    >>> classes = check_target(frame, "ill")
    >>> classes.classes, classes.counts, classes.positive, classes.notes
    (('no', 'yes'), (3, 2), 'yes', ('1 row without a class is left out',))
    """
    require_columns(frame, [target], "target")
    series = frame[target]
    labels = _labels(series, target)
    rows = np.flatnonzero(labels != "")
    numbers = as_numbers(series)[rows]
    if _are_whole(numbers):
        y: Any = numbers.astype(np.int64)
    else:
        y = np.array([str(label) for label in labels[rows]])
    if not len(y):
        raise TableError(f"the target {target!r} has no values.")
    classes, counts = np.unique(y, return_counts=True)
    _check_classes(target, classes, counts, len(y))
    n_lost = len(series) - len(rows)
    lost = f"{n_lost} row{'s' * (n_lost > 1)} without a class {'are' if n_lost > 1 else 'is'}"
    return Target(
        target,
        y,
        rows,
        tuple(classes.tolist()),
        tuple(counts.tolist()),
        _positive(classes, counts, positive),
        (f"{lost} left out",) if n_lost else (),
    )


def _labels(series: Any, target: str) -> Any:
    """Return the labels as text, "" where there is none; raise for numbers that are measured."""
    labels = as_text(series)
    if holds_numbers(series):
        numbers = as_numbers(series)
        numbers = numbers[~np.isnan(numbers)]
        n_values = len(np.unique(numbers))
        fractions = bool(np.any(numbers != np.round(numbers)))
        if n_values > _MANY_NUMBERS and (fractions or n_values > 0.1 * len(numbers)):
            raise TableError(
                f"the target {target!r} is a number with {n_values} different values, and this "
                "library tells classes apart; make classes of it first, such as low, middle and "
                "high."
            )
    elif len(set(labels)) > _MANY_NUMBERS and date_format(series) is not None:
        raise TableError(f"the target {target!r} is a date; name a column of classes.")
    return labels


def _are_whole(numbers: Array) -> bool:
    """Tell whether all are whole numbers; NaN is none."""
    return bool(np.all((numbers == np.round(numbers)) & (np.abs(numbers) < 2**53)))


def _check_classes(target: str, classes: Any, counts: Any, n_rows: int) -> None:
    if len(classes) == 1:
        raise TableError(
            f"the target {target!r} has one class only, {classes[0]!s}; there is nothing to tell "
            "apart."
        )
    if len(classes) > MOST_CLASSES or len(classes) > n_rows / 2:
        raise TableError(
            f"the target {target!r} has {len(classes)} classes in {n_rows} rows; name another "
            f"column, or join classes until there are at most {MOST_CLASSES}, of several rows each."
        )
    rare = classes[counts < 2].tolist()
    if rare:
        raise TableError(
            f"the target {target!r} has classes of a single row: {named(rare)}; mend the label if "
            "it is misspelt, join it with another class, or remove the row."
        )


def _positive(classes: Any, counts: Any, wanted: Any) -> Any:
    if wanted is None:
        return classes.tolist()[int(counts.argmin())] if len(classes) == 2 else None
    for label in classes.tolist():
        if str(label) == str(wanted):
            if len(classes) > 2:
                raise TableError(
                    f"positive={wanted!r} needs two classes; there are {len(classes)}."
                )
            return label
    raise TableError(f"positive={wanted!r} is none of the classes {named(classes.tolist())}.")
