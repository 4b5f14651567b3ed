"""Repeat the experiments of the papers, keep their results, and show them beside the papers'."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.engine import ExperimentError, Outcome, ResultFile, chosen, plan, run
from benchmarks.engine.progress import duration

from .experiment import PaperExperiment, select
from .markdown import section_text, write_markdown
from .sections import sections

_MAX_FAILURES = 3  # failures that are shown; the result file has them all


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description=f"{__doc__} An interrupted run goes on where it stopped.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="EXPERIMENT",
        help="names, or papers such as 'dual-objective'; see --list (default: all)",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--quick", action="store_true", help="a few repeats, in minutes")
    parser.add_argument("--repeats", type=int, help="number of splits or draws")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="data sets to run")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--seed", type=int, default=0, help="seed of all tasks (default: 0)")
    parser.add_argument("--fresh", action="store_true", help="measure again what is finished")
    parser.add_argument("--render", action="store_true", help="only show results, run nothing")
    parser.add_argument(
        "--results", type=Path, metavar="FOLDER", default=Path("reproduction-results"),
        help="folder of the result files (default: reproduction-results)",
    )  # fmt: skip
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER",
        help="folder of the data sets (default: the one that KERNELWISE_DATA names)",
    )  # fmt: skip
    parser.add_argument(
        "--markdown", type=Path, metavar="PAGE", help="write a page in place of printing"
    )
    args = parser.parse_args(argv)
    if args.repeats is not None and args.repeats < 1:
        parser.error(f"--repeats must be at least 1, not {args.repeats}")
    return args


def main(argv: Sequence[str] | None = None) -> None:
    args = parse(argv)
    try:
        experiments = select(args.names)
        if args.list:
            print_list(experiments)
            return
        outcomes = [] if args.render else measure(args, experiments)
        show(args, experiments)
    except ExperimentError as error:
        raise SystemExit(f"reproduction: {error}") from error
    except KeyboardInterrupt:
        print(f"interrupted; the same command goes on from {args.results}", file=sys.stderr)
        raise SystemExit(130) from None
    if failed := sum(map(report_failures, outcomes)):
        raise SystemExit(f"{failed} tasks failed; the same command tries them again")


def measure(args: argparse.Namespace, experiments: Sequence[PaperExperiment]) -> list[Outcome]:
    """Run the experiments that have tasks on the chosen data sets."""
    scales = [each.scale("quick" if args.quick else "full", args.repeats) for each in experiments]
    pairs = list(zip(experiments, scales, strict=True))
    known = {task["dataset"] for e, scale in pairs for task in e.tasks(scale) if "dataset" in task}
    if unknown := set(args.only) - known:
        raise ExperimentError(
            f"--only: there is no data set {', '.join(sorted(unknown))}; choose from "
            f"{', '.join(sorted(known))}"
        )
    outcomes = []
    for experiment, scale in pairs:
        if tasks := chosen(experiment, scale, args.only):
            done = ResultFile(args.results, experiment.name, scale.name).read()
            ahead = plan(experiment, tasks, None if args.fresh else done)
            _say(
                f"{experiment.name}: {len(ahead.todo)} of {len(tasks)} tasks to do, about "
                f"{duration(ahead.seconds)} of CPU"
            )
            outcomes.append(
                run(
                    experiment, args.results, scale=scale, only=args.only, seed=args.seed,
                    n_jobs=args.jobs, data_dir=args.data, fresh=args.fresh, quiet=False,
                )
            )  # fmt: skip
            report_left_out(outcomes[-1])
    return outcomes


def show(args: argparse.Namespace, experiments: Sequence[PaperExperiment]) -> None:
    """Print the results in the files, or write them to a page."""
    found, missing = sections(experiments, args.results, "quick" if args.quick else "full")
    if missing:
        _say(f"not measured yet: {', '.join(missing)}")
    if not found:
        raise ExperimentError(f"no results in {args.results}: nothing to show")
    if args.markdown is not None:
        write_markdown(found, args.markdown)
        _say(f"wrote {args.markdown}")
    else:
        print("\n".join(map(section_text, found)))


def print_list(experiments: Sequence[PaperExperiment]) -> None:
    """Print names, numbers of tasks and CPU times, and what of the papers is measured."""
    for each in experiments:
        tasks = each.tasks(each.scale())
        cpu = duration(sum(map(each.cost, tasks)))
        print(f"{each.name:32} {len(tasks):5d} tasks {cpu:>8}   {each.title}")
        for text in each.reproduces:
            print(f"    {text}")


def report_left_out(outcome: Outcome) -> None:
    """Say which sets could not be read, and how many tasks wait for them."""
    for name, reason in outcome.unreadable.items():
        _say(f"data set {name}: {reason}")
    if outcome.n_left_out:
        _say(
            f"{outcome.n_left_out} tasks that need them were left out; once the data can be read, "
            "the same command does them"
        )


def report_failures(outcome: Outcome) -> int:
    """Say which tasks failed; return how many."""
    for key, text in list(outcome.results.failures.items())[:_MAX_FAILURES]:
        last = text.strip().splitlines()[-1]
        _say(f"failed: {key}: {last} (the traceback is in {outcome.path})")
    return len(outcome.results.failures)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
