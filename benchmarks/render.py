"""The pages and the README's table, from the files of results alone."""

from pathlib import Path

from . import results as files
from .books import BENCHMARKS, Book
from .sections.peers import PEERS, absent, objectives
from .targets import TARGETS, outcomes
from .text import factor, seconds, table

START, END = "<!-- benchmarks:start -->", "<!-- benchmarks:end -->"
_MOST_NAMED = 6


def write(output: Path, readme: Path | None, book: Book = BENCHMARKS) -> None:
    """Write the page beside the results, and the table into the README."""
    if not output.is_file():
        raise SystemExit(f"{output} is missing: there is nothing to render.")
    results = files.load(output)
    files.replace(output.with_suffix(".md"), page(results, book))
    if readme is not None:
        files.replace(readme, with_block(readme.read_text(encoding="utf-8"), block(results)))


def page(results: dict, book: Book = BENCHMARKS) -> str:
    """Return the page of a book, docs/benchmarks.md for instance."""
    parts = [
        f"% Written by `python -m benchmarks` from {book.file}.json: do not edit.",
        f"# {book.title}",
    ]
    parts += [_warning(results), _targets(results, book), _machines(results), book.how.strip()]
    for name, (title, section) in book.sections.items():
        suite = results["suites"].get(name)
        parts += [f"## {title}", "Not measured." if suite is None else section(suite)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _warning(results: dict) -> str:
    quick = [name for name, suite in results["suites"].items() if suite["quick"]]
    if not quick:
        return ""
    return (
        ":::{warning}\nMeasured at tiny sizes, to try the code, and no sign of speed: "
        f"{', '.join(quick)}.\n:::"
    )


def _targets(results: dict, book: Book) -> str:
    found = outcomes(results, book.targets)
    rows = [
        [one["target"], one["goal"], one["worst"], one["cases"], one["verdict"]] for one in found
    ]
    text = f"{book.introduction}\n\n"
    text += table(["target", "goal", "worst case", "cases", "verdict"], rows, left=2)
    misses = [f"- {one['target']}: {_named(one['misses'])}." for one in found if one["misses"]]
    return text + ("\n\nThe cases that miss:\n\n" + "\n".join(misses) if misses else "")


def _named(misses: list[str]) -> str:
    """Name the cases that miss, the first ones where they are many."""
    if len(misses) <= _MOST_NAMED:
        return "; ".join(misses)
    rest = len(misses) - _MOST_NAMED
    return f"{'; '.join(misses[:_MOST_NAMED])}; and {rest} more, in the table below"


def _machines(results: dict) -> str:
    """List machine and versions, once where all suites ran in the same."""
    groups: list[tuple[dict, list[str]]] = []
    for name, suite in results["suites"].items():
        for environment, names in groups:
            if environment == suite["environment"]:
                names.append(name)
                break
        else:
            groups.append((suite["environment"], [name]))
    lines = ["## Machine and versions"]
    for environment, names in groups:
        if len(groups) > 1:
            lines.append(f"Suites {', '.join(names)}:")
        lines.append(_machine(environment, [results["suites"][name] for name in names]))
    return "\n\n".join(lines)


def _machine(environment: dict, suites: list[dict]) -> str:
    missing = environment["missing"]
    versions = ", ".join(
        f"{name} {number or missing.get('intelex', 'not installed')}"
        for name, number in environment["versions"].items()
    )
    threads = ", ".join(f"{name} {count}" for name, count in environment["threads"].items())
    dates = sorted({suite["date"] for suite in suites})
    load = max(suite["load"] for suite in suites)
    return "\n".join(
        [
            f"- {environment['cpu']}, {environment['cores']} cores, "
            f"{environment['memory_gb']:g} GB, {environment['system']}",
            f"- {versions}",
            f"- threads: {threads}; busy on average at most {_busiest(suites):.2f}",
            f"- measured {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}; load of the machine "
            f"when a suite began at most {load:g}",
        ]
    )


def _busiest(suites: list[dict]) -> float:
    """Return the most CPU time in a second of wall time, of measurements long enough to tell."""
    times = [t for suite in suites for row in suite["rows"] for t in row.get("times", {}).values()]
    return max((t["threads"] for t in times if sum(t["wall"]) > 0.05), default=1.0)


def block(results: dict) -> str:
    """Return the README's part: the time of a fit, and how many times as long the peers take."""
    suite = results["suites"].get("fit")
    if suite is None:
        return "Not measured."
    rows = {tuple(row["case"].values()): row["times"] for row in suite["rows"]}
    costs = list(dict.fromkeys(C for _, _, C in rows))
    header = ["n", "p", f"kernelwise, C = {costs[0]}"]
    header += [f"{label}, C = {C}" for label in PEERS.values() for C in costs]
    lines = []
    for n, p in dict.fromkeys((n, p) for n, p, _ in rows):
        ratios = [
            factor(times["ratio"]) if times else absent(suite, peer)
            for peer in PEERS
            for times in (rows[n, p, C].get(peer) for C in costs)
        ]
        lines.append([f"{n:,}", p, seconds(rows[n, p, costs[0]]["kernelwise"]["median"]), *ratios])
    verdicts = [one["verdict"] for one in outcomes(results, TARGETS)]
    return (
        "Time of a cold fit with an RBF kernel on one thread, and how many times as long "
        "scikit-learn's `SVC` and that of scikit-learn-intelex take for the same answer (the dual "
        f"objective of kernelwise, which is minimised, is {objectives(suite)}), on "
        f"{suite['environment']['cpu']}:\n\n{table(header, lines)}\n\n"
        f"{verdicts.count('reached')} of {len(verdicts)} targets are reached; "
        "[docs/benchmarks.md](docs/benchmarks.md) has all of them, prediction, memory and more. "
        "`make bench` repeats it."
    )


def check_markers(readme: Path) -> None:
    """Fail where the README has no place for the table."""
    text = readme.read_text(encoding="utf-8")
    if text.count(START) != 1 or text.count(END) != 1 or text.index(START) > text.index(END):
        raise SystemExit(f"{readme} needs the lines {START} and {END}, once each, for the table.")


def with_block(text: str, content: str) -> str:
    """Return the text with what is between the markers replaced."""
    before, _, rest = text.partition(START)
    return f"{before}{START}\n{content}\n{END}{rest.partition(END)[2]}"
