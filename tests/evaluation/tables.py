"""Tables with a number as their target."""

import numpy as np
import pandas as pd


def prices(n=160, seed=0):
    """Return flats whose price follows from size and place, with gaps and two columns of noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.gamma(8, 10, n).round(),
            "place": rng.choice(["centre", "north", "south"], n),
            "floor": rng.integers(0, 9, n),
            "noise": rng.normal(size=n).round(3),
        }
    )
    mean = 3 * frame["size"] + 120 * (frame["place"] == "centre")
    frame["price"] = (mean + rng.normal(scale=20, size=n)).round(1)
    frame.loc[rng.random(n) < 0.05, "size"] = np.nan
    return frame
