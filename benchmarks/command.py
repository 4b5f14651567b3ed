"""Run benchmark suites, keep their results, and render the pages from them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.engine import ExperimentError, ResultFile, chosen, plan, run

from . import (
    environment,
    equalities,
    large,
    learners,
    peers,
    quality,
    selection,
    speed,
)
from .environment import ROOT
from .page import Page
from .quality import readme as quality_readme
from .speed import readme as speed_readme
from .suite import Suite

PAGES: tuple[Page, ...] = (
    speed.PAGE,
    learners.PAGE,
    quality.PAGE,
    selection.PAGE,
    equalities.PAGE,
    large.PAGE,
)
SUITES: dict[str, Suite] = {suite.name: suite for page in PAGES for suite in page.suites}
DOCS, RESULTS, SCRATCH = ROOT / "docs", ROOT / "benchmarks/results", ROOT / "benchmarks/scratch"


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"{__doc__} A killed run goes on where it was.",
    )
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE",
        help="names, or beginnings such as 'quality'; see --list (default: speed)",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the suites")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to try the code")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="KEY=VALUE",
        help="run only cases with these entries: --only contender=relevance dataset=sonar",
    )  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="measure again what is finished")
    parser.add_argument("--jobs", type=int, default=1, help="processes, for suites without times")
    parser.add_argument("--render", action="store_true", help="only render, measure nothing")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="of the result files")
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="of the rendered pages")
    args = parser.parse_args(argv)
    args.results = args.results or (SCRATCH if args.quick else RESULTS)
    args.pages = args.pages or (SCRATCH if args.quick else DOCS)
    args.suites = args.suites or ([] if args.render or args.list else ["speed"])
    try:
        args.suites = select(args.suites)
    except ExperimentError as error:
        parser.error(str(error))
    return args


def select(names: Sequence[str]) -> list[Suite]:
    """Return the suites with these names or beginnings of names; all without a name."""
    found: dict[str, Suite] = {}
    for name in names or SUITES:
        mine = {key: suite for key, suite in SUITES.items() if f"{key}-".startswith(f"{name}-")}
        if not mine:
            raise ExperimentError(f"no suite is named {name!r}; there are: {', '.join(SUITES)}")
        found |= mine
    return list(found.values())


def measure(args: argparse.Namespace) -> int:
    """Measure the cases that have no results yet; return how many failed."""
    failed = 0
    if not peers.has_intelex():
        print("scikit-learn-intelex is not installed: not compared", file=sys.stderr)
    with environment.one_thread():
        peers.check_accelerated()
        for suite in args.suites:
            scale = suite.scale("quick" if args.quick else "full")
            tasks = chosen(suite, scale, args.only)
            done = None if args.fresh else ResultFile(args.results, suite.name, scale.name).read()
            ahead = plan(suite, tasks, done)
            print(
                f"{suite.name}: {len(ahead.todo)} of {len(tasks)} cases to do, about "
                f"{_minutes(ahead.seconds)} of CPU", file=sys.stderr, flush=True,
            )  # fmt: skip
            outcome = run(
                suite, args.results, scale=scale, only=args.only,
                n_jobs=1 if suite.is_timed else args.jobs, fresh=args.fresh, quiet=False,
            )  # fmt: skip
            for key, text in outcome.results.failures.items():
                print(f"failed: {key}\n{text}", file=sys.stderr)
            failed += len(outcome.results.failures)
    return failed


def render(args: argparse.Namespace) -> None:
    """Write the pages of the suites."""
    scale = "quick" if args.quick else "full"
    for page in PAGES:
        if set(page.suites) & set(args.suites):
            results = page.read(args.results, scale)
            print(f"wrote {page.write(results, args.pages)}", file=sys.stderr)
            if page is speed.PAGE and args.pages == DOCS:
                speed_readme.write(ROOT / "README.md", results)
            if page is quality.PAGE and args.pages == DOCS:
                quality_readme.write(results)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min"


def print_list(suites: Sequence[Suite]) -> None:
    """Print names, numbers of cases, CPU times and titles."""
    for suite in suites:
        tasks = suite.tasks(suite.scale())
        cpu = _minutes(sum(map(suite.cost, tasks)))
        print(f"{suite.name:24} {len(tasks):5d} cases {cpu:>8}   {suite.title}")


def main(argv: Sequence[str] | None = None) -> None:
    args = parse(argv)
    try:
        if args.list:
            print_list(args.suites)
        else:
            failed = 0 if args.render else measure(args)
            render(args)
            if failed:
                raise SystemExit(f"{failed} cases failed; the same command tries them again.")
    except ExperimentError as error:
        raise SystemExit(f"benchmarks: {error}") from error


if __name__ == "__main__":
    main()
