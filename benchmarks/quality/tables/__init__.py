"""Tables of PyPI's data packages, each with its target, its kinds of columns and its role."""

from .imbalanced import IMBALANCED
from .mixed import MIXED
from .small import SMALL
from .splits import Split, draw, one_hot
from .table import CHOOSE, REPORT, TableSpec, load

FAMILIES: dict[str, tuple[TableSpec, ...]] = {
    "small": SMALL, "mixed": MIXED, "imbalanced": IMBALANCED,
}  # fmt: skip

__all__ = [
    "CHOOSE", "FAMILIES", "IMBALANCED", "MIXED", "REPORT", "SMALL", "Split", "TableSpec", "draw",
    "load", "of_role", "one_hot",
]  # fmt: skip


def of_role(family: str, role: str) -> dict[str, TableSpec]:
    """Return the tables of a family that have a role, by name."""
    return {spec.name: spec for spec in FAMILIES[family] if spec.role == role}
