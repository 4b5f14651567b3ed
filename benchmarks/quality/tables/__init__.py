"""Tables of data packages and folders, with their targets and kinds of columns."""

from .imbalanced import IMBALANCED
from .large import LARGE
from .mixed import MIXED
from .numbers import NUMBERS
from .pmlb import PMLB
from .small import SMALL
from .splits import Split, categories, draw, one_hot
from .table import TableSpec, load

FAMILIES: dict[str, tuple[TableSpec, ...]] = {
    "small": SMALL, "mixed": MIXED, "large": LARGE, "imbalanced": IMBALANCED,
    "numbers": NUMBERS, "pmlb": PMLB,
}  # fmt: skip

__all__ = ["FAMILIES", "Split", "TableSpec", "categories", "draw", "load", "one_hot"]
