"""The benchmark of machines with features in their bias: the runner, the numbers and the page."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import results, targets
from benchmarks.generalized_bias import largest_violation, orthonormal
from benchmarks.generalized_bias_cases import every_case
from benchmarks.generalized_bias_page import COLUMNS, SUITE, TARGETS, Row, families, page
from kernelwise.qp import DualQP, Terms

from .test_benchmarks import assert_tables_are_rectangular

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Run the quick cases without the papers' data; return what is printed, results and page."""
    output = tmp_path_factory.mktemp("equalities") / "out.json"
    environment = {name: value for name, value in os.environ.items() if name != "KERNELWISE_DATA"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.generalized_bias", "--quick", "--output", str(output)],
        capture_output=True, text=True, check=False, cwd=ROOT, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    text = output.with_suffix(".md").read_text(encoding="utf-8")
    return done.stdout, json.loads(output.read_text(encoding="utf-8")), text


def test_quick_run_measures_every_quick_case(quick):
    printed, found, text = quick
    suite = found["suites"][SUITE]
    assert suite["columns"] == list(COLUMNS)
    rows = [Row(*line["row"]) for line in suite["rows"]]
    assert [row.name for row in rows] == [case.name for case in every_case(quick=True)]
    assert {row.status for row in rows} == {row.status_tight for row in rows} == {"converged"}
    assert all(row.violation <= 1e-3 and row.violation_tight <= 1e-6 for row in rows)
    assert all(row.svc > 0 and row.seconds > 0 and row.seconds_tight > 0 for row in rows)
    assert max(map(len, printed.splitlines())) <= 100
    assert printed.strip() == families(suite)
    assert text == page(found)
    assert "Measured at tiny sizes" in text
    assert_tables_are_rectangular(text)


def row(**changes):
    """Return a row in which all is well."""
    good = {
        "family": "a", "name": "case", "n": 100, "n_features": 5, "svc": 1.0,
        "seconds": 2.0, "violation": 1e-4, "status": "converged", "steps": 5, "multipliers": 1.0,
        "seconds_tight": 3.0, "violation_tight": 1e-7, "status_tight": "converged",
        "steps_tight": 6, "multipliers_tight": 1.0,
    }  # fmt: skip
    return {"row": list(Row(**good | changes))}


def verdicts(*rows):
    """Return whether each target is reached, from hand-made rows."""
    found = targets.outcomes({"suites": {SUITE: {"rows": list(rows)}}}, TARGETS)
    return [one["verdict"] == "reached" for one in found]


def test_targets():
    assert verdicts(row()) == [True, True, True, True]
    assert verdicts(row(violation=2e-3)) == [False, True, True, True]
    assert verdicts(row(violation_tight=2e-6)) == [True, False, True, True]
    assert verdicts(row(seconds=6.0)) == [True, True, False, True]
    assert verdicts(row(seconds=6.0), row(), row()) == [True, True, True, True]
    assert verdicts(row(seconds=6.0), row(family="b"), row()) == [True, True, True, True]
    assert verdicts(row(seconds=21.0), row(), row()) == [True, True, True, False]
    assert verdicts(row(seconds=21.0, n=5000), row()) == [True, True, True, True]
    assert verdicts(row(seconds=21.0, n_features=101), row()) == [True, True, True, True]


def test_a_degenerate_case_may_be_less_exact():
    degenerate = {"status": "degenerate", "violation": 9e-3}
    assert verdicts(row(**degenerate, multipliers=1e7))[0]
    assert not verdicts(row(**degenerate, multipliers=1e5))[0]
    assert not verdicts(row(**degenerate | {"violation": 2e-2}, multipliers=1e7))[0]


def test_violation_is_that_of_the_definition():
    qp = DualQP(
        np.eye(2), Terms(p=np.array([1.0, -1.0]), lo=[0.0, -1.0], hi=[1.0, 0.0], A=np.ones((1, 2)))
    )
    Q = orthonormal(qp.A.T)
    assert largest_violation(qp, Q, np.array([1.0, -1.0]), np.zeros(2)) == pytest.approx(0.0)
    assert largest_violation(qp, Q, np.zeros(2), np.zeros(2)) == pytest.approx(1.0)
    balance = largest_violation(qp, Q, np.array([1.0, 0.0]), np.array([0.0, -1.0]))
    assert balance == pytest.approx(1 / np.sqrt(2))


def test_orthonormal_drops_what_says_nothing_new():
    F = np.random.default_rng(0).normal(size=(20, 3))
    spoilt = np.hstack([F, 1e12 * F[:, :1], np.zeros((20, 1)), 1e-12 * F @ np.ones((3, 1))])
    Q = orthonormal(spoilt)
    assert Q.shape == (20, 3)
    np.testing.assert_allclose(Q @ (Q.T @ F), F, atol=1e-12)


def test_page_is_what_the_results_give():
    found = results.load(ROOT / "docs" / "equalities.json")
    text = (ROOT / "docs" / "equalities.md").read_text(encoding="utf-8")
    assert text == page(found)
    assert_tables_are_rectangular(text)
    assert not found["suites"][SUITE]["quick"], "run python -m benchmarks.generalized_bias"
