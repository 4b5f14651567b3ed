"""The columns that a model reads, as the fields of a form, and how their values become numbers.

A field is a column of the user's table. It has the values of the training table in short: range,
quantiles, levels and gaps. An input is a column of the estimator, made of one field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from ..._typing import Array
from ...svm.relevance.columns.encoding import CategoryCodes, ColumnEncoding
from ...svm.relevance.fitting import ClassModel
from ...svm.relevance.number_model import NumberModel
from ...values.reading import DATE, TEXT, Reading
from ..tabular.encoder import TableEncoder, column_weights
from ..tabular.profile import LevelProfile, NumberProfile, column_profile
from .arrays import Arrays

_QUANTILES = 15  # values of a number along which predictions are followed, by equal shares
_EVEN = 9  # the same by equal steps, which fill the tails
_MAX_LEVELS = 12  # levels along which predictions are followed, the most frequent ones
_MIN_MISSING = 0.005  # share of gaps from which they are followed, too
DATE_PARTS = ("year", "month", "day of week", "hour", "days")
_EQUAL = 1 - 1e-9  # share of an importance, times the number of columns, from which it is selected


@dataclass(frozen=True)
class Fields:
    """The fields of a form, the inputs of the estimator, and facts of the training table."""

    fields: list[dict[str, Any]]
    inputs: list[dict[str, Any]]
    n_rows: int  # of the training table
    n_columns: int  # of it that were read, with those that the estimator dropped
    has_gaps: bool  # whether the shares of gaps in training are known


def fields_of(
    model: Any, encoder: TableEncoder | None, final: Any, members: Sequence[Any], arrays: Arrays
) -> Fields:
    """Return the fields of a model: those of its encoder, or of the estimator alone."""
    encoding: ColumnEncoding = final.columns_
    shares = {each.column: each.share for each in column_weights(model)}
    made = _Makers(encoding, shares, arrays)
    if encoder is not None:
        return made.of_table(encoder)
    return made.of_estimator(final, members)


@dataclass(frozen=True)
class _Makers:
    """What fields are made of."""

    encoding: ColumnEncoding
    shares: dict[str, float]  # the importance of each column
    arrays: Arrays

    # --- A pipeline that reads tables -----------------------------------------------------

    def of_table(self, encoder: TableEncoder) -> Fields:
        """Return the columns of the table that the estimator reads."""
        parts = _parts_of_outputs(encoder)
        kept = [parts[name] for name in self.encoding.names]
        names = [name for name in encoder.kinds_ if any(name == own for own, _ in kept)]
        fields = []
        for name in names:
            own = column_profile(encoder.profile_, name)
            field = self._common(name, encoder.kinds_[name], len(self.shares), own.missing)
            if isinstance(own, NumberProfile):
                unit, first = encoder.units_.get(name, 1.0), encoder.first_days_.get(name, 0.0)
                decimal, format = encoder.decimals_.get(name, "."), encoder.formats_.get(name, "")
                field |= _of_numbers(own) | {"decimal": decimal, "unit": unit}
                field |= {"format": format, "firstDay": first, "timed": name in encoder.timed_}
            else:
                j = next(j for j, (source, _) in enumerate(kept) if source == name)
                field |= self._words(j, own, encoder.pairs_.get(name))
            fields.append(field)
        place = {name: k for k, name in enumerate(names)}
        inputs = self._inputs([(place[name], part) for name, part in kept])
        n_rows = encoder.profile_["n_rows"]
        return Fields(fields, inputs, n_rows, len(encoder.kinds_), has_gaps=True)

    # --- An estimator alone ---------------------------------------------------------------

    def of_estimator(self, final: Any, members: Sequence[Any]) -> Fields:
        """Return the columns that an estimator reads."""
        n_rows, n_columns = final.shape_fit_
        fields = []
        for j, name in enumerate(self.encoding.names):
            reading, codes = self._reading(j), self._codes(j)
            kind = {DATE: "date", TEXT: "text"}.get(reading.kind, "number")
            field = self._common(name, kind if codes is None else "category", n_columns, 0.0)
            if codes is not None:
                rows = _training_values(self.encoding, self._first(j), members).astype(int)
                counts = np.bincount(rows, minlength=1 + len(codes.levels))[1:]
                levels = np.array(codes.levels, dtype=object)
                field |= self._words(j, LevelProfile(0.0, levels, counts[: len(levels)]), None)
            elif kind == "text":
                field |= self._words(j, LevelProfile(0.0, (), np.zeros(0, np.intp)), None)
            else:
                last = self._first(j) + reading.n_parts - 1  # of a date: days since the first
                own = _training_values(self.encoding, last, members) + reading.first
                through = np.searchsorted(np.sort(own), np.unique(own), side="right") / len(own)
                field |= _of_numbers(NumberProfile(0.0, np.unique(own), through))
                field |= {"decimal": reading.decimal, "unit": 1.0, "format": reading.format}
                field |= {"firstDay": reading.first, "timed": reading.timed}
            fields.append(field)
        inputs = self._inputs([(j, "value") for j in range(len(fields))])
        return Fields(fields, inputs, n_rows, n_columns, has_gaps=False)

    # --- Both -----------------------------------------------------------------------------

    def _reading(self, j: int) -> Reading:
        return self.encoding.readings[j] if self.encoding.readings else Reading()

    def _first(self, j: int) -> int:
        """Return the first column that a column of the estimator becomes."""
        return int(np.flatnonzero(self.encoding.layout.source == j)[0])

    def _codes(self, j: int) -> CategoryCodes | None:
        own = {each.column: each for each in self.encoding.categories}
        return own.get(self._first(j))

    def _common(self, name: str, kind: str, n_columns: int, missing: float) -> dict[str, Any]:
        share = self.shares.get(name, 0.0)
        selected = not self.shares or share * n_columns > _EQUAL
        own = {"name": name, "kind": kind, "share": share, "selected": bool(selected)}
        return own | {"missing": missing}

    def _words(self, j: int, own: LevelProfile, pair: Any) -> dict[str, Any]:
        """Return a field of levels, or of text, of which no training row is told."""
        text = self._reading(j).text
        if text is not None:
            weights = self.arrays.add(text.weights)
            directions = self.arrays.add(text.directions, "f4")
            known = {"pieces": text.pieces, "weights": weights, "directions": directions}
            return {"text": known, "start": None, "grid": [None], "weights": [1.0]}
        codes = self._codes(j)
        kind = "category" if pair is None else "boolean"
        levels = [] if codes is None else list(codes.levels)
        return {"kind": kind} | _of_words(own, levels, pair)

    def _inputs(self, sources: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
        """Return what each column that is read is made of, with medians and codes."""
        codes = {each.column: each for each in self.encoding.categories}
        inputs = []
        for k, median in enumerate(self.encoding.medians):
            j = int(self.encoding.layout.source[k])
            (field, part), reading = sources[j], self._reading(j)
            place = k - self._first(j)
            if reading.kind == DATE:
                part = [name for name in DATE_PARTS if name != "hour" or reading.timed][place]
            own = codes.get(k)
            code = own and {"levels": list(own.levels), "missing": own.knows_missing}
            known = {"median": None if own else float(median), "codes": code}
            inputs.append({"field": field, "part": part, "place": place, **known})
        return inputs


def _parts_of_outputs(encoder: TableEncoder) -> dict[str, tuple[str, str]]:
    """Return the column and the part of it that each output of the encoder is."""
    found: dict[str, tuple[str, str]] = {}
    for output, source in zip(encoder.outputs_, encoder.sources_, strict=True):
        kind, rest = encoder.kinds_[source], output[len(source) :]
        part = {"date": rest.removeprefix(": "), "boolean": "flag"}.get(kind, "value")
        found.setdefault(output, (source, part))
    return found


# --- Training values ------------------------------------------------------------------------------


def _training_values(encoding: ColumnEncoding, k: int, members: Sequence[Any]) -> Array:
    """Return values as the training rows have them, by what a member keeps of a column.

    For a number these are its knots, as often as their scores have it; for a category the codes of
    the rows that kernels compare with.
    """
    for member in members:
        at = np.flatnonzero(member.encoded == k)
        if not len(at):
            continue
        place = int(at[0])
        if member.columns.is_category[place]:
            return _codes(member, place)
        numbers = np.flatnonzero(~member.columns.is_category)
        knots = member.columns.scores.knots.part(np.searchsorted(numbers, [place]))
        middles = (knots.scores[1:] + knots.scores[:-1]) / 2
        ends = np.concatenate([[0.0], ndtr(middles), [1.0]])
        return np.repeat(knots.values, np.maximum(1, np.round(1000 * np.diff(ends)).astype(int)))
    raise ValueError(f"no member reads the column {k}")


def _codes(member: ClassModel | NumberModel, place: int) -> Array:
    """Return the codes of a category in the rows of a kernel, or each once where there is none."""
    found = [rows.Z[:, place] for rows in _kernel_rows(member)]
    levels: Array = np.arange(float(len(member.columns.bins.levels_of(place))))
    return max(found, key=len) if found else levels


def _kernel_rows(member: ClassModel | NumberModel) -> list[Any]:
    """Return the sets of training rows that a member keeps."""
    out, todo = [], []
    for part in member.parts:
        todo.append(part[1] if isinstance(part, tuple) else part.model)
    while todo:
        model = todo.pop()
        todo += list(getattr(model, "models", ()))
        out += [cell.rows for _, cells in getattr(model, "trees", ()) for cell in cells]
        out += [getattr(model, name, None) for name in ("near", "rows")]
    return [rows for rows in out if rows is not None and len(rows)]


# --- What a field holds ---------------------------------------------------------------------------


def _of_numbers(own: NumberProfile) -> dict[str, Any]:
    """Return range, start and grid of a number or a date."""
    points, through = own.points, np.asarray(own.at_most, dtype=np.float64)
    if not len(points):
        points, through = np.zeros(1), np.ones(1)
    shares = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    places = np.minimum(np.searchsorted(through, shares - 1e-9), len(points) - 1)
    weights: dict[float, float] = {}
    for place in places:
        value = float(points[place])
        weights[value] = weights.get(value, 0.0) + (1 - own.missing) / _QUANTILES
    whole = bool((points == np.round(points)).all())
    even = np.linspace(points[0], points[-1], _EVEN)
    for value in (np.unique(np.round(even)) if whole else even).tolist():
        weights.setdefault(value, 0.0)
    grid: list[Any] = sorted(weights)
    known = [weights[value] for value in grid]
    if own.missing >= _MIN_MISSING:
        grid, known = [*grid, None], [*known, own.missing]
    middle = points[min(int(np.searchsorted(through, 0.5)), len(points) - 1)]
    return {
        "range": [float(points[0]), float(points[-1])],
        "whole": whole,
        "start": float(middle),
        "grid": grid,
        "weights": known,
    }


def _of_words(own: LevelProfile, levels: list[Any], pair: Any) -> dict[str, Any]:
    """Return levels, start and grid of a category, or of a column of two words."""
    seen = [each.item() if hasattr(each, "item") else each for each in own.levels]
    counts = own.counts.tolist() if len(own.counts) else []
    choices = levels if pair is None else [word for word in pair if word != ""]
    number = dict(zip(seen, counts, strict=True))
    frequent = sorted(choices, key=lambda level: -number.get(level, 0))[:_MAX_LEVELS]
    total = max(1, sum(number.get(level, 0) for level in frequent))
    weights = [(1 - own.missing) * number.get(level, 0) / total for level in frequent]
    grid: list[Any] = list(frequent)
    if own.missing >= _MIN_MISSING:
        grid, weights = [*grid, None], [*weights, own.missing]
    return {
        "choices": choices,
        "pair": None if pair is None else list(pair),
        "seen": None if seen == choices else seen,
        "counts": counts,
        "start": None if own.missing > 0.5 or not frequent else frequent[0],
        "grid": grid,
        "weights": weights,
    }
