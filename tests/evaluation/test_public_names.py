"""The names of `kernelwise.evaluation` are still found in `kernelwise.tabular`."""

import pytest

import kernelwise.evaluation
import kernelwise.report
import kernelwise.tabular

# Names that `kernelwise.tabular` never had: they are younger than `kernelwise.evaluation`.
YOUNGER = {
    "CalibrationBin",
    "Drift",
    "HoldoutScore",
    "Leak",
    "Metric",
    "drift_from_training",
    "evaluate_model",
    "leaking_columns",
    "score_model",
}


@pytest.mark.parametrize("name", sorted(set(kernelwise.evaluation.__all__) - YOUNGER))
def test_tabular_has_the_names_of_evaluation(name):
    assert name in kernelwise.tabular.__all__
    assert getattr(kernelwise.tabular, name) is getattr(kernelwise.evaluation, name)


def test_the_report_has_the_evaluation_of_a_model():
    assert kernelwise.report.evaluate_model is kernelwise.evaluation.evaluate_model


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="has no attribute 'score_predictions'"):
        _ = kernelwise.tabular.score_predictions
