"""``kernelwise reproduce``: repeat the experiments of the papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .._text import duration
from . import options
from .console import Session, fail, guarded

if TYPE_CHECKING:
    from ..experiments import Experiment, Outcome, Scale

_MAX_FAILURES = 3  # failures that are shown; the result file has them all


@guarded
def reproduce(
    names: options.Experiments = None,
    list_all: options.ListAll = False,
    quick: options.Quick = False,
    repeats: options.NumberOfSplits = None,
    only: options.Only = None,
    jobs: options.Jobs = 1,
    backend: options.Backend = None,
    seed: options.Seed = 0,
    results: options.ResultsDir = Path("kernelwise-results"),
    data_dir: options.DataDir = None,
    fresh: options.Fresh = False,
    render: options.Render = False,
    html: options.HtmlOut = None,
    markdown: options.MarkdownOut = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Repeat the experiments of the papers.

    Tables and figures are shown beside those of the papers. Finished tasks are kept in result
    files, so an interrupted command continues where it stopped.
    """
    from ..experiments import ExperimentError, run

    session = Session(quiet, as_json)
    experiments = _selected(names or ())
    if list_all:
        _list(session, experiments)
        return
    scales = [each.scale("quick" if quick else "full", repeats) for each in experiments]
    how: dict[str, Any] = {"seed": seed, "n_jobs": jobs, "backend": backend, "data_dir": data_dir}
    how |= {"only": only or (), "fresh": fresh, "quiet": quiet}
    outcomes: list[Outcome] = []
    try:
        for experiment, scale in _with_work(experiments, scales, only or (), render):
            _announce(session, experiment, scale, only or (), results, jobs, fresh)
            outcomes.append(run(experiment, results, scale=scale, **how))
            _report_left_out(session, outcomes[-1])
        _show_results(session, experiments, results, scales[0].name, html, markdown)
    except ExperimentError as error:
        fail(str(error), 1)
    except KeyboardInterrupt:
        fail(f"interrupted; results are kept in {results}, and the same command continues", 130)
    _report_failures(outcomes)


def _list(session: Session, experiments: Sequence[Experiment]) -> None:
    from ..experiments.engine.terminal import list_facts, list_view

    session.show(list_view(experiments))
    session.give([list_facts(each) for each in experiments])


def _selected(names: Sequence[str]) -> list[Experiment]:
    from ..experiments import ExperimentError, select

    try:
        return select(names)
    except ExperimentError as error:
        raise typer.BadParameter(str(error)) from error


def _with_work(
    experiments: Sequence[Experiment], scales: Sequence[Scale], only: Sequence[str], render: bool
) -> list[tuple[Experiment, Scale]]:
    """Return the experiments to run; raise for a data set that none of them has."""
    from ..experiments.engine.runner import chosen

    pairs = list(zip(experiments, scales, strict=True))
    known = {task["dataset"] for e, scale in pairs for task in e.tasks(scale) if "dataset" in task}
    for name in only:
        if name not in known:
            there = ", ".join(sorted(known))
            raise typer.BadParameter(f"--only: there is no data set {name!r}; choose from {there}")
    return [] if render else [(e, scale) for e, scale in pairs if chosen(e, scale, only)]


def _announce(
    session: Session,
    experiment: Experiment,
    scale: Scale,
    only: Sequence[str],
    folder: Path,
    jobs: int,
    fresh: bool,
) -> None:
    """Show the number of tasks and the time that they will take."""
    from joblib import effective_n_jobs

    from ..experiments.engine.runner import chosen, plan
    from ..experiments.engine.store import ResultFile

    done = None if fresh else ResultFile(folder, experiment.name, scale.name).read()
    ahead = plan(experiment, chosen(experiment, scale, only), done)
    processes = effective_n_jobs(jobs)
    text = f"{experiment.name}: {len(ahead.todo)} of {len(ahead.tasks)} tasks to do"
    if ahead.todo:
        text += f", about {duration(ahead.seconds)} of CPU"
        text += f", {duration(ahead.seconds / processes)} on {processes} cores" * (processes > 1)
    session.say(text)


def _show_results(
    session: Session,
    experiments: Sequence[Experiment],
    folder: Path,
    scale: str,
    html: Path | None,
    markdown: Path | None,
) -> None:
    """Show the results in the files, and write the pages."""
    from ..experiments import ExperimentError, sections, write_html, write_markdown
    from ..experiments.engine.sections import as_json
    from ..experiments.engine.terminal import section_view

    found, missing = sections(experiments, folder, scale)
    if missing:
        session.say(f"not measured yet: {', '.join(missing)}")
    if not found:
        raise ExperimentError(f"no results in {folder}: nothing to show")
    for section in found:
        session.show(section_view(section))
    session.give([as_json(section) for section in found])
    if html is not None:
        write_html(found, html)
    if markdown is not None:
        write_markdown(found, markdown)


def _report_left_out(session: Session, outcome: Outcome) -> None:
    """Show which sets could not be read, and how many tasks wait for them."""
    if outcome.n_left_out:
        for name, reason in outcome.unreadable.items():
            session.say(f"data set {name}: {reason}")
        session.say(
            f"{outcome.n_left_out} tasks that need them were left out; once the data can be read, "
            "the same command does them"
        )


def _report_failures(outcomes: Sequence[Outcome]) -> None:
    """Show failed tasks, and end with an exit code other than 0 where there are some."""
    failed = [(o.path, key, text) for o in outcomes for key, text in o.results.failures.items()]
    for path, key, text in failed[:_MAX_FAILURES]:
        last = text.strip().splitlines()[-1]
        typer.echo(f"failed: {key}: {last} (the traceback is in {path})", err=True)
    if failed:
        fail(f"{len(failed)} tasks failed; the same command runs them again", 1)
