"""Fits of data at the ends of float64 converge, warn as documented, or refuse: nothing else."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from kernelwise.svm import SVC, GeneralizedBiasSVC, MarginRadiusSVC, SVCSearchCV
from kernelwise.svm.base.steps import UnitNorm

ROWS = np.random.default_rng(0).normal(size=(30, 4))
CLASSES = np.arange(30) % 2

MODELS = {
    "interior point": lambda: GeneralizedBiasSVC([0], kernel="linear", C=1e4),
    "products of columns": lambda: MarginRadiusSVC(degree=2, unit_norm=True),
    "lp norm": lambda: MarginRadiusSVC(p=2.0),
    "kernel": lambda: MarginRadiusSVC(kernel="rbf"),
    "search": lambda: SVCSearchCV(SVC(), {"gamma": [1e-10, 1.0, 1e10]}, cv=2),
}


@pytest.mark.parametrize("scale", [1e-150, 1e-77, 1e77, 1e150, 1e160])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_no_runtime_warning(model, scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for documented in (ConvergenceWarning, FitFailedWarning, UserWarning):
            warnings.simplefilter("ignore", documented)
        refusal = _refusal(model(), scale * ROWS)
    assert not refusal or any(word in refusal for word in ("scale", "too large", "overflow"))


def _refusal(model, X):
    """Return why the rows are refused; nothing where they are fitted."""
    try:
        model.fit(X, CLASSES)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("scale", [1e-160, 1.0, 1e160])
def test_rows_of_any_size_get_norm_one(scale):
    unit = UnitNorm().apply(scale * ROWS)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(UnitNorm().apply(np.zeros((2, 3))), 0.0)
