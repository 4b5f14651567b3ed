"""Tables with columns of all kinds: reading, encoding, judging and fitting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._on_demand import on_demand

if TYPE_CHECKING:
    from .columns import Column, describe_columns
    from .cost import Cost, forecast_cost
    from .encoder import TableEncoder
    from .errors import TableError
    from .evaluation import compare, evaluate
    from .labels import Target, check_target
    from .pipeline import column_weights, fit_table, machine_of
    from .reading import read_table
    from .registry import Method, methods
    from .results import Difference, Evaluation, HeldOut, Score, Weight

__all__ = [
    "Column",
    "Cost",
    "Difference",
    "Evaluation",
    "HeldOut",
    "Method",
    "Score",
    "TableEncoder",
    "TableError",
    "Target",
    "Weight",
    "check_target",
    "column_weights",
    "compare",
    "describe_columns",
    "evaluate",
    "fit_table",
    "forecast_cost",
    "machine_of",
    "methods",
    "read_table",
]

# Imported when first asked for: reading a table need not wait for the estimators.
_HOMES = {
    "Column": "columns",
    "Cost": "cost",
    "Difference": "results",
    "Evaluation": "results",
    "HeldOut": "results",
    "Method": "registry",
    "Score": "results",
    "TableEncoder": "encoder",
    "TableError": "errors",
    "Target": "labels",
    "Weight": "results",
    "check_target": "labels",
    "column_weights": "pipeline",
    "compare": "evaluation",
    "describe_columns": "columns",
    "evaluate": "evaluation",
    "fit_table": "pipeline",
    "forecast_cost": "cost",
    "machine_of": "pipeline",
    "methods": "registry",
    "read_table": "reading",
}

__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
