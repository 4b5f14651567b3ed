"""Compare two folders of golden results: ``python -m tests.golden.compare OLD NEW``.

The exit code is 1 when a case is worse: it neither agrees with the old result up to rounding, nor
has an objective and a violation at least as good with equal selected parameters. The file
``rounding.json`` of the old folder tells by how much cases move through rounding alone, on other
processors; such a case that is worse is marked with that number.
"""

import argparse
import json
import sys
from collections import Counter
from math import isclose, isnan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .record import read

AGREES = 1e-9  # relative difference of values that only rounding explains
SMALLEST = 1e-6  # values below it, in units of the margin, count as zero
N_WORST = 15


class Comparison(NamedTuple):
    """How a new result differs from the old one."""

    verdict: str  # "identical", "agrees", "no worse" or "WORSE"
    decisions: float  # the largest relative difference of decision values
    values: float  # the same of all values that are stored
    worst: str  # which of them differs most
    same_selection: bool
    objective: str  # "same", "better" or "worse"
    violation: str
    notes: list[str]


def relative_difference(old, new):
    """Return the largest difference of two arrays, relative to the largest old value."""
    if old is None or new is None or old.shape != new.shape:
        return np.inf
    if old.size == 0 or np.array_equal(old, new, equal_nan=True):
        return 0.0
    finite = np.isfinite(old)
    if not np.array_equal(old[~finite], new[~finite], equal_nan=True):
        return np.inf
    scale = max(np.abs(old[finite]).max(), SMALLEST)
    difference = float(np.abs(old[finite] - new[finite]).max() / scale)
    return np.inf if isnan(difference) else difference


def equal(old, new):
    """Return whether two selected values are equal, numbers up to rounding."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(equal(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(equal, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return (isnan(old) and isnan(new)) or isclose(old, new, rel_tol=AGREES)
    return type(old) is type(new) and old == new


def quality(old, new, enough=0.0):
    """Return whether numbers that are best when least are the "same", "better" or "worse".

    Numbers of at most ``enough`` are as good as each other.
    """
    if old is None and new is None:
        return "none"
    if old is None or new is None or old.shape != new.shape:
        return "worse"
    if np.array_equal(old, new, equal_nan=True):
        return "same"
    rounding = AGREES * np.maximum(np.abs(old), SMALLEST)
    if not (new <= np.maximum(old + rounding, enough)).all():
        return "worse"
    return "better" if (new < old - rounding).any() else "same"


def compare(old, new):
    """Compare two results of one case."""
    differences = {
        key: relative_difference(old.arrays.get(key), new.arrays.get(key))
        for key in old.arrays | new.arrays
        if not key.startswith("certificate_")
    }
    worst = max(differences, key=lambda key: differences[key])
    selections = old.facts["selected"], new.facts["selected"]
    same = equal(*selections)
    # With other weights the machines are other problems: the learning is judged by its criterion.
    moved = differences.get("feature_weights_", 0.0) > AGREES
    judged = "criterion" if moved and "certificate_criterion" in old.arrays else "objective"
    objective, violation = (
        quality(old.arrays.get(f"certificate_{key}"), new.arrays.get(f"certificate_{key}"), enough)
        for key, enough in ((judged, -np.inf), ("violation", old.facts["tol"]))
    )
    good = {"same", "better"}
    if differences[worst] == 0 and same:
        verdict = "identical"
    elif differences[worst] <= AGREES and same:
        verdict = "agrees"
    elif same and objective in good and violation in good:
        verdict = "no worse"
    else:
        verdict = "WORSE"
    return Comparison(
        verdict,
        differences["decisions"],
        differences[worst],
        worst,
        same,
        objective,
        violation,
        _notes(old.facts, new.facts),
    )


def _notes(old, new):
    """Return what else has changed: selected values, counts and warnings."""
    notes = []
    for part in ("selected", "counts"):
        for key in sorted(old[part] | new[part]):
            before, after = old[part].get(key), new[part].get(key)
            if not equal(before, after):
                notes.append(f"{key}: {_short(before)} -> {_short(after)}")
    kinds = [[text.partition(":")[0] for text in facts["warnings"]] for facts in (old, new)]
    if kinds[0] != kinds[1]:
        notes.append(f"warnings: {kinds[0]} -> {kinds[1]}")
    elif old["warnings"] != new["warnings"]:
        notes.append("another text of warnings")
    return notes


def _short(value):
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _line(name, found):
    selection = "equal" if found.same_selection else "DIFFER"
    return (
        f"{found.verdict:9}  {found.decisions:8.1e}  {found.values:8.1e}  {selection:6}  "
        f"{found.objective:6}  {found.violation:6}  {name}"
    )


def report(comparisons, rounding):
    """Print a line per case, then the counts and the worst cases."""
    header = "verdict    decision  values    select  object  violat  case"
    print(header)
    for name, found in comparisons.items():
        print(_line(name, found))
    print(f"\nLargest differences of values\n{header}")
    ranked = sorted(comparisons, key=lambda name: -comparisons[name].values)
    worse = [name for name in ranked if comparisons[name].verdict == "WORSE"]
    differing = [name for name in ranked if comparisons[name].values > 0]
    for name in dict.fromkeys(worse + differing[:N_WORST]):
        alone = f"; rounding alone: {rounding[name]:.1e}" if name in rounding else ""
        print(f"{_line(name, comparisons[name])} ({comparisons[name].worst}{alone})")
    print("\nCounts, selections and warnings that changed")
    for name, found in comparisons.items():
        for note in found.notes:
            print(f"  {name}  {note}")
    print(f"\n{'estimator':28}{'identical':>10}{'agrees':>10}{'no worse':>10}{'WORSE':>10}")
    kinds = Counter((name.partition("/")[0], found.verdict) for name, found in comparisons.items())
    estimators = sorted({name for name, _ in kinds})
    verdicts = ("identical", "agrees", "no worse", "WORSE")
    for each in estimators:
        print(f"{each:28}" + "".join(f"{kinds[each, verdict]:10}" for verdict in verdicts))
    totals = [sum(kinds[each, verdict] for each in estimators) for verdict in verdicts]
    print(f"{'all':28}" + "".join(f"{total:10}" for total in totals))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument(
        "--store-rounding",
        action="store_true",
        help="remember in the old folder by how much the cases moved, as rounding",
    )
    options = parser.parse_args()
    old, new = read(options.old), read(options.new)
    comparisons = {name: compare(old[name], new[name]) for name in old if name in new}
    stored = options.old / "rounding.json"
    rounding = json.loads(stored.read_text()) if stored.exists() else {}
    report(comparisons, rounding)
    missing, added = old.keys() - new.keys(), new.keys() - old.keys()
    print(f"missing: {sorted(missing) or 'none'}; new and not compared: {sorted(added) or 'none'}")
    if options.store_rounding:
        for name, found in comparisons.items():
            if found.values > AGREES:
                rounding[name] = max(rounding.get(name, 0.0), found.values)
        stored.write_text(json.dumps(rounding, indent=0, sort_keys=True) + "\n")
    worse = any(found.verdict == "WORSE" for found in comparisons.values())
    sys.exit(1 if worse or missing else 0)


if __name__ == "__main__":
    main()
