"""``kernelwise predict``: the class or number of each row of a table, by a saved model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..._files import write_text
from . import options
from .console import Session, check_outputs, guarded
from .inputs import as_dicts, check_table, load_table_model, read

if TYPE_CHECKING:
    from ..inspection import RowExplanations
    from ..tabular import ColumnCheck

_DIGITS = 9  # of predicted numbers


@guarded
def predict(
    model: options.Model,
    data: options.Data,
    proba: options.Proba = False,
    interval: options.Interval = False,
    level: options.Level = 0.9,
    explain: options.Explain = None,
    out: options.CsvOut = None,
    keep: options.Copied = None,
    allow: options.Allow = False,
    format: options.Format = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Predict each row of a table.

    The result is one class or number per row, as CSV.
    The table is compared with the training table first. Notes name new categories, missing values,
    values of another kind, and values outside the training range. A table in which a column that
    the model relies on is unusable is refused.
    """
    from ..tabular.errors import require_columns

    session = Session(quiet, as_json)
    check_outputs([out], force, inputs=[model, data])
    fitted, summary = _load(model, proba, interval)
    frame = read(session, data, format)
    copied = list(dict.fromkeys(keep or ()))
    require_columns(frame, copied, "--keep")
    rows = frame.drop(columns=str(summary.get("target", "")), errors="ignore")
    checks = check_table(session, fitted, rows, allow)
    with session.showing_warnings():
        table = _predictions(fitted, rows, proba, level if interval else None)
    if explain is not None:
        table = table.join(explain_table(session, fitted, rows, read(session, explain), as_json))
    _refuse_taken_names(copied, table.columns)
    for place, name in enumerate(copied):
        table.insert(place, name, frame[name].to_numpy())
    text = _as_json(table, checks) if as_json else table.to_csv(index=False, lineterminator="\n")
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
        session.say(f"{len(table)} predictions: {out}")


def _load(path: Path, proba: bool, interval: bool) -> tuple[Any, dict[str, Any]]:
    """Return the model and the summary in its file."""
    from ..tabular import TableError

    fitted, summary = load_table_model(path)
    if proba and not hasattr(fitted, "predict_proba"):
        raise TableError(f"{path} predicts numbers; --interval adds intervals to them.")
    if interval and not hasattr(fitted[-1], "predict_interval"):
        raise TableError(f"{path} predicts classes; --proba adds their probabilities.")
    return fitted, summary


def _refuse_taken_names(copied: list[str], results: Any) -> None:
    """Refuse to copy columns whose names the predictions have: readers could not tell them."""
    from ..tabular import TableError
    from ..tabular.errors import quoted

    taken = [name for name in copied if name in set(results)]
    if taken:
        raise TableError(
            f"--keep {quoted(taken)}: the predictions have a column of that name; rename it in the "
            "table."
        )


def _as_json(table: Any, checks: list[ColumnCheck]) -> str:
    """Return one JSON document: the predictions, and what is unusual about the columns."""
    records = json.loads(table.to_json(orient="records"))  # pandas knows how to write its types
    return (
        json.dumps({"predictions": records, "checks": as_dicts(checks)}, ensure_ascii=False) + "\n"
    )


def _predictions(fitted: Any, frame: Any, proba: bool, level: float | None) -> Any:
    import pandas as pd
    from sklearn.base import is_regressor

    encoded = fitted[:-1].transform(frame)
    predicted = fitted[-1].predict(encoded)
    if is_regressor(fitted):
        predicted = _rounded(predicted)
    table = pd.DataFrame({"prediction": predicted})
    if proba:
        columns = fitted[-1].predict_proba(encoded).T
        for label, values in zip(fitted.classes_.tolist(), columns, strict=True):
            table[f"probability {label}"] = values.round(6)
    if level is not None:
        ends = fitted[-1].predict_interval(encoded, confidence_level=level)
        table["low"], table["high"] = map(_rounded, ends)
    return table


def _rounded(numbers: Any) -> list[float]:
    """Return numbers with the digits that a prediction can have."""
    return [float(f"{number:.{_DIGITS}g}") for number in numbers.tolist()]


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
