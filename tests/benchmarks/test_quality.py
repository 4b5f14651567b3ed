"""The comparison of RelevanceSVC with its peers: the runner, the numbers and the page."""

import numpy as np
import pytest
from benchmarks.quality.accuracy import Accuracy, Choose
from benchmarks.quality.cost import Cost
from benchmarks.quality.data import Columns, draw, read, whole
from benchmarks.quality.figures import by_set_figure, noise_figure
from benchmarks.quality.names import (
    ENSEMBLE,
    GRID,
    QUICK_SETS,
    SEEDS,
    SETS,
    SINGLE,
    UNCALIBRATED,
    cases,
)
from benchmarks.quality.summaries import by_set, cost, counts, gains, speed_up
from benchmarks.quality.truth import JUDGES, RULES, Stability, Truth, agreement, compared, problem

from benchmarks.quality import PAGE
from benchmarks.quality.contenders import CONTENDERS, Setting
from benchmarks.targets import verdicts

from .helpers import assert_tables_are_rectangular, quick, results

QUICK = ("SVC", GRID, "forest", SINGLE, ENSEMBLE)


def test_quick_run_writes_all_suites_and_the_page(tmp_path):
    only = [f"contender={name}" for name in QUICK]
    quick(tmp_path, "quality-accuracy", "--jobs", "2", "--only", *only)
    quick(tmp_path, *(suite.name for suite in PAGE.suites if not isinstance(suite, Accuracy)))
    found = PAGE.read(tmp_path, "quick")
    assert list(found) == [suite.name for suite in PAGE.suites]
    assert len(found["quality-accuracy"].rows) == len(QUICK) * len(cases(QUICK_SETS))
    page = (tmp_path / "quality.md").read_text(encoding="utf-8")
    assert page == PAGE.text(found)
    assert "Measured at tiny sizes" in page
    assert "Not measured." not in page
    assert "nan" not in page.replace("NAME", "").lower()
    assert_tables_are_rectangular(page)
    for one in found.values():
        assert set(one.header["threads"].values()) == {1}


def test_what_is_reported_is_not_what_is_chosen_with():
    assert not set(SEEDS["choose"]) & set(SEEDS["report"])
    report, choose = (
        {task["seed"] for task in suite.tasks(suite.scale())} for suite in (Accuracy(), Choose())
    )
    assert report == set(SEEDS["report"])
    assert choose == set(SEEDS["choose"])
    assert not any(isinstance(suite, Choose) for suite in PAGE.suites)


def test_every_case_is_there_once():
    assert len(SETS) == 18
    assert len(cases()) == len(set(cases())) == 18 + 18 + 5 + 2


def made(*sets):
    """Return rows from (set, condition, {contender: accuracies by seed})."""
    shape = {"n": 80, "p": 4, "classes": 2, "date": "2026-01-02"}
    return [
        {"dataset": name, "condition": condition, "seed": seed, "contender": contender}
        | {"accuracy": accuracy, "fit_seconds": {GRID: 10.0, SINGLE: 0.5}.get(contender, 1.0)}
        | shape
        for name, condition, scores in sets
        for contender, numbers in scores.items()
        for seed, accuracy in enumerate(numbers)
        if accuracy is not None
    ]


MADE_UP = (
    ("sonar", "clean", {GRID: [0.8, 0.9, 0.7], ENSEMBLE: [0.9, 0.9, 0.75]}),  # + 5
    ("wine", "clean", {GRID: [0.9, 0.9, 0.9], ENSEMBLE: [0.9, 0.88, None]}),  # - 1
    ("sonar", "doubled", {GRID: [0.7, 0.7, 0.7], ENSEMBLE: [0.8, 0.81, 0.79]}),  # + 10
    ("wine", "doubled", {GRID: [0.9, 0.9, 0.9], ENSEMBLE: [0.82, 0.82, 0.82]}),  # - 8
)


def test_differences_are_paired_and_averaged_by_set():
    rows = by_set(made(*MADE_UP))
    assert gains(rows, "clean", ENSEMBLE, GRID) == pytest.approx({"sonar": 5.0, "wine": -1.0})
    assert gains(rows, "doubled", GRID, ENSEMBLE) == pytest.approx({"sonar": -10.0, "wine": 8.0})
    assert gains(rows, "x4", ENSEMBLE, GRID) == gains(rows, "clean", "forest", GRID) == {}
    assert cost(rows, ENSEMBLE) == pytest.approx(0.1)
    assert cost(rows, "forest") is None
    assert counts(rows, ENSEMBLE) == (11, 12)


def test_the_section_says_the_numbers():
    text = Accuracy().section(results(*made(*MADE_UP)))
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
    assert "| `SVC()` | +3.50 ± 0.76 (p = 0.031) |" in Accuracy().section(
        results(*made(*rows))
    )  # 2 / 2^6


def outcome(text, suite, rows):
    """Return the value, the verdict and the misses of the target with these words."""
    found = verdicts({f"quality-{suite}": rows}, PAGE.targets)
    (one,) = [each for each in found if text in each["target"]]
    return one["worst"], one["verdict"], one["misses"]


def test_targets_of_accuracy():
    rows = made(*MADE_UP)
    missed = "**missed** in 1 of 1"
    said = outcome("ensemble, doubled: mean accuracy minus that of the grid", "accuracy", rows)
    assert said == ("+1.00 points", missed, ["overall: +1.00 points"])
    assert outcome("ensemble, clean: mean", "accuracy", rows)[:2] == ("+2.00 points", "met")
    assert outcome("ensemble, clean: the worst", "accuracy", rows)[:2] == ("-1.00 points", "met")
    assert outcome("ensemble, sonar doubled", "accuracy", rows)[:2] == ("80.0 %", missed)
    assert outcome("single, clean: mean", "accuracy", rows)[1] == "not measured"
    worse = ("iris", "clean", {GRID: [0.9], ENSEMBLE: [0.85]})
    said = outcome("ensemble, clean: the worst", "accuracy", made(*MADE_UP, worse))
    assert said == ("-5.00 points", "**missed** in 1 of 3", ["iris: -5.00 points"])
    signs = made(("sign(x1 x2)", "signs", {ENSEMBLE: [0.87, 0.89]}))
    assert outcome("ensemble, sign(x1 x2)", "accuracy", signs)[:2] == ("88.0 %", "met")


def cost_row(name, n, single, condition="clean"):
    times = {SINGLE: {"cpu_median": single}, ENSEMBLE: {"cpu_median": 1.0}}
    times |= {UNCALIBRATED[form]: time for form, time in times.items()}
    case = {"dataset": name, "condition": condition, "n": n, "p": 4, "classes": 2}
    return case | {"times": times | {GRID: {"cpu_median": 10.0}}}


def test_targets_of_the_cost_average_the_ratios():
    rows = [
        cost_row("a", 100, 0.2), cost_row("b", 600, 0.6), cost_row("c", 601, 5.0),
        cost_row("make_classification", 2000, 1.0, "synthetic"),
    ]  # fmt: skip
    assert speed_up(rows, SINGLE) == pytest.approx(25.0)  # 1 / mean of .02 and .06
    assert outcome("single: speed-up over", "cost", rows)[:2] == ("25.0x", "met")
    assert outcome("single: the same, n", "cost", rows)[:2] == ("10.0x", "**missed** in 1 of 1")
    text = Cost().section(results(*rows))
    assert "`RelevanceSVC(ensemble=False)`: mean ratio to the grid 0.040 (1 / 25.0)" in text
    assert "| c * | clean | 601 |" in text
    assert_tables_are_rectangular(text)


def test_scores_and_selections_against_what_is_relevant():
    relevant = np.array([True, True, False, False])
    found = compared(np.array([3.0, 1.0, 2.0, 0.0]), np.array([True, False, True, False]), relevant)
    assert found == {"precision": 0.5, "recall": 0.5, "auc": 0.75}
    nothing = compared(np.zeros(4), np.zeros(4, dtype=bool), relevant)
    assert nothing == {"precision": None, "recall": 0.0, "auc": 0.5}
    case = {"problem": "XOR", "n": 9, "p": 4, "relevant": 2}
    rows = [
        case | {"seed": seed} | dict.fromkeys(JUDGES, one)
        for seed, one in enumerate((found, nothing))
    ]
    text = Truth().section(results(*rows))
    assert "| 2 | 0.50 | 0.25 ± 0.25 | 0.62 ± 0.12 |" in text


def test_agreement_of_halves():
    one = (np.array([4.0, 3.0, 2.0, 1.0]), np.array([True, True, False, False]))
    two = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, False, True, False]))
    found = agreement([one, two])
    assert found == {"spearman": -1.0, "jaccard": 0.33333, "selected": 2.0, "noise": 0.25}
    none = (np.ones(4), np.zeros(4, dtype=bool))
    assert agreement([none, none]) == {"spearman": 0, "jaccard": 1, "selected": 0, "noise": 0}
    case = {"dataset": "sonar", "n": 104, "p": 4, "halves": 2}
    text = Stability().section(results(case | {"found": {"F": found}}))
    assert "| 104 | 4 | -1.00 | 0.33 | 2.0 | 25 % |" in text


@pytest.mark.parametrize("name", RULES)
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


def test_pictures_need_what_they_show():
    assert by_set_figure(by_set(made(*MADE_UP))).name == "sets"
    assert by_set_figure([]) is None
    assert noise_figure(by_set(made(*MADE_UP))) is None  # no set has four times the columns
    noisiest = [("sonar", "x4", {GRID: [0.6], ENSEMBLE: [0.8]})]
    figure = noise_figure(by_set(made(*MADE_UP, *noisiest))).figure
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].get_lines()}
    assert lines["grid search of SVC"] == pytest.approx([80.0, 70.0, 60.0])
    assert lines["RelevanceSVC()"] == pytest.approx([85.0, 80.0, 80.0])
