"""Scores of a fitted model on new rows."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
)

from kernelwise.app.evaluation import fit_table, score_model
from kernelwise.app.tabular import TableError, check_target

from ..tabular.tables import patients


@pytest.fixture(scope="module")
def model():
    frame = patients(160)
    return fit_table(frame, check_target(frame, "outcome"))


def test_metrics_of_two_classes_are_those_of_scikit_learn(model):
    frame = patients(90, seed=1)
    score = score_model(model, frame, "outcome", positive="ill")
    proba = model.predict_proba(frame.drop(columns="outcome"))
    is_ill, ill = frame["outcome"] == "ill", proba[:, 0]
    found = {metric.name: metric.value for metric in score.metrics}
    predicted = model.predict(frame.drop(columns="outcome"))
    assert found == pytest.approx(
        {
            "accuracy": np.mean(predicted == frame["outcome"]),
            "balanced_accuracy": balanced_accuracy_score(frame["outcome"], predicted),
            "auc": roc_auc_score(is_ill, ill),
            "average_precision": average_precision_score(is_ill, ill),
            "log_loss": log_loss(frame["outcome"], proba),
            "brier": brier_score_loss(is_ill, ill),
        }
    )
    assert all(metric.low <= metric.value <= metric.high for metric in score.metrics)
    share = is_ill.mean()
    guess = {metric.name: metric.guess for metric in score.metrics}
    assert guess["log_loss"] == pytest.approx(
        -share * np.log(share) - (1 - share) * np.log1p(-share)
    )
    assert guess["average_precision"] == share


def test_calibration_sums_to_the_rows(model):
    frame = patients(95, seed=2)
    score = score_model(model, frame, "outcome", positive="ill")
    rows = np.array([bin.rows for bin in score.calibration])
    assert (len(rows), rows.sum()) == (9, 95)
    observed = np.array([bin.observed for bin in score.calibration])
    assert np.sum(rows * observed) == pytest.approx(np.sum(frame["outcome"] == "ill"))
    assert 0 <= score.calibration_error < 0.2
    json.dumps(score.as_dict())


def test_several_classes_and_whole_numbers():
    X, y = load_wine(return_X_y=True, as_frame=True)
    frame = X.iloc[:, :5].assign(cultivar=y)
    model = fit_table(frame[::2], check_target(frame[::2], "cultivar"))
    score = score_model(model, frame[1::2].astype({"cultivar": str}), "cultivar")
    found = {metric.name: metric.value for metric in score.metrics}
    proba = model.predict_proba(frame[1::2].drop(columns="cultivar"))
    assert found["auc"] == pytest.approx(roc_auc_score(y[1::2], proba, multi_class="ovr"))
    assert found["log_loss"] == pytest.approx(log_loss(y[1::2], proba))
    assert score.positive is None


def test_a_model_without_probabilities_has_no_calibration():
    frame = patients(100)
    model = fit_table(frame, check_target(frame, "outcome"), "svc")
    model[-1].set_params(calibration=None)
    model.fit(frame.drop(columns="outcome"), frame["outcome"])
    score = score_model(model, patients(60, seed=1), "outcome")
    assert [metric.name for metric in score.metrics][2:] == ["auc", "average_precision"]
    assert score.calibration == ()
    assert np.isnan(score.calibration_error)


def test_rows_without_a_class_are_left_out_and_one_class_has_no_areas(model):
    frame = patients(60, seed=1)
    frame.loc[:9, "outcome"] = None
    assert score_model(model, frame, "outcome").n_left_out == 10
    only = score_model(model, frame[frame["outcome"] == "well"], "outcome", positive="ill")
    assert "auc" not in {metric.name for metric in only.metrics}


def test_unknown_labels_are_named(model):
    frame = patients(60, seed=1).replace({"outcome": {"ill": "Ill"}})
    with pytest.raises(TableError, match=r"does not know: 'Ill'; its classes are 'ill', 'well'"):
        score_model(model, frame, "outcome")
    with pytest.raises(TableError, match="has no values"):
        score_model(model, frame.assign(outcome=pd.NA), "outcome")
