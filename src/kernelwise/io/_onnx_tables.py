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

from ..tabular import TableEncoder
from ..tabular.delimited import MISSING
from ._onnx_graph import Graph

NUMBERS, WORDS, BOOLEANS = "numbers", "words", "booleans"
_EPOCH = 719468.0  # days from 1 March of the year 0 to 1 January 1970
_MILLISECOND = 1e-3  # seconds: more than the rounding of a time given in days


@dataclass(frozen=True)
class TensorColumn:
    """A column of the table: the name of its (n, 1) tensor in the graph, and its kind."""

    name: str
    kind: str


@dataclass(frozen=True)
class TensorTable:
    """The columns of a table some of whose columns are not numbers."""

    columns: tuple[TensorColumn, ...]

    def numbers(self, graph: Graph, places: Sequence[int], labels: Sequence[str]) -> str:
        """Join columns of numbers; refuse words, by the labels of their columns."""
        words = [labels[j] for j in places if self.columns[j].kind == WORDS]
        if words:
            raise ValueError(
                f"the model reads numbers in the columns {words}, and the example has words there; "
                "give an example in which they are numbers."
            )
        names = [graph.as_double(self.columns[j].name) for j in places]
        return names[0] if len(names) == 1 else graph.node("Concat", *names, axis=1)


Rows = str | TensorTable  # the name of a matrix of numbers, or a table


def numbers_of(graph: Graph, X: Rows, places: Any, labels: Sequence[str]) -> str:
    """Add the columns of numbers at some places, as one matrix."""
    if isinstance(X, TensorTable):
        return X.numbers(graph, list(places), labels)
    return graph.node("Gather", X, np.asarray(places), axis=1)


def column_of(graph: Graph, X: Rows, j: int) -> TensorColumn:
    """Add one column."""
    if isinstance(X, TensorTable):
        return X.columns[j]
    return TensorColumn(graph.node("Gather", X, np.array([j]), axis=1), NUMBERS)


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
) -> str:
    """Add the code of each value of a column, as float64.

    Parameters
    ----------
    graph : Graph
        The graph.
    column : TensorColumn
        The column.
    code_of : mapping
        The code of each known value.
    other : float
        The code of any other value.
    gap : float
        The code of missing values.
    gaps : sequence of str, default=("",)
        The words that stand for a missing value, unless they are known values.

    Returns
    -------
    name : str
        The name of the codes, of shape (n, 1).
    """
    if column.kind == WORDS:
        known = dict.fromkeys(gaps, gap) | {str(key): code for key, code in code_of.items()}
        found = graph.node(
            "LabelEncoder", column.name, op_domain="ai.onnx.ml", op_version=2,
            keys_strings=list(known), values_int64s=[int(code) for code in known.values()],
            default_int64=int(other),
        )  # fmt: skip
        return graph.as_double(found)
    if column.kind == BOOLEANS:
        yes, no = (graph.number(code_of.get(text, other)) for text in ("True", "False"))
        return graph.node("Where", column.name, yes, no)
    return _codes_of_numbers(graph, column.name, code_of, other, gap)


def _codes_of_numbers(
    graph: Graph, x: str, code_of: Mapping[Any, float], other: float, gap: float
) -> str:
    """Add the codes of numbers, where known values are numbers or words that are numbers."""
    known = {float(key): code for key, code in code_of.items() if key != "" and _is_number(key)}
    code, x = graph.number(other), graph.as_double(x)
    if known:
        equal = graph.as_double(graph.node("Equal", x, np.array(list(known))[None]))
        shifts = np.array(list(known.values()), dtype=np.float64)[:, None] - other
        code = graph.node("Add", graph.node("MatMul", equal, shifts), code)
    return graph.node("Where", graph.node("IsNaN", x), graph.number(gap), code)


def _is_number(key: Any) -> bool:
    try:
        return bool(np.isfinite(float(key)))
    except ValueError:
        return False


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
) -> list[str]:
    """Add the encoding of a table's columns; return the names of the outputs."""
    parts: list[TensorColumn] = []
    for (name, kind), column in zip(encoder.kinds_.items(), columns, strict=True):
        if kind == "number":
            parts.append(TensorColumn(_finite(graph, column.name), NUMBERS))
        elif kind == "boolean":
            parts.append(TensorColumn(_zero_or_one(graph, column, encoder.pairs_[name]), NUMBERS))
        elif kind == "date":
            parts += [
                TensorColumn(part, NUMBERS) for part in _date_parts(graph, encoder, name, column)
            ]
        else:
            parts.append(_words(graph, column))
    if not encoder.one_hot:
        return [part.name for part in parts]
    by_key = dict(zip(encoder.columns_.feature_names_in_, parts, strict=True))
    made: list[str] = []
    for step, transformer, keys in encoder.columns_.transformers_:
        own = [by_key[key] for key in keys]
        if step == "categories":
            made += _one_hot(graph, transformer, own)
        else:
            made.append(_imputed(graph, transformer, [column.name for column in own]))
    return [made[0] if len(made) == 1 else graph.node("Concat", *made, axis=1)]


def _finite(graph: Graph, x: str) -> str:
    """Add numbers, with NaN in place of infinite ones."""
    x = graph.as_double(x)
    return graph.node("Where", graph.node("IsInf", x), graph.number(np.nan), x)


def _zero_or_one(graph: Graph, column: TensorColumn, pair: Sequence[str]) -> str:
    """Add 0 and 1 for the two words of a pair, NaN for any other."""
    known = {word: float(k) for k, word in enumerate(pair)}
    nothing = -1.0
    gap = known.get("", nothing)
    code = codes(graph, column, known, other=nothing, gap=gap, gaps=MISSING)
    is_other = graph.node("Less", code, graph.number(0.0))
    return graph.node("Where", is_other, graph.number(np.nan), code)


def _words(graph: Graph, column: TensorColumn) -> TensorColumn:
    """Add words, with an empty one in place of those that mean a missing value."""
    if column.kind != WORDS:
        return column
    is_gap = codes(graph, column, {}, other=0.0, gap=1.0, gaps=MISSING)
    empty = graph.constant(np.array([[""]], dtype=object))
    chosen = graph.node("Greater", is_gap, graph.number(0.5))
    return TensorColumn(graph.node("Where", chosen, empty, column.name), WORDS)


def _imputed(graph: Graph, imputer: Any, names: Sequence[str]) -> str:
    """Add columns with medians in their gaps, and the indicators of the gaps behind them."""
    joined = names[0] if len(names) == 1 else graph.node("Concat", *names, axis=1)
    filled = graph.filled(joined, imputer.statistics_)
    if imputer.indicator_ is None or not len(imputer.indicator_.features_):
        return filled
    marked = graph.node("Gather", joined, np.asarray(imputer.indicator_.features_), axis=1)
    return graph.node("Concat", filled, graph.as_double(graph.node("IsNaN", marked)), axis=1)


def _one_hot(graph: Graph, encoder: Any, columns: Sequence[TensorColumn]) -> list[str]:
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


def _date_parts(graph: Graph, encoder: TableEncoder, name: str, column: TensorColumn) -> list[str]:
    """Add year, month, day of the week, hour if there are times, and days since the first."""
    days = graph.as_double(column.name)
    whole = graph.node("Floor", days)
    year, month = _year_and_month(graph, whole)
    since_monday = graph.node("Add", whole, graph.number(3.0))  # 1 January 1970 was a Thursday
    parts = [year, month, _modulo(graph, since_monday, 7.0)]
    if name in encoder.timed_:
        parts.append(_hour(graph, graph.node("Sub", days, whole)))
    return [*parts, graph.node("Sub", days, graph.number(encoder.first_days_[name]))]


def _hour(graph: Graph, share: str) -> str:
    """Add the hour, with minutes as its fraction, from the share of the day."""
    seconds = graph.node("Mul", share, graph.number(86400.0))
    minutes = _quotient(graph, graph.node("Add", seconds, graph.number(_MILLISECOND)), 60.0)
    hour = _quotient(graph, minutes, 60.0)
    rest = graph.node("Sub", minutes, graph.node("Mul", hour, graph.number(60.0)))
    return graph.node("Add", hour, graph.node("Div", rest, graph.number(60.0)))


def _year_and_month(graph: Graph, days: str) -> tuple[str, str]:
    """Add year and month of days since 1970, in years that begin in March and eras of 400 years."""
    z = graph.node("Add", days, graph.number(_EPOCH))
    era, day = _quotient(graph, z, 146097.0), _modulo(graph, z, 146097.0)
    leaps = [_quotient(graph, day, length) for length in (1460.0, 36524.0, 146096.0)]
    plain = graph.node("Add", graph.node("Sub", day, leaps[0]), leaps[1])
    year = _quotient(graph, graph.node("Sub", plain, leaps[2]), 365.0)  # of the era
    before = graph.node("Mul", year, graph.number(365.0))
    before = graph.node("Add", before, _quotient(graph, year, 4.0))
    before = graph.node("Sub", before, _quotient(graph, year, 100.0))
    fifths = graph.node("Mul", graph.node("Sub", day, before), graph.number(5.0))
    place = _quotient(graph, graph.node("Add", fifths, graph.number(2.0)), 153.0)  # 0 is March
    in_spring = graph.as_double(graph.node("Less", place, graph.number(10.0)))
    later = graph.node("Mul", in_spring, graph.number(12.0))
    month = graph.node("Add", graph.node("Sub", place, graph.number(9.0)), later)
    new_year = graph.as_double(graph.node("Less", month, graph.number(2.5)))
    total = graph.node("Add", year, graph.node("Mul", era, graph.number(400.0)))
    return graph.node("Add", total, new_year), month


def _quotient(graph: Graph, x: str, by: float) -> str:
    return graph.node("Floor", graph.node("Div", x, graph.number(by)))


def _modulo(graph: Graph, x: str, by: float) -> str:
    whole = graph.node("Mul", _quotient(graph, x, by), graph.number(by))
    return graph.node("Sub", x, whole)
