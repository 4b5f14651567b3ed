"""The measurements of the learners: their data, what is counted, and the page."""

import numpy as np
import pytest

from benchmarks import data, summaries
from benchmarks.engine import ExperimentError
from benchmarks.learners import PAGE
from benchmarks.measure import timing, with_ratios
from benchmarks.targets import verdicts

from .helpers import assert_tables_are_rectangular, quick


def test_quick_results_are_complete(tmp_path):
    quick(tmp_path, "learners")
    found = PAGE.read(tmp_path, "quick")
    page = (tmp_path / "learners.md").read_text(encoding="utf-8")
    assert list(found) == [suite.name for suite in PAGE.suites]
    assert not any(results.failures for results in found.values())
    assert page == PAGE.text(found)
    assert "Measured at tiny sizes" in page
    assert "Not measured." not in page
    assert "nan" not in page.replace("NAME", "").lower()
    assert_tables_are_rectangular(page)


def verdict(text, suite, *rows):
    """Return the outcome of the target whose text has these words, from hand-made rows."""
    found = verdicts({f"learners-{suite}": rows}, PAGE.targets)
    (one,) = [one for one in found if text in one["target"]]
    return one


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
    assert verdict("CPU time", "span-path")["verdict"] == "not measured"


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
    Z = data.standardised(X, np.array([0, 2]))
    assert Z[:, 0].tolist() == [-1.0, 0.0, 1.0, 2.0]  # mean 2, deviation 1 of these rows
    assert not Z[:, 1].any()


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
