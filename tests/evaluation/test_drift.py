"""Drift of columns against the training table."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from kernelwise.app.evaluation import drift_from_training, fit_table
from kernelwise.app.tabular import check_target

from ..loop import loop


def table(n, seed, **shift):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "count": rng.integers(0, 6, n),
            "gappy": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "ward": rng.choice(["north", "south", "east", ""], n, p=[0.5, 0.3, 0.15, 0.05]),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
            "kind": np.array(["a", "b"])[np.arange(n) % 2],
        }
    )
    return frame.assign(**shift)


@pytest.fixture(scope="module")
def model():
    frame = table(400, 7)
    return fit_table(frame, check_target(frame, "kind"), "svc")


def test_without_drift_at_most_five_percent_of_tables_show_some():
    hits = []
    for seed in range(100):
        frame = table(120, seed)
        plain = fit_table(frame, check_target(frame, "kind"), "svc")
        hits.append(drift_from_training(plain, table(80, 1000 + seed))[0].adjusted < 0.05)
    assert np.mean(hits) <= 0.08  # 5 %, and one and a half standard errors of 100 tables


@loop("column", ["size", "count", "gappy", "ward", "day"])
def test_each_kind_of_drift_is_found(model, column):
    frame = table(150, 1)
    changed = {
        "size": lambda: frame["size"] + 0.8,
        "count": lambda: frame["count"] // 2,
        "gappy": lambda: frame["gappy"].where(np.arange(150) % 2 == 0),
        "ward": lambda: frame["ward"].replace("north", "west"),
        "day": lambda: frame["day"] + pd.Timedelta(days=90),
    }[column]()
    first, second = drift_from_training(model, frame.assign(**{column: changed}))[:2]
    assert first.column == column
    assert first.adjusted < 0.001
    assert first.adjusted >= first.p_value
    assert second.adjusted > 0.05
    assert first.test == ("chi-square" if column == "ward" else "Kolmogorov-Smirnov")


def test_the_distance_is_that_of_two_samples_up_to_the_kept_points(model):
    found = {each.column: each for each in drift_from_training(model, table(150, 1, size=0.5))}
    before, after = table(400, 7), table(150, 1, size=0.5)
    exact = ks_2samp(before["size"], after["size"])
    assert exact.statistic - 1 / 64 <= found["size"].distance <= exact.statistic + 1e-6
    counts = ks_2samp(before["count"], after["count"], method="asymp")
    assert found["count"].distance == pytest.approx(counts.statistic, abs=1e-6)
    assert found["count"].p_value == pytest.approx(counts.pvalue, rel=1e-3)
