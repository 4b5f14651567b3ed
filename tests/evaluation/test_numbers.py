"""Evaluations of a target that is a number: scores, intervals, leaks and later rows."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    mean_absolute_error,
    mean_pinball_loss,
    r2_score,
    root_mean_squared_error,
)

from kernelwise.app.evaluation import (
    evaluate,
    evaluate_model,
    fit_table,
    leaking_columns,
    score_model,
)
from kernelwise.app.tabular import TableError, check_target, describe_columns

from .tables import prices


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(prices(), "price", cv=3)


def test_methods_are_compared_by_their_squared_error(evaluation):
    assert (evaluation.metric, evaluation.target.task) == ("rmse", "regression")
    assert {each.method for each in evaluation.scores} == {
        "relevance", "guessing", "ridge", "forest",
    }  # fmt: skip
    first, held_out = evaluation.best, evaluation.held_out
    assert set(first.values) == {"rmse", "r2", "mae", "pinball", "coverage", "width"}
    values = [each.mean("rmse") for each in evaluation.ranked]
    assert values == sorted(values)
    assert evaluation.ranked[-1].method == "guessing"
    assert first.mean("r2") > 0.8
    assert 0.8 < first.mean("coverage") <= 1
    assert sorted(held_out.rows) == list(range(160))
    np.testing.assert_array_equal(held_out.actual, prices()["price"][held_out.rows])
    lead = next(each for each in evaluation.differences if each.other == "guessing")
    gains = evaluation.scores[1].values["rmse"] - first.values["rmse"]  # less is better
    t = gains.mean() / np.sqrt((1 / 3 + evaluation.test_ratio) * gains.var(ddof=1))
    np.testing.assert_allclose([lead.mean, lead.p_value], [gains.mean(), 2 * stats.t.sf(t, 2)])
    told = json.loads(json.dumps(evaluation.as_dict(), allow_nan=False))
    assert told["task"] == "regression"
    assert "classes" not in told


def test_all_peers_are_compared_and_a_classifier_is_none(evaluation):
    found = evaluate(prices(90), "price", "ridge", against="all", metric="mae", cv=2)
    assert not any(each.failure for each in found.scores)
    assert len(found.scores) == 6
    assert found.metric == "mae"
    with pytest.raises(TableError, match="method='svc' is not known for regression; choose one"):
        evaluate(prices(), "price", "svc")


def test_later_rows_are_scored_with_intervals_and_coverage():
    frame, later = prices(), prices(120, seed=1)
    target = check_target(frame, "price")
    model = fit_table(frame, target)
    score = score_model(model, later.assign(price=later["price"].where(later.index > 4)), "price")
    known = later[later.index > 4]
    X, y = known.drop(columns="price"), known["price"].to_numpy()
    predicted = model.predict(X)
    low, high = model[-1].predict_interval(model[:-1].transform(X))
    expected = {
        "rmse": root_mean_squared_error(y, predicted),
        "r2": r2_score(y, predicted),
        "mae": mean_absolute_error(y, predicted),
        "pinball": (
            mean_pinball_loss(y, low, alpha=0.05) + mean_pinball_loss(y, high, alpha=0.95)
        )
        / 2,
        "coverage": np.mean((low <= y) & (y <= high)),
        "width": np.mean(high - low),
    }  # fmt: skip
    assert {each.name: each.value for each in score.metrics} == pytest.approx(expected)
    assert all(each.low <= each.value <= each.high for each in score.metrics)
    guess = {each.name: each.guess for each in score.metrics}
    assert guess["rmse"] == pytest.approx(y.std())
    assert [bin.expected for bin in score.calibration] == [0.5, 0.8, 0.9, 0.95]
    assert (score.n_left_out, score.classes, score.positive) == (5, {}, None)
    assert {each.column for each in score.drift} == set(frame) - {"price"}
    json.dumps(score.as_dict())


def test_a_column_that_is_the_number_in_other_words_is_a_leak():
    frame = prices(200)
    frame["with tax"] = (frame["price"] * 1.2).round(2)
    frame["class"] = pd.cut(frame["price"], 40).astype(str)
    columns = describe_columns(frame, "price")
    leaks = leaking_columns(frame, check_target(frame, "price"), columns)
    assert leaks[0].column == "with tax"
    assert {leak.column for leak in leaks} <= {"with tax", "class"}
    assert "predicts the target by itself (cross-validated R² " in leaks[0].note


def test_any_regressor_is_evaluated():
    frame = prices().dropna()
    X, y = frame[["size", "floor"]], frame["price"]
    found = evaluate_model(LinearRegression().fit(X, y), X, y, cv=3)
    assert [each.method for each in found.scores] == [
        "LinearRegression",
        "guessing",
        "ridge",
        "forest",
    ]
    assert set(found.best.values) == {"rmse", "r2", "mae"}
    assert found.held_out.ends is None
    assert found.target.name == "price"
