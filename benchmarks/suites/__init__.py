"""The suites: a function each, from how much to measure to rows of results.

A row has a ``case`` (what was measured), ``times`` by contender, the reference first, and what
else is worth knowing.
"""

from collections.abc import Callable, Iterator

from ..measure import Effort
from .fit import fit, multiclass
from .gram import gram
from .growth import growth
from .predict import predict
from .startup import startup
from .warm import warm

SUITES: dict[str, Callable[[Effort], Iterator[dict]]] = {
    "fit": fit,
    "predict": predict,
    "gram": gram,
    "warm": warm,
    "multiclass": multiclass,
    "growth": growth,
    "startup": startup,
}
