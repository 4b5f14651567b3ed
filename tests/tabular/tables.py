"""Realistic tables: numbers with gaps, words, dates, ids, a skewed target."""

import numpy as np
import pandas as pd


def patients(n=160, seed=0):
    """Return rows whose outcome follows from age and dose; all else is noise or useless."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "patient": [f"P{k:04d}" for k in range(n)],
            "admitted": [f"{1 + k % 28:02d}.{1 + k % 12:02d}.{2020 + k % 3}" for k in range(n)],
            "age": rng.normal(50, 12, n).round(1),
            "dose": rng.gamma(2, 3, n).round(2),
            "ward": rng.choice(["north", "south", "east"], n),
            "town": rng.choice([f"town {k}" for k in range(40)], n),
            "smoker": rng.choice(["yes", "no"], n),
            "hospital": "central",
        }
    )
    ill = (frame["age"] - 50) / 12 + (frame["dose"] - 6) / 3 > 1.2
    for column in ("age", "dose", "ward", "smoker"):
        frame.loc[rng.random(n) < 0.08, column] = np.nan
    frame["outcome"] = np.where(ill, "ill", "well")
    return frame


def rare(n=300, seed=0):
    """Return two classes that overlap, one of them rare."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.08
    return pd.DataFrame(
        {"x": rng.normal(size=n) + 1.7 * y, "noise": rng.normal(size=n), "rare": y.astype(int)}
    )
