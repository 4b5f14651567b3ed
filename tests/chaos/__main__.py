"""Run the attacks: ``python -m tests.chaos [--only NAME ...] [--seed S]``; print the counts."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from . import page
from .calls import wrong_calls
from .files import damaged_files, forged_files
from .interrupts import interrupted_fits, interrupted_long_fits
from .kills import killed_commands, killed_saves
from .processes import MADE, forks, memory_limits
from .tally import Tally

# Estimator, rows, and megabytes of address space beyond what the import took.
MEMORY_CASES = [
    (name, 3000 if name in ("SVC", "MarginRadiusSVC") else 500, megabytes)
    for name in MADE
    for megabytes in (1, 10, 40, 160)
]


def attacks(folder: Path, seed: int, part: int) -> dict[str, Callable[[], Tally]]:
    """Return all attacks by name, each with one trial in `part` of a full run."""

    def share(n: int) -> int:
        return max(1, n // part)

    return {
        "damaged": partial(damaged_files, folder, share(300), seed),
        "forged": partial(forged_files, folder, share(200), seed),
        "calls": partial(wrong_calls, folder, share(1000), seed),
        "interrupts": partial(interrupted_fits, share(2), seed),
        "long": partial(interrupted_long_fits, share(2), seed),
        "saves": partial(killed_saves, folder, share(40), seed),
        "commands": partial(killed_commands, folder, share(12), seed),
        "forks": partial(forks, share(6)),
        "memory": partial(memory_limits, MEMORY_CASES[::part]),
    }


def main() -> int:
    """Run the attacks, and return 1 where one broke something."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--part", type=int, default=1, help="make one trial in so many")
    parser.add_argument("--seed", type=int, default=0, help="seed of all trials")
    parser.add_argument("--only", nargs="*", help="run these attacks; counts of the others stay")
    parser.add_argument("--render", action="store_true", help="write the page from the last counts")
    options = parser.parse_args()
    if options.render:
        page.write()
        return 0
    tallies, begin = [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        known = attacks(Path(folder), options.seed, options.part)
        for name in options.only or known:
            tallies.append(known[name]())
            print(tallies[-1], flush=True)
            for broken in tallies[-1].broken:
                print(f"    {broken}", flush=True)
            if options.part == 1:
                page.store(tallies[-1], options.seed)
    n_broken = sum(len(tally.broken) for tally in tallies)
    n_tried = sum(tally.ends.total() for tally in tallies)
    print(f"tried {n_tried}, broken {n_broken}, {time.monotonic() - begin:.0f} s")
    if options.part == 1:
        page.write()
    return int(n_broken > 0)


if __name__ == "__main__":
    sys.exit(main())
