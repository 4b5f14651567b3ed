"""Categories whose neighbouring levels have similar classes are read as numbers as well."""

from itertools import pairwise

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from kernelwise import RelevanceSVC
from kernelwise.inspection import explain_rows
from kernelwise.io import load, save, to_onnx
from kernelwise.svm.relevance.code_order import LEAST_ROWS, order_score, ordered_codes
from kernelwise.svm.relevance.columns import CategoryCodes

N_LEVELS = 100


def regions(n=1500, seed=0, *, shuffled=False):
    """Return a number and the code of a commune, whose effect is that of one of ten regions."""
    rng = np.random.default_rng(seed)
    commune, size = rng.integers(0, N_LEVELS, n), rng.normal(size=n)
    effect = np.repeat(rng.normal(0, 1.5, 10), N_LEVELS // 10)
    effect = rng.permutation(effect) if shuffled else effect
    y = (rng.random(n) < expit(size + effect[commune])).astype(int)
    return pd.DataFrame({"size": size, "commune": commune.astype(str)}), y


def score_of(frame, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return order_score(frame["commune"].astype(int).to_numpy(), y, weight)


# --- The score -------------------------------------------------------------------------------


def test_score_is_large_for_regions_only():
    assert score_of(*regions()) > 8
    shuffled = [score_of(*regions(seed=seed, shuffled=True)) for seed in range(20)]
    assert np.abs(shuffled).max() < 4
    assert abs(np.mean(shuffled)) < 1


def test_score_has_the_variance_of_chance():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 2000)
    found = [order_score(rng.integers(0, 60, 2000), classes, np.ones(2000)) for _ in range(200)]
    assert np.std(found) == pytest.approx(1, abs=0.2)
    assert -1 < np.mean(found) < 0.2  # what is left of a sum of zero makes it a little negative


def test_a_weight_of_two_is_two_rows():
    frame, y = regions(400)
    twice = np.repeat(np.arange(400), 2)
    expected = score_of(frame.iloc[twice], y[twice])
    assert score_of(frame, y, np.full(400, 2.0)) == pytest.approx(expected)


def test_score_is_the_sum_over_neighbours():
    rng = np.random.default_rng(1)
    place, t = rng.integers(0, 5, 60), rng.integers(0, 2, 60)
    e = [np.sum(t[place == k] - t.mean()) / np.sqrt(np.sum(place == k)) for k in range(5)]
    S = sum(e[a] * e[b] for a in range(5) for b in range(a))
    expected = S / np.sqrt(10) / np.mean(np.square(e))
    assert order_score(place, t, np.ones(60)) == pytest.approx(expected)


@pytest.mark.parametrize("levels", [1, 2, 50])
def test_levels_with_equal_shares_have_no_order(levels):
    place, classes = np.repeat(np.arange(levels), 4), np.tile([0, 1, 0, 1], levels)
    assert order_score(place, classes, np.ones(len(place))) == 0


# --- Places of codes -------------------------------------------------------------------------


def codes_of(frame, *, knows_missing=False):
    levels = tuple(sorted(frame["commune"].unique()))
    code = {level: 1.0 + k for k, level in enumerate(levels)}
    X = np.column_stack([frame["size"], frame["commune"].map(code)])
    return CategoryCodes(1, levels, knows_missing), X


def test_words_that_are_numbers_are_ordered_by_their_value():
    frame, y = regions()
    own, X = codes_of(frame, knows_missing=True)
    (found,) = ordered_codes([own], X, y, np.ones(len(y)))
    place = dict(zip(own.levels, found.places[1:], strict=False))
    assert all(place[str(a)] < place[str(b)] for a, b in pairwise(range(N_LEVELS)))
    middle = np.median(found.places[X[:, 1].astype(int)])
    assert_array_equal(found.places[[0, -1]], [middle, middle])  # unseen and missing levels


def test_gaps_do_not_count():
    frame, y = regions()
    own, X = codes_of(frame, knows_missing=True)
    X[::3, 1] = own.n_codes - 1
    X[::7, 1] = 0
    known = (X[:, 1] > 0) & (X[:, 1] < own.n_codes - 1)
    (found,) = ordered_codes([own], X, y, np.ones(len(y)))
    (expected,) = ordered_codes([own], X[known], y[known], np.ones(known.sum()))
    assert_array_equal(found.places, expected.places)


def test_words_are_ordered_by_the_alphabet():
    frame, y = regions()
    words = [f"{'ABCDEFGHIJ'[k // 10]}{k % 10}" for k in range(N_LEVELS)]
    own, X = codes_of(frame.assign(commune=frame["commune"].map(lambda k: words[int(k)])))
    (found,) = ordered_codes([own], X, y, np.ones(len(y)))
    assert_array_equal(found.places[1:], np.arange(N_LEVELS))


def test_few_levels_are_left_alone():
    frame, y = regions()
    few = frame.assign(commune=frame["commune"].map(lambda k: str(int(k) // 10)))
    own, X = codes_of(few)
    assert ordered_codes([own], X, y, np.ones(len(y))) == ()


# --- RelevanceSVC ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    frame, y = regions(LEAST_ROWS + 500)
    return RelevanceSVC().fit(frame[:LEAST_ROWS], y[:LEAST_ROWS]), frame, y


def test_ordered_codes_are_a_number_of_the_same_column(fitted):
    model, frame, _ = fitted
    layout = model.columns_.layout
    assert_array_equal(layout.is_category, [False, True, False])
    assert_array_equal(layout.source, [0, 1, 1])
    assert len(set(layout.group.tolist())) == 3
    assert model.feature_importances_.shape == (2,)
    encoded = model.columns_.apply(frame)
    known = np.unique(frame["commune"][:LEAST_ROWS].astype(int))
    expected = np.searchsorted(known, frame["commune"][:LEAST_ROWS].astype(int))
    assert_array_equal(encoded[:LEAST_ROWS, 2], expected)


def test_order_ranks_better(fitted, monkeypatch):
    from sklearn.metrics import roc_auc_score

    from kernelwise.svm.relevance import reader

    model, frame, y = fitted
    monkeypatch.setattr(reader, "ordered_codes", lambda *_: ())
    plain = RelevanceSVC().fit(frame[:LEAST_ROWS], y[:LEAST_ROWS])
    new, y_new = frame[LEAST_ROWS:], y[LEAST_ROWS:]
    gain = roc_auc_score(y_new, model.decision_function(new))
    assert gain > roc_auc_score(y_new, plain.decision_function(new)) + 0.01


def test_codes_without_order_fewer_rows_and_single_machines_stay_as_they_are():
    frame, y = regions(shuffled=True)
    assert RelevanceSVC().fit(frame, y).columns_.ordered == ()
    frame, y = regions(LEAST_ROWS - 1)
    assert RelevanceSVC().fit(frame, y).columns_.ordered == ()
    frame, y = regions(LEAST_ROWS)
    model = RelevanceSVC(ensemble=False, max_iter=1, path_rows=200).fit(frame, y)
    assert model.columns_.ordered == ()


def test_models_are_stored_exported_and_explained(fitted, tmp_path):
    model, frame, _ = fitted
    new = frame[LEAST_ROWS:].copy()
    new.iloc[::5, 1] = "unseen"
    expected = model.decision_function(new)
    assert_array_equal(load(save(model, tmp_path / "model.kw")).decision_function(new), expected)
    session = onnxruntime.InferenceSession(to_onnx(model, frame).SerializeToString())
    given = {name: column.to_numpy()[:, None] for name, column in new.items()}
    [decisions] = session.run(["decision"], given)
    assert_allclose(decisions, expected, atol=1e-4)
    assert explain_rows(model, new[:3]).values.shape[1] == 2
