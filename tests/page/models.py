"""Models of every kind, and tables as people write them: what pages are compared with Python on."""

import io
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from kernelwise import RelevanceSVC, RelevanceSVR
from kernelwise.app.tabular import TableEncoder, read_table
from kernelwise.svm.relevance.base import BaseRelevance
from kernelwise.svm.relevance.levels import Family, _keys
from kernelwise.svm.relevance.settings import Settings

FEW = replace(Settings(), learning=120, landmarks=50, exact_rows=150, cell=40, shared=30)
SIZES = {"small": Settings(), "medium": FEW, "large": replace(FEW, sample=180)}
TARGET = "stay"
WEIGHTS = {"class 0": 3.0}
# Of the notes of short and of long stays: more words than directions of text
WORDS = tuple(
    np.array([f"{name}{end}" for name in names for end in ("", "s,", " NOT", "ish")])
    for names in (
        ("recover", "dry;", "walk", "alone", "eat", "well", "größer", "fever"),
        ("weak", "fever", "again", "wound", "red;", "Sleep", "großer", "pain"),
    )
)


def visits(n=260, seed=0, *, new=False):
    """Return visits to a hospital as text, and what a stay depends on; new ones have odd cells."""
    rng = np.random.default_rng(seed)
    age, dose, cost = rng.normal(50, 12, n), rng.gamma(2, 3, n), rng.lognormal(7, 1, n)
    ward = rng.choice(["north", "south", "east", "west"], n)
    plan, smoker = rng.choice(["month", "year", "none"], n), rng.choice(["yes", "no"], n)
    count, code = rng.integers(0, 4, n), rng.choice([10, 20, 30], n)
    first = np.datetime64("2021-01-01") + rng.integers(0, 900, n).astype("timedelta64[D]")
    minutes = np.datetime64("2023-05-01T00:00") + rng.integers(0, 500_000, n)
    town = rng.choice([f"town {k}" for k in range(25)], n)
    effect = pd.Series(ward).map({"north": 2.0, "south": -2.0, "east": 0.5, "west": 0.0})
    signal = (age - 50) / 12 + effect + 2 * (plan == "year") * np.sign(count - 1.5)
    signal += (dose - 6) / 3 + 0.3 * rng.normal(size=n) + (code == 20)
    table = pd.DataFrame(
        {
            "age": [f"{value:.1f}" for value in age],
            "dose": [f"{value:.3f}" for value in dose],
            "cost": [f"${value:,.2f}" for value in cost],
            "count": count.astype(str),
            "code": code.astype(str),
            "ward": ward,
            "plan": plan,
            "town": town,
            "smoker": smoker,
            "paid": rng.choice(["True", "False"], n),
            "admitted": pd.Series(first).dt.strftime("%d.%m.%Y"),
            "seen": pd.Series(minutes).dt.strftime("%Y-%m-%d %H:%M"),
            "note": [" ".join(rng.choice(WORDS[own], 6)) for own in (signal > 0).astype(int)],
        }
    ).astype(object)
    for k, name in enumerate(("age", "ward", "smoker", "admitted", "cost", "plan", "note")):
        table.loc[rng.random(n) < 0.08, name] = ("", "NA", "?", "", "n/a", "", "")[k]
    if new:
        _make_odd(table, rng)
    return table, signal.to_numpy()


def _make_odd(table, rng):
    """Put unseen levels, values far out and words among numbers into new rows."""
    odd = {
        "age": ["-40", "1e3", "unknown", "49,5", " 50 "],
        "dose": ["-3", "1e200", "--", "12.5e0"],
        "cost": ["1.5", "(200)", "€ 3,000", "free"],
        "count": ["1.5", "7"],
        "code": ["40", "020"],
        "ward": ["never seen", "North", "ünseen"],
        "plan": ["10"],
        "smoker": ["maybe"],
        "note": ["x", "Größe  ÜBER\tnormal", 'a, b; "c"', "no, 12 \U0001f600 ok", "İstanbul well"],
        "paid": [""],
        "admitted": ["31.12.1999", "1.2.2022", "30.02.2022", "tomorrow"],
        "seen": [
            *("2023-05-01", "2023-5-1 07:30", "2024-02-29T23:59:59.5Z"),
            *("2023-05-01 10:00+02:00", "2023-05-01 24:00"),
        ],
    }
    for name, cells in odd.items():
        places = rng.choice(len(table), 4 * len(cells), replace=False)
        table.loc[places, name] = cells * 4


def as_text(table):
    """Return a table as CSV."""
    return table.to_csv(index=False, lineterminator="\n")


def as_read(table):
    """Return a table as kernelwise reads it from CSV."""
    return read_table(io.StringIO(as_text(table)))


def classes(signal, n_classes):
    """Return classes of equal size."""
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return np.array([f"class {k}" for k in range(n_classes)])[np.digitize(signal, cuts)]


def piped(model, n, target, *, drop=(), **options):
    """Return a model behind an encoder, fitted to visits, as `kernelwise fit` makes it."""
    table, signal = visits(n)
    encoder = TableEncoder(one_hot=False, category=["code"], keep=["seen"], drop=drop)
    steps = [("encode", encoder), ("model", model(**options))]
    return Pipeline(steps).fit(as_read(table), target(signal))


def bare(model, n, target, **options):
    """Return a model fitted to visits without an encoder."""
    table, signal = visits(n)
    columns = ["age", "dose", "count", "ward", "plan", "town", "seen", "note", "cost"]
    return model(**options).fit(as_read(table)[columns], target(signal))


def numbers_alone(model, target, **options):
    """Return a model fitted to an array, of which one column is a category."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 4)), rng.integers(0, 3, 200)])
    X[::9, 1] = np.nan
    return model(categorical_features=[4], **options).fit(X, target(X[:, 0] + (X[:, 4] == 1)))


def typed_table(n, seed):
    """Return columns with types: dates, categories of numbers and of words, truth values."""
    rng = np.random.default_rng(seed)
    days = pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    table = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "size": rng.choice([1.5, 2.0, 7.0], n),
            "paid": rng.random(n) < 0.5,
            "day": pd.Timestamp("2020-01-01") + days,
            "ward": pd.Series(rng.choice(["north", "south"], n)).astype("category"),
        }
    )
    month = table["day"].dt.month / 3
    return table, table["x"] + (table["size"] == 2) + month + table["paid"]


def typed(model):
    """Return a model fitted to columns with types."""
    table, signal = typed_table(200, 0)
    return model(categorical_features=["size", "paid", "ward"]).fit(table, signal)


def with_shifts(model):
    """Return a classifier with shifts by levels: of one column, of two, and of a number."""
    final = model[-1]
    (member,) = final._models_
    rng, columns = np.random.default_rng(0), member.columns
    E = final._encoded(model[0].transform(as_read(visits(200)[0])))
    Z = columns.rows(E[:, member.encoded]).Z
    first, second = np.flatnonzero(columns.is_category)[:2]
    number = int(np.flatnonzero(~columns.is_category)[0])
    cuts = np.unique(np.quantile(Z[:, number], [0.2, 0.5, 0.8]))
    families = []
    for a, b, own in (
        (first, first, None), (number, number, cuts), (first, second, None), (first, number, cuts)
    ):  # fmt: skip
        keys = np.unique(_keys(Z, a, b, own))[1:]
        shifts = rng.normal(size=(len(keys), len(member.mixture.offset)))
        families.append(Family(int(a), int(b), own, keys, shifts))
    final._models_ = (replace(member, families=tuple(families)),)
    return model


def _without_text():
    return piped(RelevanceSVC, 200, _three, drop=("note",))


def _two(signal):
    return classes(signal, 2)


def _three(signal):
    return classes(signal, 3)


def _seven(signal):
    return classes(signal, 7)


def _skewed(signal):
    return np.exp(signal)


def _two_targets(signal):
    return np.column_stack([np.exp(signal), -signal])


def _positive(signal):
    return np.maximum(signal, 0.0)


# The size of the settings that a model is fitted with, and what fits it.
MODELS = {
    "two classes": ("small", lambda: piped(RelevanceSVC, 260, _two)),
    "two classes, weighted": (
        "small",
        lambda: piped(RelevanceSVC, 200, _two, class_weight=WEIGHTS),
    ),
    "two members": ("small", lambda: piped(RelevanceSVC, 200, _two, effort=2)),
    "three classes": ("small", lambda: piped(RelevanceSVC, 240, _three)),
    "seven classes": ("small", lambda: piped(RelevanceSVC, 420, _seven)),
    "shifts by levels": ("small", lambda: with_shifts(_without_text())),
    "two columns": ("small", lambda: piped(RelevanceSVC, 200, _two, max_features=2)),
    "landmarks": ("medium", lambda: piped(RelevanceSVC, 260, _three)),
    "cells, two classes": ("large", lambda: piped(RelevanceSVC, 260, _two)),
    "cells, seven classes": ("large", lambda: piped(RelevanceSVC, 420, _seven)),
    "classes without an encoder": ("small", lambda: bare(RelevanceSVC, 200, _three)),
    "classes of an array": ("small", lambda: numbers_alone(RelevanceSVC, _two)),
    "numbers": ("small", lambda: piped(RelevanceSVR, 260, np.asarray)),
    "numbers, skewed": ("small", lambda: piped(RelevanceSVR, 260, _skewed)),
    "numbers, two members": ("small", lambda: piped(RelevanceSVR, 200, _skewed, effort=2)),
    "numbers above zero": ("small", lambda: piped(RelevanceSVR, 200, _positive)),
    "numbers, landmarks": ("medium", lambda: piped(RelevanceSVR, 260, _skewed)),
    "numbers, cells": ("large", lambda: piped(RelevanceSVR, 420, _skewed)),
    "two targets": ("small", lambda: piped(RelevanceSVR, 200, _two_targets)),
    "numbers without an encoder": ("small", lambda: bare(RelevanceSVR, 200, np.asarray)),
    "typed columns": ("small", lambda: typed(RelevanceSVR)),
    "numbers without noise": ("small", lambda: numbers_alone(RelevanceSVR, np.asarray)),
}


@cache
def fitted(name):
    """Return a model of the list."""
    size, fit = MODELS[name]
    before = BaseRelevance._settings
    BaseRelevance._settings = SIZES[size]
    try:
        return fit()
    finally:
        BaseRelevance._settings = before


def new_table(model, n=1000):
    """Return new rows for a model; one that reads an array or frame refuses words as numbers."""
    if hasattr(model, "named_steps"):
        return visits(n, 1, new=True)[0]
    if "day" in model.columns_.names:
        return typed_table(n, 1)[0]
    if "ward" in model.columns_.names:
        table = visits(n, 1)[0]
        table.loc[::20, "ward"], table.loc[::30, "plan"] = "never seen", "10"
        return table
    rng = np.random.default_rng(1)
    X = np.column_stack([3 * rng.normal(size=(n, 4)), rng.integers(0, 5, n)])
    X[rng.random(X.shape) < 0.05] = np.nan
    return pd.DataFrame(X).rename(columns="x{}".format)
