"""Read the tables and models that commands are given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import Session, require_model_file

if TYPE_CHECKING:
    from ..tabular import Target


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
    from ..tabular.pipeline import table_encoder

    require_model_file(path)
    summary = describe(path)["summary"]
    fitted = load(path)
    if table_encoder(fitted) is None:
        raise TableError(f"{path} was not written by kernelwise fit; load it in Python.")
    return fitted, summary
