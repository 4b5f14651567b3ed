"""Reasons for predictions, as columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Index
from .console import Session

if TYPE_CHECKING:
    from ..inspection import RowExplanations

_N_REASONS = 3  # columns that are named per row; JSON has all


def explain_table(
    session: Session, fitted: Any, rows: Any, unlabelled: list[int], as_json: bool
) -> Any:
    """Return why each row gets its class, and the nearest training rows of each class.

    The rows are compared with training rows that the model keeps. A model that keeps none compares
    them with each other, and has no nearest rows. The number of a training row is its place in the
    training table, from one, where rows without a class count too.
    """
    from ..inspection import explain_rows
    from ..inspection.row_pool import ModelReader

    keeps_rows = ModelReader(fitted).background() is not None
    if not keeps_rows:
        session.note(
            "this model keeps no training rows; reasons are against the mean of this table"
        )
    with session.progress() as progress:
        found = explain_rows(
            fitted,
            rows,
            X_train=None if keeps_rows else rows,
            callback=lambda done, of: progress(done, of, "reasons for rows"),
        )
    numbers = _row_numbers(found.neighbors, unlabelled)
    return _as_lists(found, numbers) if as_json else _as_text(found, numbers)


def _row_numbers(labelled: Index, unlabelled: list[int]) -> Index:
    """Return the numbers of labelled rows in the table, from one; 0 where there is no row."""
    # How many labelled rows come before each row without a class.
    before = np.array(unlabelled, dtype=np.intp) - np.arange(len(unlabelled))
    skipped = np.searchsorted(before, labelled, side="right")
    return np.where(labelled < 0, 0, labelled + skipped + 1)


def _as_text(found: RowExplanations, numbers: Index) -> Any:
    import pandas as pd

    tables = [found.table(row) for row in range(len(found.values))]
    columns: dict[str, list[str]] = {"reasons": [_sentence(each) for each in tables]}
    for label, name in enumerate(found.classes.tolist()):
        near = numbers[:, label]
        if near.any():
            columns[f"nearest {name}"] = [" ".join(str(k) for k in own if k) for own in near]
    return pd.DataFrame(columns)


def _sentence(table: dict[str, Any]) -> str:
    """Name the columns of the largest contributions, with their values."""
    rows = zip(table["column"], table["value"], table["contribution"], strict=True)
    named = [f"{column} = {value} ({amount:+.2f})" for column, value, amount in rows]
    return "; ".join(named[:_N_REASONS])


def _as_lists(found: RowExplanations, numbers: Index) -> Any:
    import pandas as pd

    reasons, nearest = [], []
    for row in range(len(found.values)):
        table = found.table(row)
        amounts = [round(amount, 6) for amount in table["contribution"].tolist()]
        own = zip(table["column"], table["value"], amounts, strict=True)
        reasons.append(
            [dict(zip(("column", "value", "contribution"), each, strict=True)) for each in own]
        )
        nearest.append(
            {
                str(name): [
                    {"row": int(k), "distance": round(float(apart), 6)}
                    for k, apart in zip(near, distances, strict=True)
                    if k
                ]
                for name, near, distances in zip(
                    found.classes.tolist(), numbers[row], found.distances[row], strict=True
                )
            }
        )
    return pd.DataFrame({"reasons": reasons, "nearest": nearest})
