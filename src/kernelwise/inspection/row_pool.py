"""Rows of a table whose columns are recombined and decided by a model, for any model.

A row of ``take`` names, for each column, the row of the pool that its value comes from. Partial
dependence and Shapley values need nothing else, and no value is ever made up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from .._typing import Array, Index
from ..svm.base.predictor import predictor_of
from ..svm.relevance.estimator import RelevanceSVC
from ..svm.relevance.explaining import (
    KnownRows,
    background_rows,
    known_rows,
    reader_of_encoded_rows,
)
from ..svm.relevance.table_input import check_table
from ..tabular import column_weights
from ..tabular.encoder import TableEncoder
from .column_values import ColumnValues, encoded_values, table_values
from .weights import frame_columns

OUTPUTS = ("auto", "decision", "probability", "additive")
_METHODS = {
    "probability": "predict_proba",
    "decision": "decision_function",
    "additive": "additive_values",
}
_BLOCK_ENTRIES = 2_000_000  # values of recombined rows that are decided at a time
_MAX_PROBED = 100  # columns whose effect is measured before the largest are chosen
_N_PROBES = 50  # rows on which it is measured


@dataclass(frozen=True)
class RowPool:
    """Rows whose columns are recombined.

    Parameters
    ----------
    rows : ndarray of shape (n, d) or data frame
        The rows: as encoded columns, or as the model reads them.
    owner : ndarray of shape (d,)
        The column of the table that each column of ``rows`` comes from.
    values : tuple of ColumnValues
        The columns of the table as a reader sees them.
    decide : callable
        Returns the outputs of the model, of shape (m, n_outputs), for such rows.
    """

    rows: Any
    owner: Index
    values: tuple[ColumnValues, ...]
    decide: Callable[[Any], Array]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""
        return tuple(each.name for each in self.values)

    def decisions(self, take: Index) -> Array:
        """Return the outputs of the model for recombined rows.

        Parameters
        ----------
        take : ndarray of shape (m, n_columns)
            The row of the pool that each value comes from.

        Returns
        -------
        outputs : ndarray of shape (m, n_outputs)
            Decision values or probabilities.
        """
        height = max(1, _BLOCK_ENTRIES // len(self.owner))
        blocks = (take[start : start + height] for start in range(0, len(take), height))
        return np.vstack([self.decide(self._recombined(block)) for block in blocks])

    def decisions_of(self, rows: Index) -> Array:
        """Return the outputs of the model for rows as they are."""
        return self.decisions(np.repeat(rows[:, None], len(self.values), axis=1))

    def _recombined(self, take: Index) -> Any:
        if isinstance(self.rows, np.ndarray):
            return self.rows[take[:, self.owner], np.arange(len(self.owner))]
        columns = zip(self.rows.columns, take[:, self.owner].T, strict=True)
        return type(self.rows)({name: _taken(self.rows[name], own) for name, own in columns})


def _taken(column: Any, rows: Index) -> Any:
    """Return some values of a Series of pandas, without its index, or of polars."""
    return column.array.take(rows) if hasattr(column, "array") else column[rows]


class ModelReader:
    """How rows of a model's table are read, encoded and decided.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline that ends with one.
    output : {"auto", "decision", "probability", "additive"}, default="auto"
        What the model gives; "auto" is the decision value where it has one, "additive" what single
        columns add to the log-odds of a `RelevanceSVC`.
    """

    def __init__(self, model: Any, output: str = "auto") -> None:
        if output not in OUTPUTS:
            raise ValueError(f"output={output!r} must be one of {', '.join(OUTPUTS)}.")
        check_is_fitted(model)
        self.model, self.classes = model, model.classes_
        steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
        final: Any = steps.pop()
        is_table = bool(steps) and isinstance(steps[0], TableEncoder)
        self._encoder = steps.pop(0) if is_table else None
        self._final = final
        self._is_relevance = (
            not steps and type(final) is RelevanceSVC and hasattr(final, "columns_")
        )
        self._is_scaled = is_table and all(isinstance(step, StandardScaler) for step in steps)
        self.output = self._known_output(output)

    def _known_output(self, output: str) -> str:
        if output == "auto":
            return "decision" if hasattr(self.model, "decision_function") else "probability"
        if output == "additive":
            if not (self._is_relevance and hasattr(predictor_of(self._final), _METHODS[output])):
                raise ValueError("output='additive' needs a RelevanceSVC with ensemble=True.")
            return output
        name = _METHODS[output]
        if not hasattr(self.model, name):
            raise ValueError(f"output={output!r} needs a model with {name}.")
        return output

    def background(self) -> KnownRows | None:
        """Return the sample of the training rows that the model itself holds."""
        return background_rows(self._final) if self._is_relevance else None

    def known(self) -> KnownRows | None:
        """Return all rows of the training table that the model itself holds."""
        return known_rows(self._final) if self._is_relevance else None

    def shares(self, names: Sequence[str]) -> Array:
        """Return the learned share of each column; equal ones where the model weighs none."""
        own = {weight.column: weight.share for weight in column_weights(self.model, list(names))}
        found = np.array([own.get(name, 0.0) for name in names])
        return found if found.any() else np.full(len(names), 1 / len(names))

    def pool(self, *tables: Any) -> RowPool:
        """Return the rows of tables, or of `KnownRows`, one after the other."""
        if self._is_relevance:
            return self._relevance_pool(tables)
        raw = _stacked(tables)
        if self._encoder is not None:
            names = list(self._encoder.kinds_)
        else:
            names = frame_columns(raw) or [f"x{k}" for k in range(raw.shape[1])]
        values = table_values(raw, names, self._encoder)
        if self._is_scaled and self._encoder is not None:
            rows = self.model[:-1].transform(raw)
            owner = np.array([names.index(source) for source in self._encoder.sources_])
            return RowPool(rows, owner, values, self._decide(self._final))
        if self._encoder is not None:  # what comes between mixes columns: start from the table
            raw = raw[names]
        return RowPool(raw, np.arange(len(names)), values, self._decide(self.model))

    def _relevance_pool(self, tables: Sequence[Any]) -> RowPool:
        encoding = self._final.columns_
        rows = np.vstack([self._encoded(table) for table in tables])
        values = encoded_values(rows, encoding, self._encoder)
        owner = encoding.layout.source
        if self._encoder is not None:
            names = [each.name for each in values]
            sources = [names.index(source) for source in self._encoder.sources_]
            owner = np.array(sources)[owner]
        reader = reader_of_encoded_rows(self._final)
        return RowPool(rows, owner, values, self._decide(reader))

    def _encoded(self, table: Any) -> Array:
        if isinstance(table, KnownRows):
            return table.X
        words = table if self._encoder is None else self._encoder.transform(table)
        encoded: Array = self._final.columns_.apply(check_table(self._final, words))
        return encoded

    def _decide(self, estimator: Any) -> Callable[[Any], Array]:
        owner, name = estimator, _METHODS[self.output]
        if self.output == "additive":
            owner = predictor_of(estimator)
        method = getattr(owner, name)

        def decide(rows: Any) -> Array:
            outputs = np.asarray(method(rows), dtype=np.float64)
            return outputs[:, None] if outputs.ndim == 1 else outputs

        return decide


def _stacked(tables: Sequence[Any]) -> Any:
    """Return one table with the rows of all."""
    first = tables[0]
    if not hasattr(first, "columns"):
        return np.vstack([np.asarray(table) for table in tables])
    if not hasattr(first, "iloc"):
        for table in tables[1:]:
            first = first.vstack(table)
        return first
    import pandas as pd

    return pd.concat(tables, ignore_index=True)


def leading_columns(
    pool: RowPool, rows: Index, shares: Array, most: int, random_state: Any
) -> Index:
    """Return the columns that change the outputs most when their values are exchanged.

    Parameters
    ----------
    pool : RowPool
        The rows.
    rows : ndarray of int
        The rows of the pool to measure on.
    shares : ndarray of shape (n_columns,)
        Learned shares: among many columns only those of the largest are measured.
    most : int
        The number of columns.
    random_state : RandomState
        Deals out the values.

    Returns
    -------
    columns : ndarray of shape (at most ``most``,)
        The columns, that of the largest mean change first; none that changes nothing.
    """
    probed = np.sort(np.argsort(-shares, kind="stable")[:_MAX_PROBED])
    rows = random_state.permutation(rows)[:_N_PROBES]
    plain = pool.decisions_of(rows)
    take = np.tile(rows[:, None], (len(probed), 1, len(shares)))
    for place, column in enumerate(probed.tolist()):
        take[place, :, column] = random_state.permutation(rows)
    changed = pool.decisions(take.reshape(-1, len(shares))).reshape(len(probed), *plain.shape)
    change = np.abs(changed - plain).mean(axis=(1, 2))
    order = np.argsort(-change, kind="stable")[:most]
    return probed[order[change[order] > 0]]
