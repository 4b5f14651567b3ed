"""``kernelwise explain``: the contents of a model file."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from . import options
from .console import Session, guarded, require_model_file
from .inputs import read
from .tables import costs_table, extra_width, in_lines, weights_table

_N_POINTS = 5  # points of a path that are shown
_JSON_ONLY = {"n_iter", "n_solves", "seconds", "solved", "converged", "member"}  # facts of a point
_CRITERIA = ("loss", "score", "held_out_error")  # by which a path is ordered
_NUMBERS = ("C_", "gamma_", "eta_", "criterion_value_", "dual_objective_")
_HIDDEN = {"costs", "effects", "set_aside", "score", "spread", "metric"}  # parts of the summary
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

    This includes its score, the best points of its path, what each column costs on held-out rows,
    and how its predictions change with the columns that matter most.
    """
    from ..._models import final_estimator
    from ..io import describe, load
    from ..tabular import column_weights

    require_model_file(model)
    session = Session(quiet, as_json)
    header = describe(model)
    fitted, summary = load(model), header["summary"]
    final, weights = final_estimator(fitted), column_weights(fitted)
    facts, path = _facts(final), _best_points(final)
    effects = summary.get("effects") or []
    if data is not None:
        rows = read(session, data).drop(columns=str(summary.get("target", "")), errors="ignore")
        with session.showing_warnings():
            effects = measured_effects(fitted, rows, summary.get("positive"))
    elif not effects:
        session.note("add --data TABLE for effects of the columns")
    session.show(_table(_summary(header)))
    session.show(_table(facts))
    if path:
        session.show(_path_table(path))
    if costs := summary.get("costs"):
        session.show(costs_table(costs))
    elif weights:
        session.show(weights_table(weights))
    if effects:
        session.show(_effects_table(effects))
    session.give(
        {
            "header": header,
            "machine": facts,
            "path": path,
            "costs": costs,
            "weights": [vars(weight) for weight in weights],
            "effects": effects,
        }
    )


def measured_effects(fitted: Any, rows: Any, positive: Any) -> list[dict[str, Any]]:
    """Return the effects of the leading columns as plain data, on the output that changes most."""
    from ..inspection import column_effects

    effects = column_effects(fitted, rows, positive=positive)
    leading = [(effect, effects.leading_output(effect)) for effect in effects]
    return [
        {
            "column": effect.name,
            "of": effects.name_of(output),
            "direction": effect.direction(output),
            "values": list(effect.labels),
            "is_number": effect.grid is not None,
            "mean": [float(f"{value:.6g}") for value in effect.mean[:, output].tolist()],
            "missing": None
            if effect.missing is None
            else float(f"{effect.missing[:, output].mean():.6g}"),
            "n_rows": effects.n_rows,
        }
        for effect, output in leading
    ]


def _effects_table(effects: list[dict[str, Any]]) -> Table:
    """Return the direction of each leading column, with a small curve over its values."""
    from ..evaluation.results import significant
    from ..inspection.effects import FLAT

    told = [effect for effect in effects if effect["direction"] != FLAT]
    outputs = {effect["of"] for effect in effects}
    several = len(outputs) > 1
    name = "output that changes most" if several else outputs.pop()
    title = f"mean {name}, over {effects[0]['n_rows']} rows"
    if len(told) < len(effects):
        n_flat = len(effects) - len(told)
        title += f"; left out: {n_flat} column{'s' * (n_flat > 1)} with {FLAT}"
    drawn = "utf" in (sys.stdout.encoding or "").lower()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), title=title, title_justify="left")
    room = _NAME_WIDTH + extra_width()
    table.add_column("column", min_width=12, max_width=room, overflow="fold")
    for head in (*["mean"] * several, "direction"):
        table.add_column(head, overflow="fold")
    for head in ("lowest", "highest", *["low to high values"] * drawn):
        table.add_column(head, no_wrap=True)
    most = max((float(np.ptp(effect["mean"])) for effect in told), default=1.0)
    for effect in told:
        mean = np.array(effect["mean"])
        ends = significant(mean.min(), 3), significant(mean.max(), 3)
        curve = _sparkline(mean, most) if effect["is_number"] else ""
        table.add_row(
            in_lines(effect["column"], room),
            *[effect["of"]] * several,
            effect["direction"],
            *ends,
            *[curve] * drawn,
        )
    return table


def _sparkline(values: Any, most: float) -> str:
    """Return a curve as one character per value; ``most`` is the range of the tallest curve."""
    levels = (values - values.min()) / (most or 1.0) * (len(_LEVELS) - 1)
    return "".join(_LEVELS[level] for level in np.round(levels).astype(int))


def _summary(header: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of the header for a person."""
    from ..evaluation.results import METRICS, value_text

    summary = header["summary"]
    facts = {k: v for k, v in summary.items() if v is not None and k not in _HIDDEN}
    metric, score, spread = (summary.get(key) for key in ("metric", "score", "spread"))
    if score is not None and metric in METRICS:
        text = value_text(metric, score)
        text += "" if spread is None else f" ± {value_text(metric, spread)}"
        facts[f"{METRICS[metric]} on held-out rows"] = text
    if header.get("classes"):
        facts["classes"] = ", ".join(map(str, header["classes"]))
    if summary.get("set_aside"):
        facts["classes set aside"] = ", ".join(map(str, summary["set_aside"]))
    return facts | {"kernelwise": header.get("kernelwise")}


def _facts(final: Any) -> dict[str, Any]:
    """Return the learned parameters, support vectors and margin, where there are some."""
    facts: dict[str, Any] = {"machine": type(final).__name__}
    for name in _NUMBERS:
        value = getattr(final, name, None)
        if value is not None:
            facts[name.rstrip("_")] = np.round(value, 6)
    if hasattr(final, "selected_features_"):
        selected = np.asarray(final.selected_features_)
        facts["columns that are read"] = f"{int(selected.sum())} of {selected.size}"
    if hasattr(final, "n_support_") and hasattr(final, "support_"):
        counts = zip(final.classes_.tolist(), final.n_support_.tolist(), strict=True)
        each = ", ".join(f"{label}: {count}" for label, count in counts)
        facts["support vectors"] = f"{len(final.support_)} of {final.shape_fit_[0]} ({each})"
    if hasattr(final, "margin_") and np.size(final.margin_) <= _N_POINTS:
        facts["margin"] = np.round(final.margin_, 6)
    if hasattr(final, "fit_status_"):
        facts["converged"] = final.fit_status_ == 0
    return facts


def _best_points(final: Any) -> list[dict[str, Any]]:
    """Return the best points of a path, where the estimator has one.

    What the points were selected by is called the criterion, because it is no score to report:
    errors of points that were selected by them are too low, and are left out.
    """
    path = getattr(final, "path_", None) or {}
    by = next((name for name in _CRITERIA if name in path), None)
    if by is None:
        return []
    scores = np.asarray(path[by], dtype=np.float64)
    order = [k for k in np.argsort(scores, kind="stable") if not np.isnan(scores[k])]
    names = {name: "criterion" if name == by else name for name in path if name != "loo_error"}
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
