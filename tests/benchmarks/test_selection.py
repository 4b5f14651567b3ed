"""The benchmark of selections: the tables, the runner, the rates and the targets."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from benchmarks.selection import PAGE
from benchmarks.selection.problems import NOISE, SMALL, TRUTHS, noise, truth
from benchmarks.selection.suites import RULE_NAMES, TEST_NAMES, anything, rates, selected_by_tests
from benchmarks.targets import verdicts

from .helpers import assert_tables_are_rectangular, quick


def test_quick_run_measures_every_quick_case(tmp_path):
    quick(tmp_path, "selection")
    found = PAGE.read(tmp_path, "quick")
    assert list(found) == ["selection-noise", "selection-mixed", "selection-truth"]
    (row,) = found["selection-truth"].rows
    assert row["fdr"]["recall"] == 1.0
    text = (tmp_path / "selection.md").read_text(encoding="utf-8")
    assert text == PAGE.text(found)
    assert_tables_are_rectangular(text)


@pytest.mark.parametrize("name", TRUTHS)
def test_relevant_columns_come_first_and_both_classes_are_there(name):
    X, y, relevant = truth(name, SMALL, seed=3)
    assert X.shape == SMALL
    assert 0.25 < y.mean() < 0.75
    again, *_ = truth(name, SMALL, seed=3)
    np.testing.assert_array_equal(X, again)
    # A forest that sees the relevant columns alone predicts the classes.
    forest = RandomForestClassifier(100, oob_score=True, random_state=0)
    assert forest.fit(X[:, :relevant], y).oob_score_ > 0.75


@pytest.mark.parametrize("name", NOISE)
def test_noise_has_two_classes(name):
    X, y = noise(name, seed=1)
    assert len(X) == len(y)
    assert set(np.unique(y)) == {0, 1}
    assert np.isfinite(X).all()


def test_neighbours_in_a_chain_correlate():
    X, *_ = truth("linear, in a chain", (5000, 6), seed=0)
    np.testing.assert_allclose(np.diag(np.corrcoef(X.T), 1), 0.5, atol=0.05)


def test_every_test_selects_by_column():
    X, y, _ = truth("linear", SMALL, seed=5)
    found = selected_by_tests(X, y)
    assert list(found) == list(TEST_NAMES)
    assert all(chosen.shape == (SMALL[1],) for chosen in found.values())
    assert not (found["fwer"] & ~found["fdr"]).any()


def test_rates_and_verdicts_follow_the_rows():
    def row(false, recall, problem="linear", p=30):
        one = {"false": false, "recall": recall}
        return {"problem": problem, "n": 300, "p": p, **dict.fromkeys(RULE_NAMES, one)}

    false, recall = rates([row(0.0, 1.0), row(0.3, 0.5)], "fdr")
    assert (false.value, recall.value) == (pytest.approx(0.15), pytest.approx(0.75))
    tables = [dict.fromkeys(RULE_NAMES, count) for count in (0, 0, 2, 0)]
    assert anything(tables, "fdr") == 0.25
    rows = {"selection-noise": tables, "selection-truth": [row(0.0, 1.0), row(0.11, 0.9, "XOR")]}
    found = [one["verdict"] for one in verdicts(rows, PAGE.targets)]
    missed = "**missed** in 1 of {}"
    unknown = "not measured"
    assert found == [unknown, missed.format(1), missed.format(2), missed.format(2), unknown]
