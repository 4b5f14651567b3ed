"""The page and the README's table, from the file of results alone."""

from pathlib import Path

from . import results as files
from .sections import SECTIONS
from .sections.peers import PEERS, absent, objectives
from .targets import EQUAL_OBJECTIVE, outcomes
from .text import factor, seconds, table

START, END = "<!-- benchmarks:start -->", "<!-- benchmarks:end -->"

_HOW = f"""\
## How it is measured

- The contenders take turns in one process, in a new order each round, so that disturbances meet
  all alike. One round before, with imports and compilation, is not timed. There are at least five
  rounds, three where a round takes more than four seconds.
- A time is the median of the wall times, ± half the inter-quartile range. A ratio is the peer's
  median divided by kernelwise's: 5x says that the peer takes five times as long.
- Every library is held to one thread; how many were busy is CPU time over wall time.
- `SVC` is scikit-learn's, "intelex" is that of scikit-learn-intelex. All have an RBF kernel with
  `gamma="scale"`, `tol=1e-3` and else their defaults. These include the memory for the kernel:
  `cache_size` is 200 MB in both peers, and up to 2 GB in kernelwise.
- The data are `make_classification(n, p, n_informative=p // 2, random_state=0)`, standardised,
  unless said otherwise.
- The solver's constants (first rows, growth, when to shrink) were chosen on these same data, at
  n from 1000 to 5000: other data may give other ratios.
- Two fits have equal objectives where the dual objective of kernelwise, which is minimised, is at
  most {EQUAL_OBJECTIVE:.0e} above the peer's, relative to it. Both are computed from `dual_coef_`
  with a kernel in float64 rounded to float32, the one that the solvers see.

## How to repeat it

```console
$ make bench                                  # all, on a machine that does nothing else
$ make bench BENCH_ARGS="--only fit predict"  # some suites; the others keep their results
$ make bench BENCH_ARGS=--render              # only this page, from docs/benchmarks.json
```
"""


def write(output: Path, readme: Path | None) -> None:
    """Write the page beside the results, and the table into the README."""
    if not output.is_file():
        raise SystemExit(f"{output} is missing: there is nothing to render.")
    results = files.load(output)
    files.replace(output.with_suffix(".md"), page(results))
    if readme is not None:
        files.replace(readme, with_block(readme.read_text(encoding="utf-8"), block(results)))


def page(results: dict) -> str:
    """Return docs/benchmarks.md."""
    parts = [
        "% Written by `python -m benchmarks` from benchmarks.json: do not edit.",
        "# Benchmarks",
    ]
    parts += [_warning(results), _targets(results), _machines(results), _HOW.strip()]
    for name, (title, section) in SECTIONS.items():
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


def _targets(results: dict) -> str:
    found = outcomes(results)
    rows = [
        [one["target"], one["goal"], one["worst"], one["cases"], one["verdict"]] for one in found
    ]
    text = (
        "kernelwise against its peers, on one thread. What was to be reached, in every case, fits "
        "with n from 1000 to 5000 and at equal objective:\n\n"
    )
    text += table(["target", "goal", "worst case", "cases", "verdict"], rows, left=2)
    misses = [f"- {one['target']}: {'; '.join(one['misses'])}." for one in found if one["misses"]]
    return text + ("\n\nThe cases that miss:\n\n" + "\n".join(misses) if misses else "")


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
    times = [t for suite in suites for row in suite["rows"] for t in row["times"].values()]
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
    verdicts = [one["verdict"] for one in outcomes(results)]
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
