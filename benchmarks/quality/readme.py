"""Tables in pages that are written by hand: the README, the landing page and two guides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.engine import Results

from ..blocks import with_block
from ..environment import ROOT
from ..text import digits, table
from .comparison import Comparison
from .contenders import CLASSIFIERS, OURS
from .overview import KINDS, overview
from .suites import CLEAN, Large, Mixed, Small

PAGES = ("README.md", "docs/index.md", "docs/from_lightgbm.md", "docs/from_svc.md")
_LIGHTGBM = ("lightgbm", "lightgbm_stopped")
_MEASURES = {"accuracy": "accuracy, %", "auc": "AUC, %", "log_loss": "log loss"}


def write(results: Mapping[str, Results], root: Path = ROOT) -> None:
    """Renew the tables of all pages that have their markers, once our models are measured."""
    for name in PAGES:
        text = (root / name).read_text(encoding="utf-8")
        new = renewed(text, results)
        if new != text:
            (root / name).write_text(new, encoding="utf-8")


def renewed(text: str, results: Mapping[str, Results]) -> str:
    """Return the text of a page with its tables as the results give them."""
    for name, block in (("peers", peers), ("lightgbm", lightgbm), ("grid", grid)):
        text = with_block(text, name, block(results))
    return text


def _of(results: Mapping[str, Results], suite: str) -> Comparison | None:
    """Return the comparison of a suite, None if our model is not measured."""
    found = Comparison(results[suite].rows if suite in results else ())
    return found if CLEAN in found.conditions() and OURS in found.contenders(CLEAN) else None


def peers(results: Mapping[str, Results]) -> str:
    """Return our errors relative to those of peers."""
    return overview({name: found.rows for name, found in results.items()})


def lightgbm(results: Mapping[str, Results]) -> str:
    """Return accuracy, ranking, probabilities and time next to LightGBM's."""
    lines = []
    for suite in (Small, Mixed, Large):
        found = _of(results, suite.name)
        if found is None:
            continue
        kind = f"{len(found.tables(CLEAN))}: {KINDS[suite]}"
        lines += [
            [kind, label, *(_mean(found, name, measure) for name in (OURS, *_LIGHTGBM)),
             _wins(found, measure)]
            for measure, label in _MEASURES.items()
        ]  # fmt: skip
        seconds = [_mean(found, name, "fit_seconds") for name in (OURS, *_LIGHTGBM)]
        lines.append([kind, "CPU of a fit, s", *seconds, ""])
    labels = [CLASSIFIERS[name].label for name in (OURS, *_LIGHTGBM)]
    header = ["tables", "mean of", *labels, "better than LightGBM"]
    return table(header, lines, left=2) if lines else ""


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
    found = _of(results, "quality-small")
    gain = None if found is None else found.gain(CLEAN, OURS, "svc_grid", "accuracy")
    ratio = None if found is None else found.ratio(CLEAN, "svc_grid", OURS, "fit_seconds")
    if gain is None or ratio is None:
        return ""
    return (
        f"On {len(gain.by_table)} small tables the accuracy of `RelevanceSVC()` minus that of a "
        f"grid search of `SVC` over 25 points is {gain.mean.value:+.1f} ± {gain.mean.error:.1f} "
        f"points; it is better on {gain.wins} of them. The grid search takes "
        f"{digits(ratio.mean, 2)} times the CPU time of its fit."
    )
