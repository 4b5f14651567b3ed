"""What was measured so far: a journal with a line for each finished task, folded into a table.

The journal is only ever appended to, so that a killed run loses at most the line it was writing
and two runs may share it. Later lines win, and a line may take back all results of a contender.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from . import results as files

SUITE = "accuracy"
_CASE = ("n", "p", "classes")
_FOLDED = ("seeds", "measured", "rows")  # what folding makes; all else are facts of a run


class Task(NamedTuple):
    """One fit: a contender on a split of a set, with its noise."""

    set: str
    condition: str
    seed: int
    contender: str


@dataclass(frozen=True)
class Store:
    """A file of results, as the other pages have it, and the journal that it is folded from."""

    output: Path
    journal: Path

    def append(self, line: dict) -> None:
        """Write a line at once, and on a line of its own where the last one was torn."""
        self.journal.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(line, separators=(",", ":")) + "\n"
        with self.journal.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                text = text if file.read(1) == b"\n" else "\n" + text
            file.write(text.encode())

    def add(self, task: Task, found: dict) -> None:
        self.append(task._asdict() | found)

    def forget(self, contender: str, sets: list[str] | None = None) -> None:
        """Take back the results of a contender, of some sets or of all."""
        self.append({"forget": contender, "sets": sets})

    def lines(self) -> list[dict]:
        """Return what the journal says, but for what a killed run left half written."""
        if not self.journal.is_file():
            return []
        found = []
        for text in self.journal.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                found.append(json.loads(text))
            except json.JSONDecodeError:
                continue
        return found

    def load(self) -> tuple[dict[Task, dict], dict]:
        """Return what was found by task, and the facts of the last run."""
        suite = files.load(self.output)["suites"].get(SUITE, {})
        found = unfolded(suite)
        facts = {key: value for key, value in suite.items() if key not in _FOLDED}
        for line in self.lines():
            if "run" in line:
                facts = line["run"]
            elif "forget" in line:
                found = {t: value for t, value in found.items() if not _is_forgotten(t, line)}
            else:
                task = Task(*(line.pop(key) for key in Task._fields))
                found[task] = line
        return found, facts

    def fold(self) -> None:
        """Write the results as a table: a row for each set and condition, a list of the seeds."""
        found, facts = self.load()
        if found:
            results = files.load(self.output)
            results["suites"] = {SUITE: folded(found, facts)} | {
                name: suite for name, suite in results["suites"].items() if name != SUITE
            }
            files.replace(self.output, files.dumps(results))


def _is_forgotten(task: Task, line: dict) -> bool:
    sets = line["sets"]
    return task.contender == line["forget"] and (sets is None or task.set in sets)


def folded(found: dict[Task, dict], facts: dict) -> dict:
    """Return a suite whose rows have, for each contender, a list by seed with None for a gap."""
    seeds = sorted({task.seed for task in found})
    place = {seed: i for i, seed in enumerate(seeds)}
    rows: dict[tuple[str, str], dict] = {}
    measured: dict[str, str] = {}
    for task, numbers in found.items():
        case = {"set": task.set, "condition": task.condition} | {k: numbers[k] for k in _CASE}
        row = rows.setdefault((task.set, task.condition), {"case": case, "found": {}})
        empty = {key: [None] * len(seeds) for key in ("accuracy", "cpu")}
        lists = row["found"].setdefault(task.contender, empty)
        for key, values in lists.items():
            values[place[task.seed]] = numbers[key]
        measured[task.contender] = max(numbers["date"], measured.get(task.contender, ""))
    return facts | {"seeds": seeds, "measured": measured, "rows": list(rows.values())}


def unfolded(suite: dict) -> dict[Task, dict]:
    """Return what was found by task."""
    found = {}
    for row in suite.get("rows", []):
        case = row["case"]
        for contender, lists in row["found"].items():
            for i, seed in enumerate(suite["seeds"]):
                if lists["accuracy"][i] is not None:
                    task = Task(case["set"], case["condition"], seed, contender)
                    numbers = {key: values[i] for key, values in lists.items()}
                    date = {"date": suite["measured"][contender]}
                    found[task] = numbers | {key: case[key] for key in _CASE} | date
    return found
