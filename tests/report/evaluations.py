"""Evaluations made by hand, so that what the page must say is known."""

import numpy as np

from kernelwise.app.evaluation import Difference, Evaluation, HeldOut, Score
from kernelwise.app.inspection import WeightStability
from kernelwise.app.tabular import ClassTarget, Column, NumberTarget, Weight

NASTY = '<script>alert("x")</script>'


def score(method, label, values, seconds=0.5, failure=""):
    values = {} if failure else {"accuracy": np.array(values), "auc": np.array(values)}
    seconds = np.full(len(values.get("accuracy", ())), seconds)
    return Score(method, label, values, {"accuracy": 0.01, "auc": 0.01}, seconds, failure)


def held_out(n=100, n_wrong=10):
    """Return rows of two classes, with decision values of the right sign but for a few."""
    actual = np.array(["no", "yes"])[np.arange(n) % 2]
    predicted = actual.copy()
    predicted[:n_wrong] = np.where(actual[:n_wrong] == "no", "yes", "no")
    decision = np.where(predicted == "yes", 1.0, -1.0) * (1 + np.arange(n) / n)
    return HeldOut(np.arange(n), actual, predicted, decision)


def evaluation(n_columns=30, **changes):
    """Return an evaluation of three methods, one of which fails."""
    rng = np.random.default_rng(0)
    names = [NASTY, *(f"column {k}" for k in range(1, n_columns))]
    shares = np.sort(rng.dirichlet(np.full(n_columns, 0.3)))[::-1]
    weights = [
        Weight(name, float(s), {name: float(s)}) for name, s in zip(names, shares, strict=True)
    ]
    held = held_out()
    target = ClassTarget("ill & well", held.actual, held.rows, (), ("no", "yes"), (50, 50), "yes")
    facts = {
        "target": target,
        "columns": tuple(Column(name, "number", True, "as it is", 0, 9) for name in names),
        "metric": "accuracy",
        "protocol": "4-fold cross-validation, 100 rows",
        "n_splits": 4,
        "seed": 0,
        "scores": (
            score("relevance", "RelevanceSVC", [0.88, 0.92, 0.90, 0.90]),
            score("guessing", "shares of the classes", [0.5, 0.5, 0.5, 0.5]),
            score("svc", "SVC()", [0.80, 0.86, 0.82, 0.82]),
            score("grid", "grid <i>search</i>", [], failure="it is <b>singular</b>"),
        ),
        "differences": (
            Difference("relevance", "guessing", 0.4, 0.35, 0.45, 0.0001),
            Difference("relevance", "svc", 0.075, 0.0455, 0.1045, 0.004),
        ),
        "held_out": held,
        "notes": ("2 rows without a class are left out",),
        "weights": tuple(weights),
        "test_ratio": 1 / 3,
    }  # fmt: skip
    return Evaluation(**(facts | changes))


def stability(made, n_resamples=8):
    names = tuple(weight.column for weight in made.weights)
    shares = np.random.default_rng(1).dirichlet(np.ones(len(names)), n_resamples)
    return WeightStability(names, shares, shares > 1 / len(names))


def number_evaluation():
    """Return an evaluation of two methods that predict a number, the first with intervals."""
    rng = np.random.default_rng(0)
    y = 1000 * rng.gamma(5, 10, 200).round(3)
    predicted = y + rng.normal(scale=4000, size=200)
    half = 4000 * np.array([0.674, 1.282, 1.645, 1.96])[None, :, None] * np.array([-1, 1])
    held = HeldOut(np.arange(200), y, predicted, ends=predicted[:, None, None] + half)
    values = {"rmse": [4100.0, 3900.0], "r2": [0.95, 0.97], "coverage": [0.9, 0.88]}
    ridge = {"rmse": [5100.0, 5200.0], "r2": [0.91, 0.93]}
    return evaluation(
        4,
        target=NumberTarget("rent", y, np.arange(200), ()),
        held_out=held,
        metric="rmse",
        n_splits=2,
        scores=tuple(
            Score(name, label, {m: np.array(v) for m, v in own.items()}, {}, np.ones(2))
            for name, label, own in (
                ("relevance", "RelevanceSVR", values),
                ("ridge", "ridge regression", ridge),
            )
        ),
        differences=(Difference("relevance", "ridge", 1150.0, 900.0, 1400.0, 0.02),),
    )
