"""Run the zoo: ``python -m tests.zoo [--every N] [--problems K ...]``; print tried, held, worst."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from threadpoolctl import threadpool_limits

from .checks import check
from .problems import N_PROBLEMS, problem


def main() -> int:
    """Check the problems that the command line names; return 1 where one is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="check one problem in so many")
    parser.add_argument("--problems", type=int, nargs="*", help="check these problems")
    options = parser.parse_args()
    numbers = options.problems or range(0, N_PROBLEMS, options.every)
    counts: Counter[str] = Counter()
    worst, slowest, begin = (0.0, -1), (0.0, -1), time.time()
    with threadpool_limits(1):
        for done, number in enumerate(numbers, 1):
            outcome = check(problem(number))
            counts[outcome.kind] += 1
            worst = max(worst, (outcome.worst, number))
            slowest = max(slowest, (outcome.seconds, number))
            for failure in outcome.failures:
                print(f"{problem(number)}\n    {failure}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{done} of {len(numbers)}", end="", file=sys.stderr, flush=True)
    print(
        f"tried {counts.total()}: held {counts['held']}, refused {counts['refused']}, "
        f"unconverged with a warning {counts['unconverged']}, broken {counts['broken']}; "
        f"worst violation {worst[0]:.3g} tol (problem {worst[1]}), "
        f"slowest fit {slowest[0]:.1f} s (problem {slowest[1]}), {time.time() - begin:.0f} s in all"
    )
    return int(counts["broken"] > 0)


if __name__ == "__main__":
    sys.exit(main())
