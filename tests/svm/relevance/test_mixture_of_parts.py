"""RelevanceSVC as a mixture: log-odds, class weights, copies, groups and halves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn import config_context
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_score

from kernelwise import RelevanceSVC
from kernelwise.qp import SMO
from kernelwise.svm.base.multiclass import one_vs_rest
from kernelwise.svm.base.predictor import predictor_of
from kernelwise.svm.paths.rows import TrainingRows
from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.mixing import decisions_of_halves, fit_halves, fit_mixed
from kernelwise.svm.relevance.parts.hinge import HingeSettings
from tests.svm.relevance.test_relevance import table

BOTH = pytest.mark.parametrize("classes", [2, 3])


def noisy(n=200, d=5, seed=0, slope=1.0, offset=-2.0):
    """Return rows of which few are of the second class, at random by a linear score."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < expit(slope * X[:, :2].sum(axis=1) + offset)).astype(int)


@BOTH
def test_decisions_are_log_odds_and_predictions_their_largest(classes):
    X, y = table(120, classes=classes)
    model = RelevanceSVC(max_iter=4).fit(X, y)
    decisions, shares = model.decision_function(X), model.predict_proba(X)
    if classes == 2:
        assert_allclose(shares[:, 1], expit(decisions))
        assert_array_equal(model.predict(X), (decisions > 0).astype(int))
    else:
        assert_allclose(shares, softmax(decisions, axis=1))
        assert_array_equal(model.predict(X), decisions.argmax(axis=1))
    assert_allclose(model.predict_log_proba(X), np.log(shares))


@BOTH
def test_decisions_are_the_mixture_of_the_parts(classes):
    X, y = table(120, classes=classes)
    model = RelevanceSVC(max_iter=4, calibration=None).fit(X, y)
    predictor = predictor_of(model)
    parts = [part.decision_values(X) for part in predictor.parts]
    expected = predictor.mixture.decisions(parts)
    assert_allclose(model.decision_function(X), np.squeeze(expected))
    assert model.parts_ == ["hinge", "kernel", "linear", "additive"]
    assert_array_equal(model.mixture_weights_, predictor.mixture.weights)
    assert model.mixture_weights_.sum() == pytest.approx(1)
    assert model.part_importances_.shape == (4, 4)
    assert_allclose(model.part_importances_.sum(axis=1), 1)
    assert not hasattr(model, "predict_proba")


def test_the_mixture_ranks_noisy_rows_of_a_rare_class():
    """Measured on six draws: .803 on average and .789 at least; a single machine .752."""
    X, y = noisy(300)
    test, truth = noisy(2000, seed=1)
    model = RelevanceSVC(max_iter=5).fit(X, y)
    assert roc_auc_score(truth, model.decision_function(test)) > 0.77


@pytest.mark.parametrize("classes", [2, 3])
def test_halves_cap_what_noise_makes_too_sure(classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1100, 100)), rng.integers(0, classes, 1100)
    losses = {
        calibration: log_loss(
            y[100:],
            RelevanceSVC(calibration=calibration).fit(X[:100], y[:100]).predict_proba(X[100:]),
        )
        for calibration in ("loo", "halves")
    }
    assert losses["halves"] < 1.1 * np.log(classes)
    assert losses["halves"] < 0.95 * losses["loo"]


# --- Class weights ---------------------------------------------------------------------------


def test_class_weights_move_decisions_and_not_probabilities():
    X, y = noisy(300)
    test, truth = noisy(2000, seed=1)
    plain, balanced = (RelevanceSVC(class_weight=w).fit(X, y) for w in (None, "balanced"))
    assert_array_equal(plain.feature_importances_, balanced.feature_importances_)
    scores = [balanced_accuracy_score(truth, each.predict(test)) for each in (plain, balanced)]
    assert scores[1] > scores[0] + 0.05
    losses = [log_loss(truth, each.predict_proba(test)) for each in (plain, balanced)]
    assert losses[1] < 1.1 * losses[0]
    assert balanced.predict(test).mean() > 2 * truth.mean()
    assert balanced.predict_proba(test)[:, 1].mean() == pytest.approx(truth.mean(), abs=0.06)
    # of the weighted problem, as the page on probabilities says
    ratio = balanced.class_weight_[1] / balanced.class_weight_[0]
    weighted = expit(balanced.decision_function(test))
    odds = weighted / (1 - weighted) / ratio
    assert_allclose(balanced.predict_proba(test)[:, 1], odds / (1 + odds))


def test_class_weights_count_in_the_score_of_the_path():
    X, y = noisy(200)
    model = RelevanceSVC(class_weight={0: 1.0, 1: 5.0}, ensemble=False).fit(X, y)
    total = (y == 0).sum() + 5 * (y == 1).sum()
    errors = model.path_["loo_error"][~np.isnan(model.path_["loo_error"])] * total
    assert_allclose(errors, np.round(errors), atol=1e-6)


# --- Copies and groups -----------------------------------------------------------------------


def test_copies_of_a_row_do_not_tell_its_class():
    """Leaving out one of two copies would make noise look separable."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.integers(0, 2, 80)
    twice = np.arange(80).repeat(np.where(np.arange(80) < 40, 2, 1))
    model = RelevanceSVC(calibration="loo").fit(X[twice], y[twice])
    assert model.path_["loo_error"][np.nanargmin(model.path_["score"])] > 0.25


def test_one_copy_is_left_out_where_most_rows_are_copies():
    X, y = table(30)
    rows = np.tile(np.arange(30), 4)
    model = RelevanceSVC(ensemble=False, calibration=None).fit(X[rows], y[rows])
    assert np.nanmin(model.path_["loo_error"]) == 0


def in_groups(n_groups=40, size=5, seed=0):
    """Return rows whose groups have a centre and a class of their own, at random."""
    rng = np.random.default_rng(seed)
    centres, labels = rng.normal(size=(n_groups, 6)), rng.integers(0, 2, n_groups)
    groups = np.repeat(np.arange(n_groups), size)
    return centres[groups] + 0.1 * rng.normal(size=(len(groups), 6)), labels[groups], groups


@pytest.mark.parametrize("ensemble", [True, False])
def test_groups_keep_rows_of_one_patient_from_judging_each_other(ensemble):
    X, y, groups = in_groups()
    test, truth, _ = in_groups(seed=1)
    losses = [
        log_loss(truth, RelevanceSVC(ensemble=ensemble).fit(X, y, groups=g).predict_proba(test))
        for g in (None, groups)
    ]
    assert losses[0] > 0.9  # sure of what it knows by heart
    assert losses[1] < 0.8


def test_groups_are_names_and_one_row_each_is_no_grouping():
    X, y, groups = in_groups(20, 4)
    by_number = RelevanceSVC(max_iter=3).fit(X, y, groups=groups)
    names = np.array([f"patient {number:02}" for number in groups])
    by_name = RelevanceSVC(max_iter=3).fit(X, y, groups=names)
    assert_array_equal(by_number.decision_function(X), by_name.decision_function(X))
    with pytest.raises(ValueError, match="groups must have 80 entries, one per row; got 79"):
        RelevanceSVC().fit(X, y, groups=groups[1:])
    with pytest.raises(ValueError, match="at least two different values"):
        RelevanceSVC().fit(X, y, groups=np.zeros(80))


def test_groups_are_routed_as_metadata():
    X, y, groups = in_groups(20, 4)
    with config_context(enable_metadata_routing=True):
        model = RelevanceSVC(max_iter=2, ensemble=False).set_fit_request(groups=True)
        scores = cross_val_score(model, X, y, cv=GroupKFold(3), params={"groups": groups})
    assert np.isfinite(scores).all()


# --- Halves ----------------------------------------------------------------------------------


def settings(copy_weight=np.inf):
    return HingeSettings("laplacian", True, True, 4, 1000, 2000, copy_weight, SMO(budget=0.0))


def whole_and_halves(X, y, groups=None, copy_weight=np.inf):
    n_classes = int(y.max()) + 1
    codes = one_vs_rest(y, n_classes)
    rows = TrainingRows.of_table(X, codes, y, np.ones(len(y)), np.ones(n_classes), groups=groups)
    layout, random_state = ColumnLayout.plain(X.shape[1]), np.random.RandomState(0)
    own = settings(copy_weight)
    whole = fit_mixed(rows, layout, n_classes, own, random_state)
    return rows, whole, fit_halves(rows, layout, n_classes, own, random_state, whole)


@BOTH
def test_each_half_decides_the_rows_of_the_other(classes):
    X, y = table(100, classes=classes)
    rows, whole, halves = whole_and_halves(X, y)
    decided = np.concatenate([half.decided for half in halves])
    assert_array_equal(np.sort(decided), np.arange(100))
    found = decisions_of_halves(halves, whole.mixture)
    for half, other in zip(halves, halves[::-1], strict=True):
        Z = rows.X[half.decided]
        assert_allclose(half.decisions, half.predictor.decision_values(Z))
        parts = [part.decision_values(Z) for part in half.predictor.parts]
        assert_allclose(found[half.decided], whole.mixture.decisions(parts))
        support = half.predictor.hinge.predictor.vectors.rows
        own = {row.tobytes() for row in rows.X[other.decided]}
        assert {row.tobytes() for row in support} <= own


def test_a_half_has_whole_groups():
    X, y, groups = in_groups(20, 4)
    rows, _, halves = whole_and_halves(X, y, groups)
    sides = [set(rows.groups[half.decided]) for half in halves]
    assert not sides[0] & sides[1]
    assert sides[0] | sides[1] == set(range(20))


def test_there_are_no_halves_of_one_class_or_of_copies():
    X, y = table(20)
    one = np.zeros(20, dtype=int)
    one[3] = 1
    assert whole_and_halves(X, one)[2] is None
    assert whole_and_halves(X, y, copy_weight=1.0)[2] is None


def test_a_class_of_one_row_is_no_obstacle():
    X, y = table(60, classes=3)
    y[:] = np.minimum(y, 1)
    y[0] = 2
    model = RelevanceSVC(max_iter=3).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
