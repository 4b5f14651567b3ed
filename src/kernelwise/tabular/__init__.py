"""Tables with columns of all kinds: read a file, describe its columns, encode them as numbers."""

from .._models import final_estimator as machine_of
from .._on_demand import on_demand
from .columns import Column, describe_columns
from .encoder import TableEncoder
from .errors import TableError
from .labels import Target, check_target
from .pipeline import Weight, column_weights
from .reading import read_table

# Names that live in `kernelwise.evaluation`, which imports this package.
_EVALUATION = (
    "Cost",
    "Difference",
    "Evaluation",
    "HeldOut",
    "Method",
    "Score",
    "compare",
    "evaluate",
    "fit_table",
    "forecast_cost",
    "methods",
)

__all__ = [
    "Column",
    "TableEncoder",
    "TableError",
    "Target",
    "Weight",
    "check_target",
    "column_weights",
    "describe_columns",
    "machine_of",
    "read_table",
    *_EVALUATION,
]

__getattr__ = on_demand(__name__, dict.fromkeys(_EVALUATION, ".evaluation"))
