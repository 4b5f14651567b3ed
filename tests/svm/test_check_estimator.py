"""scikit-learn's own checks, over a registry of our estimators; expected failures say why."""

from inspect import isabstract, signature

import pytest
from sklearn.base import BaseEstimator
from sklearn.svm import SVC as Reference
from sklearn.utils.estimator_checks import check_estimator

import kernelwise
from kernelwise._parameters import check_values
from kernelwise.svm import (
    SVC,
    SVR,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RelevanceSVC,
    RelevanceSVR,
    SVCSearchCV,
    SVRSearchCV,
)
from kernelwise.transform import (
    EmpiricalKernelMap,
    FeatureDiscriminationScaler,
    GeodesicNeighborFeatures,
    RelevanceSelector,
    TopicFeatures,
)

# Every estimator, and the configurations that change how input is read or decisions are made.
REGISTRY = [
    SVC(),
    SVC(kernel="linear", calibration="halves"),
    SVR(),
    SVR(kernel="linear", calibration="loo"),
    NuSVC(nu=0.2, tol=1e-9),
    NuSVC(nu=0.2, calibration="loo"),
    NuSVR(tol=1e-9),
    NuSVR(calibration="loo"),
    OneClassSVM(),
    OneClassSVM(nu=0.2, calibration="loo"),
    SVCSearchCV(SVC(calibration="loo"), {"C": [0.1, 1.0]}, cv=3),
    SVRSearchCV(SVR(calibration="loo"), {"C": [0.1, 1.0]}, cv=3),
    AdaptiveKernelSVC(),
    AdaptiveKernelSVC(solver="adatron", C=1.0, widths=3, tol=1e-8),
    DualObjectiveSVC(),
    DualObjectiveSVC(tol=1e-10, calibration="halves"),
    FeatureDiscriminationSVC(calibration="loo"),
    # Without calibration the default fails on one row: three pairs vote in a circle, as in SVC.
    FeatureDiscriminationSVC(kernel="linear", eta=1.0),
    FeatureDiscriminationSVC(space="components", eta=1.0),
    GeneralizedBiasSVC(),
    GeneralizedBiasSVC([0], calibration="loo"),
    GeneralizedBiasSVC(GeodesicNeighborFeatures(), bias_penalty=1.0),
    MarginRadiusSVC(tol=1e-10),
    MarginRadiusSVC(degree=2, unit_norm=True, tol=1e-10),
    MarginRadiusSVC(kernel="rbf", C=10.0, tol=1e-8),
    RelevanceSVC(),
    RelevanceSVR(),
    RelevanceSelector(),
    RelevanceSelector(test="fdr"),
    EmpiricalKernelMap(),
    EmpiricalKernelMap("precomputed"),
    FeatureDiscriminationScaler(),
    GeodesicNeighborFeatures(),
    TopicFeatures(),
]

WEIGHT_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


def expected_failures(estimator):
    """Return the checks that ask for more than learned weights can give, and why."""
    if isinstance(estimator, MarginRadiusSVC) and estimator.kernel is not None:
        reason = "the components are of the kernel matrix, which a copy of a row changes"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    if isinstance(estimator, NuSVC):
        reason = "it weights one class 10 million times as much as the other: no nu is feasible"
        return {"check_class_weight_classifiers": reason}
    if isinstance(estimator, OneClassSVM) and estimator.calibration is not None:
        reason = "the check takes all estimators with predict_proba for classifiers"
        return dict.fromkeys(
            ["check_estimator_sparse_array", "check_estimator_sparse_matrix"], reason
        )
    walks = isinstance(estimator, RelevanceSelector) and estimator.test is None
    if walks or isinstance(estimator, RelevanceSVC | RelevanceSVR):
        reason = "copies of a row are dealt out to several folds"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    if isinstance(getattr(estimator, "bias_features", None), GeodesicNeighborFeatures):
        return dict.fromkeys(WEIGHT_CHECKS, "a copy of a row is one neighbour more")
    if not isinstance(estimator, DualObjectiveSVC) or estimator.tol < 1e-9:
        return {}
    reason = "machines solved to tol=1e-3 on the way part the weights; with tol=1e-10 it passes"
    return dict.fromkeys(WEIGHT_CHECKS, reason)


# Some checks fit rows around 100, where a cubic kernel is 1e12, and topics of noise.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", REGISTRY, ids=str)
def test_scikit_learn_checks(estimator):
    expected = expected_failures(estimator)
    results = check_estimator(
        estimator, expected_failed_checks=expected, on_skip=None, on_fail=None
    )
    failed = {x["check_name"]: x["exception"] for x in results if x["status"] == "failed"}
    assert not failed, failed
    as_expected = {x["check_name"] for x in results if x["status"] == "xfail"}
    by_chance = isinstance(estimator, RelevanceSVC | RelevanceSVR | RelevanceSelector)
    assert as_expected == set(expected) or (by_chance and as_expected <= set(expected))


def test_registry_holds_every_exported_estimator():
    exported = {getattr(kernelwise, name) for name in kernelwise.__all__}
    classes = {each for each in exported if isinstance(each, type) and not isabstract(each)}
    estimators = {each for each in classes if issubclass(each, BaseEstimator)}
    missing = estimators - {type(estimator) for estimator in REGISTRY}
    assert not missing, f"add these estimators to REGISTRY: {missing}"


def test_sample_weight_equivalence_is_checked_and_holds_for_the_default():
    results = check_estimator(SVC(), on_skip=None, on_fail=None)
    status = {result["check_name"]: result["status"] for result in results}
    assert {name: status.get(name) for name in WEIGHT_CHECKS} == dict.fromkeys(
        WEIGHT_CHECKS, "passed"
    )
    assert set(status.values()) <= {"passed", "skipped"}


def failed_checks(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    return {result["check_name"] for result in results if result["status"] == "failed"}


def test_one_vs_one_fails_only_the_check_that_takes_pairs_for_classes():
    """With three classes there are three pairs, and check_classifiers_train takes the argmax."""
    mistaken = {"check_classifiers_train"}
    assert failed_checks(Reference(decision_function_shape="ovo")) - WEIGHT_CHECKS == mistaken
    assert failed_checks(SVC(decision_function_shape="ovo")) == mistaken


def test_defaults_are_valid():
    for estimator in {type(each) for each in REGISTRY}:
        defaults = {
            name: parameter.default
            for name, parameter in signature(estimator).parameters.items()
            if parameter.default is not parameter.empty
        }
        assert defaults.keys() <= estimator._parameter_constraints.keys(), estimator
        check_values(estimator, defaults)
