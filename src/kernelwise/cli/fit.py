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
    from ..tabular import Evaluation


@guarded
def fit(
    data: Data,
    target: TargetName,
    method: MethodName = "relevance",
    out: Annotated[Path | None, typer.Option(help="The model file to write.")] = None,
    report: Annotated[Path | None, typer.Option(help="The HTML page to write.")] = None,
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
        _write_report(evaluation, report, model, out)
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


def _write_report(evaluation: Evaluation, path: Path, model: Any, model_file: Path | None) -> None:
    from ..report import write_report

    write_report(evaluation, path, model=model, model_file=model_file)


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
