"""The suites: a function each, from how much to measure to rows of results.

A row has a ``case`` (what was measured), ``times`` by contender, the reference first, or what was
``found`` by method, and what else is worth knowing.
"""

from collections.abc import Callable, Iterator

from ..measure import Effort
from .fit import fit, multiclass
from .gram import gram
from .growth import growth
from .paths import leave_one_out, span_path
from .predict import predict
from .search import search
from .startup import startup
from .warm import warm
from .weights import weight_criteria, weight_steps, weights

SUITES: dict[str, Callable[[Effort], Iterator[dict]]] = {
    "fit": fit,
    "predict": predict,
    "gram": gram,
    "warm": warm,
    "multiclass": multiclass,
    "growth": growth,
    "startup": startup,
    "weights": weights,
    "weight_criteria": weight_criteria,
    "weight_steps": weight_steps,
    "span_path": span_path,
    "leave_one_out": leave_one_out,
    "search": search,
}
NEED_DATA = {"weights", "weight_criteria", "weight_steps", "span_path", "leave_one_out"}
