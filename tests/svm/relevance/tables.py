"""Small tables with columns of every kind, and the model's covariances written out in float64."""

import numpy as np
import pandas as pd

from kernelwise.svm.relevance.columns.encoding import ColumnEncoding
from kernelwise.svm.relevance.columns.options import ColumnOptions
from kernelwise.svm.relevance.prior import CONSTANT, Prior
from kernelwise.svm.relevance.rows import ModelColumns
from kernelwise.svm.relevance.settings import Settings

SETTINGS = Settings()
LEVELS = np.array([f"level {k:02d}" for k in range(40)])


def mixed_frame(n, seed=0, n_levels=4):
    """Return numbers, one of them with gaps and one of few values, and a category."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "gaps"])
    frame.loc[rng.random(n) < 0.3, "gaps"] = np.nan
    frame["few"] = rng.integers(0, 3, n).astype(float)
    frame["words"] = LEVELS[rng.integers(0, n_levels, n)]
    return frame


def model_rows(frame, weight=None, settings=SETTINGS, **options):
    """Return the rows of a table as the model reads them."""
    weight = np.ones(len(frame)) if weight is None else weight
    names = [str(name) for name in frame.columns]
    encoding = ColumnEncoding.of(frame, names, weight, ColumnOptions(**options))
    E = encoding.apply(frame)
    return ModelColumns.of(encoding, E, weight, settings).rows(E, weight)


def number_rows(X, weight=None, settings=SETTINGS):
    """Return the rows of an array of numbers as the model reads them."""
    return model_rows(pd.DataFrame(X), weight, settings)


def some_prior(rows, seed=0, **changes):
    """Return a prior with weights of all groups and every amplitude."""
    rng = np.random.default_rng(seed)
    g = rows.columns.n_groups
    w, v = rng.uniform(0.1, 0.8, g), rng.uniform(0.02, 0.3, g)
    return Prior(
        **({"w": w, "v": v, "s2": 0.4, "tau": 0.5, "noise": 0.3, "r2": 0.6, "rho": 1.7} | changes)
    )


def additive_covariance(prior, rows, other):
    """Return the covariance of the additive effects, term by term."""
    columns = rows.columns
    C = np.full((len(rows), len(other)), CONSTANT)
    for j, g in enumerate(columns.group):
        places, others = rows.places[:, j].astype(int), other.places[:, j].astype(int)
        if columns.is_category[j]:
            C += prior.v[g] * (places[:, None] == others)
            continue
        C += prior.v[g] * np.outer(rows.lines[:, j], other.lines[:, j])
        C += prior.v[g] * 0.886**2 * np.outer(rows.Z[:, j], other.Z[:, j])
        n_steps = int(np.diff(columns.bins.starts)[j]) - 1
        both = np.minimum(places[:, None], others)  # steps that both rows are above
        C += prior.v[g] * prior.tau * 4 / max(n_steps, 1) * both
    return C


def distances(w, rows, other):
    """Return the distances of the Laplacian kernel, column by column."""
    D = np.zeros((len(rows), len(other)))
    for j, g in enumerate(rows.columns.group):
        differ = np.abs(rows.Z[:, j, None].astype(float) - other.Z[:, j])
        D += w[g] * (differ > 0 if rows.columns.is_category[j] else differ)
    return D


def squares(w, rows, other):
    """Return the squared distances of the Gaussian kernel, column by column."""
    Q = np.zeros((len(rows), len(other)))
    for j, g in enumerate(rows.columns.group):
        a, b = rows.Z[:, j, None].astype(float), other.Z[:, j].astype(float)
        if rows.columns.is_category[j]:  # a level that is told apart differs from any other
            tops = rows.columns.tops[j]
            Q += w[g] ** 2 * (a != b) * 0.5 * (np.isin(a, tops) + 1.0 * np.isin(b, tops))
        else:
            gap = rows.lines[:, j, None].astype(float) - other.lines[:, j].astype(float)
            Q += w[g] ** 2 * (0.886 * gap) ** 2
    return Q


def kernel(prior, rows, other):
    """Return the covariance of the Gaussian process."""
    gaussian = np.exp(-0.5 * prior.rho * squares(prior.w, rows, other))
    return prior.s2 * np.exp(-distances(prior.w, rows, other)) + prior.r2 * gaussian


def covariance(prior, rows, other):
    """Return the prior covariance of f between rows."""
    return additive_covariance(prior, rows, other) + kernel(prior, rows, other)


def sales(n=240):
    """Return a table of all that people write: text, dates, money, row numbers and gaps."""
    rng = np.random.default_rng(0)
    goods = rng.choice(["oak table", "steel lamp", "wool carpet"], n)
    kinds = rng.choice(["small", "large", "used", "rare"], (n, 2))
    texts = [f"{a} {good}, {b} and sold by {k % 53}" for k, (good, (a, b)) in enumerate(
        zip(goods, kinds, strict=True))]  # fmt: skip
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D")
    price = rng.uniform(1000, 9000, n).round()
    frame = pd.DataFrame({
        "caseid": rng.permutation(np.arange(5000, 9000))[:n],
        "offer": [text + rng.choice([".", "!", " today", " now", " here"]) for text in texts],
        "sold": days.strftime("%d.%m.%Y"),
        "price": [f"${value:,.0f}" for value in price],
        "share": [f"{value:.1f} %" for value in rng.uniform(0, 9, n)],
        "shop": rng.choice(["north", "south", "west"], n),
    })  # fmt: skip
    frame.loc[::12, ["offer", "sold", "price"]] = None
    score = 2.0 * (goods == "oak table") + (price > 5000) - 0.01 * (days.day_of_year - 180)
    return frame, np.where(score + 0.3 * rng.normal(size=n) > 1, "yes", "no")
