"""Find out which of 180 columns matter, and compare with SVC, a grid search and a forest.

Run it with ``make demo``. The data are scikit-learn's breast-cancer table with five columns of
noise per real column. `RelevanceSVC` learns one weight per column from the training rows alone.
"""

import os
import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no display is needed

import numpy as np
import pandas as pd
import sklearn.svm
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from kernelwise import SVC, RelevanceSVC, SVCSearchCV
from kernelwise.app.inspection import FeatureWeightsDisplay, PathDisplay, weight_stability
from kernelwise.app.report import evaluate_model, write_report

OUTPUT = Path(__file__).parents[1] / "demo-output"
HALVES = 2  # number of random halvings; each half is the training set once, the test set once
RESAMPLES = 5
RATIO = 5  # noise columns per real column
GRID = {"C": [0.1, 1, 10, 100, 1000], "gamma": np.logspace(-4, 0, 9)}
OURS = "RelevanceSVC()"
REAL, NOISE = "#0072B2", "#E69F00"

NOTES = (
    "The table is scikit-learn's load_breast_cancer. The noise is standard normal and the same "
    "in all splits.",
    "Each split trains on half of the rows. With more rows, the methods are closer together.",
    "SVCSearchCV searches the same grid as GridSearchCV. Both of them, and SVC, get columns that "
    "are standardised on the training rows. All other settings are defaults.",
    "Times are wall times on one thread; the first fits, which import code, are not timed.",
    "Columns are dropped if held-out rows are decided better without them; this is no test.",
    "One data set is an illustration, not evidence: docs/quality.md measures many. make demo "
    "repeats this one.",
)


def noisy_breast_cancer(seed=0):
    """Return the table with its noise columns, the labels, and the mask of the real columns."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    noise = np.random.default_rng(seed).normal(size=(len(X), RATIO * X.shape[1]))
    names = [f"noise {k + 1}" for k in range(noise.shape[1])]
    real = np.arange((1 + RATIO) * X.shape[1]) < X.shape[1]
    labels = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    return pd.concat([X, pd.DataFrame(noise, columns=names)], axis=1), labels, real


def others():
    """Return the models to compare; `RelevanceSVC` and forests need no scaling in front."""
    return {
        "SVC()": make_pipeline(StandardScaler(), sklearn.svm.SVC()),
        "GridSearchCV(SVC)": make_pipeline(
            StandardScaler(), GridSearchCV(sklearn.svm.SVC(), GRID, cv=5)
        ),
        "SVCSearchCV(SVC), same grid": make_pipeline(
            StandardScaler(), SVCSearchCV(SVC(), GRID, cv=5)
        ),
        "RandomForestClassifier(300)": RandomForestClassifier(300, random_state=0),
    }


def print_table(evaluation):
    """Print the scores of all methods, and their uncertainties."""
    print(f"\n  {'':29s}{'accuracy, %':>15s}{'AUC, %':>15s}{'seconds':>10s}")
    for score in evaluation.scores:
        cells = [
            f"{100 * score.mean(metric):.1f} ± {100 * score.spread(metric):.1f}"
            for metric in ("accuracy", "auc")
        ]
        print(f"  {score.label:29s}{cells[0]:>15s}{cells[1]:>15s}{score.seconds.mean():10.3f}")


def print_weights(evaluation):
    """Print the ten largest weights, and the largest weight of a noise column."""
    mark = "█" if "utf" in (sys.stdout.encoding or "").lower() else "#"
    weights = evaluation.weights
    highest_noise = next(each for each in weights if each.column.startswith("noise"))
    for each in [*weights[:10], highest_noise]:
        bar = mark * max(1, round(40 * each.share / weights[0].share))
        print(f"  {each.column:24s}{100 * each.share:5.1f} %  {bar}")


def save_picture(figure, path):
    """Save a figure atomically."""
    draft = path.with_name(f".{path.name}")
    figure.savefig(draft, format="png", dpi=150)
    os.replace(draft, path)


def main():
    X, y, real = noisy_breast_cancer()
    print(f"breast cancer: {len(X)} rows, {real.sum()} real columns and {(~real).sum()} of noise\n")
    print(f"  {2 * HALVES} splits, after untimed first fits ", end="", flush=True)
    begin = time.perf_counter()
    with threadpool_limits(1):  # one thread for every method
        for each in (others()["SVCSearchCV(SVC), same grid"], RelevanceSVC(verbose=False)):
            each.fit(X[::2], y[::2])  # as many rows as in a split
        model = RelevanceSVC(verbose=False).fit(X, y)  # on all rows, for the weights
        evaluation = evaluate_model(
            model, X, y, against=others(), label=OURS, cv=2, repeats=HALVES, progress=print_dots
        )
        stability = weight_stability(RelevanceSVC(verbose=False), X, y, n_resamples=RESAMPLES)
    print(f" {time.perf_counter() - begin:.0f} s")

    print_table(evaluation)
    selected = model.selected_features_
    print(f"\n  {OURS} on all rows selects {selected.sum()} columns, ", end="")
    print(f"{selected[real].sum()} of them real.\n  Shares of the weight:\n")
    print_weights(evaluation)

    OUTPUT.mkdir(exist_ok=True)
    colours = np.where(real, REAL, NOISE).tolist()
    weights = FeatureWeightsDisplay.from_estimator(model, max_features=40, color=colours)
    save_picture(weights.figure_, OUTPUT / "weights.png")
    save_picture(PathDisplay.from_estimator(model).figure_, OUTPUT / "path.png")
    matplotlib.pyplot.close("all")
    write_report(
        evaluation,
        OUTPUT / "report.html",
        model=model,
        stability=stability,
        title=f"Which of {len(real)} columns matter?",
        lead=f"Breast cancer, {len(X)} rows: {real.sum()} real columns, {(~real).sum()} of noise. "
        f"{OURS} does not know which is which, and is given neither a width nor C. "
        f"Of the {selected.sum()} columns that it selects, {selected[real].sum()} are real.",
        notes=NOTES,
    )
    print(f"\n  written: {OUTPUT.name}/report.html, weights.png, path.png")


def print_dots(done, total, name):
    """Print a dot after each split."""
    if done and not name:
        print(".", end="", flush=True)


if __name__ == "__main__":
    main()
