"""The measurements of the learners: their data, what is counted, and the page."""

import numpy as np
import pytest
from benchmarks.learners.leave_one_out import brute_force
from benchmarks.learners.weights import exact_dual
from kernelwise.experiments import ExperimentError

from benchmarks import data, summaries
from benchmarks.learners import PAGE
from benchmarks.measure import timing, with_ratios
from benchmarks.targets import verdicts

from .helpers import assert_tables_are_rectangular, quick


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Run the learners' suites on scikit-learn's data sets; return results and page."""
    folder = tmp_path_factory.mktemp("learners")
    quick(folder, "learners")
    return PAGE.read(folder, "quick"), (folder / "learners.md").read_text(encoding="utf-8")


def test_quick_results_are_complete(measured):
    found, page = measured
    assert list(found) == [suite.name for suite in PAGE.suites]
    assert not any(results.failures for results in found.values())
    assert page == PAGE.text(found)
    assert "Measured at tiny sizes" in page
    assert "Not measured." not in page
    assert "nan" not in page.replace("NAME", "").lower()
    assert_tables_are_rectangular(page)


def test_quick_weights_are_what_the_learners_say(measured):
    for row in measured[0]["learners-weights"].rows:
        found = row["found"]
        assert found["paper"]["solves"] == [102]
        assert found["default"]["solves"][0] <= 20
        assert found["default"]["dual"][0] < found["paper"]["dual"][0] < found["equal"]["dual"][0]
        assert found["default"]["solves_to_beat"][0] > 1


def test_quick_leave_one_out_counts_rows(measured):
    for row in measured[0]["learners-leave-one-out"].rows:
        for numbers in row["found"].values():
            assert 0 <= numbers["errors"] < row["n"] / 2


def verdict(text, suite, *rows):
    """Return the outcome of the target whose text has these words, from hand-made rows."""
    found = verdicts({f"learners-{suite}": rows}, PAGE.targets)
    (one,) = [one for one in found if text in one["target"]]
    return one


def weights_row(default, paper, solves=17):
    """Return a row of one repeat with these duals, over 10 at equal weights."""
    found = {
        "equal": {"dual": [10.0]},
        "paper": {"dual": [paper], "solves": [102]},
        "default": {"dual": [default], "solves": [solves]},
    }
    return {"dataset": "a", "noise": "b", "found": found}


def test_target_of_the_dual_counts_sets():
    lower, higher = weights_row(5.0, 6.0), weights_row(6.0, 6.0)
    assert verdict("lower dual", "weights", *[lower] * 40, *[higher] * 2)["verdict"] == "met"
    missed = verdict("lower dual", "weights", *[lower] * 39, *[higher] * 3)
    assert (missed["worst"], missed["misses"]) == ("39", ["overall: 39"])
    assert missed["goal"] == "at least 40"
    assert verdict("solves", "weights", lower)["verdict"] == "met"
    assert verdict("solves", "weights", lower, weights_row(5.0, 6.0, 21))["worst"] == "21"
    assert verdict("solves", "weights")["verdict"] == "not measured"


def test_a_set_is_lower_in_the_mean_of_its_repeats():
    row = weights_row(5.0, 6.0)
    row["found"]["equal"]["dual"] = [10.0, 20.0]
    row["found"]["paper"]["dual"] = [6.0, 10.0]  # 0.6, 0.5
    row["found"]["default"]["dual"] = [5.0, 14.0]  # 0.5, 0.7
    assert summaries.dual_ratios(row, "default") == [0.5, 0.7]
    assert summaries.lower_sets([row]) == 0


def steps_row(name, paper, default, classes=2):
    times = with_ratios(
        {key: timing([t], [t]) for key, t in {"SVC": 1, "paper": paper, "default": default}.items()}
    )
    return {"dataset": name, "noise": "b", "n": 500, "classes": classes, "times": times}


def test_targets_of_the_cost_are_in_fits_of_svc():
    rows = [
        steps_row("make_classification", 12.0, 4.1),
        steps_row("voting", 18.1, 4.0),
        steps_row("glass", 100.0, 100.0, classes=6),  # several classes are reported only
    ]
    assert verdict("updates of the paper, n = 2000", "steps", *rows)["verdict"] == "met"
    assert verdict("default, n = 2000", "steps", *rows)["worst"] == "4.10 fits of `SVC`"
    missed = verdict("updates of the paper, two classes", "steps", *rows)
    assert missed["misses"] == ["voting with noise of b, n = 500: 18.1 fits of `SVC`"]
    assert missed["cases"] == 1
    assert verdict("default, two classes", "steps", *rows)["verdict"] == "met"


def path_row(ours, grid, seconds):
    """Return a row of accuracies, where the grid takes one second a split."""
    numbers = {"span": (ours, seconds), "SVCSearchCV": (grid, 1.0)}
    numbers["GridSearchCV"] = (grid[:2], 1.0)
    times = with_ratios(
        {name: timing([t] * len(a), [t] * len(a)) for name, (a, t) in numbers.items()}
    )
    for name, (accuracy, _) in numbers.items():
        times[name]["accuracy"] = accuracy
    return {"dataset": "a", "n": 100, "times": times}


def test_targets_of_the_path_average_over_sets_and_add_up_times():
    rows = [
        path_row([0.9, 0.8, 0.7], [0.9, 0.9, 0.71], 0.1),  # the third split is a further one
        path_row([0.95, 0.95, 0.9], [0.909, 0.909, 0.91], 0.2),
    ]
    assert summaries.gains(rows, "span", "GridSearchCV") == pytest.approx([-5.0, 4.1])
    assert summaries.agreements(rows, "SVCSearchCV", "GridSearchCV") == (4, 4)
    further = verdict("further splits", "span-path", *rows)
    assert (further["worst"], further["verdict"]) == ("-1.00 points", "**missed** in 1 of 1")
    accuracy = verdict("mean accuracy", "span-path", *rows)
    assert (accuracy["worst"], accuracy["verdict"]) == ("-0.45 points", "met")
    speed = verdict("CPU time", "span-path", *rows)
    assert (speed["worst"], speed["verdict"]) == ("6.67x", "**missed** in 1 of 1")


def left_out_row(span, left_out):
    found = {"span": {"errors": span}, "left out": {"errors": left_out}}
    return {"dataset": "a", "n": 100, "found": found}


def test_target_of_leave_one_out_counts_close_sets():
    close, far = [left_out_row(12, 10), left_out_row(8, 10)], left_out_row(13, 10)
    assert verdict("span count", "leave-one-out", *close, *close, far)["worst"] == "4"
    assert verdict("span count", "leave-one-out", *close * 3, far)["verdict"] == "met"


def search_row(n, ratio, off, classes=2):
    times = with_ratios(
        {"kernelwise": timing([1.0], [1.0]), "GridSearchCV(SVC)": timing([ratio], [ratio])}
    )
    times["kernelwise"]["off"], times["GridSearchCV(SVC)"]["off"] = off, 2
    return {"n": n, "C": 100.0, "classes": classes, "times": times}


def test_targets_of_the_search_are_of_two_classes():
    rows = [search_row(2000, 20.0, 2), search_row(1000, 8.0, 3), search_row(2000, 1.0, 9, 10)]
    assert verdict("7 x 7 x 5, n = 2000", "search", *rows)["verdict"] == "met"
    missed = verdict("7 x 7 x 5, n = 1000", "search", *rows)
    assert missed["misses"] == ["n = 1,000, C up to 100: 8.00x"]
    assert verdict("n = 2000: scores", "search", *rows)["verdict"] == "met"
    assert verdict("n = 1000: scores", "search", *rows)["misses"] == ["n = 1,000, C up to 100: 1"]


def test_mean_and_signed_rank():
    mean = summaries.Mean.of([1.0, 2.0, 3.0])
    assert (mean.value, mean.error) == (2.0, pytest.approx(3**-0.5))
    assert mean.text() == "2.00 ± 0.58"
    assert summaries.Mean.of([1.0]).text() == "1.00"
    assert summaries.signed_rank([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == "p = 0.031"  # 2 / 2^6
    assert summaries.signed_rank([0.0] * 10) == "too few differences for a test"


def test_columns_are_filled_and_scaled():
    X = np.array([[1.0, 5.0], [np.nan, 5.0], [3.0, 5.0], [4.0, 5.0]])
    expected = np.array([[-1, 0], [2 * (8 / 3 - 1) / 3 - 1, 0], [1 / 3, 0], [1, 0]])
    assert data.to_interval(X) == pytest.approx(expected)
    Z = data.standardised(X, np.array([0, 2]))
    assert Z[:, 0].tolist() == [-1.0, 0.0, 1.0, 2.0]  # mean 2, deviation 1 of these rows
    assert not Z[:, 1].any()


def test_splits_leave_a_fifth_out():
    train, test = data.split(699, np.random.default_rng(0))
    assert (len(train), len(test)) == (560, 139)
    assert sorted([*train, *test]) == list(range(699))


def test_a_missing_folder_is_reported(monkeypatch, tmp_path):
    monkeypatch.delenv(data.VARIABLE, raising=False)
    with pytest.raises(ExperimentError, match="set KERNELWISE_DATA"):
        data.read("sonar")
    monkeypatch.setenv(data.VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(ExperimentError, match="not a folder"):
        data.folder()
    monkeypatch.setenv(data.VARIABLE, str(tmp_path))
    with pytest.raises(ExperimentError, match=r"no sonar\.csv\.gz"):
        data.read("sonar")
    assert data.read("wine").X.shape == (178, 13)  # scikit-learn has it


def test_tables_of_the_folder(data_dir):
    for name, shape, classes in [("voting", (435, 16), 2), ("ecoli", (336, 7), 8)]:
        table = data.read(name)
        assert table.X.shape == shape
        assert len(np.unique(table.y)) == classes
    assert np.isnan(data.read("voting").X).sum() == 392


def test_exact_dual_is_that_of_scikit_learn():
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC

    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), np.array([2.0, 1.0, 0.0])
    expected, Z = 0.0, X * np.sqrt(weights)
    for label in range(3):
        model = SVC(gamma=1.0, tol=1e-8).fit(Z, y == label)
        b, rows = model.dual_coef_[0], model.support_
        expected += np.abs(b).sum() - 0.5 * b @ rbf_kernel(Z[rows], gamma=1.0) @ b
    assert exact_dual(X, y, weights) == pytest.approx(expected, rel=1e-6)


def test_brute_force_is_cross_validation_with_a_fold_a_row():
    from sklearn.datasets import load_iris
    from sklearn.model_selection import LeaveOneOut, cross_val_predict
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC

    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    model = OneVsRestClassifier(SVC(C=10.0, gamma=0.5, tol=1e-4))
    expected = cross_val_predict(model, X, y, cv=LeaveOneOut()) != y
    assert brute_force(X, y, 10.0, 0.5).tolist() == expected.tolist()
    two = y > 0
    expected = cross_val_predict(SVC(C=10.0, gamma=0.5), X, two, cv=LeaveOneOut()) != two
    assert brute_force(X, two, 10.0, 0.5).tolist() == expected.tolist()
