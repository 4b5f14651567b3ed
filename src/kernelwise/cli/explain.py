"""``kernelwise explain``: the contents of a model file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table

from . import options
from .console import Session, guarded, require_model_file
from .tables import extra_width, in_lines, weights_table

if TYPE_CHECKING:
    from ..inspection import ColumnEffects

_N_POINTS = 5  # points of a path that are shown
_JSON_ONLY = {"n_iter", "n_solves", "seconds", "solved", "converged"}  # facts of a point
_NUMBERS = ("C_", "gamma_", "eta_", "criterion_value_", "dual_objective_")
_NAME_WIDTH = 15  # characters of a column's name in a line of the effects, in 80 columns
_LEVELS = "▁▂▃▄▅▆▇█"  # characters of a sparkline, from low to high


@guarded
def explain(
    model: options.Model,
    data: options.EffectRows = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what a model has learned.

    This includes its score, support vectors, the best points of its path, the weights, and how its
    predictions change with the columns that matter most.
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
    effects = _effects(session, fitted, header["summary"], data)
    session.show(_table(_summary(header)))
    session.show(_table(facts))
    if path:
        session.show(_path_table(path))
    if weights:
        session.show(weights_table(weights))
    if effects is not None and len(effects):
        session.show(_effects_table(effects))
    session.give(
        {
            "header": header,
            "machine": facts,
            "path": path,
            "weights": [vars(weight) for weight in weights],
            "effects": None if effects is None else _effects_list(effects),
        }
    )


def _effects(
    session: Session, fitted: Any, summary: dict[str, Any], data: str | None
) -> ColumnEffects | None:
    """Measure the effects of columns on the rows of a table, where one is given."""
    from ..inspection import column_effects
    from ..tabular import read_table

    if data is None:
        session.note("add --data TABLE for effects of the columns")
        return None
    rows = read_table(data).drop(columns=str(summary.get("target", "")), errors="ignore")
    with session.showing_warnings():
        return column_effects(fitted, rows, positive=summary.get("positive"))


def _effects_table(effects: ColumnEffects) -> Table:
    """Return the direction of each leading column, with a small curve over its values."""
    several = len(effects.outputs) > 1
    of = f"{effects.output} of the class that changes most"
    name = of if several else effects.name_of(effects.outputs[0])
    title = f"mean {name}, over {effects.n_rows} rows"
    drawn = "utf" in (sys.stdout.encoding or "").lower()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), title=title, title_justify="left")
    room = _NAME_WIDTH + extra_width()
    table.add_column("column", min_width=12, max_width=room, overflow="fold")
    for head in (*["class"] * several, "direction"):
        table.add_column(head, overflow="fold")
    for head in ("lowest", "highest", *["low to high values"] * drawn):
        table.add_column(head, no_wrap=True)
    most = max(float(effect.range.max()) for effect in effects)
    for effect in effects:
        output = effects.leading_output(effect)
        mean = effect.mean[:, output]
        own = [effects.class_of(output)] * several
        ends = f"{mean.min():.2f}", f"{mean.max():.2f}"
        curve = _sparkline(mean, most) if effect.grid is not None else ""
        table.add_row(
            in_lines(effect.name, room), *own, effect.direction(output), *ends, *[curve] * drawn
        )
    return table


def _sparkline(values: Any, most: float) -> str:
    """Return a curve as one character per value; ``most`` is the range of the tallest curve."""
    levels = (values - values.min()) / (most or 1.0) * (len(_LEVELS) - 1)
    return "".join(_LEVELS[level] for level in np.round(levels).astype(int))


def _effects_list(effects: ColumnEffects) -> list[dict[str, Any]]:
    """Return the effects for JSON."""
    return [
        {
            "column": effect.name,
            "class": effects.class_of(output),
            "output": effects.output,
            "direction": effect.direction(output),
            "values": list(effect.labels),
            "mean": effect.mean[:, output].round(6).tolist(),
            "missing": None
            if effect.missing is None
            else round(float(effect.missing[:, output].mean()), 6),
        }
        for effect in effects
        for output in effects.outputs
    ]


def _summary(header: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of the header for a person."""
    from ..evaluation.results import METRICS

    facts = {key: value for key, value in header["summary"].items() if value is not None}
    unlabelled = facts.pop("unlabelled_rows", [])
    if unlabelled:
        facts["rows without a class"] = len(unlabelled)
    score, spread, metric = (facts.pop(key, None) for key in ("score", "spread", "metric"))
    if score is not None and metric is not None:
        text = f"{score:.3f}" if spread is None else f"{score:.3f} ± {spread:.3f}"
        facts[f"{METRICS.get(metric, metric)} on held-out rows"] = text
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
    history = getattr(final, "history_", {})
    values = history.get("value", np.empty(0))
    if len(values):
        is_evidence = "kernel" in history and "weights" not in history
        facts["negative log evidence" if is_evidence else "bound"] = (
            f"{values[0]:.4g} at first, {np.min(values):.4g} at best"
        )
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
    """Return the best points of the path over width and C, where the estimator has one.

    What the points were selected by is called the criterion, because it is no score to report:
    errors of points that were selected by them are too low, and are left out.
    """
    path = getattr(final, "path_", None) or {}
    scores = path.get("score", path.get("held_out_error"))
    if scores is None:
        return []
    order = [k for k in np.argsort(scores, kind="stable") if not np.isnan(scores[k])]
    names = {name: "criterion" if name == "score" else name for name in path if name != "loo_error"}
    return [{new: path[old][k] for old, new in names.items()} for k in order[:_N_POINTS]]


def _table(facts: dict[str, Any]) -> Table:
    table = Table(box=box.SIMPLE, show_header=False)
    for name, value in facts.items():
        several = np.ndim(value) > 0
        table.add_row(name, ", ".join(f"{v:g}" for v in np.ravel(value)) if several else str(value))
    return table


def _path_table(points: list[dict[str, Any]]) -> Table:
    names = [name for name in points[0] if name not in _JSON_ONLY]
    title = "best points of the path, by the criterion (lowest first)"
    table = Table(*names, box=box.SIMPLE_HEAD, title=title, title_justify="left")
    for point in points:
        cells = (point[name] for name in names)
        table.add_row(*(f"{c:.4g}" if isinstance(c, float) else str(c) for c in cells))
    return table
