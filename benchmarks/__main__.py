"""Run the suites, keep what they measure, and render the pages from it."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from . import render, results
from .books import BENCHMARKS, BOOKS
from .environment import ROOT, limit_threads

DOCS = ROOT / "docs"
SCRATCH = ROOT / "benchmarks" / "scratch"


def parse(argv: list[str] | None) -> argparse.Namespace:
    names = {name: book.file for book in BOOKS.values() for name in book.sections}
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to try the code")
    parser.add_argument(
        "--book", choices=list(BOOKS),
        help="whose suites are run; that of the suites named by --only, else benchmarks",
    )  # fmt: skip
    parser.add_argument(
        "--only", nargs="+", choices=list(names), metavar="NAME",
        help=f"run these suites and keep the results of the others: {', '.join(names)}",
    )  # fmt: skip
    parser.add_argument("--render", action="store_true", help="measure nothing, only render")
    parser.add_argument(
        "--output", type=Path, metavar="FILE",
        help="the JSON file, the page is written beside it; docs/BOOK.json unless --quick",
    )  # fmt: skip
    parser.add_argument(
        "--readme", type=Path, metavar="FILE",
        help="the file whose table is renewed; README.md where the output is docs/benchmarks.json",
    )  # fmt: skip
    args = parser.parse_args(argv)
    file = args.book or (names[args.only[0]] if args.only else BENCHMARKS.file)
    args.book = BOOKS[file]
    args.only = args.only or list(args.book.sections)
    if others := [name for name in args.only if names[name] != file]:
        parser.error(f"{', '.join(others)}: not in the book {file}; run one book at a time.")
    if args.readme is not None and not args.book.in_readme:
        parser.error(f"the book {file} has no table in the README.")
    output = DOCS / f"{file}.json"
    args.output = args.output or (SCRATCH / f"{file}.json" if args.quick else output)
    if args.readme is None and args.book.in_readme and args.output.resolve() == output:
        args.readme = ROOT / "README.md"
    return args


def describe(row: dict) -> str:
    """Return a row in a line: the time of the first contender, the ratios of the others."""
    case = " ".join(f"{key}={value}" for key, value in row["case"].items())
    if "times" not in row:
        return f"{case}: {', '.join(row['found'])}"
    first, *others = row["times"].items()
    numbers = [f"{first[0]} {1e3 * first[1]['median']:.4g} ms"]
    numbers += [f"{name} {timing['ratio']:.3g}x" for name, timing in others]
    return f"{case}: {', '.join(numbers)}"


def measure(args: argparse.Namespace) -> None:
    """Run the suites one after the other; each is written to the file when it is complete."""
    from . import data, environment, peers, suites
    from .measure import FULL, QUICK

    if not args.quick and suites.NEED_DATA & set(args.only):
        data.folder()  # before minutes of work, not after
    begin = time.perf_counter()

    def say(text: str) -> None:
        print(f"[{time.perf_counter() - begin:7.1f} s] {text}", file=sys.stderr, flush=True)

    for name, reason in peers.missing().items():
        say(f"{name}: {reason}")
    with environment.one_thread():
        peers.check_accelerated()
        for name in args.only:
            load, rows = os.getloadavg()[0], []
            for row in suites.SUITES[name](QUICK if args.quick else FULL):
                say(f"{name} {describe(row)}")
                rows.append(row)
            found = environment.describe()
            results.add(args.output, name, rows, found, quick=args.quick, load=round(load, 2))


def main(argv: list[str] | None = None) -> None:
    limit_threads()  # before numpy is imported, with the suites
    args = parse(argv)
    if args.readme is not None:
        render.check_markers(args.readme)  # before hours of work, not after
    if not args.render:
        # A new folder: numba does not notice that a compiled function in another file changed.
        with tempfile.TemporaryDirectory() as cache:
            os.environ.setdefault("NUMBA_CACHE_DIR", cache)
            measure(args)
    render.write(args.output, args.readme, args.book)


if __name__ == "__main__":
    main()
