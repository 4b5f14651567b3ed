"""Methods compared on tables: measures, summaries, sections, targets and generated tables."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.command import SUITES
from benchmarks.quality import PAGE
from benchmarks.quality.comparison import Comparison
from benchmarks.quality.contenders import CLASSIFIERS, ORACLE, OURS, Predictions, Setting
from benchmarks.quality.figure import peers_figure
from benchmarks.quality.generated import AMONG, ENTROPY, PROBLEMS, make, without_noise
from benchmarks.quality.measures import columns, coverage, error, of_classes, of_numbers
from benchmarks.quality.suites import CLEAN, NOISY, Mixed, Regression, Small
from benchmarks.quality.tables import FAMILIES, Split
from benchmarks.quality.tables.catalogue import catalogue
from benchmarks.quality.targets import TARGETS
from benchmarks.targets import verdicts

from ..loop import loop
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
    row("a", OURS, 0, auc=0.96, coverage=0.92, size=1.5),
    row("a", OURS, 1, auc=0.92, coverage=0.92, size=1.5),
    row("b", OURS, auc=0.80, coverage=0.80, size=1.5), row("c", OURS, auc=0.70),
    row("a", "lightgbm", 0, auc=0.92), row("b", "lightgbm", auc=0.90),
    row("a", "svc_grid", 0, log_loss=None),
    row("a", OURS, 0, NOISY, auc=0.94), row("a", "lightgbm", 0, NOISY, auc=0.88),
]  # fmt: skip


def test_measures_of_classes():
    y = np.array([0, 0, 1, 1])
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]])
    found = of_classes(y, Predictions(p.argmax(axis=1), p, p, 0.0, 0.0, None))
    assert found["accuracy"] == found["balanced_accuracy"] == 0.5
    assert found["auc"] == 0.75
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.5, 0.8]).mean(), rel=1e-4)
    assert found["brier"] == pytest.approx(2 * np.mean([0.01, 0.36, 0.25, 0.04]), rel=1e-4)
    decision = of_classes(y, Predictions(y, p[:, 1] - 0.5, None, 0.0, 0.0, None))
    assert (decision["auc"], decision["accuracy"], decision["log_loss"]) == (0.75, 1.0, None)
    three = np.array([0, 1, 2])
    sure = Predictions(three, np.eye(3), np.eye(3)[[0, 1, 1]], 0.0, 0.0, None)
    assert of_classes(three, sure)["auc"] == 1.0
    assert of_classes(three, sure)["average_precision"] is None
    assert of_classes(three, sure)["log_loss"] == pytest.approx(-np.log(1e-6) / 3, rel=1e-4)
    assert columns(np.array([1.0, -2.0])).tolist() == [[-1.0, 1.0], [2.0, -2.0]]


def test_measures_of_numbers_and_of_what_is_compared():
    y = np.array([0.0, 2.0, 4.0])
    found = of_numbers(y, Predictions(y + 1, None, None, 0.0, 0.0, None))
    assert found == {
        "r2": pytest.approx(1 - 3 / 8),
        "rmse": pytest.approx((3 / 8) ** 0.5, rel=1e-4),
    }
    assert error(found) == found["rmse"]
    assert error({"classes": 2, "auc": 0.75, "log_loss": 0.5}) == 0.25
    assert error({"classes": 3, "auc": 0.75, "log_loss": 0.5}) == 0.5
    assert error({"classes": 3, "auc": 0.75, "log_loss": None}) is None


def test_coverage_of_sets_and_intervals():
    class Sets:
        def predict_set(self, X, confidence_level):
            assert confidence_level == 0.9
            return np.array([[True, False], [True, True], [False, True]])

    class Intervals:
        def predict_interval(self, X, confidence_level):
            return X - 1.0, X + 1.0

    y = np.array([0, 1, 0])
    assert coverage(y, Sets(), None) == {"coverage": 0.66667, "size": 1.3333}
    found = coverage(np.array([0.0, 4.0]), Intervals(), np.array([0.5, 2.0]))
    assert found == {"coverage": 0.5, "size": 1.0}  # the deviation of the target is 2


def test_methods_are_compared_on_their_common_splits():
    found = Comparison(ROWS)
    gain = found.gain(CLEAN, OURS, "lightgbm", "auc")
    assert gain.by_table == pytest.approx({"a": 4.0, "b": -10.0})
    assert (gain.mean.value, gain.wins) == (pytest.approx(-3.0), 1)
    ratio = found.ratio(CLEAN, OURS, "lightgbm")
    assert ratio.by_table == pytest.approx({"a": 0.5, "b": 2.0})
    assert (ratio.mean, ratio.median, ratio.wins) == (pytest.approx(1.0), pytest.approx(1.25), 1)
    assert ratio.spread == pytest.approx(np.log(2))
    assert ratio.worst == ("b", pytest.approx(2.0))
    assert found.ratio(CLEAN, OURS, "catboost") is found.gain(CLEAN, OURS, "forest", "auc") is None
    assert found.gain(CLEAN, OURS, "svc_grid", "log_loss") is None
    assert found.mean(CLEAN, OURS, "auc") == pytest.approx((94 + 80 + 70) / 3)
    perfect = Comparison([row("a", OURS, auc=1.0), row("a", "forest", auc=0.98)])
    assert perfect.ratio(CLEAN, OURS, "forest").mean == pytest.approx(0.5)  # not zero


def test_sections_show_means_ratios_coverage_and_tables():
    for suite in (Small(), Mixed()):
        text = suite.section(results(*ROWS))
        assert_tables_are_rectangular(text)
        assert "### As they are (3 tables)" in text
        assert "### With noise columns (1 tables)" in text
        line = "| LightGBM | 80.0 | 91.0 | 0.300 | 0.20 | 1.000 ± 0.693 | 1.250 | 1 of 2 | b 2.00 |"
        assert line in text
        assert "`predict_set` holds the truth of 86.0 % of the test rows" in text
        assert "| a | 100 | 3 | 2 | 10 % | 94.0 | 92.0 | 90.0 |" in text
    numbers = [row("a", name, r2=0.75, rmse=0.5) for name in (OURS, "ridge")]
    text = Regression().section(results(*numbers))
    assert "| `RidgeCV` | 75.0 | 0.500 | 0.20 | 1.000 ± 0.000 | 1.000 | 0 of 1 | a 1.00 |" in text
    assert "| a | 100 | 3 | 0.500 | 0.500 |" in text


def test_the_page_opens_with_errors_and_missed_targets():
    opening = PAGE.opening({"quality-small": ROWS})
    assert "| 3: small, 150 to 1,500 rows |  | 1.00 |  |  |  | 0.40 | 0.20 |" in opening
    assert "- small tables: error over that of LightGBM, geometric mean: at most 0.96" in opening
    assert PAGE.opening({}) == ""
    figure = peers_figure({"quality-small": ROWS}).figure
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["LightGBM", "GridSearchCV(SVC) of 25 points"]  # the largest ratio first
    assert peers_figure({}) is None


def test_targets():
    def found(suite, rows):
        return {one["target"]: one for one in verdicts({f"quality-{suite}": rows}, TARGETS)}

    small = found("small", ROWS)
    assert small["small tables: error over that of LightGBM, geometric mean"]["worst"] == "1.000"
    noisy = small["small tables with noise columns: error over that of LightGBM"]
    assert (noisy["worst"], noisy["verdict"]) == ("0.500", "met")
    assert small["sets: mean coverage, distance from 90 %"]["worst"] == "2.00 points"  # by fit
    assert small["mixed tables: error over that of CatBoost, worst table"]["cases"] == 0
    stopped = [row("a", name, classes=3, log_loss=x) for name, x in
               ((OURS, 0.6), ("lightgbm_stopped", 0.5))]  # fmt: skip
    each = found("large", stopped)[
        "large tables: log loss over that of LightGBM with early stopping"
    ]
    assert each["misses"] == ["a: 1.200"]
    name, small_name = (f"linear + 10 x noise, {n} rows" for n in (600, 150))
    among = [
        row(table, who, n=n, accuracy=x)
        for table, n in ((name, 600), (small_name, 150))
        for who, x in ((OURS, 0.8), (ORACLE, 0.84))
    ]
    nothing = [row("nothing 300 x 30", OURS, log_loss=0.70)]
    generated = found("generated", among + nothing)
    (oracle,) = (one for key, one in generated.items() if "right columns" in key)
    assert oracle["misses"] == [f"{name}: -4.00 points"]  # 150 rows are too few to ask for
    assert generated["nothing to learn: log loss over the entropy"]["worst"] == "1.010x"
    friedman = [row(f"fri_c0_{n}_5", OURS, p=5, r2=r2, rmse=0.1) for n, r2 in ((1, 0.9), (2, 0.96))]
    functions = found("pmlb", friedman)["Friedman's functions: mean R² by number of columns"]
    assert functions["misses"] == ["5 columns: 0.930"]


def test_the_catalogue_has_every_table():
    text = catalogue()
    assert_tables_are_rectangular(text)
    assert all(f"| {spec.name} |" in text for specs in FAMILIES.values() for spec in specs)


@loop("name", PROBLEMS)
def test_generated_tables_belong_to_their_seed_and_know_their_columns(name):
    one, same, other = make(name, 1), make(name, 1), make(name, 2)
    pd.testing.assert_frame_equal(one.X, same.X)
    assert not (one.y == other.y).all()
    assert one.X.shape == (PROBLEMS[name].n, PROBLEMS[name].p)
    kept = without_noise(one).X.columns
    assert (len(kept) == 0) == (name in ENTROPY)
    if name in AMONG:
        noise = one.X.shape[1] - len(kept)
        assert name.split(" x noise")[0].endswith(f"+ {noise // len(kept)}")
    if name in ENTROPY:
        p = np.bincount(np.concatenate([one.y, one.y_test])) / (len(one.y) + len(one.y_test))
        assert -(p * np.log(p)).sum() == pytest.approx(ENTROPY[name], abs=1e-4)


def test_quick_cases_need_no_data_package(tmp_path):
    said = quick(tmp_path, "quality")
    for suite in PAGE.suites:
        assert f"{suite.name}: 3 of 3 cases to do" in said
        found = SUITES[suite.name].read(tmp_path, "quick")
        assert all(r["auc"] > 0.9 if "auc" in r else 0 < r["rmse"] < 1 for r in found.rows)
    text = (tmp_path / "quality.md").read_text(encoding="utf-8")
    assert text == PAGE.text(PAGE.read(tmp_path, "quick"))
    assert "Measured at tiny sizes" in text
    assert "nan" not in text.replace("NAME", "").lower()
    assert_tables_are_rectangular(text)


def test_boosting_gets_the_frequent_levels_of_long_categories():
    codes = [f"level {k % 300}" for k in range(600)] + ["level 299"] * 5
    X = pd.DataFrame({"long": pd.Categorical(codes), "number": np.arange(605.0)})
    y = np.arange(605) % 2
    found = CLASSIFIERS["histogram"].run(Split(X, y, X[:9], y[:9]), Setting(quick=True))
    assert found.probabilities.shape == (9, 2)
