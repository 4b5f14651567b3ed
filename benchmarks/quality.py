"""Measure how accurate RelevanceSVC is against its peers, and what it costs; render the page.

Every fit is written down when it is finished: a killed run goes on where it was.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from . import quality_page
from .environment import ROOT, limit_threads
from .quality_contenders import CONTENDERS, missing
from .quality_names import QUICK_SETS, SEEDS, SETS, cases
from .quality_store import Store, Task

SCRATCH = ROOT / "benchmarks" / "scratch"
DOCS = ROOT / "docs"

Say = Callable[[str], None]


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny, to try the code; no folder")
    parser.add_argument(
        "--seeds", choices=list(SEEDS), default="report",
        help="splits for choosing, whose results stay in benchmarks/scratch, or for the page",
    )  # fmt: skip
    parser.add_argument(
        "--only", nargs="+", choices=list(CONTENDERS), metavar="CONTENDER",
        help=f"in this order: {', '.join(CONTENDERS)}",
    )  # fmt: skip
    parser.add_argument("--sets", nargs="+", metavar="SET", help="accuracies: only these sets")
    parser.add_argument(
        "--again", nargs="+", choices=list(CONTENDERS), metavar="CONTENDER", default=[],
        help="throw the results of these away, and run them again",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    parser.add_argument("--cost", action="store_true", help="run these suites, not the accuracies")
    parser.add_argument("--truth", action="store_true", help="run these suites, not the accuracies")
    parser.add_argument("--render", action="store_true", help="measure nothing, only render")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the JSON file of results")
    args = parser.parse_args(argv)
    args.store = store_of(args)
    known = {name for name, _ in _cases(args)}
    if unknown := set(args.sets or []) - known:
        parser.error(f"no such set: {', '.join(sorted(unknown))}; there are {', '.join(known)}.")
    return args


def store_of(args: argparse.Namespace) -> Store:
    """Return the files of a run: only what is reported is kept in docs."""
    if args.output is not None:
        return Store(args.output, args.output.with_suffix(".jsonl"))
    name = f"quality-{'quick' if args.quick else args.seeds}"
    output = SCRATCH / f"{name}.json"
    if args.seeds == "report" and not args.quick:
        output = DOCS / "quality.json"
    return Store(output, SCRATCH / f"{name}.jsonl")


def _cases(args: argparse.Namespace) -> list[tuple[str, str]]:
    return cases(QUICK_SETS if args.quick else SETS)


def accuracy(args: argparse.Namespace, say: Say) -> int:
    """Run the tasks that are not finished; return how many failed."""
    from . import environment, quality_run

    for name in args.again:
        args.store.forget(name, args.sets)
    done, _ = args.store.load()
    absent = missing()
    contenders = args.only or args.again or list(CONTENDERS)
    if absent:
        say(f"not in this version of the library: {', '.join(absent)}")
    tasks = [
        task
        for contender in contenders
        if contender not in absent
        for name, condition in _cases(args)
        if args.sets is None or name in args.sets
        for seed in SEEDS[args.seeds][: 1 if args.quick else None]
        if (task := Task(name, condition, seed, contender)) not in done
    ]
    say(f"{len(tasks)} fits to do, {len(done)} done; journal {args.store.journal}")
    if not tasks:
        return 0
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "quick": args.quick,
        "load": round(os.getloadavg()[0], 2),
        "environment": environment.describe(),
    }
    args.store.append({"run": facts})
    return quality_run.run(tasks, args.store, args.jobs, args.quick, say)


def suite(args: argparse.Namespace, name: str, rows: Iterator[dict], say: Say) -> None:
    """Run a suite that is written down when it is complete."""
    from . import environment, results

    load, found = os.getloadavg()[0], []
    for row in rows:
        say(f"{name}: {' '.join(f'{key}={value}' for key, value in row['case'].items())}")
        found.append(row)
    facts = {"quick": args.quick, "load": round(load, 2)}
    results.add(args.store.output, name, found, environment.describe(), **facts)


def measure(args: argparse.Namespace) -> int:
    """Run what was asked for; return how many tasks failed."""
    from . import data, environment

    if not args.quick:
        data.folder()  # before hours of work, not after
    begin = time.perf_counter()

    def say(text: str) -> None:
        print(f"[{time.perf_counter() - begin:7.1f} s] {text}", file=sys.stderr, flush=True)

    with environment.one_thread():
        if not args.cost and not args.truth:
            return accuracy(args, say)
        from . import quality_cost, quality_growth, quality_truth

        seeds = SEEDS[args.seeds][: 2 if args.quick else None]
        if args.cost:
            suite(args, "cost", quality_cost.cost(seeds[0], args.quick), say)
            suite(args, "growth", quality_growth.growth(args.quick), say)
        if args.truth:
            suite(args, "truth", quality_truth.truth(seeds, args.quick), say)
            suite(args, "stability", quality_truth.stability(seeds, args.quick), say)
    return 0


def main(argv: list[str] | None = None) -> None:
    limit_threads()  # before numpy is imported, with the suites
    args = parse(argv)
    failed = 0
    if not args.render:
        # A new folder: numba does not notice that a compiled function in another file changed.
        with tempfile.TemporaryDirectory() as cache:
            os.environ.setdefault("NUMBA_CACHE_DIR", cache)
            failed = measure(args)
    args.store.fold()
    quality_page.write(args.store.output)
    if failed:
        raise SystemExit(f"{failed} fits failed; run again to try them again.")


if __name__ == "__main__":
    main()
