"""``kernelwise fit``: evaluate a method on a table, fit it to all rows, and save the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from . import options
from .console import Session, check_outputs, fail, guarded, keeping
from .inputs import read, read_target
from .messages import show_leaks, show_next, show_notes, show_outcome, show_rarity
from .tables import columns_table, costs_data, costs_table, scores_table, weights_table

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..inspection import ColumnImportance
    from ..tabular import Column, Target

_PART_MISSING = 3  # exit code where the model is there, but the report or a part of it is not


@guarded
def fit(
    data: options.Data,
    target: options.TargetName,
    task: options.Task = "auto",
    method: options.MethodName = "relevance",
    out: options.ModelOut = None,
    report: options.ReportOut = None,
    stability: options.Stability = 10,
    metric: options.MetricName = None,
    drop: options.Drop = None,
    keep: options.Keep = None,
    category: options.Category = None,
    positive: options.Positive = None,
    min_class: options.MinClass = 5,
    balanced: options.Balanced = False,
    cv: options.Folds = None,
    test_size: options.TestSize = None,
    copies: options.Copies = "together",
    format: options.Format = None,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Fit a model to a table and evaluate it.

    The target is classes or a number. The method is scored on held-out rows, beside guessing, a
    forest, and a plain SVC or ridge regression. Then it is fitted to all rows and, with --out,
    saved.
    """
    from ..report.page import check_packages
    from ..tabular.errors import require_columns

    options.forbid_both(cv, test_size)
    session = Session(quiet, as_json)
    check_outputs([out, report], force, inputs=[data])
    if report is not None:
        check_packages()
    frame = read(session, data, format)
    require_columns(frame, [target], "target")
    settings = options.fit_options(drop, keep, category, balanced, seed)
    columns = _columns(frame, target, method, settings)
    _show_table(session, frame, columns, saved=out is not None)
    found = read_target(session, frame, target, task, positive, min_class)
    show_rarity(session, found, metric, balanced)
    leaks = show_leaks(session, frame, found, columns, seed)
    how = options.split_options(len(found.y), cv, test_size) | {
        "columns": columns,
        "copies": copies,
    }
    fitted = _evaluated(session, frame, found, method, settings, leaks, metric=metric, **how)
    if out is not None:
        _save(session, frame, fitted, balanced, out)
    _show_results(session, fitted)
    missing: list[str] = []
    if report is not None:
        with keeping("nothing was written" if out is None else f"the model is in {out}"):
            missing = _write_report(session, frame, fitted, stability, data, out, report)
    _give(session, fitted, out, report, missing)
    show_outcome(session, fitted.evaluation)
    if out is not None:
        show_next(session, out, data)
    if missing:
        fail(f"the report lacks a part: {'; '.join(missing)}", _PART_MISSING)


def _columns(frame: Any, target: str, method: str, settings: dict[str, Any]) -> list[Column]:
    """Describe the columns as the method reads them."""
    from ..evaluation import methods
    from ..tabular import describe_columns

    choice = {name: settings[name] for name in ("drop", "keep", "category")}
    return describe_columns(frame, target, **choice, one_hot=not methods()[method].reads_categories)


class _Fitted(NamedTuple):
    """A model of all rows, its scores, and what its columns cost."""

    evaluation: Evaluation
    model: Any
    costs: ColumnImportance | None


def _evaluated(
    session: Session,
    frame: Any,
    target: Target,
    method: str,
    settings: dict[str, Any],
    notes: list[str],
    **how: Any,
) -> _Fitted:
    """Score a method, and fit it to all rows; return scores, model and costs of the columns."""
    from ..evaluation import evaluate, fit_table
    from ..inspection.importance import HeldOutCosts
    from ..inspection.model_checks import failure_text
    from ..tabular import column_weights

    n_splits = 1 if how["test_size"] else how["cv"]
    costs = HeldOutCosts(target.rows_of(frame), target.y, n_splits, random_state=settings["seed"])
    failures: list[str] = []

    def measure(pipeline: Any, held_out: Any) -> None:
        try:
            costs.add(pipeline, held_out)
        except Exception as error:  # scores are of use without them
            failures.append(f"costs of the columns: {failure_text(error)}")

    with session.progress() as progress:
        evaluation = evaluate(
            frame, target, method, **how, **settings, progress=progress, fitted=measure
        )
    with session.progress() as progress, session.showing_warnings():
        progress(0, 1, "fitting all rows")
        model = fit_table(frame, target, method, **settings)
    for failure in failures[:1]:
        session.note(failure)
    found = None if failures else costs.result(model)
    weights, all_notes = tuple(column_weights(model)), (*evaluation.notes, *notes)
    return _Fitted(replace(evaluation, weights=weights, notes=all_notes), model, found)


def _show_table(session: Session, frame: Any, columns: list[Column], saved: bool) -> None:
    """Show the size of the table and its columns, and whether the model will be saved."""
    session.say(f"{len(frame)} rows, {len(frame.columns)} columns")
    if not saved:
        session.say("the model will not be saved; add --out model.kw to save it")
    session.say(columns_table(columns))
    if ids := [column.name for column in columns if column.kind == "id" and not column.used]:
        session.say(f"add --keep {quote(ids[0])} to use a column that looks like an id")


def _show_results(session: Session, fitted: _Fitted) -> None:
    evaluation, _, costs = fitted
    show_notes(session, evaluation)
    session.show(scores_table(evaluation))
    if costs is not None:
        session.show(costs_table(costs_data(costs)))
    elif evaluation.weights:
        session.show(weights_table(evaluation.weights))
    else:
        session.show(f"{evaluation.best.label} does not weight the columns.")


def _save(session: Session, frame: Any, fitted: _Fitted, balanced: bool, out: Path) -> None:
    """Save the model, and name its file at once: nothing that follows can take it away."""
    from ..inspection.model_checks import failure_text
    from ..io import save
    from .explain import measured_effects

    evaluation, model, costs = fitted
    summary, target = _summary(evaluation, balanced), evaluation.target
    summary |= {} if costs is None else {"costs": costs_data(costs)}
    save(model, out, summary=summary)
    session.say(f"model: {out}")
    with session.showing_warnings(), keeping(f"the model is in {out}"):
        try:
            rows, positive = target.rows_of(frame), getattr(target, "positive", None)
            effects = measured_effects(model, rows, positive)
        except Exception as error:  # the model is of use without its effects
            session.note(f"effects of the columns: {failure_text(error)}")
        else:
            save(model, out, summary=summary | {"effects": effects})


def _summary(evaluation: Evaluation, balanced: bool) -> dict[str, Any]:
    """Return the facts for the header of the model file."""
    best, target = evaluation.best, evaluation.target
    return {
        "target": target.name,
        "task": target.task,
        "positive": getattr(target, "positive", None),
        "set_aside": list(getattr(target, "set_aside", ())),
        "method": best.method,
        "balanced": balanced,
        "metric": evaluation.metric,
        "score": float(f"{best.mean(evaluation.metric):.7g}"),
        "spread": float(f"{best.spread(evaluation.metric):.7g}"),
        "protocol": evaluation.protocol,
        "seed": evaluation.seed,
    }


def _write_report(
    session: Session,
    frame: Any,
    fitted: _Fitted,
    n_resamples: int,
    data: str,
    out: Path | None,
    report: Path,
) -> list[str]:
    """Check the columns, and write the report; return sentences on what it lacks."""
    from ..inspection import check_model
    from ..report.page import report_sections, write_page

    evaluation, model, costs = fitted
    target = evaluation.target
    with session.progress() as progress, session.showing_warnings():
        checks = check_model(
            model,
            target.rows_of(frame),
            target.y,
            n_resamples=n_resamples,
            positive=getattr(target, "positive", None),
            importance=costs,
            random_state=evaluation.seed,
            callback=progress,
        )
    name = "standard input" if data == "-" else Path(data).name
    sections = report_sections(evaluation, model=model, checks=checks)
    write_page(sections, report, model_file=out, data_name=name)
    session.say(f"report: {report}")
    return sections.failures


def _give(
    session: Session,
    fitted: _Fitted,
    out: Path | None,
    report: Path | None,
    missing: list[str],
) -> None:
    """Print all results as JSON, with the files that were written."""
    evaluation, _, costs = fitted
    session.give(
        evaluation.as_dict()
        | {"columns": [vars(column) for column in evaluation.columns]}
        | {"costs": costs and costs_data(costs)}
        | {"model": out and str(out), "report": report and str(report), "missing": missing}
    )
