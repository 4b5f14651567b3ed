"""Our errors relative to those of the main peers, on each kind of tables."""

from __future__ import annotations

from ..targets import Rows
from ..text import digits, table
from .comparison import Comparison
from .contenders import OURS
from .suites import CLEAN, Imbalanced, Large, Mixed, OnTables, Regression, Small

KINDS: dict[type[OnTables], str] = {
    Small: "small, 150 to 1,500 rows",
    Mixed: "2,000 to 10,000 rows, categories, gaps",
    Large: "19,000 to 50,000 rows",
    Imbalanced: "a rare class, balanced weights",
    Regression: "a numeric target, up to 4,000 rows",
}
_PEERS = {
    "CatBoost": ("catboost",),
    "LightGBM": ("lightgbm",),
    "LightGBM, early stopping": ("lightgbm_stopped",),
    "random forest": ("balanced_forest", "forest"),  # the better one for a rare class
    "logistic or ridge regression": ("logistic", "ridge"),
    "`GridSearchCV(SVC)`": ("svc_grid",),
}


def overview(rows: Rows) -> str:
    """Return a table of the ratios with its explanation, nothing without our own results."""
    lines = []
    for suite, kind in KINDS.items():
        found = Comparison(rows.get(suite.name, []))
        cells = [_cell(found, names) for names in _PEERS.values()]
        if any(cells):
            count = len(found.tables(CLEAN))
            seconds = digits(found.mean(CLEAN, OURS, "fit_seconds") or 0, 2)
            lines.append([f"{count}: {kind}", *cells, seconds])
    if not lines:
        return ""
    return (
        "Error of `RelevanceSVC()` or `RelevanceSVR()` divided by that of each peer: below 1 ours "
        "is smaller. The error is 1 - AUC of two classes, the log loss of several, or the root "
        "mean squared error of a number; the ratios are geometric means over the tables. All are "
        "at their defaults, but for the early stopping and the grid.\n\n"
        + table(["tables", *_PEERS, "CPU of our fit, s"], lines, left=1)
    )


def _cell(found: Comparison, names: tuple[str, ...]) -> str:
    """Return the ratio to the first of some methods that was measured."""
    ratios = (found.ratio(CLEAN, OURS, name) for name in names)
    return next((f"{ratio.mean:.2f}" for ratio in ratios if ratio is not None), "")
