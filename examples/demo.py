"""Learn which of 60 columns matter, and compare with SVC and a grid search.

Run it with ``make demo``. The data are scikit-learn's breast-cancer table with as many columns of
noise as real ones. `DualObjectiveSVC` learns a weight for each of them from the training rows.
"""

from __future__ import annotations

import base64
import time
from pathlib import Path

import jinja2
import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import sklearn.svm
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from kernelwise import SVC, AdaptiveKernelSVC, DualObjectiveSVC, SVCSearchCV

HERE = Path(__file__).parent
OUTPUT = HERE.parent / "demo-output"
SPLITS = 5
GRID = {"C": [0.1, 1, 10, 100, 1000], "gamma": np.logspace(-4, 0, 9)}


def noisy_breast_cancer(seed=0):
    """Return the table with a noise column for each real one, labels, names, and which are real."""
    data = load_breast_cancer()
    noise = np.random.default_rng(seed).normal(size=data.data.shape)
    names = [*data.feature_names, *(f"noise {k + 1}" for k in range(noise.shape[1]))]
    real = np.arange(len(names)) < data.data.shape[1]
    return np.hstack([data.data, noise]), data.target, np.array(names), real


def compare_once(X, y, seed):
    """Fit the contenders on one split; return accuracy and seconds of each, and the weights."""
    parts = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(parts[0])
    X_train, X_test = scaler.transform(parts[0]), scaler.transform(parts[1])
    y_train, y_test = parts[2:]
    learned = {}

    def with_learned_weights():
        model = DualObjectiveSVC().fit(X_train, y_train)
        learned["weights"], learned["history"] = model.feature_weights_, model.history_["value"]
        return model

    contenders = {
        "scikit-learn SVC()": lambda: sklearn.svm.SVC().fit(X_train, y_train),
        "scikit-learn SVC, grid of 45": lambda: GridSearchCV(sklearn.svm.SVC(), GRID, cv=5).fit(
            X_train, y_train
        ),
        "kernelwise SVC()": lambda: SVC().fit(X_train, y_train),
        "kernelwise, the same grid": lambda: SVCSearchCV(SVC(), GRID, cv=5).fit(X_train, y_train),
        "kernelwise, width and C": lambda: AdaptiveKernelSVC().fit(X_train, y_train),
        "kernelwise, learned weights": with_learned_weights,
    }
    results = {}
    for name, fit in contenders.items():
        start = time.perf_counter()
        model = fit()
        seconds = time.perf_counter() - start
        results[name] = (100 * model.score(X_test, y_test), seconds)
    return results, learned


def summarise(runs):
    """Return a row a contender: name, mean accuracy, its spread over the splits, mean seconds."""
    rows = []
    for name in runs[0]:
        accuracy, seconds = np.array([run[name] for run in runs]).T
        rows.append((name, accuracy.mean(), accuracy.std(ddof=1), seconds.mean()))
    return rows


def plot_weights(path, names, real, weights):
    """Draw the 60 weights, sorted, the real columns apart from the noise."""
    order = np.argsort(weights)
    figure, axes = plt.subplots(figsize=(7, 9), layout="constrained")
    colours = np.where(real[order], "#0072B2", "#D55E00")
    axes.barh(np.arange(len(order)), weights[order], color=colours)
    axes.set_yticks(np.arange(len(order)), names[order], fontsize=6)
    axes.set_xlabel("learned weight (mean 1)")
    axes.set_title("Which columns matter")
    handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in ("#0072B2", "#D55E00")]
    axes.legend(handles, ["real column", "noise column"], loc="lower right")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_history(path, history):
    """Draw the dual objective, solve by solve."""
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    axes.plot(np.arange(1, len(history) + 1), history, marker="o", color="#0072B2")
    axes.set_xlabel("SVM solve")
    axes.set_ylabel("dual objective")
    axes.set_title("Learning the weights")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main():
    X, y, names, real = noisy_breast_cancer()
    print(f"breast cancer with {np.sum(~real)} noise columns: {X.shape[0]} x {X.shape[1]}")
    runs = []
    with threadpool_limits(1):  # one thread for every contender
        compare_once(X, y, seed=SPLITS)  # compiles, so that the times are those of every day
        for seed in range(SPLITS):
            results, learned = compare_once(X, y, seed)
            runs.append(results)
            print(f"  split {seed + 1} of {SPLITS} done", flush=True)
    rows = summarise(runs)
    weights = learned["weights"]
    share = 100 * weights[real].sum() / weights.sum()
    top = np.argsort(-weights)[:10]

    print(f"\n{'':30s} accuracy, %        seconds")
    for name, mean, spread, seconds in rows:
        print(f"{name:30s} {mean:5.1f} +- {spread:3.1f}    {seconds:10.3f}")
    print(f"\n{share:.0f} % of the learned weight lies on the real columns; the largest:")
    for k in top:
        print(
            f"  {names[k]:24s} {weights[k]:6.2f} {'#' * round(30 * weights[k] / weights[top[0]])}"
        )

    OUTPUT.mkdir(exist_ok=True)
    plot_weights(OUTPUT / "weights.png", names, real, weights)
    plot_history(OUTPUT / "history.png", learned["history"])
    write_report(OUTPUT / "report.html", rows, share, names, real, weights)
    print(f"\nwritten: {OUTPUT.name}/report.html, weights.png, history.png")


def write_report(path, rows, share, names, real, weights):
    """Render one page that needs nothing but itself."""

    def embedded(name):
        return base64.b64encode((OUTPUT / name).read_bytes()).decode()

    template = jinja2.Template((HERE / "demo_report.html.jinja").read_text(), autoescape=True)
    order = np.argsort(-weights)
    page = template.render(
        rows=rows,
        splits=SPLITS,
        share=share,
        weights=[(names[k], bool(real[k]), float(weights[k])) for k in order],
        largest=float(weights.max()),
        weights_png=embedded("weights.png"),
        history_png=embedded("history.png"),
    )
    temporary = path.with_suffix(".tmp")
    temporary.write_text(page, encoding="utf-8")
    temporary.replace(path)


if __name__ == "__main__":
    main()
