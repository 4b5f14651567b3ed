"""Scores beside yardsticks, with a test that allows for rows that splits share."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from kernelwise.app.evaluation import HeldOut, Score, evaluate, fit_table, methods
from kernelwise.app.evaluation.class_scores import score_predictions
from kernelwise.app.evaluation.results import compare_scores
from kernelwise.app.tabular import TableError, check_target, column_weights, columns, encoder

from ..loop import loop
from ..tabular.tables import patients, rare

evaluate_module = sys.modules[evaluate.__module__]  # its name is that of the function


@pytest.fixture(scope="module")
def evaluation():
    seen = []
    found = evaluate(
        patients(),
        "outcome",
        "svc",
        against=("guessing", "margin-radius"),
        cv=3,
        repeats=2,
        progress=lambda done, total, text: seen.append((done, total)),
    )
    assert seen[0] == (0, 18)
    assert seen[-1] == (18, 18)
    return found


def test_scores_have_one_value_per_split(evaluation):
    assert evaluation.metric == "log_loss"
    assert evaluation.n_splits == 6
    assert [score.method for score in evaluation.scores] == ["svc", "guessing", "margin-radius"]
    for score in evaluation.scores:
        names = {"accuracy", "balanced_accuracy", "auc", "log_loss", "brier"}
        assert set(score.values) == names
        assert all(len(values) == 6 for values in score.values.values())
        assert (score.seconds > 0).all()
    guessing = evaluation.scores[1]
    assert guessing.mean("balanced_accuracy") == guessing.mean("auc") == 0.5
    assert evaluation.best.mean("auc") > 0.8


def test_held_out_predictions_are_those_of_each_row_once(evaluation):
    held_out = evaluation.held_out
    assert sorted(held_out.rows) == list(range(160))
    np.testing.assert_array_equal(held_out.actual, patients()["outcome"].iloc[held_out.rows])
    first_round = evaluation.best.values["accuracy"][:3].mean()
    assert abs((held_out.actual == held_out.predicted).mean() - first_round) < 0.01
    np.testing.assert_array_equal(held_out.decision > 0, held_out.predicted == "well")


def test_the_test_is_the_corrected_one(evaluation):
    first, guessing = evaluation.scores[:2]
    gain = guessing.values["log_loss"] - first.values["log_loss"]  # less is better
    assert evaluation.test_ratio == pytest.approx((53 / 107 + 53 / 107 + 54 / 106) / 3)
    t = gain.mean() / np.sqrt((1 / 6 + evaluation.test_ratio) * gain.var(ddof=1))
    lead = evaluation.differences[0]
    assert lead.other == "guessing"
    np.testing.assert_allclose(lead.mean, gain.mean())
    np.testing.assert_allclose(lead.p_value, 2 * stats.t.sf(t, 5))
    assert lead.low < lead.mean < lead.high


def test_equal_scores_have_no_lead():
    scores = [Score(n, n, {"accuracy": np.array([0.5, 0.7])}, {}, np.ones(2)) for n in "ab"]
    (lead,) = compare_scores(scores, "accuracy", 0.25)
    assert (lead.mean, lead.p_value) == (0.0, 1.0)


@loop("base", [0.5, 1 / 3], ids=["exact", "rounded"])
def test_equal_leads_tell_nothing_of_chance(base):
    values = np.array([0.1, 0.2, 0.3])
    pair = {"a": values + base, "b": values}
    scores = [Score(n, n, {"accuracy": own}, {}, np.ones(3)) for n, own in pair.items()]
    (lead,) = compare_scores(scores, "accuracy", 0.5)
    assert lead.mean == pytest.approx(base)
    assert np.isnan([lead.low, lead.high, lead.p_value]).all()


def test_undefined_numbers_are_null_in_json(evaluation):
    unknown = {"low": np.nan, "high": np.nan, "p_value": np.nan}
    leads = (replace(evaluation.differences[0], **unknown), *evaluation.differences[1:])
    text = json.dumps(replace(evaluation, differences=leads).as_dict(), allow_nan=False)
    first, second = json.loads(text)["differences"]
    assert [first[name] for name in unknown] == [None] * 3
    assert second["p_value"] == evaluation.differences[1].p_value


def test_words_among_numbers_are_a_note():
    frame = patients()
    low = frame["dose"] < frame["dose"].quantile(0.15)
    dose = frame["dose"].astype(object).mask(low, "< 2")
    found = evaluate(frame.assign(dose=dose), "outcome", "svc", against=(), cv=2)
    assert f"dose: numbers except '< 2' ({low.sum()}); read as category" in found.notes


def test_numbers_go_to_json(evaluation):
    numbers = json.loads(json.dumps(evaluation.as_dict()))
    assert numbers["scores"][0]["method"] == "svc"
    assert numbers["classes"]["ill"] + numbers["classes"]["well"] == 160


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    actual = rng.choice(["a", "b"], 50, p=[0.3, 0.7])
    decision = rng.normal(size=50) + (actual == "b")
    predicted = np.where(decision > 0, "b", "a")
    found = score_predictions(HeldOut(np.arange(50), actual, predicted, decision), ["a", "b"])
    assert found["balanced_accuracy"][0] == pytest.approx(
        balanced_accuracy_score(actual, predicted)
    )
    assert found["auc"][0] == roc_auc_score(actual, decision)
    assert 0.03 < found["auc"][1] < 0.12
    assert found["accuracy"][1] == pytest.approx(
        np.sqrt(found["accuracy"][0] * (1 - found["accuracy"][0]) / 50)
    )


def test_one_split_has_a_spread_from_its_rows():
    found = evaluate(patients(), "outcome", "svc", against=(), test_size=0.5, repeats=2)
    assert found.n_splits == 1
    assert len(found.held_out.rows) == 80
    assert (found.differences, found.test_ratio) == ((), 1.0)
    assert found.protocol == "80 of 160 rows held out"
    assert 0 < found.best.spread("accuracy") < 0.1


def test_rare_classes_do_not_rule_the_folds():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=46), "y": [0] * 20 + [1] * 20 + [2] * 4 + [3, 4]})
    found = evaluate(frame, "y", "svc", against=(), cv=5)
    assert found.protocol == "5-fold cross-validation, 40 rows"
    assert any("3 classes of fewer than 5 rows are set aside" in note for note in found.notes)
    kept = evaluate(frame, "y", "guessing", against=(), cv=5, min_class=1)
    assert kept.protocol == "5-fold cross-validation, 46 rows"
    assert sorted(kept.held_out.rows) == list(range(44))  # single rows are for training alone
    assert len(kept.best.values["log_loss"]) == 5
    few = frame.iloc[[*range(7), *range(20, 40)]]
    assert "5 folds" not in str(evaluate(few, "y", "svc", against=(), cv=5).notes)
    assert (
        "7 folds instead of 9: a class has 7 rows"
        in evaluate(few, "y", "svc", against=(), cv=9).notes
    )


def test_methods_are_ordered_by_the_metric_that_was_asked_for():
    for metric in ("accuracy", "log_loss", "auc"):
        found = evaluate(patients(), "outcome", "svc", metric=metric, cv=2)
        values = [score.mean(metric) for score in found.ranked]
        assert values == sorted(values, reverse=metric != "log_loss")
        assert found.metric == metric
    with pytest.raises(TableError, match=r"metric='rmse' is not measured .*; choose one of 'acc"):
        evaluate(patients(), "outcome", "svc", metric="rmse", cv=2)


@loop(
    ("options", "reason"),
    [
        ({"test_size": 1.5}, "between 0 and 1"),
        (
            {"test_size": 0.001},
            "test_size=0.001 leaves too few rows.*give a share from 0",
        ),
        ({"cv": 1}, "at least 2 folds"),
        (
            {"method": "magic"},
            "method='magic' is not known for classification; choose one of 'relevance'",
        ),
    ],
)
def test_bad_options_are_refused(options, reason):
    with pytest.raises(TableError, match=reason):
        evaluate(patients(), "outcome", **options)


def test_compare_has_all_methods_and_survives_a_failure(monkeypatch):
    from kernelwise.svm import AdaptiveKernelSVC

    def refuse(self, X, y):
        raise ValueError("not today")

    monkeypatch.setattr(AdaptiveKernelSVC, "fit", refuse)
    found = evaluate(patients(80), "outcome", against="all", cv=2)
    assert {score.method for score in found.scores} == set(methods())
    failed = [score for score in found.scores if score.failure]
    assert [score.method for score in failed] == ["adaptive-kernel"]
    assert "not today" in failed[0].failure
    assert len(found.differences) == len(methods()) - 2


def test_one_method_may_be_named_without_a_list():
    found = evaluate(patients(80), "outcome", "svc", against="guessing", cv=2)
    assert [score.method for score in found.scores] == ["svc", "guessing"]


def test_columns_are_described_once_for_each_encoder(monkeypatch):
    described = []

    def count(frame, *args, _describe=columns.describe_columns, **options):
        described.append(len(frame))
        return _describe(frame, *args, **options)

    for module in (encoder, evaluate_module):
        monkeypatch.setattr(module, "describe_columns", count)
    frame = patients(80)
    classes = check_target(frame, "outcome")
    known = columns.describe_columns(frame, "outcome")
    first = evaluate(frame, classes, "svc", against=("guessing",), cv=4, columns=known)
    assert described == [60] * 4
    second = evaluate(frame, "outcome", "svc", against=("guessing",), cv=4)
    assert described == [60] * 4 + [80] + [60] * 4
    assert first.columns == second.columns
    np.testing.assert_array_equal(first.held_out.decision, second.held_out.decision)


def test_failure_of_the_evaluated_method_is_an_error(monkeypatch):
    from kernelwise.svm import SVC

    def refuse(self, X, y):
        raise ValueError("not today")

    monkeypatch.setattr(SVC, "fit", refuse)
    with pytest.raises(TableError, match="not today"):
        evaluate(patients(80), "outcome", "svc", against=())


def test_weights_go_back_to_the_columns_of_the_table():
    frame = patients(400)
    model = fit_table(frame, check_target(frame, "outcome"))
    weights = column_weights(model)
    strongest = sorted(weights, key=lambda weight: -max(weight.features.values()))
    assert {weight.column for weight in strongest[:2]} == {"age", "dose"}
    assert weights == sorted(weights, key=lambda weight: -weight.share)
    assert sum(weight.share for weight in weights) == pytest.approx(1.0)
    assert {weight.column for weight in weights} == set(model[0].kinds_)
    for weight in weights:
        assert weight.share == pytest.approx(sum(weight.features.values()))


def test_probabilities_are_calibrated_inside():
    frame = patients()
    model = fit_table(frame, check_target(frame, "outcome"), "dual-objective")
    probabilities = model.predict_proba(frame.drop(columns="outcome"))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert column_weights(model)


@loop("name", [name for name, each in methods().items() if each.learns])
def test_every_method_gives_probabilities_without_further_fits(name):
    estimator = methods()[name].estimator(0, proba=True)
    assert type(estimator) is type(methods()[name].make(0))
    assert hasattr(estimator, "predict_proba")


def test_yardsticks_are_not_for_fitting():
    frame = patients(40)
    with pytest.raises(TableError, match="method='forest' is not known"):
        fit_table(frame, check_target(frame, "outcome"), "forest")


@loop("method", ["relevance", "svc", "grid-search", "margin-radius"])
def test_balance_finds_the_rare_class(method):
    options = {"against": ("guessing",), "cv": 2}
    plain = evaluate(rare(), "rare", method, metric="balanced_accuracy", **options)
    balanced = evaluate(rare(), "rare", method, balanced=True, **options)
    gain = balanced.best.mean("balanced_accuracy") - plain.best.mean("balanced_accuracy")
    assert gain > 0.1
    assert balanced.protocol == plain.protocol + ", classes balanced"
    assert balanced.metric == "balanced_accuracy"


def test_balanced_classifiers():
    known = methods()
    for name in ("svc", "forest", "relevance", "adaptive-kernel"):
        assert known[name].estimator(0, balanced=True).class_weight == "balanced"
        assert known[name].estimator(0).class_weight is None
    search = known["grid-search"].estimator(0, balanced=True)
    assert (search.estimator.class_weight, search.scoring) == ("balanced", "balanced_accuracy")


def test_balanced_probabilities_are_those_of_the_rows():
    frame = rare()
    classes = check_target(frame, "rare")
    model = fit_table(frame, classes, "svc", balanced=True)
    rows = frame.drop(columns="rare")
    probability = model.predict_proba(rows)[:, 1]
    share = frame["rare"].mean()
    assert abs(probability.mean() - share) < 0.02
    np.testing.assert_array_equal(model.predict(rows), (probability >= share).astype(int))


@loop("n_classes", [2, 3])
def test_losses_are_those_of_scikit_learn(n_classes):
    from sklearn.metrics import brier_score_loss, log_loss

    rng = np.random.default_rng(0)
    classes = np.array(["a", "b", "c"])[:n_classes]
    actual, proba = rng.choice(classes, 50), rng.dirichlet(np.ones(n_classes), 50)
    held_out = HeldOut(np.arange(50), actual, actual, proba=proba)
    found = score_predictions(held_out, classes)
    assert found["log_loss"][0] == pytest.approx(log_loss(actual, proba))
    expected = ((proba - (actual[:, None] == classes)) ** 2).sum(axis=1).mean()
    if n_classes == 2:
        expected = brier_score_loss(actual == "b", proba[:, 1])
    assert found["brier"][0] == pytest.approx(expected)


def test_finding_3_an_interval_is_never_wider_than_its_metric():
    def score(name, values):
        return Score(name, name, {"accuracy": np.array(values)}, {}, np.ones(len(values)))

    pair = score("a", [1.0, 0.0]), score("b", [0.0, 0.9])
    (lead,) = compare_scores(pair, "accuracy", 0.5)
    assert (lead.low, lead.high) == (-1.0, 1.0)


def copied_table():
    """Return 60 rows of noise of which 40 occur twice, so that a copy is the only help."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    rows["kind"] = rng.choice(["x", "y"], 60)
    return pd.concat([rows, rows[:40]], ignore_index=True)


@loop("how", [{"cv": 4, "repeats": 2}, {"test_size": 0.3}], ids=str)
def test_copies_are_held_out_together(monkeypatch, how):
    frame, seen = copied_table(), []

    def spy(choice, rows, train, test, *, one_hot, _encode=evaluate_module.encode_split):
        seen.append((rows.iloc[train], rows.iloc[test]))
        return _encode(choice, rows, train, test, one_hot=one_hot)

    monkeypatch.setattr(evaluate_module, "encode_split", spy)
    found = evaluate(frame, "kind", "svc", against=(), **how)
    assert all(len(train) + len(test) == 100 for train, test in seen)
    alone = [train.merge(test).empty for train, test in seen]
    assert all(alone[: len(seen) // 2])
    assert not all(alone[len(seen) // 2 :])  # for the note on what copies held apart would score
    words = "40 of 100 rows are copies of other rows; copies are held out together"
    assert any(note.startswith(words) for note in found.notes)
    assert found.protocol.endswith(", copies together")


def test_copies_of_contradictory_classes_are_named_only():
    frame = pd.DataFrame({"a": np.arange(60.0) % 30, "b": np.arange(60.0) % 30})
    frame["kind"] = ["x"] * 30 + ["y"] * 30  # the first of each pair is an x
    found = evaluate(frame, "kind", "svc", against=(), cv=2)
    assert any("so that the scores are too good" in note for note in found.notes)
    assert found.protocol == "2-fold cross-validation, 60 rows"


def test_equal_rows_by_chance_are_no_copies():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("uvw"), 200) for name in "ab"})
    frame["kind"] = rng.choice(["x", "y"], 200)
    assert "copies" not in str(evaluate(frame, "kind", "svc", against=(), cv=2).notes)
