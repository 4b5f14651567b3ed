"""Reasons for predictions, as columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .console import Session

if TYPE_CHECKING:
    from ..inspection import RowExplanations

_N_REASONS = 3  # columns that are named per row; JSON has all


def explain_table(session: Session, fitted: Any, rows: Any, others: Any, as_json: bool) -> Any:
    """Return why each row gets its prediction, compared with the rows of another table."""
    from ..inspection import explain_rows

    with session.progress() as progress, session.showing_warnings():
        found = explain_rows(
            fitted, rows, others, callback=lambda done, of: progress(done, of, "reasons for rows")
        )
    return _as_lists(found) if as_json else _as_text(found)


def _as_text(found: RowExplanations) -> Any:
    import pandas as pd

    reasons = [_sentence(found.table(row)) for row in range(len(found.values))]
    return pd.DataFrame({"reasons": reasons})


def _sentence(table: dict[str, Any]) -> str:
    """Name the columns of the largest contributions, with their values."""
    from ..evaluation.results import significant

    rows = zip(table["column"], table["value"], table["contribution"], strict=True)
    named = [
        f"{column} = {value} ({significant(amount, 3, '+')})" for column, value, amount in rows
    ]
    return "; ".join(named[:_N_REASONS])


def _as_lists(found: RowExplanations) -> Any:
    import pandas as pd

    names, reasons = ("column", "value", "contribution"), []
    for row in range(len(found.values)):
        table = found.table(row)
        amounts = [float(f"{amount:.6g}") for amount in table["contribution"].tolist()]
        own = zip(table["column"], table["value"], amounts, strict=True)
        reasons.append([dict(zip(names, each, strict=True)) for each in own])
    return pd.DataFrame({"reasons": reasons})
