"""``kernelwise fit``: a table in, a model, a score and the weights of the columns out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import (
    AsJson,
    Balanced,
    Data,
    Drop,
    Folds,
    Force,
    Format,
    Keep,
    MethodName,
    Positive,
    Quiet,
    Seed,
    TargetName,
    TestSize,
    forbid_both,
    protocol,
    tell_cost,
    tell_notes,
    tell_target,
)
from .session import Session, check_outputs, guarded
from .tables import columns_table, scores_table, weights_table

if TYPE_CHECKING:
    from ..inspection import WeightStability
    from ..tabular import Evaluation, Target


@guarded
def fit(
    data: Data,
    target: TargetName,
    method: MethodName = "relevance",
    out: Annotated[Path | None, typer.Option(help="The model file to write.")] = None,
    report: Annotated[Path | None, typer.Option(help="The HTML page to write.")] = None,
    stability: Annotated[
        int,
        typer.Option(help="Resamples that the report judges the weights by; 0 for none.", min=0),
    ] = 10,
    proba: Annotated[
        bool, typer.Option("--proba", help="Make the model give probabilities; takes longer.")
    ] = False,
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
    """Learn from a table: judge on held-out rows, then fit all rows and save the model.

    The score stands beside guessing the largest class, a plain SVC and a forest.
    """
    from ..tabular import (
        check_target,
        column_weights,
        describe_columns,
        evaluate,
        fit_table,
        methods,
        read_table,
    )
    from ..tabular.evaluation import YARDSTICKS
    from ..tabular.probability import FITS
    from ..tabular.training import check_probabilities

    forbid_both(cv, test_size)
    if stability == 1:
        raise typer.BadParameter("one resample tells nothing; give 0, or 2 and more.")
    session = Session(quiet, as_json)
    check_outputs([out, report], force)
    frame = read_table(data, format=format)
    wanted: dict[str, Any] = {"drop": tuple(drop or ()), "keep": tuple(keep or ())}
    classes = check_target(frame, target, positive=positive)
    if proba:
        check_probabilities(classes, balanced)
    columns = describe_columns(frame, target, **wanted)
    session.say(f"{len(frame)} rows, {len(frame.columns)} columns")
    session.say(columns_table(columns))
    tell_target(session, classes, balanced)
    how = protocol(len(classes.y), cv, test_size)
    names = [method, *(name for name in YARDSTICKS if name != method)]
    own = FITS if proba and not (balanced and methods()[method].by_threshold) else 1
    own += stability // 4 if report else 0  # of half of the rows each
    wanted |= {"seed": seed, "balanced": balanced}
    tell_cost(session, frame, classes, names, how, extra_fits=own, **wanted)
    with session.progress() as progress:
        evaluation = evaluate(
            frame, target, method, **how, positive=positive, **wanted, progress=progress
        )
    with session.busy("fitting all rows"), session.telling_warnings():
        model = fit_table(frame, classes, method, proba=proba, **wanted)
    evaluation = replace(evaluation, weights=tuple(column_weights(model)))
    _show(session, evaluation)
    if out is not None:
        from ..io import save

        save(model, out, summary=_summary(evaluation, proba, balanced))
    if report is not None:
        from ..report import write_report

        varied = _stability(session, frame, classes, model, stability, seed)
        write_report(evaluation, report, model=model, model_file=out, stability=varied)
    _tell_files(session, evaluation, out, report)


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

    from ..inspection import weight_stability
    from ..tabular import machine_of

    machine = machine_of(model)
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
