"""Read the tables and models that commands are given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import Session, require_model_file

if TYPE_CHECKING:
    from ..tabular import ColumnCheck, Target


def read(session: Session, data: str, format: str | None = None) -> Any:
    """Return the table in a file; what is odd about it becomes a note."""
    from ..tabular import read_table

    with session.showing_warnings():
        return read_table(data, format=format)


def read_target(
    session: Session, frame: Any, name: str, task: str, positive: str | None, min_class: int
) -> Target:
    """Return the target of a table, and show what it is."""
    from ..tabular import check_target
    from .messages import show_target

    target = check_target(frame, name, task=task, positive=positive, min_class=min_class)
    show_target(session, target)
    return target


def load_table_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return a model that reads tables, and the summary in its file."""
    from ..io import describe, load
    from ..tabular import TableError
    from ..tabular.encoder import table_encoder

    require_model_file(path)
    summary = describe(path)["summary"]
    fitted = load(path)
    if table_encoder(fitted) is None:
        raise TableError(f"{path} was not written by kernelwise fit; load it in Python.")
    return fitted, summary


_MAX_NOTED = 10  # columns that get a line each


def check_table(session: Session, fitted: Any, frame: Any, allow: bool) -> list[ColumnCheck]:
    """Show what is unusual about a table; raise where a selected column cannot be used.

    ``allow`` predicts from such a table all the same.
    """
    from ..tabular import TableError, check_new_rows

    checks = check_new_rows(fitted, frame)
    for check in checks:
        if check.unusable and check.selected and not allow:
            raise TableError(
                f"the model relies on the column {check.name!r}, but {check.unusable}; correct the "
                "table, or add --allow to continue without it."
            )
    _show_notes(session, checks)
    return checks


def as_dicts(checks: list[ColumnCheck]) -> list[dict[str, Any]]:
    """Return the checks for JSON."""
    return [check.as_dict() for check in checks]


def _show_notes(session: Session, checks: list[ColumnCheck]) -> None:
    """Show one line per unusual column, those on which the model relies first."""
    noted = sorted(
        (check for check in checks if check.notes),
        key=lambda check: (not check.selected, not check.unusable),
    )
    for check in noted[:_MAX_NOTED]:
        session.note(f"{check.name}: {'; '.join(check.notes)}")
    if len(noted) > _MAX_NOTED:
        session.note(f"{len(noted) - _MAX_NOTED} more columns are unusual; --json lists them")
