"""``kernelwise fit``: evaluate a method on a table, fit it to all rows, and save the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from . import options
from .console import Session, check_outputs, guarded, keeping
from .messages import show_cost, show_leaks, show_notes, show_rows_used, show_target
from .tables import columns_table, scores_table, weights_table

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..tabular import Column


@guarded
def fit(
    data: options.Data,
    target: options.TargetName,
    method: options.MethodName = "relevance",
    out: options.ModelOut = None,
    report: options.ReportOut = None,
    stability: options.Stability = 10,
    proba: options.Calibrate = False,
    drop: options.Drop = None,
    keep: options.Keep = None,
    category: options.Category = None,
    positive: options.Positive = None,
    balanced: options.Balanced = False,
    cv: options.Folds = None,
    test_size: options.TestSize = None,
    format: options.Format = None,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Fit a model to a table and evaluate it.

    The method is scored on held-out rows, beside guessing the largest class, a plain SVC (up to
    50,000 rows) and a forest (up to 200,000). Then it is fitted to all rows and, with --out, saved.
    """
    from .._models import final_estimator
    from ..evaluation import evaluate, fit_table
    from ..evaluation.evaluate import compared_methods
    from ..io import save
    from ..tabular import check_target, column_weights, read_table

    options.forbid_both(cv, test_size)
    session = Session(quiet, as_json)
    check_outputs([out, report], force, inputs=[data])
    frame = read_table(data, format=format)
    classes = check_target(frame, target, positive=positive)
    settings = options.fit_options(drop, keep, category, balanced, seed)
    columns = _columns(frame, target, method, settings)
    _show_table(session, frame, columns, saved=out is not None)
    show_target(session, classes, balanced)
    leaks = show_leaks(session, frame, classes, columns, seed)
    how = options.split_options(len(classes.y), cv, test_size)
    # A fit to half of the rows takes a quarter of the time, and the other checks of a report take
    # about as long as three fits.
    extra = 1 + (3 + stability // 4 if report else 0)
    names = compared_methods(method, options.yardsticks(len(classes.y)))
    show_cost(session, frame, classes, names, how, extra_fits=extra, **settings)
    settled = {"columns": columns, "against": names, **how, **settings}
    with session.progress() as progress:
        evaluation = evaluate(frame, classes, method, **settled, progress=progress)
    with session.progress() as progress, session.showing_warnings():
        progress(0, 1, "fitting all rows")
        model = fit_table(frame, classes, method, proba=proba, **settings)
    show_rows_used(session, final_estimator(model))
    weights, notes = tuple(column_weights(model)), (*evaluation.notes, *leaks)
    evaluation = replace(evaluation, weights=weights, notes=notes)
    _show_results(session, evaluation)
    if out is not None:
        proba, unlabelled = hasattr(model, "predict_proba"), classes.unlabelled_rows(frame)
        save(model, out, summary=_summary(evaluation, proba, balanced, unlabelled.tolist()))
    with keeping("nothing was written" if out is None else f"the model is in {out}"):
        if report is not None:
            _write_report(session, frame, evaluation, model, stability, data, out, report)
        _show_files(session, evaluation, out, report)


def _columns(frame: Any, target: str, method: str, settings: dict[str, Any]) -> list[Column]:
    """Describe the columns as the method reads them."""
    from ..evaluation import methods
    from ..tabular import describe_columns

    choice = {name: settings[name] for name in ("drop", "keep", "category")}
    return describe_columns(frame, target, **choice, one_hot=not methods()[method].reads_categories)


def _show_table(session: Session, frame: Any, columns: list[Column], saved: bool) -> None:
    """Show the size of the table and its columns, and whether the model will be saved."""
    session.say(f"{len(frame)} rows, {len(frame.columns)} columns")
    if not saved:
        session.say("the model will not be saved; add --out model.kw to save it")
    session.say(columns_table(columns))
    if ids := [column.name for column in columns if column.kind == "id" and not column.used]:
        session.say(f"add --keep {quote(ids[0])} to use a column that looks like an id")


def _summary(
    evaluation: Evaluation, proba: bool, balanced: bool, unlabelled: list[int]
) -> dict[str, Any]:
    """Return the facts for the header of the model file.

    The rows without a class are among them: the model counts only the others, but its user counts
    the rows of the table.
    """
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
        "unlabelled_rows": unlabelled,
    }


def _write_report(
    session: Session,
    frame: Any,
    evaluation: Evaluation,
    model: Any,
    n_resamples: int,
    data: str,
    out: Path | None,
    report: Path,
) -> None:
    """Check the columns, and write the report."""
    from ..inspection import check_model
    from ..report import write_report

    classes = evaluation.target
    with session.progress() as progress, session.showing_warnings():
        checks = check_model(
            model,
            classes.rows_of(frame),
            classes.y,
            n_resamples=n_resamples,
            positive=classes.positive,
            random_state=evaluation.seed,
            callback=progress,
        )
    name = "standard input" if data == "-" else Path(data).name
    write_report(evaluation, report, model=model, model_file=out, checks=checks, data_name=name)


def _show_results(session: Session, evaluation: Evaluation) -> None:
    show_notes(session, evaluation)
    session.show(scores_table(evaluation))
    if evaluation.weights:
        session.show(weights_table(evaluation.weights))
    else:
        session.show(f"{evaluation.best.label} does not weight the columns.")


def _show_files(
    session: Session, evaluation: Evaluation, out: Path | None, report: Path | None
) -> None:
    """Name the files that were written; as JSON with all results."""
    session.give(
        evaluation.as_dict()
        | {"columns": [vars(column) for column in evaluation.columns]}
        | {"model": out and str(out), "report": report and str(report)}
    )
    for kind, path in (("model", out), ("report", report)):
        if path is not None:
            session.say(f"{kind}: {path}")
