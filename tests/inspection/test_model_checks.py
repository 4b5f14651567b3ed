"""All checks of a report in one call."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC, RelevanceSVC
from kernelwise.app.inspection import ColumnVerdicts, check_model, model_checks


def test_checks_of_a_table_with_a_date(hospital, hospital_model):
    steps = []
    checks = check_model(
        hospital_model, *hospital, n_resamples=2, callback=lambda *own: steps.append(own)
    )
    X = hospital[0]
    assert checks.importance.feature_names == tuple(X.columns)
    assert checks.importance.matters[0]
    assert checks.effects.effects[0].name in ("age", "ward")
    assert set(checks.verdicts.pvalues) == set(X.columns)  # the parts of a date are one column
    assert checks.verdicts.verdict("age") == "selected"
    assert checks.verdicts.n_rows == 200
    encoded = hospital_model[0].transform(X)
    assert checks.stability.feature_names == tuple(encoded.columns)
    assert [(done, of) for done, of, _ in steps] == [(k, 5) for k in range(6)]


def test_checks_of_numbers(shaped):
    X, _, model = shaped
    y = 10 * (X[:, 1] - X[:, 2] ** 2)
    checks = check_model(model, X, y, n_resamples=2)
    assert checks.importance.metric == "root mean squared error"
    assert checks.effects.output == "prediction"
    assert {checks.verdicts.verdict(name) for name in ("x1", "x2")} == {"selected"}
    assert checks.stability.shares.shape == (2, 4)


def test_verdicts_follow_both_p_values():
    verdicts = ColumnVerdicts(
        {"a": 0.001, "b": 0.08, "c": 0.5}, {"a": 0.003, "b": 0.12, "c": 0.5}, 100
    )
    assert [verdicts.verdict(name) for name in "abcd"] == ["selected", "maybe", "not", ""]


def test_checks_that_do_not_apply_are_left_out(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    checks = check_model(SVC().fit(X, y), X, y)  # without weights and probabilities
    assert checks.effects.effects[0].name == "x0"
    assert checks.importance.metric == "error rate"
    assert checks.verdicts is checks.stability is None
    scaled = make_pipeline(StandardScaler(), RelevanceSVC()).fit(X, y)
    checks = check_model(scaled, X, y, n_resamples=0)
    assert checks.verdicts is None  # of what a step made, not of the table
    assert checks.stability is None
    monkeypatch.setattr(model_checks, "_MAX_TEST_ROWS", 40)
    model = RelevanceSVC().fit(X, y)
    assert check_model(model, X, y, n_resamples=0).verdicts.n_rows == 40
    monkeypatch.setattr(model_checks, "_MAX_TEST_VALUES", 30)
    assert check_model(model, X, y, n_resamples=0).verdicts is None
    y[0] = "rare"
    checks = check_model(RelevanceSVC().fit(X, y), X, y)
    assert checks.importance is checks.verdicts is checks.stability is None


def test_a_check_that_fails_is_a_sentence_and_the_others_are_made(shaped, monkeypatch):
    def fail(*args, **options):
        raise RuntimeError("no two rows of a class")

    X, model, _ = shaped
    y = model.predict(X)
    for name in ("column_effects", "held_out_importance", "relevance_test", "weight_stability"):
        with monkeypatch.context() as patch:
            patch.setattr(model_checks, name, fail)
            checks = check_model(model, X, y, n_resamples=2)
        (sentence,) = checks.failed.values()
        assert sentence == ("this part could not be made (RuntimeError: no two rows of a class)"), (
            name
        )
        made = (checks.effects, checks.importance, checks.verdicts, checks.stability)
        assert sum(each is None for each in made) == 1, name


def test_bad_arguments_are_named(shaped):
    with pytest.raises(ValueError, match="'n_resamples' parameter"):
        check_model(shaped[1], shaped[0], shaped[0][:, 0] > 0, n_resamples=-1)
