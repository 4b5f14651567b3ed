"""Run the zoo: ``python -m tests.zoo [--jobs N] [--every K]``; print tried, held, worst."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .checks import Outcome, check
from .problems import N_PROBLEMS, problem

COUNTS = Path(__file__).with_name("counts.json")


def checked(number: int) -> tuple[int, Outcome]:
    """Check a problem on one thread."""
    with threadpool_limits(1):
        return number, check(problem(number))


def main() -> int:
    """Check the problems that the command line names; return 1 where one is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="check one problem in so many")
    parser.add_argument("--problems", type=int, nargs="*", help="check these problems")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    numbers = options.problems or range(0, N_PROBLEMS, options.every)
    counts: Counter[str] = Counter()
    worst, slowest, begin = (0.0, -1), (0.0, -1), time.time()
    parallel = Parallel(n_jobs=options.jobs, return_as="generator_unordered")
    for number, outcome in parallel(delayed(checked)(each) for each in numbers):
        counts[outcome.kind] += 1
        worst = max(worst, (outcome.worst, number))
        slowest = max(slowest, (outcome.seconds, number))
        for failure in outcome.failures:
            print(f"{problem(number)}\n    {failure}", flush=True)
        if sys.stderr.isatty():
            print(f"\r{counts.total()} of {len(numbers)}", end="", file=sys.stderr, flush=True)
    print(
        f"tried {counts.total()}: held {counts['held']}, refused {counts['refused']}, "
        f"unconverged with a warning {counts['unconverged']}, broken {counts['broken']}; "
        f"worst violation {worst[0]:.3g} tol (problem {worst[1]}), "
        f"slowest fit {slowest[0]:.1f} s (problem {slowest[1]}), {time.time() - begin:.0f} s in all"
    )
    if counts.total() == N_PROBLEMS:
        store({"ends": dict(counts), "worst": worst[0], "slowest": slowest[0]})
    return int(counts["broken"] > 0)


def store(found: dict[str, Any]) -> None:
    """Keep the counts of a whole run, for the page on reliability."""
    COUNTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
