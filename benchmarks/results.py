"""The file of results: one entry a suite, replaced when the suite runs again."""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path


def load(path: Path) -> dict:
    """Return the results so far."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"suites": {}}


def add(path: Path, suite: str, rows: list[dict], environment: dict, **facts: object) -> None:
    """Put the rows of a suite in the place of those it had."""
    results = load(path)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    results["suites"][suite] = {"date": date, **facts, "environment": environment, "rows": rows}
    replace(path, dumps(results))


def dumps(results: dict) -> str:
    """Return JSON with a list of numbers on one line."""
    text = json.dumps(results, indent=1)
    return re.sub(r"\[[^][{}]*\]", lambda found: " ".join(found[0].split()), text) + "\n"


def replace(path: Path, text: str) -> None:
    """Write a file under another name, then move it into place: never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)
