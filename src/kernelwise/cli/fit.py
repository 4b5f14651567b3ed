"""``kernelwise fit``: a table in, a model, a score and the weights of the columns out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import Session, check_outputs, guarded
from .messages import tell_cost, tell_notes, tell_target
from .options import (
    AsJson,
    Balanced,
    Calibrate,
    Data,
    Drop,
    Folds,
    Force,
    Format,
    Keep,
    MethodName,
    ModelOut,
    Positive,
    Quiet,
    ReportOut,
    Seed,
    Stability,
    TargetName,
    TestSize,
    forbid_both,
    protocol,
    wishes,
)
from .tables import columns_table, scores_table, weights_table

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..inspection import WeightStability
    from ..tabular import Target


@guarded
def fit(
    data: Data,
    target: TargetName,
    method: MethodName = "relevance",
    out: ModelOut = None,
    report: ReportOut = None,
    stability: Stability = 10,
    proba: Calibrate = False,
    drop: Drop = None,
    keep: Keep = None,
    positive: Positive = None,
    balanced: Balanced = False,
    cv: Folds = None,
    test_size: TestSize = None,
    format: Format = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Learn a model from a table, and judge it.

    The method is judged on held-out rows, beside guessing the largest class, a plain SVC and a
    forest; then it is fitted to all rows, and the model is saved.
    """
    from ..evaluation import evaluate, fit_table
    from ..evaluation.fitting import check_probabilities
    from ..tabular import check_target, column_weights, read_table

    forbid_both(cv, test_size)
    session = Session(quiet, as_json)
    check_outputs([out, report], force)
    frame = read_table(data, format=format)
    classes = check_target(frame, target, positive=positive)
    if proba:
        check_probabilities(classes, balanced)
    wanted = wishes(drop, keep, balanced, seed)
    _tell_columns(session, frame, target, wanted)
    tell_target(session, classes, balanced)
    how = protocol(len(classes.y), cv, test_size)
    extra = _extra_fits(method, proba, balanced, stability if report else 0)
    tell_cost(session, frame, classes, _compared(method), how, extra_fits=extra, **wanted)
    with session.progress() as progress:
        evaluation = evaluate(
            frame, target, method, **how, positive=positive, **wanted, progress=progress
        )
    with session.busy("fitting all rows"), session.telling_warnings():
        model = fit_table(frame, classes, method, proba=proba, **wanted)
    evaluation = replace(evaluation, weights=tuple(column_weights(model)))
    _show(session, evaluation)
    if out is not None:
        _save(model, out, evaluation, proba, balanced)
    if report is not None:
        varied = _stability(session, frame, classes, model, stability, seed)
        _write_report(evaluation, report, model, out, varied)
    _tell_files(session, evaluation, out, report)


def _tell_columns(session: Session, frame: Any, target: str, wanted: dict[str, Any]) -> None:
    from ..tabular import describe_columns

    columns = describe_columns(frame, target, drop=wanted["drop"], keep=wanted["keep"])
    session.say(f"{len(frame)} rows, {len(frame.columns)} columns")
    session.say(columns_table(columns))


def _compared(method: str) -> list[str]:
    """Return the method and what stands beside it."""
    from ..evaluation.evaluate import YARDSTICKS

    return [method, *(name for name in YARDSTICKS if name != method)]


def _extra_fits(method: str, proba: bool, balanced: bool, n_resamples: int) -> int:
    """Return how many fits of all rows come after the judging."""
    from ..evaluation import methods
    from ..evaluation.calibration import FITS

    own = FITS if proba and not (balanced and methods()[method].by_threshold) else 1
    return own + n_resamples // 4  # of half of the rows each


def _save(model: Any, out: Path, evaluation: Evaluation, proba: bool, balanced: bool) -> None:
    from ..io import save

    save(model, out, summary=_summary(evaluation, proba, balanced))


def _summary(evaluation: Evaluation, proba: bool, balanced: bool) -> dict[str, Any]:
    """Return what the header of the model file tells."""
    best = evaluation.best
    return {
        "target": evaluation.target.name,
        "positive": evaluation.target.positive,
        "method": best.method,
        "probabilities": proba,
        "balanced": balanced,
        "metric": evaluation.metric,
        "score": round(best.mean(evaluation.metric), 6),
        "spread": round(best.spread(evaluation.metric), 6),
        "protocol": evaluation.protocol,
        "seed": evaluation.seed,
    }


def _stability(
    session: Session, frame: Any, classes: Target, model: Any, n_resamples: int, seed: int
) -> WeightStability | None:
    """Return how the weights vary over resamples; None where there are none, or it is not wanted.

    The columns are encoded as for the model, which does not look at the classes.
    """
    import pandas as pd
    from sklearn.base import clone

    from .._models import final_estimator
    from ..inspection import weight_stability

    machine = final_estimator(model)
    if n_resamples == 0 or not hasattr(machine, "feature_importances_"):
        return None
    rows = frame.iloc[classes.rows].drop(columns=classes.name)
    encoded = pd.DataFrame(model[:-1].transform(rows), columns=model[0].outputs_)
    with session.progress() as progress, session.telling_warnings():
        return weight_stability(
            clone(machine),
            encoded,
            classes.y,
            n_resamples=n_resamples,
            random_state=seed,
            verbose=False,
            callback=lambda done, of: progress(done, of, "resamples"),
        )


def _write_report(
    evaluation: Evaluation,
    path: Path,
    model: Any,
    model_file: Path | None,
    stability: WeightStability | None,
) -> None:
    from ..report import write_report

    write_report(evaluation, path, model=model, model_file=model_file, stability=stability)


def _show(session: Session, evaluation: Evaluation) -> None:
    tell_notes(session, evaluation)
    session.show(scores_table(evaluation))
    if evaluation.weights:
        session.show(weights_table(evaluation.weights))
    else:
        session.show(f"{evaluation.best.label} does not weigh the columns.")


def _tell_files(
    session: Session, evaluation: Evaluation, out: Path | None, report: Path | None
) -> None:
    """Say what was written; for machines with all numbers."""
    session.give(
        evaluation.as_dict()
        | {"columns": [vars(column) for column in evaluation.columns]}
        | {"model": out and str(out), "report": report and str(report)}
    )
    for what, path in (("model", out), ("report", report)):
        if path is not None:
            session.say(f"{what}: {path}")
    if out is None:
        session.say("the model was not saved; --out model.kw saves it")
