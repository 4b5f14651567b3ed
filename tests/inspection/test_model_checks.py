"""All checks of a report in one call, and the importance of whole columns on held-out rows."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC, RelevanceSVC
from kernelwise.evaluation import fit_table
from kernelwise.inspection import (
    ColumnVerdicts,
    check_model,
    held_out_importance,
    permutation_check,
)
from kernelwise.tabular import check_target

from .test_effects import hospital


@pytest.fixture(scope="module")
def table():
    frame = hospital()
    target = check_target(frame, "outcome")
    return fit_table(frame, target), frame.drop(columns="outcome"), target.y


def test_importance_of_whole_columns(table):
    model, X, y = table
    check = held_out_importance(model, X, y)
    assert check.feature_names == tuple(X.columns)
    assert check.importances.shape == (5, 5)
    means = dict(zip(check.feature_names, check.importances.mean(axis=1), strict=True))
    assert means["age"] > 0.1
    assert max(means["smoker"], means["pressure"]) < 0.05
    np.testing.assert_allclose(check.shares.sum(), 1)


def test_importance_agrees_with_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(300, 5))
    y = X[:, 0] + 0.5 * X[:, 1] > 0
    model = RelevanceSVC().fit(X, y)
    ours = held_out_importance(model, X, y, n_repeats=10)
    theirs = permutation_check(model, X, y, scoring="neg_log_loss", verbose=False)
    np.testing.assert_allclose(
        ours.importances.mean(axis=1), theirs.importances.mean(axis=1), atol=0.1, rtol=0.1
    )


def test_many_columns_are_measured_in_part():
    X = np.random.default_rng(0).normal(size=(120, 60))
    y = X[:, 0] > 0
    check = held_out_importance(RelevanceSVC(ensemble=False).fit(X, y), X, y, n_repeats=2)
    known = ~np.isnan(check.importances).any(axis=1)
    assert known.sum() == 50
    assert known[0]
    assert check.shares[known].min() >= check.shares[~known].max()
    assert -1 <= check.correlation <= 1
    assert set(check.disagreements()["feature"]) <= {f"x{k}" for k in np.flatnonzero(known)}
    assert np.isnan(check.table()["importance_rank"]).sum() == 10


def test_models_without_probabilities_lose_accuracy():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = RelevanceSVC(calibration=None).fit(X, X[:, 0] > 0)
    check = held_out_importance(model, X, X[:, 0] > 0)
    assert 0.3 < check.importances.mean(axis=1)[0] < 0.6


def test_all_checks_of_a_table(table):
    model, X, y = table
    steps = []
    checks = check_model(
        model, X, y, n_resamples=2, positive="sick", callback=lambda *step: steps.append(step)
    )
    assert checks.verdicts.verdict("age") == checks.verdicts.verdict("ward") == "selected"
    assert checks.verdicts.verdict("outcome") == ""
    assert set(checks.verdicts.pvalues) == set(X.columns)
    assert checks.verdicts.n_rows == 300
    assert checks.stability.shares.shape[0] == 2
    assert checks.effects.class_of(checks.effects.outputs[0]) == "sick"
    assert (checks.n_train, checks.n_test) == (210, 90)
    assert [text for _, _, text in steps] == [
        "effects", "held-out importance", "test of the columns", "resamples", "resamples"
    ]  # fmt: skip
    assert steps[-1][:2] == (5, 5)
    shares = dict(zip(checks.importance.feature_names, checks.importance.shares, strict=True))
    encoder, final = model[0], model[-1]
    whole = sum(
        share
        for share, source in zip(final.feature_importances_, encoder.sources_, strict=True)
        if source == "admitted"
    )
    assert shares["admitted"] == pytest.approx(whole)


def test_verdicts_follow_both_p_values():
    verdicts = ColumnVerdicts(
        {"a": 0.001, "b": 0.08, "c": 0.5}, {"a": 0.003, "b": 0.12, "c": 0.5}, 100
    )
    assert [verdicts.verdict(name) for name in "abc"] == ["selected", "maybe", "not"]


def test_models_without_weights_have_effects_only():
    X = np.random.default_rng(0).normal(size=(80, 3))
    checks = check_model(SVC().fit(X, X[:, 0] > 0), X, X[:, 0] > 0)
    assert checks.effects.effects[0].name == "x0"
    assert checks.importance is checks.verdicts is checks.stability is None


def test_checks_that_do_not_apply_are_left_out():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    scaled = make_pipeline(StandardScaler(), RelevanceSVC(ensemble=False)).fit(X, y)
    checks = check_model(scaled, X, y, n_resamples=0)
    assert checks.verdicts is None  # of what a step made, not of the table
    assert checks.stability is None
    assert checks.importance is not None
    y[0] = "rare"
    model = RelevanceSVC(ensemble=False).fit(X, y)
    checks = check_model(model, X, y, n_resamples=0)
    assert checks.importance is checks.verdicts is None


def test_test_of_the_columns_is_made_on_affordable_rows(monkeypatch):
    from kernelwise.inspection import model_checks

    monkeypatch.setattr(model_checks, "_MAX_TEST_ROWS", 100)
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X[:, 0] > 0
    model = RelevanceSVC(ensemble=False).fit(X, y)
    checks = check_model(model, X, y, n_resamples=0)
    assert checks.verdicts.n_rows == 100
    assert checks.verdicts.verdict("x0") == "selected"
    monkeypatch.setattr(model_checks, "_MAX_TEST_VALUES", 30)
    assert check_model(model, X, y, n_resamples=0).verdicts is None
