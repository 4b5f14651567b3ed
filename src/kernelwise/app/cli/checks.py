"""Messages about a new table that differs from the training table of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .console import Session

if TYPE_CHECKING:
    from ..tabular import ColumnCheck

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
