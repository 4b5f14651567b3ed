"""``kernelwise explain``: the contents of a model file."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from . import options
from .console import Session, guarded, require_model_file
from .tables import weights_table

_N_POINTS = 5  # points of a path that are shown
_JSON_ONLY = {"n_iter", "n_solves", "seconds", "solved", "converged"}  # facts of a point
_NUMBERS = ("C_", "gamma_", "eta_", "criterion_value_", "dual_objective_", "loo_error_")


@guarded
def explain(
    model: options.Model, as_json: options.AsJson = False, quiet: options.Quiet = False
) -> None:
    """Show what a model has learned.

    This includes its score, bound, support vectors, the best points of its path, and the weights.
    """
    from .._models import final_estimator
    from ..io import describe, load
    from ..tabular import column_weights

    require_model_file(model)
    session = Session(quiet, as_json)
    header = describe(model)
    fitted = load(model)
    final = final_estimator(fitted)
    weights = column_weights(fitted)
    facts, path = _facts(final), _best_points(final)
    session.show(_table(_summary(header)))
    session.show(_table(facts))
    if path:
        session.show(_path_table(path))
    if weights:
        session.show(weights_table(weights))
    session.give(
        {
            "header": header,
            "machine": facts,
            "path": path,
            "weights": [vars(weight) for weight in weights],
        }
    )


def _summary(header: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of the header for a person."""
    facts = {key: value for key, value in header["summary"].items() if value is not None}
    if header.get("classes"):
        facts["classes"] = ", ".join(map(str, header["classes"]))
    return facts | {"kernelwise": header.get("kernelwise")}


def _facts(final: Any) -> dict[str, Any]:
    """Return the learned parameters, bound, support vectors and margin, where there are some."""
    facts: dict[str, Any] = {"machine": type(final).__name__}
    for name in _NUMBERS:
        value = getattr(final, name, None)
        if value is not None:
            facts[name.rstrip("_")] = np.round(value, 6)
    values = getattr(final, "history_", {}).get("value", np.empty(0))
    if len(values):
        facts["bound"] = f"{values[0]:.4g} at first, {np.min(values):.4g} at best"
        facts["evaluations"] = len(values)
    if hasattr(final, "n_support_"):
        counts = zip(final.classes_.tolist(), final.n_support_.tolist(), strict=True)
        each = ", ".join(f"{label}: {count}" for label, count in counts)
        facts["support vectors"] = f"{len(final.support_)} of {final.shape_fit_[0]} ({each})"
    if hasattr(final, "margin_"):
        facts["margin"] = np.round(final.margin_, 6)
    if hasattr(final, "fit_status_"):
        facts["converged"] = final.fit_status_ == 0
    return facts


def _best_points(final: Any) -> list[dict[str, Any]]:
    """Return the best points of the path over width and C, where the estimator has one."""
    path = getattr(final, "path_", None) or {}
    scores = path.get("score", path.get("held_out_error"))
    if scores is None:
        return []
    order = [k for k in np.argsort(scores, kind="stable") if not np.isnan(scores[k])]
    return [{name: values[k] for name, values in path.items()} for k in order[:_N_POINTS]]


def _table(facts: dict[str, Any]) -> Table:
    table = Table(box=box.SIMPLE, show_header=False)
    for name, value in facts.items():
        several = np.ndim(value) > 0
        table.add_row(name, ", ".join(f"{v:g}" for v in np.ravel(value)) if several else str(value))
    return table


def _path_table(points: list[dict[str, Any]]) -> Table:
    names = [name for name in points[0] if name not in _JSON_ONLY]
    table = Table(*names, box=box.SIMPLE_HEAD, title="best points", title_justify="left")
    for point in points:
        cells = (point[name] for name in names)
        table.add_row(*(f"{c:.4g}" if isinstance(c, float) else str(c) for c in cells))
    return table
