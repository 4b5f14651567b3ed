"""Tables in pages that are written by hand: the README, the landing page and two guides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kernelwise.experiments.engine.store import Results

from ..blocks import with_block
from ..environment import ROOT
from ..text import digits, table
from .comparison import Comparison
from .on_tables import CLEAN
from .opponents import OPPONENTS, OURS

PAGES = ("README.md", "docs/index.md", "docs/from_lightgbm.md", "docs/from_svc.md")
# Suite: kind of tables, and the measure that stands for accuracy.
_KINDS = {
    "quality-small": ("small ones", "accuracy"),
    "quality-mixed": ("with thousands of rows, categories and gaps", "accuracy"),
    "quality-imbalanced": ("with a rare class, balanced class weights", "balanced_accuracy"),
}
_PEERS = {
    "`RelevanceSVC()`": (OURS,),
    "LightGBM": ("lightgbm_stopped", "lightgbm"),  # with early stopping where it was measured
    "CatBoost": ("catboost",),
    "random forest": ("balanced_forest", "forest"),  # the better one for a rare class
    "logistic regression": ("logistic",),
    "`GridSearchCV(SVC)`": ("svc_grid",),
}
_LIGHTGBM = ("lightgbm", "lightgbm_stopped")
_MEASURES = {"accuracy": "accuracy, %", "auc": "AUC, %", "log_loss": "log loss"}


def write(results: Mapping[str, Results], root: Path = ROOT) -> None:
    """Renew the tables of all pages that have their markers."""
    if not set(_KINDS) <= set(results):
        return
    for name in PAGES:
        text = (root / name).read_text(encoding="utf-8")
        (root / name).write_text(renewed(text, results), encoding="utf-8")


def renewed(text: str, results: Mapping[str, Results]) -> str:
    """Return the text of a page with its tables as the results give them."""
    for name, block in (("peers", peers), ("lightgbm", lightgbm), ("grid", grid)):
        text = with_block(text, name, block(results))
    return text


def peers(results: Mapping[str, Results]) -> str:
    """Return the means of all methods on each kind of tables."""
    lines, n_tables = [], 0
    for suite, (kind, measure) in _KINDS.items():
        found = Comparison(results[suite].rows)
        count = len(found.tables(CLEAN))
        n_tables += count
        cells = [_cell(found, names, measure) for names in _PEERS.values()]
        lines.append([f"{count} {kind}", *cells])
    return (
        f"Accuracy / area under the ROC curve in percent, means over {n_tables} tables that took "
        "no part in any choice. Every method is at its defaults, except that LightGBM stops early "
        "in the second row. The third row has balanced accuracy, and a forest with balanced "
        "samples.\n\n" + table(["tables", *_PEERS], lines, left=1)
    )


def _cell(found: Comparison, names: tuple[str, ...], measure: str) -> str:
    """Return the two means of the first method that was measured."""
    for name in names:
        first, auc = (found.mean(CLEAN, name, each) for each in (measure, "auc"))
        if first is not None and auc is not None:
            return f"{first:.1f} / {auc:.1f}"
    return ""


def lightgbm(results: Mapping[str, Results]) -> str:
    """Return accuracy, ranking, probabilities and time next to LightGBM's."""
    lines = []
    for suite in ("quality-small", "quality-mixed"):
        found, (kind, _) = Comparison(results[suite].rows), _KINDS[suite]
        where = f"{len(found.tables(CLEAN))} {kind}"
        lines += [
            [where, label, *(_mean(found, name, measure) for name in (OURS, *_LIGHTGBM)),
             _wins(found, measure)]
            for measure, label in _MEASURES.items()
        ]  # fmt: skip
        seconds = [_mean(found, name, "fit_seconds") for name in (OURS, *_LIGHTGBM)]
        lines.append([where, "CPU of a fit, s", *seconds, ""])
    labels = [OPPONENTS[name].label for name in (OURS, *_LIGHTGBM)]
    return table(["tables", "mean of", *labels, "better than LightGBM"], lines, left=2)


def _mean(found: Comparison, name: str, measure: str) -> str:
    value = found.mean(CLEAN, name, measure)
    if value is None:
        return ""
    if measure == "fit_seconds":
        return digits(value, 2)
    return f"{value:.3f}" if measure == "log_loss" else f"{value:.1f}"


def _wins(found: Comparison, measure: str) -> str:
    gain = found.gain(CLEAN, OURS, "lightgbm", measure)
    return "" if gain is None else f"on {gain.wins} of {len(gain.by_table)}"


def grid(results: Mapping[str, Results]) -> str:
    """Return the comparison with a grid search in words."""
    from .page import on_sets

    return on_sets({name: list(found.rows) for name, found in results.items()})
