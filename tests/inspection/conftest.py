"""Models that are fitted once, and figures that are closed after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import (
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    MarginRadiusSVC,
    RelevanceSVC,
)

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="session")
def models(wine):
    """Return fitted pipelines by the name of their last step."""
    X, y = wine
    steps = [
        RelevanceSVC(),
        DualObjectiveSVC(weights="per_class"),
        MarginRadiusSVC(),
        FeatureDiscriminationSVC(eta=4.0),
        AdaptiveKernelSVC(C=[1.0, 10.0, 100.0]),
    ]
    fitted = {type(own).__name__: make_pipeline(StandardScaler(), own).fit(X, y) for own in steps}
    return fitted


@pytest.fixture(scope="session")
def two_classes():
    """Return rows of which the features 3 and 1 tell the classes apart, and six of noise."""
    X = np.random.default_rng(0).normal(size=(120, 8))
    return X, np.where(X[:, 3] ** 2 + X[:, 1] > 0.8, "yes", "no")
