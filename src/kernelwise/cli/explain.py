"""``kernelwise explain``: what a model file holds, and what the model has learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from .console import Session, guarded
from .options import AsJson, Model, Quiet
from .tables import weights_table

_POINTS = 5  # of a path that are shown
_WORK = {"n_iter", "n_solves", "seconds", "solved", "converged"}  # of a point: for machines only
_NUMBERS = ("C_", "gamma_", "eta_", "criterion_value_", "dual_objective_", "loo_error_")


@guarded
def explain(model: Model, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Show what a model has learned.

    That is its score, bound, support vectors, the best points of its path, and the weights.
    """
    from .._models import final_estimator
    from ..io import describe, load
    from ..tabular import TableError, column_weights

    if not model.is_file():
        raise TableError(f"there is no model file {str(model)!r}.")
    session = Session(quiet, as_json)
    header = describe(model)
    fitted = load(model)
    machine = final_estimator(fitted)
    weights = column_weights(fitted)
    facts, path = _facts(machine), _best_points(machine)
    session.show(_table(_head(header)))
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


def _head(header: dict[str, Any]) -> dict[str, Any]:
    """Return what is worth reading of the header."""
    found = {key: value for key, value in header["summary"].items() if value is not None}
    if header.get("classes"):
        found["classes"] = ", ".join(map(str, header["classes"]))
    return found | {"kernelwise": header.get("kernelwise")}


def _facts(machine: Any) -> dict[str, Any]:
    """Return what the machine has found, as far as it has such things."""
    facts: dict[str, Any] = {"machine": type(machine).__name__}
    for name in _NUMBERS:
        value = getattr(machine, name, None)
        if value is not None:
            facts[name.rstrip("_")] = np.round(value, 6)
    values = getattr(machine, "history_", {}).get("value", np.empty(0))
    if len(values):
        facts["bound"] = f"{values[0]:.4g} at first, {np.min(values):.4g} at best"
        facts["evaluations"] = len(values)
    if hasattr(machine, "n_support_"):
        counts = zip(machine.classes_.tolist(), machine.n_support_.tolist(), strict=True)
        each = ", ".join(f"{label}: {count}" for label, count in counts)
        facts["support vectors"] = f"{len(machine.support_)} of {machine.shape_fit_[0]} ({each})"
    if hasattr(machine, "margin_"):
        facts["margin"] = np.round(machine.margin_, 6)
    if hasattr(machine, "fit_status_"):
        facts["converged"] = machine.fit_status_ == 0
    return facts


def _best_points(machine: Any) -> list[dict[str, Any]]:
    """Return the best points of the path over width and C, where the machine walked one."""
    path = getattr(machine, "path_", None) or {}
    scores = path.get("score", path.get("held_out_error"))
    if scores is None:
        return []
    order = [k for k in np.argsort(scores, kind="stable") if not np.isnan(scores[k])]
    return [{name: values[k] for name, values in path.items()} for k in order[:_POINTS]]


def _table(facts: dict[str, Any]) -> Table:
    table = Table(box=box.SIMPLE, show_header=False)
    for name, value in facts.items():
        several = np.ndim(value) > 0
        table.add_row(name, ", ".join(f"{v:g}" for v in np.ravel(value)) if several else str(value))
    return table


def _path_table(points: list[dict[str, Any]]) -> Table:
    names = [name for name in points[0] if name not in _WORK]
    table = Table(*names, box=box.SIMPLE_HEAD, title="best points", title_justify="left")
    for point in points:
        cells = (point[name] for name in names)
        table.add_row(*(f"{c:.4g}" if isinstance(c, float) else str(c) for c in cells))
    return table
