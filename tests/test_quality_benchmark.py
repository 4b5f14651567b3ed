"""The comparison of RelevanceSVC with its peers: the runner, the numbers and the page."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import quality, quality_page, quality_plot, results, targets
from benchmarks.quality_contenders import CONTENDERS, Setting, missing
from benchmarks.quality_data import Columns, draw, read, whole
from benchmarks.quality_names import ENSEMBLE, GRID, QUICK_SETS, SEEDS, SETS, SINGLE, cases
from benchmarks.quality_reading import cost, counts, gains, speed
from benchmarks.quality_sections import accuracies, costs, stabilities, truths
from benchmarks.quality_store import Store, Task, folded, unfolded
from benchmarks.quality_targets import QUALITY_TARGETS
from benchmarks.quality_truth import PROBLEMS, agreement, compared, problem

from .test_benchmarks import assert_tables_are_rectangular

ROOT = Path(__file__).resolve().parents[1]
QUICK = ("SVC", GRID, "forest", SINGLE, ENSEMBLE)
ENVIRONMENT = {
    "versions": {"kernelwise": "1.0"}, "system": "none", "cpu": "a cpu", "cores": 2,
    "memory_gb": 1.0, "threads": {"openmp": 1}, "missing": {},
}  # fmt: skip
FACTS = {"date": "2026-01-02", "quick": False, "load": 0.1, "environment": ENVIRONMENT}


def run(*options):
    """Run the comparison without the papers' data; return what is said."""
    environment = {name: value for name, value in os.environ.items() if name != "KERNELWISE_DATA"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.quality", "--quick", *map(str, options)],
        capture_output=True, text=True, check=False, cwd=ROOT, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Run all suites, tiny; return the file of results."""
    output = tmp_path_factory.mktemp("quality") / "out.json"
    run("--only", *QUICK, "--output", output)
    run("--cost", "--truth", "--output", output)
    return output


def _scores(output):
    """Return the accuracies of the results by task."""
    suite = results.load(output)["suites"]["accuracy"]
    return {task: numbers["accuracy"] for task, numbers in unfolded(suite).items()}


def test_quick_run_writes_all_suites_and_the_page(quick):
    found = results.load(quick)
    assert set(found["suites"]) == set(quality_page.QUALITY.sections)
    present = [name for name in QUICK if name not in missing()]
    assert len(_scores(quick)) == len(present) * len(cases(QUICK_SETS)) == len(present) * 6
    page = quick.with_suffix(".md").read_text(encoding="utf-8")
    assert page == quality_page.page(found)
    assert "Measured at tiny sizes" in page
    assert "Not measured." not in page
    assert "nan" not in page.replace("NAME", "").lower()
    assert_tables_are_rectangular(page)
    for suite in found["suites"].values():
        assert set(suite["environment"]["threads"].values()) == {1}


def test_a_torn_run_goes_on_where_it_was(quick, tmp_path):
    output, journal = tmp_path / "out.json", tmp_path / "out.jsonl"
    lines = quick.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if '"contender":"SVC"' in line or '"run"' in line]
    journal.write_text("".join(kept)[:-20], encoding="utf-8")  # the last line is torn
    said = run("--only", "SVC", "--jobs", "2", "--output", output)
    assert "1 fits to do, 5 done" in said
    expected = {t: score for t, score in _scores(quick).items() if t.contender == "SVC"}
    assert _scores(output) == expected
    journal.unlink()  # the table alone is enough
    said = run("--again", "SVC", "--sets", "wine", "--output", output)
    assert "2 fits to do, 4 done" in said
    assert _scores(output) == expected


def test_what_is_reported_is_not_what_is_chosen_with():
    assert not set(SEEDS["choose"]) & set(SEEDS["report"])
    report, choose = (quality.parse(["--seeds", name]).store for name in ("report", "choose"))
    assert report.output == ROOT / "docs" / "quality.json"
    assert choose.output.parent == report.journal.parent == ROOT / "benchmarks" / "scratch"
    assert choose.journal != report.journal
    with pytest.raises(SystemExit):
        quality.parse(["--sets", "nowhere"])


def test_every_case_is_there_once():
    assert len(SETS) == 18
    assert len(cases()) == len(set(cases())) == 18 + 18 + 5 + 2


def table(*rows):
    """Return a suite of three seeds from (set, condition, {contender: accuracies})."""
    found = {}
    for name, condition, scores in rows:
        for contender, numbers in scores.items():
            for seed, accuracy in enumerate(numbers):
                if accuracy is not None:
                    cpu = {GRID: 10.0, SINGLE: 0.5}.get(contender, 1.0)
                    numbers = {"accuracy": accuracy, "cpu": cpu, "n": 80, "p": 4, "classes": 2}
                    task = Task(name, condition, seed, contender)
                    found[task] = numbers | {"date": "2026-01-02"}
    return folded(found, FACTS)


MADE_UP = (
    ("sonar", "clean", {GRID: [0.8, 0.9, 0.7], ENSEMBLE: [0.9, 0.9, 0.75]}),  # + 5
    ("wine", "clean", {GRID: [0.9, 0.9, 0.9], ENSEMBLE: [0.9, 0.88, None]}),  # - 1
    ("sonar", "doubled", {GRID: [0.7, 0.7, 0.7], ENSEMBLE: [0.8, 0.81, 0.79]}),  # + 10
    ("wine", "doubled", {GRID: [0.9, 0.9, 0.9], ENSEMBLE: [0.82, 0.82, 0.82]}),  # - 8
)


def test_differences_are_paired_and_averaged_by_set():
    rows = table(*MADE_UP)["rows"]
    assert gains(rows, "clean", ENSEMBLE, GRID) == pytest.approx({"sonar": 5.0, "wine": -1.0})
    assert gains(rows, "doubled", GRID, ENSEMBLE) == pytest.approx({"sonar": -10.0, "wine": 8.0})
    assert gains(rows, "x4", ENSEMBLE, GRID) == gains(rows, "clean", "forest", GRID) == {}
    assert cost(rows, ENSEMBLE) == pytest.approx(0.1)
    assert cost(rows, "forest") is None
    assert counts(rows, ENSEMBLE) == (11, 12)


def test_the_section_says_the_numbers():
    text = accuracies(table(*MADE_UP))
    line = "| `RelevanceSVC()` | +2.00 ± 3.00 | +1.00 ± 9.00 |  | 0.10 |"  # 6 / 2, 18 / 2
    assert line in text
    assert "The mean accuracy of the grid is 85.0 clean, 80.0 doubled." in text
    assert "**Not complete**, in splits: `RelevanceSVC()` 11 of 12." in text
    worst, best = (text.index(line) for line in ("| wine | 80 | 4 |", "| sonar | 80 | 4 |"))
    assert worst < best
    assert "| wine | 80 | 4 | 2 | 90.0 | -1.0 | 90.0 | -8.0 |  |  |" in text
    assert_tables_are_rectangular(text)


def test_p_is_over_the_sets():
    rows = [(f"set {i}", "clean", {GRID: [0.5], "SVC": [0.5 + i / 100]}) for i in range(1, 7)]
    assert "| `SVC()` | +3.50 ± 0.76 (p = 0.031) |" in accuracies(table(*rows))  # 2 / 2^6


def outcome(text, **suites):
    """Return the value and the verdict of the target with these words."""
    found = {name: {"rows": rows} for name, rows in suites.items()}
    (one,) = [
        t for t in targets.outcomes({"suites": found}, QUALITY_TARGETS) if text in t["target"]
    ]
    return one["worst"], one["verdict"], one["misses"]


def test_targets_of_accuracy():
    rows = table(*MADE_UP)["rows"]
    missed = "**not reached** in 1 of 1"
    said = outcome("ensemble, doubled: mean accuracy over that of the grid", accuracy=rows)
    assert said == ("+1.00 points", missed, ["overall: +1.00 points"])
    assert outcome("ensemble, clean: mean", accuracy=rows)[:2] == ("+2.00 points", "reached")
    assert outcome("ensemble, clean: the worst", accuracy=rows)[:2] == ("-1.00 points", "reached")
    assert outcome("ensemble, sonar doubled", accuracy=rows)[:2] == ("80.0 %", missed)
    assert outcome("single, clean: mean", accuracy=rows)[1] == "not measured"
    worse = ("iris", "clean", {GRID: [0.9], ENSEMBLE: [0.85]})
    said = outcome("ensemble, clean: the worst", accuracy=table(*MADE_UP, worse)["rows"])
    assert said == ("-5.00 points", "**not reached** in 1 of 3", ["iris: -5.00 points"])
    signs = table(("sign(x1 x2)", "signs", {ENSEMBLE: [0.87, 0.89]}))["rows"]
    assert outcome("ensemble, sign(x1 x2)", accuracy=signs)[:2] == ("88.0 %", "reached")


def cost_row(name, n, single, condition="clean"):
    times = {SINGLE: {"cpu_median": single}, ENSEMBLE: {"cpu_median": 1.0}}
    case = {"set": name, "condition": condition, "n": n, "p": 4, "classes": 2}
    return {"case": case, "times": times | {GRID: {"cpu_median": 10.0}}}


def test_targets_of_the_cost_average_the_ratios():
    rows = [
        cost_row("a", 100, 0.2), cost_row("b", 600, 0.6), cost_row("c", 601, 5.0),
        cost_row("make_classification", 2000, 1.0, "synthetic"),
    ]  # fmt: skip
    assert speed(rows, SINGLE) == pytest.approx(25.0)  # 1 / mean of .02 and .06
    assert outcome("single: one over", cost=rows)[:2] == ("25.0x", "reached")
    assert outcome("single: the same", cost=rows)[:2] == ("10.0x", "**not reached** in 1 of 1")
    text = costs({"rows": rows})
    assert "`RelevanceSVC(ensemble=False)`: mean ratio to the grid 0.040 (1 / 25.0)" in text
    assert "| c * | clean | 601 |" in text
    assert_tables_are_rectangular(text)


def test_scores_and_selections_against_what_is_relevant():
    relevant = np.array([True, True, False, False])
    found = compared(np.array([3.0, 1.0, 2.0, 0.0]), np.array([True, False, True, False]), relevant)
    assert found == {"precision": 0.5, "recall": 0.5, "auc": 0.75}
    nothing = compared(np.zeros(4), np.zeros(4, dtype=bool), relevant)
    assert nothing == {"precision": None, "recall": 0.0, "auc": 0.5}
    lists = {key: [found[key], nothing[key]] for key in found}
    case = {"problem": "XOR", "n": 9, "p": 4, "relevant": 2}
    text = truths({"rows": [{"case": case, "found": {"F": lists}}]})
    assert "| 2 | 0.50 | 0.25 ± 0.25 | 0.62 ± 0.12 |" in text


def test_agreement_of_halves():
    one = (np.array([4.0, 3.0, 2.0, 1.0]), np.array([True, True, False, False]))
    two = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, False, True, False]))
    found = agreement([one, two])
    assert found == {"spearman": -1.0, "jaccard": 0.33333, "selected": 2.0, "noise": 0.25}
    none = (np.ones(4), np.zeros(4, dtype=bool))
    assert agreement([none, none]) == {"spearman": 0, "jaccard": 1, "selected": 0, "noise": 0}
    case = {"set": "sonar", "n": 104, "p": 4, "halves": 2}
    text = stabilities({"rows": [{"case": case, "found": {"F": found}}]})
    assert "| 104 | 4 | -1.00 | 0.33 | 2.0 | 25 % |" in text


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_relevant_columns_decide_the_class(name):
    one, relevant = problem(name, 0)
    assert one.X.shape == one.X_test.shape == (300, 30)
    assert 0.35 < one.y.mean() < 0.65
    from sklearn.neighbors import KNeighborsClassifier

    scores = [
        KNeighborsClassifier(5).fit(one.X[:, kept], one.y).score(one.X_test[:, kept], one.y_test)
        for kept in (relevant, ~relevant)
    ]
    assert scores[0] > 0.8 > 0.6 > scores[1]


def test_the_store_survives_what_is_torn_and_what_is_taken_back(tmp_path):
    store = Store(tmp_path / "out.json", tmp_path / "deep" / "out.jsonl")
    assert store.load() == ({}, {})
    store.fold()
    assert not store.output.exists()  # nothing to fold
    numbers = {"accuracy": 0.5, "cpu": 1.0, "n": 8, "p": 2, "classes": 2, "date": "2026-01-02"}
    tasks = [Task(*key) for key in (("a", "clean", 0, "SVC"), ("b", "clean", 1, "SVC"))]
    store.append({"run": FACTS})
    for task in tasks:
        store.add(task, numbers)
    with store.journal.open("a") as file:
        file.write('{"set": "c", "cond')
    store.add(tasks[0], numbers | {"accuracy": 0.75})
    store.fold()
    expected = {tasks[0]: numbers | {"accuracy": 0.75}, tasks[1]: numbers}
    assert store.load() == (expected, FACTS)
    assert Store(store.output, tmp_path / "none").load() == (expected, FACTS)
    assert json.loads(store.output.read_text())["suites"]["accuracy"]["seeds"] == [0, 1]
    store.forget("SVC", ["a"])
    assert list(store.load()[0]) == tasks[1:]
    store.forget("SVC")
    assert store.load()[0] == {}


def test_words_are_filled_by_the_training_rows_and_coded():
    nan = np.nan
    X = np.array([[1.0, 0, 2], [nan, 1, nan], [3, nan, 2], [5, 0, 0], [5, 0, 0]])
    columns = Columns(X, np.zeros(5), np.array([0, 2, 3]))
    filled = columns.filled(np.array([0, 1, 2]))
    assert np.isnan(filled[1, 0])  # a number: filled in with the mean, when it is standardised
    assert filled[:, 1].tolist() == [0, 1, 0, 0, 0]
    assert filled[:, 2:].tolist() == [[0, 0, 1]] * 3 + [[1, 0, 0]] * 2


def test_splits_belong_to_their_seed():
    one, same, other = (draw("wine", "doubled", seed) for seed in (3, 3, 4))
    assert one.X.shape == (142, 26)
    assert one.X_test.shape == (36, 26)
    assert (one.X == same.X).all()
    assert not np.isclose(one.X, other.X).all(axis=0).any()
    assert one.X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert one.X.std(axis=0) == pytest.approx(1)
    clean = draw("wine", "clean", 3)
    assert one.X[:, :13] == pytest.approx(clean.X)  # the same rows
    digits = read("digits")
    assert (digits.X.shape, np.bincount(digits.y).min()) == ((400, 64), 39)


def test_both_grids_have_45_points():
    from sklearn.model_selection import ParameterGrid

    for name in (GRID, "kbest_grid"):
        for p in (4, 60):
            model = CONTENDERS[name].make(Setting(p))
            assert len(ParameterGrid(model.param_grid)) == 45
            assert model.cv == 5


def test_sets_of_the_folder(data_dir):
    ecoli = read("ecoli")
    assert np.bincount(ecoli.y).tolist() == [143, 77, 35, 20, 5, 52]  # without imL and imS
    assert read("wpbc").X.shape[1] == 32
    colic = whole("horse_colic", "x4", 0, np.arange(300))
    assert colic.X.shape == (368, 5 * 57)
    for name in SETS:
        one = draw(name, "clean", 0)
        assert np.isfinite(one.X).all()
        assert np.isfinite(one.X_test).all()
        assert set(one.y_test) == set(one.y)


def test_the_picture_is_small(tmp_path):
    found = {"suites": {"accuracy": table(*MADE_UP)}}
    quality_plot.draw(found, tmp_path / "images" / "quality.png")
    assert 0 < (tmp_path / "images" / "quality.png").stat().st_size < 100_000
    quality_plot.draw({"suites": {}}, tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


def test_the_page_is_what_the_results_give():
    output = ROOT / "docs" / "quality.json"
    assert output.stat().st_size < 1_000_000
    found = results.load(output)
    assert not any(suite["quick"] for suite in found["suites"].values())
    assert output.with_suffix(".md").read_text(encoding="utf-8") == quality_page.page(found)
    assert found["suites"]["accuracy"]["seeds"] == list(SEEDS["report"])
