"""The benchmark of machines with features in their bias: the runner, the numbers and the page."""

import numpy as np
import pytest

from benchmarks.equalities import PAGE
from benchmarks.equalities.cases import groups, problems
from benchmarks.equalities.solved import SolvedCase, solved
from benchmarks.equalities.suite import families, largest_violation, orthonormal
from benchmarks.targets import verdicts
from kernelwise.qp import DualQP, Terms

from .helpers import assert_tables_are_rectangular, quick


def test_quick_run_measures_every_quick_case(tmp_path):
    quick(tmp_path, "equalities")
    found = PAGE.read(tmp_path, "quick")
    cases = solved(found["equalities"].rows)
    tasks = [task | {"quick": True} for task in groups(quick=True)]
    assert [case.name for case in cases] == [p.name for task in tasks for p in problems(task)]
    assert {case.status for case in cases} == {case.status_tight for case in cases} == {"converged"}
    assert all(case.violation <= 1e-3 and case.violation_tight <= 1e-6 for case in cases)
    assert all(case.svc > 0 and case.seconds > 0 and case.seconds_tight > 0 for case in cases)
    text = (tmp_path / "equalities.md").read_text(encoding="utf-8")
    assert text == PAGE.text(found)
    assert families(found["equalities"]) in text
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
    return {"cases": [list(SolvedCase(**good | changes))]}


def met(*rows):
    """Return whether each target is met, from hand-made rows."""
    return [one["verdict"] == "met" for one in verdicts({"equalities": rows}, PAGE.targets)]


def test_targets():
    assert met(row()) == [True, True, True, True]
    assert met(row(violation=2e-3)) == [False, True, True, True]
    assert met(row(violation_tight=2e-6)) == [True, False, True, True]
    assert met(row(seconds=6.0)) == [True, True, False, True]
    assert met(row(seconds=6.0), row(), row()) == [True, True, True, True]
    assert met(row(seconds=6.0), row(family="b"), row()) == [True, True, True, True]
    assert met(row(seconds=21.0), row(), row()) == [True, True, True, False]
    assert met(row(seconds=21.0, n=5000), row()) == [True, True, True, True]
    assert met(row(seconds=21.0, n_features=101), row()) == [True, True, True, True]


def test_a_degenerate_case_may_be_less_exact():
    degenerate = {"status": "degenerate", "violation": 9e-3}
    assert met(row(**degenerate, multipliers=1e7))[0]
    assert not met(row(**degenerate, multipliers=1e5))[0]
    assert not met(row(**degenerate | {"violation": 2e-2}, multipliers=1e7))[0]


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
