"""Methods compared on tables: measures, summaries, targets, and the older version's worker."""

import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks.quality.copies import Copies, answers, relevance_leaving_out
from benchmarks.quality.noise_category import NoiseCategory, noisy_category
from benchmarks.quality.on_tables import CLEAN, NOISY, Imbalanced, Mixed, Small
from benchmarks.quality.opponents import CALIBRATED, OPPONENTS, OURS, TODAY, Judged, Setting
from benchmarks.quality.probabilities import Coverage, PureNoise
from benchmarks.quality.table_figures import peers_figure
from benchmarks.quality.table_targets import TABLE_TARGETS
from benchmarks.quality.today import VARIABLE, Worker
from kernelwise.experiments import ExperimentError

from benchmarks.command import SUITES
from benchmarks.quality import PAGE, recipes
from benchmarks.quality.comparison import Comparison
from benchmarks.quality.measures import columns, measures
from benchmarks.quality.tables import FAMILIES, REPORT, Split
from benchmarks.quality.tables.catalogue import catalogue
from benchmarks.targets import verdicts

from .helpers import assert_tables_are_rectangular, quick, results


def row(dataset, contender, split=0, condition=CLEAN, **found):
    shape = {"n": 100, "n_test": 100, "p": 3, "classes": 2, "rarest": 0.1}
    case = {"dataset": dataset, "condition": condition, "split": split, "contender": contender}
    numbers = {
        "accuracy": 0.8, "balanced_accuracy": 0.7, "auc": 0.9, "average_precision": 0.5,
        "log_loss": 0.3, "brier": 0.2, "fit_seconds": 0.2, "predict_seconds": 0.1,
    }  # fmt: skip
    return case | shape | numbers | found


ROWS = [
    row("a", OURS, 0, auc=0.95), row("a", OURS, 1, auc=0.93), row("b", OURS, auc=0.80),
    row("c", OURS, auc=0.70),
    row("a", "lightgbm", 0, auc=0.90), row("b", "lightgbm", auc=0.82),
    row("a", TODAY, 0, auc=0.91, log_loss=None), row("b", TODAY, auc=0.8, log_loss=None),
    row("a", CALIBRATED, 0, log_loss=0.4), row("b", CALIBRATED, log_loss=0.2),
    row("a", OURS, 0, NOISY, auc=0.94),
]  # fmt: skip


def test_measures_of_two_and_of_several_classes():
    y = np.array([0, 0, 1, 1])
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]])
    found = measures(y, Judged(p.argmax(axis=1), p, p, 0.0, 0.0))
    assert found["accuracy"] == found["balanced_accuracy"] == 0.5
    assert found["auc"] == 0.75
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.5, 0.8]).mean(), rel=1e-4)
    assert found["brier"] == pytest.approx(2 * np.mean([0.01, 0.36, 0.25, 0.04]), rel=1e-4)
    decision = measures(y, Judged(y, p[:, 1] - 0.5, None, 0.0, 0.0))
    assert (decision["auc"], decision["accuracy"]) == (0.75, 1.0)
    assert decision["log_loss"] is None
    three = np.array([0, 1, 2])
    sure = measures(three, Judged(three, np.eye(3), np.eye(3)[[0, 1, 1]], 0.0, 0.0))
    assert sure["auc"] == 1.0
    assert sure["average_precision"] is None
    assert sure["log_loss"] == pytest.approx(-np.log(1e-6) / 3, rel=1e-4)
    assert columns(np.array([1.0, -2.0])).tolist() == [[-1.0, 1.0], [2.0, -2.0]]


def test_differences_are_paired_by_split_and_averaged_by_table():
    found = Comparison(ROWS)
    gain = found.gain(CLEAN, OURS, "lightgbm", "auc")
    assert gain.by_table == pytest.approx({"a": 5.0, "b": -2.0})
    assert gain.mean.value == pytest.approx(1.5)
    assert (gain.wins, gain.losses) == (1, 1)
    assert gain.worst == ("b", pytest.approx(-2.0))
    assert found.gain(CLEAN, OURS, "lightgbm", "auc", ["b"]).by_table.keys() == {"b"}
    assert found.gain(CLEAN, OURS, "catboost", "auc") is None
    assert found.gain(CLEAN, OURS, TODAY, "log_loss") is None
    loss = found.gain(CLEAN, OURS, CALIBRATED, "log_loss")
    assert (loss.wins, loss.losses, loss.worst[0]) == (1, 1, "b")
    assert found.ratio(CLEAN, OURS, CALIBRATED, "log_loss").value == pytest.approx((0.75 + 1.5) / 2)
    assert found.changed(NOISY, CLEAN, OURS, "auc").by_table == pytest.approx({"a": -1.0})
    assert found.mean(CLEAN, OURS, "auc") == pytest.approx((94 + 80 + 70) / 3)
    assert found.noise_of(CLEAN, "b", OURS) == pytest.approx(4.0)


@pytest.mark.parametrize("suite", [Small(), Mixed()])
def test_sections_show_means_differences_and_tables(suite):
    text = suite.section(results(*ROWS))
    assert_tables_are_rectangular(text)
    assert "### As they are (3 tables)" in text
    assert "on 1 no method has an AUC of 75 %; 3 are one or the other." in text
    assert "| LightGBM | 80.0 | 86.0 | 0.300 | 0.20 |" in text
    assert "| +1.50 ± 3.50 | 1 of 2 | b -2.0 |" in text
    assert "| a | 100 | 3 | 2 | 10 % | 94.0 | 91.0 | 90.0 |" in text


def test_the_picture_and_the_opening_need_both_kinds_of_tables():
    figure = peers_figure(ROWS, ROWS).figure
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["LightGBM", "version before"]  # the smallest difference first
    assert peers_figure(ROWS, []) is None
    opening = PAGE.opening({"quality-small": ROWS})
    assert opening.startswith("On 3 small tables that took no part in any choice")
    assert "+2.0 ± 2.0 to the version before, +1.5 ± 3.5 to LightGBM." in opening
    assert PAGE.opening({}) == ""


def test_the_catalogue_has_every_reported_table():
    text = catalogue()
    assert_tables_are_rectangular(text)
    for family, specs in FAMILIES.items():
        for spec in specs:
            line = f"| {spec.name} | {family.replace('imbalanced', 'rare classes')} |"
            assert (line in text) == (spec.role == REPORT)


def test_targets_of_tables():
    found = {each["target"]: each for each in verdicts({"quality-small": ROWS}, TABLE_TARGETS)}
    gain = found["small tables: mean AUC minus that of LightGBM"]
    assert (gain["worst"], gain["verdict"]) == ("+1.50 points", "met")
    assert found["small tables: mean AUC minus that of version before"]["worst"] == "+2.00 points"
    noise = found["small tables: AUC with as many noise columns minus that without"]
    assert noise["verdict"] == "**missed** in 1 of 1"
    ratio = found[
        "small tables: log loss over that of the version before in `CalibratedClassifierCV`"
    ]
    assert ratio["verdict"] == "**missed** in 1 of 1"
    mixed = {each["target"]: each for each in verdicts({"quality-mixed": ROWS}, TABLE_TARGETS)}
    worst = mixed["mixed tables: AUC minus that of LightGBM, on every table"]
    assert worst["misses"] == ["b: -2.00 points"]
    assert mixed["small tables: mean AUC minus that of LightGBM"]["verdict"] == "not measured"


def test_targets_of_rare_classes_compare_with_the_best_peer():
    rows = [
        row("a", OURS, auc=0.90), row("b", OURS, auc=0.80),
        row("a", "svc_grid", auc=0.92), row("b", "svc_grid", auc=0.80),
        row("a", "logistic", auc=0.60), row("b", "logistic", auc=0.60),
    ]  # fmt: skip
    found = verdicts({"quality-imbalanced": rows}, TABLE_TARGETS)
    (best,) = (each for each in found if "mean AUC minus that of the best peer" in each["target"])
    assert best["worst"] == "+0.00 points"  # one point behind, with an error of one point
    assert "### auc by table" in Imbalanced().section(results(*rows)).lower()


def test_sections_on_noise_and_coverage():
    rows = [
        {"problem": "300 x 30", "seed": seed, "classes": 2, "log_loss": loss}
        for seed, loss in enumerate((0.70, 0.72))
    ]
    assert "| 300 x 30 | 0.710 ± 0.010 | 0.693 | 1.024 |" in PureNoise().section(results(*rows))
    sets = {"coverage_0.8": 0.8, "size_0.8": 1.0, "coverage_0.9": 0.95, "size_0.9": 1.5}
    shape = {"dataset": "a", "split": 0, "classes": 2, "n_test": 10}
    text = Coverage().section(results(shape | sets))
    assert "| a | 2 | 80.0 % (1.00) | 95.0 % (1.50) |" in text
    assert_tables_are_rectangular(text)
    found = verdicts({"quality-coverage": [shape | sets]}, TABLE_TARGETS)
    (target,) = (each for each in found if "coverage" in each["target"])
    assert target["worst"] == "5.00 points"


def test_a_category_of_noise():
    X, y = noisy_category(0)
    assert list(X.columns) == ["signal", "noise", "other noise", "category"]
    assert X["category"].nunique() == 30
    assert 0.4 < y.mean() < 0.6
    rows = [
        {"seed": 0, "shares": [0.7, 0.1, 0.1, 0.1], "selected": [True, False, True, False]},
        {"seed": 1, "shares": [0.3, 0.1, 0.1, 0.5], "selected": [True, False, False, True]},
    ]
    text = NoiseCategory().section(results(*rows))
    assert "In 1 of 2 repeats the category has a smaller share" in text
    assert "| category | 0.30 | 1 of 2 |" in text
    found = verdicts({"quality-category": rows}, TABLE_TARGETS)
    one, two = (each for each in found if "a category of noise" in each["target"])
    assert (one["worst"], one["verdict"]) == ("1 of 20", "**missed** in 1 of 1")
    assert two["worst"] == "+0.50"


def test_recipes_are_compared_on_the_same_rows():
    X = pd.DataFrame({"a": range(40), "b": range(40), "c": range(40)}, dtype=float)
    X["d"] = pd.Categorical(["x", "y"] * 20)
    split = Split(X[:30], np.arange(30) % 2, X[30:], np.arange(10) % 2)
    some = recipes.some_rows(split, 20, recipes.WHOLE, 0)
    assert some.X.shape == (20, 4)
    assert np.bincount(some.y).tolist() == [10, 10]
    assert list(recipes.some_rows(split, 30, recipes.NUMBERS, 0).X_test) == ["a", "b", "c"]
    assert recipes.some_rows(split, 31, recipes.WHOLE, 0) is None
    few = Split(X[["a", "d"]], np.arange(40) % 2, X[["a", "d"]], np.arange(40) % 2)
    assert recipes.some_rows(few, 20, recipes.NUMBERS, 0) is None
    small = {"accuracy": 0.7, "auc": 0.8, "log_loss": 0.5, "fit_seconds": 2.0}
    larger = {"accuracy": 0.72, "auc": 0.79, "log_loss": 0.48, "fit_seconds": 1.0}
    case = {"kind": recipes.WHOLE, "rows": 500, "found": {"small": small, "larger": larger}}
    text = recipes.Recipes().section(
        results(
            case | {"dataset": "a", "split": 0},
            case | {"dataset": "a", "split": 1},
            {"dataset": "b", "kind": recipes.WHOLE, "rows": 500, "split": 0, "found": {}},
        )
    )
    assert "| as they are | 500 | 1 | +2.00 | -1.00 | -0.020 | 0.500 times |" in text
    assert_tables_are_rectangular(text)


def test_copies_of_rows():
    split = answers("3 x 3", 0)
    assert len(np.unique(split.X, axis=0)) <= 27
    probabilities = [
        relevance_leaving_out(weight).fit(split.X[:200], split.y[:200]).predict_proba(split.X_test)
        for weight in (1.0, np.inf)
    ]
    assert abs(probabilities[0] - probabilities[1]).max() > 1e-3
    rows = [
        {
            "problem": "a",
            "seed": k,
            "left_out": rule,
            "distinct": 0.25,
            "auc": auc,
            "log_loss": loss,
        }
        for k in range(2)
        for rule, auc, loss in (("all copies", 0.8, 0.5), ("one copy", 0.81, 0.48))
    ]
    text = Copies().section(results(*rows))
    assert "| a | 25 % | 0.500 | -0.0200 ± 0.0000 | 80.0 | 1.00 ± 0.00 |" in text
    assert_tables_are_rectangular(text)


@pytest.mark.parametrize("suite", ["quality-small", "quality-imbalanced"])
def test_quick_cases_need_no_data_package(suite, tmp_path):
    assert "3 of 3 cases to do" in quick(tmp_path, suite)
    found = SUITES[suite].read(tmp_path, "quick")
    assert all(row["auc"] > 0.9 for row in found.rows)


def test_the_older_version_needs_an_interpreter(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    suite = Small()
    tasks = suite.tasks(suite.scale())
    assert {task["contender"] for task in tasks} <= set(OPPONENTS)
    with pytest.raises(ExperimentError, match="give --today PYTHON"):
        suite.check_data(tasks, None)
    suite.check_data([task for task in tasks if task["contender"] == "forest"], None)


def test_boosting_gets_the_frequent_levels_of_long_categories():
    codes = [f"level {k % 300}" for k in range(600)] + ["level 299"] * 5
    X = pd.DataFrame({"long": pd.Categorical(codes), "number": np.arange(605.0)})
    y = np.arange(605) % 2
    judged = OPPONENTS["histogram"].judge(Split(X, y, X[:9], y[:9]), Setting(quick=True))
    assert judged.probabilities.shape == (9, 2)


def test_the_worker_fits_in_its_own_process_and_reports_errors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    split = Split(X, (X[:, 0] > 0).astype(int), X[:10], (X[:10, 0] > 0).astype(int))
    worker = Worker(sys.executable)
    try:
        found = worker.fit(split)
        assert np.mean(found["predicted"] == split.y_test) >= 0.9
        assert found["scores"].shape == (10,)
        assert found["fit_seconds"] > 0
        assert worker.fit(split, calibrated=True)["scores"].shape == (10, 2)
        with pytest.raises(RuntimeError, match=r"the older kernelwise failed: .*unknown"):
            worker.fit(split, unknown=1)
    finally:
        worker.close()
