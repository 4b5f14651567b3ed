"""From importances to factors: what is resolved, and what the two normalisations make true."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise import discrimination
from kernelwise.discrimination import importances, log_scales

X = np.random.default_rng(0).normal(size=(40, 5))
Y = (X[:, 1] + 0.5 * X[:, 3] > 0).astype(int)
WEIGHTS = np.random.default_rng(1).integers(0, 3, 40)
Q = np.array([3.0, 0.5, 0.0, 7.0, 1.0])
BOTH = ["inverse", "trace"]


# --- Importances ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fisher", "separation", "efficiency", "energy"])
def test_measures_by_name(name):
    expected = getattr(discrimination, name)(X, Y, sample_weight=WEIGHTS)
    assert_array_equal(importances(name, X, Y, sample_weight=WEIGHTS), expected)
    assert_array_equal(importances(name, X, Y), getattr(discrimination, name)(X, Y))


def test_none_is_zero_for_each():
    assert_array_equal(importances(None, X, None), np.zeros(5))


def test_numbers_known_beforehand_are_copied():
    q = importances(Q, X, None)
    assert_array_equal(q, Q)
    assert not np.shares_memory(q, Q)
    assert_array_equal(importances([1, 2, 3, 4, 5], X, None), [1, 2, 3, 4, 5])


def test_function_sees_the_rows_that_count():
    seen = []

    def spread(rows, labels):
        seen.append((rows, labels))
        return rows.std(axis=0)

    labels = np.array(["no", "yes"])[Y]
    q = importances(spread, X, labels, sample_weight=WEIGHTS)
    assert_array_equal(q, X[WEIGHTS > 0].std(axis=0))
    assert_array_equal(seen[0][1], labels[WEIGHTS > 0])
    assert_array_equal(importances(spread, X, labels), X.std(axis=0))


def test_missing_values():
    rows = X.copy()
    rows[0, 0] = np.nan
    assert np.isfinite(importances("fisher", rows, Y)).all()
    with pytest.raises(ValueError, match="X contains NaN"):
        importances("energy", rows, Y)


@pytest.mark.parametrize(
    ("importance", "message"),
    [
        ("gini", "importance must be one of 'fisher', .*'energy'; got 'gini'"),
        ([1.0, 2.0], r"importance must be numbers, one for each of the 5 features.*\(2,\)"),
        (3.0, r"importance must be numbers, one for each of the 5 features"),
        (["a"] * 5, "importance must be numbers"),
        ([1, 2, 3, 4, np.nan], "importance must be finite numbers"),
        (lambda X, y: X, r"return value of the function importance.*5 features.*\(40, 5\)"),
        (lambda X, y: None, "return value of the function importance must be numbers"),
        (lambda X, y: np.full(5, np.inf), "return value of the function importance must be finite"),
    ],
)
def test_importance_is_refused_by_name(importance, message):
    with pytest.raises(ValueError, match=message):
        importances(importance, X, Y)


# --- Factors -------------------------------------------------------------------------------------


def test_paper_formula():
    A = np.exp(-0.7 * Q)  # eq. 6
    A /= A.sum()
    logs = log_scales(Q, 0.7, normalization="trace", eta_units="raw")
    assert_allclose(logs, np.log(A**-0.5), rtol=1e-13)


@pytest.mark.parametrize("normalization", BOTH)
def test_units_of_the_data(normalization):
    logs = log_scales(Q, 2.0, normalization=normalization)
    raw = log_scales(Q / 7, 2.0, normalization=normalization, eta_units="raw")
    assert_allclose(logs, raw, rtol=1e-13)
    moved = log_scales(1e5 + 1e3 * Q, 2.0, normalization=normalization)
    assert_allclose(logs, moved, rtol=0, atol=1e-10)


@pytest.mark.parametrize("eta_units", ["data", "raw"])
@pytest.mark.parametrize("eta", [0.0, 1e-3, 1.0, 16.0, 1e3, 1e300])
@pytest.mark.parametrize("q", [Q, -Q, 1e6 * Q, 1e-9 * Q, [1.7e308, -1.7e308, 0.0]])
def test_normalisations_and_spread(q, eta, eta_units):
    inverse = log_scales(q, eta, eta_units=eta_units)
    trace = log_scales(q, eta, normalization="trace", eta_units=eta_units)
    assert np.mean(np.exp(2 * inverse)) == pytest.approx(1, rel=1e-13)  # sum 1/a = d
    assert np.sum(np.exp(-2 * trace)) == pytest.approx(1, rel=1e-13)  # sum a = 1
    assert np.ptp(inverse) <= np.log(1e4) * (1 + 1e-14)
    if eta_units == "data" or np.ptp(trace) <= np.log(1e4):  # else "inverse" alone is capped
        assert_allclose(inverse - inverse[0], trace - trace[0], atol=1e-13)  # a common factor apart
    order = np.argsort(q)
    assert (np.diff(inverse[order]) >= 0).all()


@pytest.mark.parametrize("eta_units", ["data", "raw"])
@pytest.mark.parametrize("d", [1, 3, 10, 7129])
def test_without_eta_the_inverse_normalisation_changes_nothing(d, eta_units):
    q = np.random.default_rng(0).normal(size=d)
    assert_array_equal(np.exp(log_scales(q, 0.0, eta_units=eta_units)), np.ones(d))
    trace = log_scales(q, 0.0, normalization="trace", eta_units=eta_units)
    assert_allclose(trace, 0.5 * np.log(d), rtol=1e-15)  # SVM(C * d)


def test_equal_importances_change_nothing():
    assert_array_equal(log_scales(np.full(3, 0.1), 1e3), np.zeros(3))
    assert_array_equal(log_scales([0.3, 0.1 + 0.2, 0.3], 1e3), np.zeros(3))  # equal to rounding
    assert_array_equal(log_scales([0.3, 0.1 + 0.2, 0.3 * (1 + 1e-9)], 1.0)[:1] < 0, [True])


def test_the_best_keep_their_differences_when_the_spread_is_capped():
    logs = log_scales([0.0, 10.0, 99.0, 100.0], 1.0, eta_units="raw")
    assert logs[3] - logs[2] == pytest.approx(0.5)
    assert logs[0] == logs[1] == pytest.approx(logs[3] - np.log(1e4))


def test_the_choices_of_the_paper_have_no_cap():
    q = [0.0, 10.0, 99.0, 100.0]
    logs = log_scales(q, 2.0, normalization="trace", eta_units="raw")
    assert_allclose(logs - logs[0], q)  # a_k = exp(-2 q_k), and the factors are a_k^(-1/2)
    assert np.log(np.exp(-2 * logs).sum()) == pytest.approx(0.0, abs=1e-12)  # the trace is one
    far = log_scales(q, 1e6, normalization="trace", eta_units="raw")
    assert np.isfinite(np.exp(2 * far)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": []}, "q must be numbers, one per feature"),
        ({"q": [[1.0]]}, "q must be numbers, one per feature"),
        ({"q": [1.0, np.nan]}, "q must be finite"),
        ({"eta": -1.0}, "eta must be a finite number that is not negative"),
        ({"eta": np.nan}, "eta must be"),
        ({"eta": np.inf}, "eta must be"),
        ({"normalization": "max"}, "normalization must be one of"),
        ({"eta_units": "sigma"}, "eta_units must be one of"),
    ],
)
def test_scales_refuse_by_name(change, message):
    arguments = {"q": Q, "eta": 1.0} | change
    with pytest.raises(ValueError, match=message):
        log_scales(arguments.pop("q"), arguments.pop("eta"), **arguments)
