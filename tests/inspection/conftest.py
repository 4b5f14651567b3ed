"""Tables and models that are made once, and figures that are closed after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline

from kernelwise import RelevanceSVC, RelevanceSVR
from kernelwise.app.tabular import TableEncoder

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="session")
def wine_model(wine):
    return RelevanceSVC().fit(*wine)


@pytest.fixture(scope="session")
def shaped():
    """Return rows, and models of log-odds and of numbers x1 - x2 ** 2."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    f = X[:, 1] - X[:, 2] ** 2
    noise = 0.3 * np.random.default_rng(1).normal(size=300)
    return X, RelevanceSVC().fit(X, f > -0.5), RelevanceSVR().fit(X, 10 * (f + noise))


@pytest.fixture(scope="session")
def hospital():
    """Return a table with numbers, gaps, categories and a date, and its classes."""
    rng, n = np.random.default_rng(0), 200
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "pressure": rng.normal(130, 20, n).round(),
            "ward": rng.choice(["north", "south", "intensive"], n),
            "smoker": rng.choice(["yes", "no"], n),
            "admitted": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
        }
    )
    log_odds = (frame["age"] - 55) / 6 + 3.0 * (frame["ward"] == "intensive")
    frame.loc[::5, "pressure"] = np.nan
    return frame, np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "sick", "fine")


@pytest.fixture(scope="session")
def hospital_model(hospital):
    return make_pipeline(TableEncoder(one_hot=False), RelevanceSVC()).fit(*hospital)
