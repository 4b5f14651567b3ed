"""scikit-learn's own checks, over a registry of our estimators, with no expected failure."""

import pytest
from sklearn.svm import SVC as Reference
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import kernelwise.svm
from kernelwise.kernels import RBF, Linear, Normalized, Polynomial
from kernelwise.svm import SVC

# Every estimator that kernelwise.svm exports must be here, in the configurations that matter.
REGISTRY = [
    SVC(),
    SVC(kernel="linear"),
    SVC(kernel="poly"),
    SVC(kernel="laplacian"),
    SVC(kernel="matern32"),
    SVC(kernel="matern52"),
    SVC(break_ties=True),
    SVC(class_weight="balanced"),
    SVC(warm_start=True),
    SVC(n_jobs=2),
    SVC(cache_size=0.001),
    SVC(kernel=RBF(gamma=0.5)),
    SVC(kernel=Linear() * RBF(gamma=0.1)),
    SVC(kernel=0.5 * RBF() + Normalized(Polynomial(degree=2, coef0=1.0))),
]

WEIGHT_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


# Some checks fit rows around 100: the cubic kernel is 1e12 there, the tolerance below its rounding.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(REGISTRY)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_registry_holds_every_exported_estimator():
    exported = {getattr(kernelwise.svm, name) for name in kernelwise.svm.__all__}
    missing = exported - {type(estimator) for estimator in REGISTRY}
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
