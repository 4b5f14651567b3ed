"""Check the column of the classes, and read the labels from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, Index
from .column_values import as_numbers, as_text, date_format, holds_numbers
from .errors import TableError, quoted, require_columns

MAX_CLASSES = 100
_MAX_NUMBERS = 20  # different numbers that may be labels; more are measurements
_SKEWED_RATIO = 3.0  # rows of the largest class over those of the smallest


@dataclass(frozen=True)
class Target:
    """The classes of the rows of a table.

    Parameters
    ----------
    name : str
        Name of the column.
    y : ndarray of shape (n_labelled,)
        The classes of the rows that have one: whole numbers, or text.
    rows : ndarray of shape (n_labelled,)
        Positions of those rows in the table.
    classes : tuple
        The classes, sorted.
    counts : tuple of int
        Number of rows of each class.
    positive : int or str or None
        The positive one of two classes; None with more than two classes.
    notes : tuple of str
        Remarks for the reader, such as the number of rows that were left out.
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
        """Number of rows of the smallest class."""
        return min(self.counts)

    @property
    def skewed(self) -> bool:
        """Whether the classes differ so much in size that accuracy alone says little."""
        return max(self.counts) >= _SKEWED_RATIO * self.smallest

    def rows_of(self, frame: Any) -> Any:
        """Return the labelled rows of the table, without the column of the classes.

        Parameters
        ----------
        frame : pandas.DataFrame
            The table.

        Returns
        -------
        rows : pandas.DataFrame
            One row per entry of ``y``.
        """
        require_columns(frame, [self.name], "target")
        return frame.iloc[self.rows].drop(columns=self.name)

    def unlabelled_rows(self, frame: Any) -> Index:
        """Return the positions of the rows of the table that have no class.

        Parameters
        ----------
        frame : pandas.DataFrame
            The table.

        Returns
        -------
        rows : ndarray
            The positions, ascending.
        """
        return np.setdiff1d(np.arange(len(frame)), self.rows)


def check_target(frame: Any, target: str, *, positive: Any = None) -> Target:
    """Return the classes of the rows; raise where a column cannot be the target.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        The column of the classes.
    positive : int or str, default=None
        The positive one of two classes; None is the rarer one.

    Returns
    -------
    classes : Target
        The classes; rows without a class are left out.

    Raises
    ------
    TableError
        If there is no such column, or if it does not hold classes: measurements, dates, a single
        value, too many values, or classes with a single row.

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
    n_left = len(series) - len(rows)
    left = f"{n_left} row{'s' * (n_left > 1)} without a class {'are' if n_left > 1 else 'is'}"
    notes = [f"{left} left out"] * bool(n_left) + _alike(dict(zip(classes, counts, strict=True)))
    return Target(
        target,
        y,
        rows,
        tuple(classes.tolist()),
        tuple(counts.tolist()),
        _positive(classes, counts, positive),
        tuple(notes),
    )


def known_labels(frame: Any, target: str, classes: Any) -> tuple[Any, Index]:
    """Return the labels of rows among the classes of a model, and the positions of these rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        The column of the classes.
    classes : ndarray of shape (n_classes,)
        The classes that the model knows: whole numbers, or text.

    Returns
    -------
    y : ndarray of shape (n_labelled,)
        The labels; rows without one are left out.
    rows : ndarray of shape (n_labelled,)
        Positions of those rows in the table.

    Raises
    ------
    TableError
        If there is no label, or one that the model does not know.
    """
    require_columns(frame, [target], "target")
    labels = as_text(frame[target])
    rows = np.flatnonzero(labels != "")
    if not len(rows):
        raise TableError(f"the target {target!r} has no values.")
    if classes.dtype.kind in "iu":
        numbers = as_numbers(frame[target])[rows]
        labels = np.array([f"{number:.15g}" for number in numbers], dtype=object)
    else:
        labels = labels[rows]
    known = {str(label): label for label in classes.tolist()}
    unknown = sorted(set(labels) - set(known))
    if unknown:
        raise TableError(
            f"the target {target!r} has labels that the model does not know: {quoted(unknown)}; "
            f"its classes are {quoted(known)}. Correct the labels or remove these rows."
        )
    return np.array([known[label] for label in labels], dtype=classes.dtype), rows


def _labels(series: Any, target: str) -> Any:
    """Return the labels as text, "" where there is none; raise for measurements and dates."""
    labels = as_text(series)
    if holds_numbers(series):
        numbers = as_numbers(series)
        numbers = numbers[~np.isnan(numbers)]
        n_values = len(np.unique(numbers))
        fractions = bool(np.any(numbers != np.round(numbers)))
        if n_values > _MAX_NUMBERS and (fractions or n_values > 0.1 * len(numbers)):
            raise TableError(
                f"the target {target!r} is a number with {n_values} different values, but this "
                "library predicts classes; turn it into classes first, such as low, middle and "
                "high."
            )
    elif len(set(labels)) > _MAX_NUMBERS and date_format(series) is not None:
        raise TableError(f"the target {target!r} is a date; choose a column of classes.")
    return labels


def _alike(counts: dict[Any, int]) -> list[str]:
    """Return a note for each set of labels that differ only by case or spaces."""
    spellings: dict[str, list[str]] = {}
    for label, count in counts.items():
        key = "".join(str(label).split()).casefold()
        spellings.setdefault(key, []).append(f"{str(label)!r} ({count} rows)")
    return [
        f"the labels {' and '.join(same)} differ only by case or spaces; if they are one class, "
        "spell them alike"
        for same in spellings.values()
        if len(same) > 1
    ]


def _are_whole(numbers: Array) -> bool:
    """Return whether all are whole numbers; NaN is not one."""
    return bool(np.all((numbers == np.round(numbers)) & (np.abs(numbers) < 2**53)))


def _check_classes(target: str, classes: Any, counts: Any, n_rows: int) -> None:
    if len(classes) == 1:
        raise TableError(
            f"the target {target!r} has only one class, {classes[0]!s}; there is nothing to learn."
        )
    if n_rows < 4:
        raise TableError(
            f"the target {target!r} has {len(classes)} classes in {n_rows} rows; at least two rows "
            "of each class are needed to learn from them and to check the result."
        )
    if len(classes) > MAX_CLASSES or len(classes) > n_rows / 2:
        raise TableError(
            f"the target {target!r} has {len(classes)} classes in {n_rows} rows; choose another "
            f"column, or merge classes until there are at most {MAX_CLASSES}, of several rows each."
        )
    rare = classes[counts < 2].tolist()
    alike = _alike(dict(zip(classes.tolist(), counts.tolist(), strict=True)))
    if rare and alike:
        raise TableError(
            f"the target {target!r} has classes of a single row: {quoted(rare)}; {alike[0]}."
        )
    if rare:
        raise TableError(
            f"the target {target!r} has classes of a single row: {quoted(rare)}; correct the label "
            "if it is misspelt, merge it with another class, or remove the row."
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
    raise TableError(f"positive={wanted!r} is not one of the classes {quoted(classes.tolist())}.")
