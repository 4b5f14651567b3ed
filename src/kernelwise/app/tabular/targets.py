"""Read the column of the target: classes or numbers, and which of the two it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._typing import Array, Index
from .column_values import as_numbers, as_text, date_format, holds_numbers, is_text
from .errors import TableError, quoted, require_columns

TASKS = ("auto", "classification", "regression")
MAX_CLASSES = 100
MIN_CLASS = 5  # rows below which a class is set aside
_MAX_CODES = 20  # different whole numbers that may be classes; more are measurements
_MAX_LEVELS = 10  # the same for numbers with decimals
_SKEWED_RATIO = 3.0  # rows of the largest class over those of the smallest
_MIN_ROWS = 4
_STRATUM_ROWS = 10  # least rows of a stratum of numbers
_MAX_STRATA = 10
_MAX_NAMED = 5  # classes that are named in a note


@dataclass(frozen=True)
class Target:
    """The target of the rows of a table; see `ClassTarget` and `NumberTarget`.

    Parameters
    ----------
    name : str
        Name of the column.
    y : ndarray of shape (n_known,)
        The classes or numbers of the rows that have one.
    rows : ndarray of shape (n_known,)
        Positions of those rows in the table.
    notes : tuple of str
        Remarks for the reader, such as the number of rows that were left out.
    """

    name: str
    y: Any
    rows: Index
    notes: tuple[str, ...]
    task: ClassVar[str] = ""

    @property
    def strata(self) -> Index:
        """Number of the stratum of each row; folds and samples have rows of all strata."""
        raise NotImplementedError

    def rows_of(self, frame: Any) -> Any:
        """Return the rows of the table that have a target, without its column.

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


@dataclass(frozen=True)
class ClassTarget(Target):
    """Classes as the target.

    Parameters
    ----------
    name : str
        Name of the column.
    y : ndarray of shape (n_known,)
        The classes of the rows that have one: whole numbers, or text.
    rows : ndarray of shape (n_known,)
        Positions of those rows in the table.
    notes : tuple of str
        Remarks for the reader.
    classes : tuple
        The classes, sorted.
    counts : tuple of int
        Number of rows of each class.
    positive : int or str or None, default=None
        The positive one of two classes; None with more than two classes.
    set_aside : tuple, default=()
        Classes of so few rows that these are left out.
    """

    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    positive: Any = None
    set_aside: tuple[Any, ...] = ()
    task: ClassVar[str] = "classification"

    @property
    def smallest(self) -> int:
        """Number of rows of the smallest class."""
        return min(self.counts)

    @property
    def skewed(self) -> bool:
        """Whether the classes differ so much in size that accuracy alone says little."""
        return max(self.counts) >= _SKEWED_RATIO * self.smallest

    @property
    def strata(self) -> Index:
        """Number of the class of each row."""
        return np.searchsorted(np.array(self.classes), self.y)


@dataclass(frozen=True)
class NumberTarget(Target):
    """A number as the target.

    Parameters
    ----------
    name : str
        Name of the column.
    y : ndarray of shape (n_known,)
        The numbers of the rows that have one, as float64.
    rows : ndarray of shape (n_known,)
        Positions of those rows in the table.
    notes : tuple of str
        Remarks for the reader.
    """

    task: ClassVar[str] = "regression"

    @property
    def strata(self) -> Index:
        """Number of the bin of each row, of up to ten equally large ones by rising target."""
        n = len(self.y)
        n_bins = int(np.clip(n // _STRATUM_ROWS, 1, _MAX_STRATA))
        ranks = np.empty(n, dtype=np.intp)
        ranks[np.argsort(self.y, kind="stable")] = np.arange(n)
        return ranks * n_bins // n


def check_target(
    frame: Any,
    target: str,
    *,
    task: str = "auto",
    positive: Any = None,
    min_class: int = MIN_CLASS,
) -> ClassTarget | NumberTarget:
    """Return the target of the rows; raise where a column cannot be one.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        The column of the target.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the target is classes or a number. "auto" takes words and up to 20 different whole
        numbers for classes, and other numbers for numbers; a note has the reason where numbers
        might be either.
    positive : int or str, default=None
        The positive one of two classes; None is the rarer one.
    min_class : int, default=5
        Classes of fewer rows are set aside, with a note, where at least two others remain.

    Returns
    -------
    target : ClassTarget or NumberTarget
        The target; rows without one are left out.

    Raises
    ------
    TableError
        If there is no such column, or if it cannot be predicted: dates, a single value, too many
        classes, or words for a regression.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.app.tabular import check_target
    >>> frame = pd.DataFrame({"ill": ["no", "yes", "no", None, "yes", "no"]})
    >>> classes = check_target(frame, "ill")
    >>> classes.classes, classes.counts, classes.positive, classes.notes
    (('no', 'yes'), (3, 2), 'yes', ('1 row without a class is left out',))
    >>> frame = pd.DataFrame({"price": [3.5, 1.2, 9.9, 4.0]})
    >>> check_target(frame, "price", task="regression").y.tolist()
    [3.5, 1.2, 9.9, 4.0]
    """
    if task not in TASKS:
        raise TableError(f"task={task!r} is not known; choose one of {quoted(TASKS)}.")
    require_columns(frame, [target], "target")
    series = frame[target]
    labels = as_text(series)
    if not (labels != "").any():
        raise TableError(f"the target {target!r} has no values.")
    found, reason = _task(series, labels, target) if task == "auto" else (task, "")
    if found == "regression":
        if positive is not None:
            raise TableError(
                f"positive={positive!r} is for classes, but the target {target!r} is a number; "
                "add --task classification if its numbers are classes."
            )
        return _numbers(series, target, reason)
    return _classes(series, labels, target, reason, positive, min_class)


def known_target(frame: Any, target: str, classes: Any = None) -> tuple[Any, Index]:
    """Return the target of the rows that have one as a model knows it, and their positions.

    ``target``: the column of the target. ``classes`` (n_classes,): the classes that the model
    knows, whole numbers or text; None for a number. Returns ``y`` (n_known,), the classes or
    numbers; rows without one are left out; ``rows`` (n_known,), positions of those rows in the
    table.

    Raises
    ------
    TableError
        If there is no target, or a class that the model does not know.
    """
    require_columns(frame, [target], "target")
    if classes is None:
        numbers = as_numbers(frame[target])
        rows = np.flatnonzero(~np.isnan(numbers))
        if not len(rows):
            raise TableError(f"the target {target!r} has no numbers.")
        return numbers[rows], rows
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


def _task(series: Any, labels: Any, target: str) -> tuple[str, str]:
    """Return the task that a target is for, and a sentence with the reason where it is unsure."""
    if not holds_numbers(series):
        if len(set(labels)) > _MAX_CODES and date_format(series) is not None:
            raise TableError(
                f"the target {target!r} is a date; choose a column of classes or numbers."
            )
        return "classification", ""
    values = np.unique(_known(as_numbers(series)))
    whole = _are_whole(values)
    if len(values) > (_MAX_CODES if whole else _MAX_LEVELS):
        if len(values) > (MAX_CLASSES if whole else _MAX_CODES):
            return "regression", ""
        return "regression", (
            f"{target} has {len(values)} different {'whole ' * whole}numbers and is predicted as a "
            "number; --task classification takes them for classes"
        )
    if len(values) < 3:
        return "classification", ""
    return "classification", (
        f"{target} has {len(values)} different {'whole ' * whole}numbers, which are taken for "
        "classes; --task regression predicts a number"
    )


# --- Numbers --------------------------------------------------------------------------------------


def _numbers(series: Any, target: str, reason: str) -> NumberTarget:
    numbers = as_numbers(series)
    rows = np.flatnonzero(~np.isnan(numbers))
    y = numbers[rows]
    if 2 * len(y) < (as_text(series) != "").sum():
        raise TableError(
            f"the target {target!r} is not a number in most rows, for instance in "
            f"{_example(series, numbers)!r}; choose another column, or --task classification."
        )
    if len(np.unique(y)) < 2:
        raise TableError(f"the target {target!r} has only one value, {y[0]:g}; nothing to learn.")
    if len(y) < _MIN_ROWS:
        raise TableError(
            f"the target {target!r} has {len(y)} numbers; at least {_MIN_ROWS} are needed."
        )
    return NumberTarget(target, y, rows, (*_left_out(len(series) - len(y), "number"), *_if(reason)))


def _example(series: Any, numbers: Array) -> str:
    texts = as_text(series) if is_text(series) else series.astype(str).to_numpy()
    return str(next(t for t, v in zip(texts, numbers, strict=True) if t and np.isnan(v)))


# --- Classes --------------------------------------------------------------------------------------


def _classes(
    series: Any, labels: Any, target: str, reason: str, positive: Any, min_class: int
) -> ClassTarget:
    rows = np.flatnonzero(labels != "")
    n_missing = len(series) - len(rows)
    numbers = as_numbers(series)[rows]
    if _are_whole(numbers):
        y: Any = numbers.astype(np.int64)
    else:
        y = np.array([str(label) for label in labels[rows]])
    classes, counts = np.unique(y, return_counts=True)
    _check_classes(target, classes, counts, len(y))
    notes = _left_out(n_missing, "class") + _alike(dict(zip(classes, counts, strict=True)))
    rare, aside = counts < min_class, ()
    if rare.any() and (~rare).sum() >= 2:
        aside = tuple(classes[rare].tolist())
        notes.append(_aside_note(classes[rare], counts[rare], min_class))
        kept = np.isin(y, classes[~rare])
        y, rows, classes, counts = y[kept], rows[kept], classes[~rare], counts[~rare]
    if len(classes) > MAX_CLASSES:
        raise TableError(
            f"the target {target!r} has {len(classes)} classes in {len(y)} rows; choose another "
            f"column, or merge classes until there are at most {MAX_CLASSES}, of several rows each."
        )
    return ClassTarget(
        target,
        y,
        rows,
        (*notes, *_if(reason)),
        tuple(classes.tolist()),
        tuple(counts.tolist()),
        _positive(classes, counts, positive),
        aside,
    )


def _check_classes(target: str, classes: Any, counts: Any, n_rows: int) -> None:
    if len(classes) == 1:
        raise TableError(
            f"the target {target!r} has only one class, {classes[0]!s}; there is nothing to learn."
        )
    if n_rows < _MIN_ROWS or counts.max() < 2:
        raise TableError(
            f"the target {target!r} has {len(classes)} classes in {n_rows} rows; at least two rows "
            "of each class are needed to learn from them and to check the result."
        )
    if len(classes) > n_rows / 2:
        raise TableError(
            f"the target {target!r} has {len(classes)} classes in {n_rows} rows; choose another "
            f"column, or merge classes until there are at most {MAX_CLASSES}, of several rows each."
        )


def _aside_note(classes: Any, counts: Any, min_class: int) -> str:
    named = [f"{label!s} ({n})" for label, n in zip(classes, counts, strict=True)]
    shown = ", ".join(named[:_MAX_NAMED]) + " ..." * (len(named) > _MAX_NAMED)
    which = "1 class" if len(named) == 1 else f"{len(named)} classes"
    return (
        f"{which} of fewer than {min_class} rows {'is' if len(named) == 1 else 'are'} set aside: "
        f"{shown}; --min-class 1 keeps all classes"
    )


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


def _left_out(n: int, what: str) -> list[str]:
    rows = f"{n} rows without a {what} are" if n > 1 else f"1 row without a {what} is"
    return [f"{rows} left out"] * bool(n)


def _if(text: str) -> list[str]:
    return [text] * bool(text)


def _known(numbers: Array) -> Array:
    return numbers[~np.isnan(numbers)]


def _are_whole(numbers: Array) -> bool:
    """Return whether all are whole numbers; NaN is not one."""
    return bool(np.all((numbers == np.round(numbers)) & (np.abs(numbers) < 2**53)))
