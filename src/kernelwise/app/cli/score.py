"""``kernelwise score``: how well a saved model does on rows that it has not seen."""

from __future__ import annotations

from typing import Any

from . import options
from .console import Session, guarded
from .inputs import as_dicts, check_table, load_table_model, read
from .tables import calibration_table, drift_table, metrics_table


@guarded
def score(
    model: options.Model,
    data: options.Data,
    target: options.OtherTarget = None,
    allow: options.Allow = False,
    format: options.Format = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Score a model on later rows.

    The rows must not have taken part in the fit. All metrics come with 95 % confidence intervals,
    and with what guessing gets. Two more tables show whether the probabilities or intervals are
    right, and which columns are distributed differently than in training.
    """
    from ..evaluation import score_model
    from ..evaluation.results import METRICS, value_text

    session = Session(quiet, as_json)
    fitted, summary = load_table_model(model)
    name = target or str(summary.get("target", ""))
    frame = _without_set_aside(session, read(session, data, format), name, summary)
    checks = check_table(session, fitted, frame.drop(columns=name, errors="ignore"), allow)
    with session.showing_warnings():
        found = score_model(fitted, frame, name, positive=summary.get("positive"))
    if found.n_left_out:
        session.note(f"{found.n_left_out} rows without a target are left out")
    if "score" in summary:
        metric = summary["metric"]
        before, spread = (value_text(metric, summary[key]) for key in ("score", "spread"))
        session.say(f"at fit: {METRICS[metric]} {before} ± {spread}, {summary['protocol']}")
    session.show(metrics_table(found))
    if found.calibration:
        session.show(calibration_table(found))
    session.show(drift_table(found.drift))
    session.give(found.as_dict() | {"checks": as_dicts(checks), "model": str(model)})


def _without_set_aside(session: Session, frame: Any, name: str, summary: dict[str, Any]) -> Any:
    """Leave out rows of classes that the fit has set aside."""
    aside = set(map(str, summary.get("set_aside") or ()))
    if not aside or name not in frame:
        return frame
    is_aside = frame[name].astype(str).str.strip().isin(aside).to_numpy()
    if is_aside.any():
        session.note(f"{is_aside.sum()} rows of classes that the fit set aside are left out")
    return frame[~is_aside]
