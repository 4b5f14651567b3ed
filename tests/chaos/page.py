"""The page on reliability, from the counts of the last run of each attack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import Tally

ROOT = Path(__file__).resolve().parents[2]
COUNTS = Path(__file__).with_name("counts.json")
ZOO = ROOT / "tests" / "zoo" / "counts.json"
PAGE = ROOT / "docs" / "reliability.md"

_MEANING = {
    "damaged files": "Bytes of a model file are cut, flipped or overwritten, its members swapped.",
    "forged files": "The schema of a model file or the shape of one of its arrays is changed, with "
    "digests that fit.",
    "wrong calls": "One argument of a public function, class or method is wrong: of another kind, "
    "not finite, of another shape, or huge. Each call has a process of its own.",
    "fits ended by Ctrl-C": "A second fit of each estimator is interrupted at a random moment.",
    "long fits ended by Ctrl-C": "A second fit to thousands of rows is interrupted in the middle "
    "of compiled code: one machine, pairs of classes, the working set, a decomposition of a kernel "
    "matrix, and every method.",
    "kill -9 while saving": "A process is killed while it saves a model over another.",
    "kill -9 during fit --out": "The command is killed at a random moment.",
    "forks during fits": "A process forks while another of its threads fits; the child fits, too.",
    "limits on memory": "A fit gets a few megabytes of address space (`ulimit -v`).",
}


_ODD = """
## Odd problems

`make zoo` fits {tried:,} seeded problems that users may bring: scales from 1e-150 to 1e150, C from
1e-6 to 1e8, 2 to 50 classes, targets in any unit, one class, a nu from 0.001 on, copies,
contradictory labels, collinear and one-hot columns, heavy tails, one row of a class in a thousand,
weights of zero, more columns than rows. It checks, without code of the library, the violation of
the optimality conditions in float64 and the objective against scikit-learn's solver; and that the
same fit gives the same model, for classifiers whatever the classes are called, whatever the order
and the units of the table, and whether a row is given twice or has twice the weight. No fit may
take over a minute that scikit-learn does in six seconds, and only documented warnings may appear.

{held:,} held, {refused:,} were refused with a reason (values beyond float64), {unconverged:,} ended
early with a warning, {broken:,} were broken. The largest violation of a fit that claims to be
converged is {worst:.2f} of its tolerance; the slowest fit took {slowest:.0f} CPU seconds."""


def store(tally: Tally, seed: int) -> None:
    """Keep the counts of an attack of full length; those of other attacks stay."""
    stored = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else {}
    counts = stored | {tally.name: tally.as_dict() | {"seed": seed}}
    in_order = {name: counts[name] for name in _MEANING if name in counts}
    COUNTS.write_text(json.dumps(in_order, indent=1) + "\n", encoding="utf-8")


def render(counts: dict[str, Any], zoo: dict[str, Any] | None = None) -> str:
    """Return the page."""
    lines = [
        "# Reliability",
        "",
        "`make chaos` attacks the library: it damages files, calls everything wrongly, interrupts",
        "and kills fits, and takes memory away. Every trial must end in a whole model, in the old",
        "one, or in an error that names its reason. All trials are seeded. The table shows the",
        "last run of each attack.",
        "",
        "| attack | tried | how the trials ended | broken |",
        "|---|---|---|---|",
    ]
    for name, entry in counts.items():
        ends = {end: count for end, count in entry["ends"].items() if end != "broken"}
        text = ", ".join(f"{end}: {count:,}" for end, count in ends.items())
        broken = entry["ends"].get("broken", 0)
        lines.append(f"| {name} | {entry['tried']:,} | {text} | {broken} |")
    lines += ["", "## What each attack does", ""]
    lines += [f"- **{name}**: {_MEANING[name]}{_facts(entry)}" for name, entry in counts.items()]
    return "\n".join([*lines, *_odd_problems(zoo)]) + "\n"


def _odd_problems(zoo: dict[str, Any] | None) -> list[str]:
    """Return the section on the zoo, from the counts of a whole run."""
    if zoo is None:
        return []
    ends = {"held": 0, "refused": 0, "unconverged": 0, "broken": 0} | zoo["ends"]
    return [
        _ODD.format(tried=sum(ends.values()), **ends, worst=zoo["worst"], slowest=zoo["slowest"])
    ]


def _facts(entry: dict[str, Any]) -> str:
    facts = [f"{name}: {value:,.0f}" for name, value in entry["facts"].items()]
    text = "; ".join(facts)
    return f" {text[0].upper()}{text[1:]}." if facts else ""


def stored() -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the counts of the attacks, and those of a whole run of the zoo if there was one."""
    zoo = json.loads(ZOO.read_text(encoding="utf-8")) if ZOO.exists() else None
    return json.loads(COUNTS.read_text(encoding="utf-8")), zoo


def write() -> None:
    """Write the page from the stored counts."""
    PAGE.write_text(render(*stored()), encoding="utf-8")
