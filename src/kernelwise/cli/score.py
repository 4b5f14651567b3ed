"""``kernelwise score``: how well a saved model does on rows that it has not seen."""

from __future__ import annotations

from . import options
from .checks import as_dicts, check_table
from .console import Session, guarded
from .models import load_table_model
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
    and with what guessing gets. Two more tables show whether the probabilities are right, and
    which columns are distributed differently than in training.
    """
    from ..evaluation import score_model
    from ..evaluation.results import METRICS
    from ..tabular import read_table

    session = Session(quiet, as_json)
    fitted, summary = load_table_model(model)
    name = target or str(summary.get("target", ""))
    frame = read_table(data, format=format)
    checks = check_table(session, fitted, frame.drop(columns=name, errors="ignore"), allow)
    with session.showing_warnings():
        found = score_model(fitted, frame, name, positive=summary.get("positive"))
    if found.n_left_out:
        session.note(f"{found.n_left_out} rows without a class are left out")
    if "score" in summary:
        before = f"{METRICS[summary['metric']]} {summary['score']:.3f} ± {summary['spread']:.3f}"
        session.say(f"at fit: {before}, {summary['protocol']}")
    session.show(metrics_table(found))
    if found.calibration:
        session.show(calibration_table(found))
    session.show(drift_table(found.drift))
    session.give(found.as_dict() | {"checks": as_dicts(checks), "model": str(model)})
