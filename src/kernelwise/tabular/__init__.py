"""Tables with columns of all kinds: read a file, describe its columns, encode them as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._on_demand import on_demand
from .columns import Column, describe_columns
from .errors import TableError
from .labels import Target, check_target
from .reading import read_table

if TYPE_CHECKING:
    from .checking import ColumnCheck, check_new_rows
    from .encoder import TableEncoder
    from .pipeline import Weight, column_weights, machine_of

# Names that live in `kernelwise.evaluation`, which imports this package.
_EVALUATION = (
    "Cost",
    "Difference",
    "Evaluation",
    "HeldOut",
    "Method",
    "Score",
    "evaluate",
    "fit_table",
    "forecast_cost",
    "methods",
)

__all__ = [
    "Column",
    "ColumnCheck",
    "TableEncoder",
    "TableError",
    "Target",
    "Weight",
    "check_new_rows",
    "check_target",
    "column_weights",
    "compare",
    "describe_columns",
    "machine_of",
    "read_table",
    *_EVALUATION,
]

# Imported on first use: reading a table does not wait for scikit-learn.
_HOMES = {
    "check_new_rows": "checking",
    "ColumnCheck": "checking",
    "TableEncoder": "encoder",
    "Weight": "pipeline",
    "column_weights": "pipeline",
    "compare": ".evaluation.evaluate",
    "machine_of": "pipeline",
    **dict.fromkeys(_EVALUATION, ".evaluation"),
}

__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
