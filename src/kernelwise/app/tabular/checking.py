"""Check the columns of a new table against the training table of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Array
from ...values.words import means_missing
from .column_values import as_text, has_date_type, is_text
from .encoder import column_weights, table_encoder
from .errors import TableError, quoted
from .profile import LevelProfile, NumberProfile, as_levels, column_profile

_CLEAR = 1.0  # distance from the training range, in its widths, of values clearly outside it
_FAR = 10.0  # the same for values far outside it
_MIN_RATE = 0.05  # least chance of a gap or of a new word in one row that is taken for granted
_SURPRISE = 0.01  # chance below which gaps or new words in all rows are no coincidence
_MONTHS = 12  # a day above this cannot be a month
_MAX_EXAMPLES = 3  # values that are quoted
_LEVEL = 0.05  # p-value, over the number of columns, below which a share is larger than in training


@dataclass(frozen=True)
class ColumnCheck:
    """An unusual column of a new table, compared with the training table.

    Parameters
    ----------
    name, kind : str
        The column, and its kind in training.
    selected : bool
        Whether it has at least an equal share of the importance in the model.
    missing : float
        Share of the rows without a value.
    unreadable : float
        Share of the rows whose value is not of the kind: a word among numbers or dates.
    unseen : float
        Share of the rows with a word that the training table did not have.
    outside : float
        Share of the rows with a number or date outside the training range.
    far : float
        Share of the rows beyond that range by more than ten times its width.
    notes : tuple of str
        What a reader should know, in words; empty where nothing is unusual.
    unusable : str
        Why the column tells the model nothing about these rows; "" where it does.
    """

    name: str
    kind: str
    selected: bool
    missing: float = 0.0
    unreadable: float = 0.0
    unseen: float = 0.0
    outside: float = 0.0
    far: float = 0.0
    notes: tuple[str, ...] = ()
    unusable: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the check as plain data, for JSON.

        Returns
        -------
        check : dict
            The parameters by name.
        """
        return asdict(self) | {"notes": list(self.notes), "unusable": self.unusable or None}


def check_new_rows(model: Any, frame: Any) -> list[ColumnCheck]:
    """Compare each column of a new table with the training table of a model.

    Parameters
    ----------
    model : sklearn.pipeline.Pipeline
        A fitted pipeline that starts with a `TableEncoder`.
    frame : pandas.DataFrame
        The new table.

    Returns
    -------
    checks : list of ColumnCheck
        One entry per column that the model uses; none for a table without rows.

    Raises
    ------
    TableError
        If the table lacks columns that the model needs.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.app.evaluation import fit_table
    >>> from kernelwise.app.tabular import check_new_rows, check_target
    >>> frame = pd.DataFrame({"size": [1, 2, 8, 9] * 5, "noise": [3, 1, 2, 0, 3] * 4})
    >>> frame["kind"] = ["small", "small", "large", "large"] * 5
    >>> model = fit_table(frame, check_target(frame, "kind"))
    >>> for check in check_new_rows(model, pd.DataFrame({"size": [5, 500], "noise": [1, 2]})):
    ...     print(check.name, check.outside, check.notes)
    size 0.5 ('50 % of the rows are outside the training range of 1 to 9: 500',)
    noise 0.0 ()
    """
    encoder = table_encoder(model)
    if encoder is None:
        raise TableError("the model does not read tables; give a pipeline with a TableEncoder.")
    encoder.require_columns(frame)
    profile = encoder.profile_
    if not len(frame):
        return []
    selected = _selected_columns(model, list(encoder.kinds_))
    before = _Before(profile["n_rows"], _LEVEL / len(encoder.kinds_))
    checks = []
    for name, kind in encoder.kinds_.items():
        check = ColumnCheck(name, kind, name in selected)
        own = column_profile(profile, name)
        values = encoder.read_column(frame, name)
        if isinstance(own, LevelProfile):
            checks.append(_check_words(check, values, own, before))
        else:
            checks.append(_check_numbers(check, frame[name], values, own, before))
            if encoder.formats_.get(name, "").startswith("%d/"):
                checks[-1] = _with_order_of_dates(checks[-1], values)
    return checks


class _Before(NamedTuple):
    """The number of training rows, and the p-value of a difference from them."""

    n_rows: int
    level: float

    def is_fewer(self, count: int, n: int, before: float) -> bool:
        """Return whether fewer of the training rows were affected than now, beyond chance.

        Given ``before`` of the training rows, the count among n rows is beta-binomial.
        """
        from scipy.stats import betabinom

        chance = betabinom.sf(count - 1, n, before + 1, self.n_rows - before + 1)
        return count > 0 and bool(chance < self.level)


def _selected_columns(model: Any, names: Sequence[str]) -> set[str]:
    """Return the columns with at least an equal share; all of them where there are no weights."""
    weights = column_weights(model)
    if not weights:
        return set(names)
    return {each.column for each in weights if each.share * len(weights) > 1 - 1e-9}


def _check_words(check: ColumnCheck, words: Any, own: LevelProfile, before: _Before) -> ColumnCheck:
    n, present = len(words), words != ""
    missing = 1 - float(present.mean())
    notes = _gap_notes(missing, own.missing, n, before)
    unusable = _all_missing(missing, own.missing, n)
    unseen = 0.0
    if len(own.levels):
        is_new = present & ~np.isin(as_levels(words), own.levels)
        unseen = float(is_new.mean())
        if unseen:
            new = quoted([word for word, _ in Counter(words[is_new]).most_common()], _MAX_EXAMPLES)
            notes.append(f"{_percent(unseen)} of the rows have values not seen in training: {new}")
            rate = max(_MIN_RATE, float(np.sum(own.counts == 1)) / max(1, int(own.counts.sum())))
            if is_new.sum() == present.sum() and rate ** int(present.sum()) < _SURPRISE:
                unusable = f"no value was seen in training ({new})"
    return _with(check, notes, unusable, missing=missing, unseen=unseen)


def _check_numbers(
    check: ColumnCheck, series: Any, values: Any, own: NumberProfile, before: _Before
) -> ColumnCheck:
    n = len(values)
    is_word = _unreadable(series, values, check.kind)
    values = np.where(is_word, np.nan, values)
    known = ~np.isnan(values)
    unreadable, missing = float(is_word.mean()), float((~known & ~is_word).mean())
    notes = _gap_notes(missing, own.missing, n, before)
    unusable = _all_missing(missing, own.missing, n)
    if unreadable:
        words = quoted(
            [word for word, _ in Counter(map(str, series[is_word])).most_common()], _MAX_EXAMPLES
        )
        notes.append(f"{_percent(unreadable)} of the rows are not {check.kind}s: {words}")
        if is_word.sum() > known.sum():
            unusable = f"most of its values are not {check.kind}s ({words})"
    width = own.high - own.low
    beyond = np.where(known, np.maximum(own.low - values, values - own.high), 0.0)
    is_out, is_far = beyond > 0, beyond > _FAR * width
    outside, far = float(is_out.mean()), float(is_far.mean())
    # Two of n + 1 rows are outside the range of the others, on average: as if one had been before.
    if beyond.max() > _CLEAR * width or before.is_fewer(int(is_out.sum()), n, 1):
        bounds = f"{_shown(own.low, check.kind)} to {_shown(own.high, check.kind)}"
        those = np.unique(values[is_out])
        shown = _shown(those[0], check.kind)
        shown += f" to {_shown(those[-1], check.kind)}" if len(those) > 1 else ""
        text = f"{_percent(outside)} of the rows are outside the training range of {bounds}"
        notes.append(f"{text}: {shown}")
        if is_far.sum() > known.sum() / 2:
            unusable = f"most of its values are far outside the training range of {bounds}: {shown}"
    shares = {"missing": missing, "unreadable": unreadable, "outside": outside, "far": far}
    return _with(check, notes, unusable, **shares)


def _with(check: ColumnCheck, notes: list[str], unusable: str, **shares: float) -> ColumnCheck:
    rounded: dict[str, Any] = {name: round(share, 6) for name, share in shares.items()}
    return replace(check, notes=tuple(notes), unusable=unusable, **rounded)


def _with_order_of_dates(check: ColumnCheck, days: Array) -> ColumnCheck:
    """Add a note where all dates could as well have the month before the day."""
    dates = days[~np.isnan(days)].astype("datetime64[D]")
    of_month = (dates - dates.astype("datetime64[M]")).astype(int) + 1
    if not len(dates) or of_month.max() > _MONTHS:
        return check
    note = "dates are read with the day before the month, as in training; no day is above 12"
    return replace(check, notes=(*check.notes, note))


def _unreadable(series: Any, values: Any, kind: str) -> Any:
    """Return which rows hold something that is neither of the kind nor a gap."""
    if kind == "date" and not is_text(series) and not has_date_type(series):
        return series.notna().to_numpy()  # numbers, which pandas would take for nanoseconds
    if not is_text(series) and has_date_type(series) == (kind == "date"):
        return np.zeros(len(values), dtype=bool)
    words = as_text(series)
    is_word = np.isnan(values) & (words != "")
    return is_word & np.array([not means_missing(word) for word in words], dtype=bool)


def _gap_notes(missing: float, share: float, n: int, before: _Before) -> list[str]:
    """Return a note where more values are missing than the share in training."""
    if missing == 1:
        return [f"all values are missing ({_percent(share)} in training)"] * (share < 1)
    if before.is_fewer(round(missing * n), n, share * before.n_rows):
        return [f"{_percent(missing)} of the values are missing ({_percent(share)} in training)"]
    return []


def _all_missing(missing: float, before: float, n: int) -> str:
    surprising = max(_MIN_RATE, before) ** n < _SURPRISE
    return "all of its values are missing" if missing == 1 and surprising else ""


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def _shown(value: float, kind: str) -> str:
    if kind == "date":
        return str(np.datetime64(0, "s") + np.timedelta64(round(value * 86400), "s"))[:10]
    return f"{value:.6g}"
