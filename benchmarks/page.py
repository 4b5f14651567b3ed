"""Pages of the documentation, from result files alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine import Drawing, ExperimentError, Results, save

from .suite import Suite
from .targets import Rows, Target, verdicts
from .text import table

_MOST_NAMED = 6  # cases that miss a target


@dataclass(frozen=True)
class Page:
    """A page: the result for a reader, a section per suite, the method, and the targets.

    `opening` returns the result in words, or nothing if its suite is not measured; `picture` draws
    it. `how` is the text on how it is measured.
    """

    name: str
    title: str
    opening: Callable[[Rows], str]
    picture: Callable[[Rows], Drawing | None]
    suites: tuple[Suite, ...]
    how: str
    targets: tuple[Target, ...]

    def read(self, folder: Path, scale: str = "full") -> dict[str, Results]:
        """Return the results of the suites that have any."""
        found = {suite.name: suite.read(folder, scale) for suite in self.suites}
        return {name: results for name, results in found.items() if results is not None}

    def write(self, results: Mapping[str, Results], folder: Path) -> Path:
        """Write the page, and its pictures to ``images/`` beside it."""
        if not results:
            raise ExperimentError(
                f"no results for the page {self.name}: there is nothing to render"
            )
        for drawing in self.drawings(results):
            save(drawing, folder / self._image(drawing))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.md"
        path.write_text(self.text(results), encoding="utf-8")
        return path

    def drawings(self, results: Mapping[str, Results]) -> list[Drawing]:
        """Return the picture of the opening and those of the sections."""
        first = self.picture(_rows(results))
        further = [
            drawing
            for suite in self.suites
            if suite.name in results
            for drawing in suite.figures(results[suite.name].rows)
        ]
        return ([] if first is None else [first]) + further

    def text(self, results: Mapping[str, Results]) -> str:
        """Return the page as Markdown."""
        rows = _rows(results)
        first = self.picture(rows)
        parts = [
            "% Written by `python -m benchmarks --render` from benchmarks/results: do not edit.",
            f"# {self.title}",
            _warning(results),
            self.opening(rows),
            "" if first is None else self._figure(first),
        ]
        for suite in self.suites:
            found = results.get(suite.name)
            parts += [f"## {suite.title}", "Not measured."]
            if found is not None:
                parts[-1] = suite.section(found)
                parts += map(self._figure, suite.figures(found.rows))
        parts += [self.how.strip(), _machines(results), _targets(rows, self.targets)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _image(self, drawing: Drawing) -> Path:
        return Path("images") / f"{self.name}-{drawing.name}.svg"

    def _figure(self, drawing: Drawing) -> str:
        return f"![{drawing.caption}]({self._image(drawing).as_posix()})"


def _rows(results: Mapping[str, Results]) -> Rows:
    return {name: found.rows for name, found in results.items()}


def _warning(results: Mapping[str, Results]) -> str:
    quick = [name for name, found in results.items() if found.header["scale"] != "full"]
    if not quick:
        return ""
    return (
        ":::{warning}\nMeasured at tiny sizes, to try the code; these numbers say nothing about "
        f"speed or accuracy: {', '.join(quick)}.\n:::"
    )


def _targets(rows: Rows, targets: tuple[Target, ...]) -> str:
    found = verdicts(rows, targets)
    cells = [
        [one["target"], one["goal"], one["worst"], one["cases"], one["verdict"]] for one in found
    ]
    text = "## Targets\n\nFor contributors: the bounds that every case must keep.\n\n" + table(
        ["target", "goal", "worst case", "cases", "verdict"], cells, left=2
    )
    misses = [f"- {one['target']}: {_named(one['misses'])}." for one in found if one["misses"]]
    return text + ("\n\nCases that miss their target:\n\n" + "\n".join(misses) if misses else "")


def _named(misses: list[str]) -> str:
    """Return the names of the cases that miss, only the first ones if there are many."""
    if len(misses) <= _MOST_NAMED:
        return "; ".join(misses)
    rest = len(misses) - _MOST_NAMED
    return f"{'; '.join(misses[:_MOST_NAMED])}; and {rest} more, in the table above"


def _machines(results: Mapping[str, Results]) -> str:
    """Describe machine and versions, once if all suites have the same."""
    groups: dict[str, list[str]] = {}
    for name, found in results.items():
        groups.setdefault(_versions(found), []).append(name)
    lines = ["## Machine and versions"]
    for versions, names in groups.items():
        if len(groups) > 1:
            lines.append(f"Suites {', '.join(names)}:")
        lines.append(f"{versions}\n{_conditions([results[name] for name in names])}")
    return "\n\n".join(lines)


def _versions(found: Results) -> str:
    head = found.header
    packages = {"Python": head["python"], "kernelwise": head["kernelwise"]} | head["packages"]
    packages["scikit-learn-intelex"] = head["intelex"] or "not installed"
    threads = ", ".join(f"{name} {count}" for name, count in head["threads"].items())
    return (
        f"- {head['machine']}, {head['cpus']} cores, {head['memory_gb']:g} GB\n"
        f"- {', '.join(f'{name} {number}' for name, number in packages.items() if number)}\n"
        f"- threads: {threads}"
    )


def _conditions(results: list[Results]) -> str:
    heads = [head for found in results for head in (found.header, *found.others)]
    dates = sorted({head["date"] for head in heads})
    load = max(head["load"] for head in heads)
    return (
        f"- measured {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}; at most "
        f"{_busiest(results):.2f} busy threads on average, and a load of at most {load:g} when a "
        "suite started"
    )


def _busiest(results: list[Results]) -> float:
    """Return the largest CPU time per second of wall time, over measurements that are not short."""
    times = [t for found in results for row in found.rows for t in row.get("times", {}).values()]
    return max((t["threads"] for t in times if sum(t["wall"]) > 0.05), default=1.0)
