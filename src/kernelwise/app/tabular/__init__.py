"""Tables with columns of all kinds: read a file, describe its columns, encode them as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._on_demand import on_demand
from .columns import Column, describe_columns
from .errors import TableError
from .reading import read_table
from .targets import ClassTarget, NumberTarget, Target, check_target

if TYPE_CHECKING:
    from .checking import ColumnCheck, check_new_rows
    from .encoder import TableEncoder, Weight, column_weights

__all__ = [
    "ClassTarget",
    "Column",
    "ColumnCheck",
    "NumberTarget",
    "TableEncoder",
    "TableError",
    "Target",
    "Weight",
    "check_new_rows",
    "check_target",
    "column_weights",
    "describe_columns",
    "read_table",
]

# Imported on first use: reading a table does not wait for scikit-learn.
_HOMES = {
    "check_new_rows": "checking",
    "ColumnCheck": "checking",
    "TableEncoder": "encoder",
    "Weight": "encoder",
    "column_weights": "encoder",
}

__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
