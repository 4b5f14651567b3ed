"""Tables of the kinds that users bring, small enough to be fitted in seconds.

Each entry has a name, and each function returns a data frame whose last column is the target.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine, make_classification


def _numbers(rng, n, d):
    return pd.DataFrame(rng.normal(size=(n, d)).round(3), columns=[f"x{k}" for k in range(d)])


def medical(rng):
    """Return a small medical table: rows of scikit-learn's breast cancer table."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    rows = rng.permutation(len(X))[:160]
    frame = X.iloc[rows, [0, 1, 4, 5, 8, 11, 14, 18]]
    return frame.assign(diagnosis=np.where(y.iloc[rows] == 1, "benign", "malignant"))


def genomics(rng):
    """Return more columns than rows."""
    X, y = make_classification(90, 400, n_informative=6, n_redundant=10, random_state=0)
    frame = pd.DataFrame(X.round(4), columns=[f"gene_{k}" for k in range(400)])
    return frame.assign(tumour=np.where(y == 1, "yes", "no"))


def credit(rng):
    """Return a rare class, amounts as people write them, and words."""
    n = 400
    income, debt = rng.lognormal(10, 0.5, n), rng.lognormal(8, 0.8, n)
    job = rng.choice(["clerk", "nurse", "none", "other"], n, p=[0.4, 0.3, 0.1, 0.2])
    risk = np.log(debt) - 0.8 * np.log(income) + 1.2 * (job == "none") + 0.4 * rng.normal(size=n)
    frame = pd.DataFrame({"income": [f"${value:,.2f}" for value in income], "debt": debt.round(2)})
    return frame.assign(job=job, default=np.where(risk > np.quantile(risk, 0.93), 1, 0))


def dates(rng):
    """Return dates, whose month decides."""
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 1000, 220), "D")
    late = np.where((days.month >= 6) & (days.month <= 8), 0.9, 0.1) > rng.random(220)
    return _numbers(rng, 220, 2).assign(sent=days.strftime("%d.%m.%Y"), late=late)


def categories(rng):
    """Return many categories with many values, of which one column counts."""
    frame = pd.DataFrame(
        {f"c{k}": rng.choice([f"value {j}" for j in range(5 + 8 * k)], 300) for k in range(5)}
    )
    good = frame["c1"].isin([f"value {j}" for j in range(6)])
    return frame.assign(amount=rng.normal(size=300).round(2), bought=good ^ (rng.random(300) < 0.1))


def gaps(rng):
    """Return gaps in every column, which tell something in one of them."""
    frame = _numbers(rng, 260, 5)
    y = frame["x0"] + frame["x1"] + 0.5 * rng.normal(size=260) > 0
    frame = frame.mask(rng.random(frame.shape) < 0.2)
    frame.loc[y & (rng.random(260) < 0.4), "x4"] = np.nan
    frame["site"] = pd.Series(rng.choice(["a", "b", "c"], 260)).mask(rng.random(260) < 0.3)
    return frame.assign(status=np.where(y, "open", "shut"))


def identifiers(rng):
    """Return ids, free text, and a column of numbers with words among them."""
    n = 200
    frame = pd.DataFrame({"customer_id": [f"C-{k:05d}" for k in rng.permutation(n)]})
    frame["row"] = np.arange(n)
    frame["comment"] = [f"called on day {k}, said {rng.integers(1e6)}" for k in range(n)]
    size = rng.normal(size=n).round(3)
    frame["size"] = [str(value) for value in size]
    frame.loc[::25, "size"] = "unknown"
    return frame.assign(weight=rng.normal(size=n).round(2), kind=np.where(size > 0, "big", "small"))


def classes(rng):
    """Return three classes: scikit-learn's wines."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X.assign(cultivar=y.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"}))


def codes(rng):
    """Return whole numbers that are codes, not amounts."""
    frame = pd.DataFrame({"region": rng.integers(1, 12, 240), "age": rng.integers(18, 80, 240)})
    yes = frame["region"].isin([2, 5, 7, 11]) ^ (rng.random(240) < 0.08)
    return frame.assign(member=np.where(yes, "Y", "N"))


def leak(rng):
    """Return a column that is known only after the target."""
    frame = _numbers(rng, 180, 4)
    ill = frame["x0"] + rng.normal(size=180) > 0.5
    frame["discharged_to"] = np.where(ill, "hospice", rng.choice(["home", "clinic"], 180))
    return frame.assign(ill=np.where(ill, "yes", "no"))


def duplicates(rng):
    """Return every row three times."""
    frame = _numbers(rng, 200, 4)
    y = np.where(frame["x0"] * frame["x1"] > 0, "same", "different")
    return pd.concat([frame.assign(signs=y)] * 3, ignore_index=True)


def noise(rng):
    """Return columns that have nothing to do with the target."""
    frame = _numbers(rng, 150, 6).assign(town=rng.choice(list("abcdefgh"), 150))
    return frame.assign(coin=rng.choice(["heads", "tails"], 150))


def rent(rng):
    """Return a number with a heavy tail, which depends on words, gaps and a date."""
    n = 260
    frame = pd.DataFrame({"area": rng.gamma(6, 12, n).round(), "rooms": rng.integers(1, 6, n)})
    frame["district"] = rng.choice(["old town", "river", "station", "hills"], n)
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), "D")
    frame["listed"] = days.strftime("%Y-%m-%d")
    dear = 0.4 * (frame["district"] == "old town")
    frame["rent"] = (
        np.exp(0.8 * np.log(frame["area"]) + 4 + dear) * rng.lognormal(0, 0.1, n)
    ).round()
    frame.loc[rng.random(n) < 0.1, "rooms"] = np.nan
    return frame


def yields(rng):
    """Return whole numbers that might be classes."""
    frame = _numbers(rng, 240, 4)
    return frame.assign(sacks=(30 + 8 * frame["x0"] + 4 * frame["x1"] ** 2).round().astype(int))


TABLES = {
    make.__name__: make
    for make in (
        medical,
        genomics,
        credit,
        dates,
        categories,
        gaps,
        identifiers,
        classes,
        codes,
        leak,
        duplicates,
        noise,
        rent,
        yields,
    )
}
