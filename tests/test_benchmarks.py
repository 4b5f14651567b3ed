"""The benchmarks run, count what they say, and the pages are what the results give."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import render, results, targets
from benchmarks.books import BENCHMARKS, BOOKS, LEARNERS
from benchmarks.measure import Contender, Effort, compare, timing, with_ratios
from benchmarks.problems import classification, dual_objective, scale_gamma

ROOT = Path(__file__).resolve().parents[1]

# Also where scikit-learn-intelex is installed: None in sys.modules makes an import fail.
WITHOUT_INTELEX = """
import runpy, sys
sys.modules["sklearnex"] = sys.modules["daal4py"] = None
runpy.run_module("benchmarks", run_name="__main__", alter_sys=True)
"""


def row(ratio, *, excess=0.0, n=1000, p=20, C=1):
    """Return a row of the suite "fit" in which SVC takes ``ratio`` times as long."""
    times = with_ratios({"kernelwise": timing([1.0], [1.0]), "SVC": timing([ratio], [ratio])})
    times["SVC"]["excess"] = excess
    return {"case": {"n": n, "p": p, "C": C}, "times": times}


def verdict(*rows):
    """Return the outcome of the first target: fit at p = 20 at least four times as fast."""
    return targets.outcomes({"suites": {"fit": {"rows": rows}}})[0]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Run two suites without scikit-learn-intelex, and return the folder and what was said."""
    folder = tmp_path_factory.mktemp("benchmarks")
    readme = folder / "README.md"
    readme.write_text(
        f"before\n\n{render.START}\noutdated\n{render.END}\n\nafter\n", encoding="utf-8"
    )
    options = ["--quick", "--only", "fit", "gram", "--output", folder / "out.json"]
    return folder, run(*options, "--readme", readme)


def run(*options):
    """Run the benchmarks without scikit-learn-intelex and the papers' data; return what is said."""
    command = [sys.executable, "-c", WITHOUT_INTELEX, *options]
    environment = {name: value for name, value in os.environ.items() if name != "KERNELWISE_DATA"}
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True, text=True, check=False, cwd=ROOT, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def test_results_are_complete(quick):
    folder, said = quick
    found = json.loads((folder / "out.json").read_text(encoding="utf-8"))["suites"]
    assert list(found) == ["fit", "gram"]
    assert "intelex: not installed" in said
    for suite in found.values():
        environment = suite["environment"]
        assert environment["missing"] == {"intelex": "not installed"}
        assert environment["versions"]["scikit-learn-intelex"] is None
        assert {"kernelwise", "numpy", "scipy", "scikit-learn", "numba"} <= set(
            environment["versions"]
        )
        assert environment["cpu"]
        assert environment["cores"] >= 1
        assert set(environment["threads"].values()) == {1}
        for measured in suite["rows"]:
            assert next(iter(measured["times"])) == "kernelwise"
            for times in measured["times"].values():
                assert len(times["wall"]) == len(times["cpu"]) == 2
                assert times["median"] > 0
    assert all(abs(r["times"]["SVC"]["excess"]) < 1e-6 for r in found["fit"]["rows"])
    assert all(t["difference"] < 1e-6 for r in found["gram"]["rows"] for t in r["times"].values())


def test_rendered_files_are_well_formed(quick):
    folder, _ = quick
    page = (folder / "out.md").read_text(encoding="utf-8")
    assert "Measured at tiny sizes" in page
    assert "which is not installed" in page
    assert page.count("Not measured.") == 5  # the other suites
    assert_tables_are_rectangular(page)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"before\n\n{render.START}\n")
    assert readme.endswith(f"\n{render.END}\n\nafter\n")
    assert "outdated" not in readme
    assert "| not installed |" in readme
    assert_tables_are_rectangular(readme)
    assert not list(folder.glob("*.new"))


def assert_tables_are_rectangular(text):
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]
    assert blocks
    for lines in blocks:
        assert len({line.count("|") for line in lines}) == 1, lines[0]
        assert len(lines) > 2


@pytest.mark.parametrize("book", BOOKS.values(), ids=list(BOOKS))
def test_pages_are_what_the_results_give(book):
    found = results.load(ROOT / "docs" / f"{book.file}.json")
    assert set(found["suites"]) == set(book.sections), f"run the suites of {book.file}"
    assert not any(suite["quick"] for suite in found["suites"].values())
    page = (ROOT / "docs" / f"{book.file}.md").read_text(encoding="utf-8")
    assert page == render.page(found, book)
    assert_tables_are_rectangular(page)


def test_the_readme_has_the_table_of_the_results():
    found = results.load(ROOT / "docs" / "benchmarks.json")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == render.with_block(readme, render.block(found))
    render.check_markers(ROOT / "README.md")


def test_every_suite_has_a_section():
    from benchmarks.suites import NEED_DATA, SUITES

    assert list(SUITES) == [name for book in BOOKS.values() for name in book.sections]
    assert set(LEARNERS.sections) >= NEED_DATA
    for book in BOOKS.values():
        assert {target.suite for target in book.targets} <= set(book.sections)
    assert [book for book in BOOKS.values() if book.in_readme] == [BENCHMARKS]


def test_a_readme_without_place_for_the_table_is_refused(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("nothing", encoding="utf-8")
    with pytest.raises(SystemExit, match="benchmarks:start"):
        render.check_markers(readme)


def test_a_suite_that_runs_again_leaves_the_others(tmp_path):
    path = tmp_path / "new" / "out.json"
    results.add(path, "fit", [{"wall": [1.0, 2.0]}], {}, quick=True)
    results.add(path, "gram", [], {}, quick=True)
    results.add(path, "gram", [{}], {}, quick=False)
    found = results.load(path)["suites"]
    assert found["fit"]["rows"] == [{"wall": [1.0, 2.0]}]
    assert (found["gram"]["rows"], found["gram"]["quick"]) == ([{}], False)
    assert "[ 1.0, 2.0 ]" in path.read_text(encoding="utf-8")


def test_contenders_take_turns_and_preparation_is_not_timed():
    order, clock = [], iter(range(100))
    contenders = {
        "a": Contender(lambda x: order.append(x) or "A", prepare=lambda: order.append("p") or "a"),
        "b": Contender(lambda: order.append("b") or "B"),
    }
    effort = Effort(budget=0.0, least=8)
    times, values = compare(contenders, effort, cpu_clock=lambda: next(clock))
    assert order[:3] == ["p", "a", "b"]  # the first round is for warming up
    rounds = ["".join(order[start : start + 3]) for start in range(3, len(order), 3)]
    assert sorted(rounds) == ["bpa"] * 4 + ["pab"] * 4  # everybody is first as often as others
    assert values == {"a": "A", "b": "B"}
    assert times["a"]["cpu"] == times["b"]["cpu"] == [1.0] * 8
    assert times["a"]["ratio"] == 1.0
    assert times["b"]["ratio"] == pytest.approx(
        times["b"]["median"] / times["a"]["median"], rel=1e-4
    )


@pytest.mark.parametrize(
    ("rounds", "seconds", "enough"),
    [
        (5, 10.0, False),
        (6, 10.0, True),
        (2, 13.0, False),
        (3, 13.0, True),
        (23, 1.0, False),
        (24, 1.0, True),
    ],
)
def test_rounds_adapt_to_the_time_they_take(rounds, seconds, enough):
    assert Effort().enough(rounds, seconds) is enough


def test_timing_has_median_and_quartiles():
    times = timing([1.0, 2.0, 3.0, 4.0, 100.0], [2.0] * 5)
    assert (times["median"], times["iqr"], times["cpu_median"]) == (3.0, 2.0, 2.0)


def test_targets_count_what_misses():
    assert verdict(row(4.0), row(5.0, C=10))["verdict"] == "reached"
    missed = verdict(row(3.99), row(5.0, C=10))
    assert missed["verdict"] == "**not reached** in 1 of 2"
    assert missed["misses"] == ["n = 1,000, p = 20, C = 1: 3.99x"]
    assert verdict(row(1.0, n=500), row(1.0, p=100), row(1.0, C=100))["verdict"] == "not measured"


def test_a_faster_fit_with_a_worse_objective_misses():
    assert verdict(row(9.0, excess=2e-6))["misses"] == [
        "n = 1,000, p = 20, C = 1: objective higher by 2e-06"
    ]
    assert verdict(row(9.0, excess=-2e-6))["misses"] == []


def test_dual_objective_is_that_of_the_certificate():
    from kernelwise import SVC

    X, y = classification(90, 6)
    y = y + (X[:, 0] > 0.5)  # three classes, three machines
    model = SVC(C=3.0).fit(X, y)
    expected = model.certificate_.objective.sum()
    assert dual_objective(model, X, scale_gamma(X)) == pytest.approx(expected, rel=1e-6)
