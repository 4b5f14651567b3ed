"""Tables with words, booleans and dates as ONNX nodes: their codes, and `TableEncoder`.

A graph cannot read what people write, so that its inputs are plainer than the columns of a table:
numbers and dates are float64 (dates as days since 1970), words are strings without surrounding
blanks, and a missing word is an empty string.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...values.words import MISSING
from ..tabular import TableEncoder
from ._onnx_graph import Graph, Tensor

NO_TEXT = "text, which a graph cannot read; leave them out of the table, and fit again."
NUMBERS, WORDS, BOOLEANS = "numbers", "words", "booleans"
_EPOCH = 719468.0  # days from 1 March of the year 0 to 1 January 1970
_MILLISECOND = 1e-3  # seconds: more than the rounding of a time given in days


@dataclass(frozen=True)
class TensorColumn:
    """A column of the table: its (n, 1) tensor in the graph, and its kind."""

    value: Tensor
    kind: str


@dataclass(frozen=True)
class TensorTable:
    """The columns of a table some of whose columns are not numbers."""

    columns: tuple[TensorColumn, ...]

    def numbers(self, graph: Graph, places: Sequence[int], labels: Sequence[str]) -> Tensor:
        """Join columns of numbers; refuse words, by the labels of their columns."""
        words = [labels[j] for j in places if self.columns[j].kind == WORDS]
        if words:
            raise ValueError(
                f"the model reads numbers in the columns {words}, and the example has words there; "
                "give an example in which they are numbers."
            )
        return graph.joined([graph.as_double(self.columns[j].value) for j in places])


Rows = Tensor | TensorTable  # a matrix of numbers, or a table


def numbers_of(graph: Graph, X: Rows, places: Any, labels: Sequence[str]) -> Tensor:
    """Add the columns of numbers at some places, as one matrix."""
    if isinstance(X, TensorTable):
        return X.numbers(graph, list(places), labels)
    return X.columns(np.asarray(places))


def column_of(graph: Graph, X: Rows, j: int) -> TensorColumn:
    """Add one column."""
    if isinstance(X, TensorTable):
        return X.columns[j]
    return TensorColumn(X.columns(np.array([j])), NUMBERS)


def kind_of(variable: Any) -> str:
    """Return the kind of an input of an operator, by its type."""
    from skl2onnx.common.data_types import BooleanTensorType, StringTensorType

    if isinstance(variable.type, StringTensorType):
        return WORDS
    return BOOLEANS if isinstance(variable.type, BooleanTensorType) else NUMBERS


# --- Codes of words ---------------------------------------------------------------------------


def codes(
    graph: Graph,
    column: TensorColumn,
    code_of: Mapping[Any, float],
    *,
    other: float,
    gap: float,
    gaps: Sequence[str] = ("",),
) -> Tensor:
    """Add the code of each value of a column, as float64.

    ``code_of``: the code of each known value. ``other``: the code of any other value. ``gap``: the
    code of missing values. ``gaps``: the words that stand for a missing value, unless they are
    known values. Returns ``name``: the name of the codes, of shape (n, 1).
    """
    if column.kind == WORDS:
        known = dict.fromkeys(gaps, gap) | {str(key): code for key, code in code_of.items()}
        found = graph.node(
            "LabelEncoder", column.value, op_domain="ai.onnx.ml", op_version=2,
            keys_strings=list(known), values_int64s=[int(code) for code in known.values()],
            default_int64=int(other),
        )  # fmt: skip
        return graph.as_double(found)
    if column.kind == BOOLEANS:
        yes, no = (code_of.get(text, other) for text in ("True", "False"))
        return graph.node("Where", column.value, yes, no)
    return _codes_of_numbers(graph, column.value, code_of, other, gap)


def _codes_of_numbers(
    graph: Graph, x: Tensor, code_of: Mapping[Any, float], other: float, gap: float
) -> Tensor:
    """Add the codes of numbers, where known values are numbers or words that are numbers."""
    known = {float(key): code for key, code in code_of.items() if key != "" and _is_number(key)}
    code, x = graph.constant(other), graph.as_double(x)
    if known:
        equal = graph.as_double(graph.node("Equal", x, np.array(list(known))[None]))
        shifts = np.array(list(known.values()), dtype=np.float64)[:, None] - other
        code = equal @ shifts + code
    return graph.node("Where", graph.node("IsNaN", x), gap, code)


def _is_number(key: Any) -> bool:
    try:
        return bool(np.isfinite(float(key)))
    except ValueError:
        return False


def numbered(graph: Graph, codes: Tensor, tables: Sequence[Any]) -> Tensor:
    """Add what codes (n, d) of int64 are in the table of their column."""
    starts = np.cumsum([0, *map(len, tables)])[:-1]
    place = codes if len(tables) == 1 else graph.node("Add", codes, starts[None])
    return graph.node("Gather", np.concatenate(tables), place, axis=0)


# --- TableEncoder -----------------------------------------------------------------------------


def encoder_inputs(encoder: TableEncoder, example: Any, numbers: Any) -> list[tuple[str, Any]]:
    """Return the inputs of a graph that starts with an encoder: one per used column."""
    from pandas.api import types
    from skl2onnx.common.data_types import BooleanTensorType, StringTensorType

    if example is not None:
        encoder.require_columns(example)
    inputs = []
    for name, kind in encoder.kinds_.items():
        make = numbers if kind in ("number", "date") else StringTensorType
        if example is not None and kind not in ("number", "date"):
            own = example[name]
            if types.is_bool_dtype(own):
                make = BooleanTensorType
            elif types.is_numeric_dtype(own):
                make = numbers
        inputs.append((name, make([None, 1])))
    return inputs


def encoder_output_types(encoder: TableEncoder, kinds: Sequence[str]) -> list[Any]:
    """Return the types of the encoder's outputs: one matrix, or one column of each kind."""
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

    if encoder.one_hot:
        return [DoubleTensorType([None, len(encoder.outputs_)])]
    given = dict(zip(encoder.kinds_, kinds, strict=True))
    words = [
        encoder.kinds_[name] in ("category", "text") and given[name] == WORDS
        for name in encoder.sources_
    ]
    return [StringTensorType([None, 1]) if each else DoubleTensorType([None, 1]) for each in words]


def encoded_columns(
    graph: Graph, encoder: TableEncoder, columns: Sequence[TensorColumn]
) -> list[Tensor]:
    """Add the encoding of a table's columns; return the names of the outputs."""
    if texts := [name for name, kind in encoder.kinds_.items() if kind == "text"]:
        raise ValueError(f"the columns {texts} are {NO_TEXT}")
    parts: list[TensorColumn] = []
    for (name, kind), column in zip(encoder.kinds_.items(), columns, strict=True):
        if kind == "number":
            known = _finite(graph, column.value)
            if name in encoder.units_:
                known = known / encoder.units_[name]
            parts.append(TensorColumn(known, NUMBERS))
        elif kind == "boolean":
            parts.append(TensorColumn(_zero_or_one(graph, column, encoder.pairs_[name]), NUMBERS))
        elif kind == "date":
            days, first = graph.as_double(column.value), encoder.first_days_[name]
            made = date_parts(graph, days, first, timed=name in encoder.timed_)
            parts += [TensorColumn(part, NUMBERS) for part in made]
        else:
            parts.append(_words(graph, column))
    if not encoder.one_hot:
        return [part.value for part in parts]
    by_key = dict(zip(encoder.columns_.feature_names_in_, parts, strict=True))
    outputs: list[Tensor] = []
    for step, transformer, keys in encoder.columns_.transformers_:
        own = [by_key[key] for key in keys]
        if step == "categories":
            outputs += _one_hot(graph, transformer, own)
        else:
            outputs.append(_imputed(graph, transformer, [column.value for column in own]))
    return [graph.joined(outputs)]


def _finite(graph: Graph, x: Tensor) -> Tensor:
    """Add numbers, with NaN in place of infinite ones."""
    x = graph.as_double(x)
    return graph.node("Where", graph.node("IsInf", x), np.nan, x)


def _zero_or_one(graph: Graph, column: TensorColumn, pair: Sequence[str]) -> Tensor:
    """Add 0 and 1 for the two words of a pair, NaN for any other."""
    known = {word: float(k) for k, word in enumerate(pair)}
    gap = known.get("", -1.0)
    code = codes(graph, column, known, other=-1.0, gap=gap, gaps=MISSING)
    return graph.node("Where", code < 0.0, np.nan, code)


def _words(graph: Graph, column: TensorColumn) -> TensorColumn:
    """Add words, with an empty one in place of those that mean a missing value."""
    if column.kind != WORDS:
        return column
    is_gap = codes(graph, column, {}, other=0.0, gap=1.0, gaps=MISSING)
    empty = graph.constant(np.array([[""]], dtype=object))
    return TensorColumn(graph.node("Where", is_gap > 0.5, empty, column.value), WORDS)


def _imputed(graph: Graph, imputer: Any, columns: Sequence[Tensor]) -> Tensor:
    """Add columns with medians in their gaps, and the indicators of the gaps behind them."""
    joined = graph.joined(columns)
    filled = graph.filled(joined, imputer.statistics_)
    if imputer.indicator_ is None or not len(imputer.indicator_.features_):
        return filled
    marked = joined.columns(np.asarray(imputer.indicator_.features_))
    return graph.node("Concat", filled, graph.as_double(graph.node("IsNaN", marked)), axis=1)


def _one_hot(graph: Graph, encoder: Any, columns: Sequence[TensorColumn]) -> list[Tensor]:
    """Add one column per frequent word of each category, and one for the others."""
    made = []
    triples = zip(columns, encoder.categories_, encoder.infrequent_categories_, strict=True)
    for column, words, rare in triples:
        few = set() if rare is None else set(rare)
        frequent = [word for word in words if word not in few]
        code_of: dict[Any, float] = {word: float(k) for k, word in enumerate(frequent)}
        other = float(len(frequent)) if few else -1.0
        code = codes(graph, column, code_of, other=other, gap=code_of.get("", other))
        n_columns = len(frequent) + bool(few)
        equal = graph.node("Equal", code, np.arange(float(n_columns))[None])
        made.append(graph.as_double(equal))
    return made


def date_parts(graph: Graph, days: Tensor, first: float, *, timed: bool) -> list[Tensor]:
    """Add year, month, day of the week, hour if there are times, and days since the first."""
    whole = graph.node("Floor", days)
    parts = [*_year_and_month(graph, whole), (whole + 3.0) % 7.0]  # 1970 began on a Thursday
    if timed:
        parts.append(_hour(days - whole))
    return [*parts, days - first]


def _hour(share: Tensor) -> Tensor:
    """Add the hour, with minutes as its fraction, from the share of the day."""
    minutes = (share * 86400.0 + _MILLISECOND) // 60.0
    hour = minutes // 60.0
    return hour + (minutes - hour * 60.0) / 60.0


def _year_and_month(graph: Graph, days: Tensor) -> tuple[Tensor, Tensor]:
    """Add year and month of days since 1970, in years that begin in March and eras of 400 years."""
    z = days + _EPOCH
    era, day = z // 146097.0, z % 146097.0
    year = (day - day // 1460.0 + day // 36524.0 - day // 146096.0) // 365.0  # of the era
    before = year * 365.0 + year // 4.0 - year // 100.0
    place = ((day - before) * 5.0 + 2.0) // 153.0  # 0 is March
    month = place - 9.0 + graph.as_double(place < 10.0) * 12.0
    return year + era * 400.0 + graph.as_double(month < 2.5), month
