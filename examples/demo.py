"""Find out which of 60 columns matter, and compare with SVC, a grid search and a forest.

Run it with ``make demo``. The data are scikit-learn's breast-cancer table with a column of noise
beside each real one. `RelevanceSVC` learns a weight for each column from the training rows alone.
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from typing import NamedTuple

import jinja2
import matplotlib

matplotlib.use("Agg")  # no display is needed

import matplotlib.pyplot as plt
import numpy as np
import sklearn.svm
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import kernelwise
from kernelwise import SVC, RelevanceSVC, SVCSearchCV

HERE = Path(__file__).parent
OUTPUT = HERE.parent / "demo-output"
SPLITS = 6
TRAINED = 0.5  # part of the rows; with more of them the contenders are closer together
GRID = {"C": [0.1, 1, 10, 100, 1000], "gamma": np.logspace(-4, 0, 9)}
THE_GRID = "GridSearchCV(SVC)"
OURS = "RelevanceSVC()"

REAL, NOISE, INK = "#0072B2", "#E69F00", "#222222"
INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
STYLE = {"font.size": 9, "svg.fonttype": "none"} | dict.fromkeys(INKED, INK)


def noisy_breast_cancer(seed=0):
    """Return the table with a noise column for each real one, labels, names, and which are real."""
    data = load_breast_cancer()
    noise = np.random.default_rng(seed).normal(size=data.data.shape)
    names = [*data.feature_names, *(f"noise {k + 1}" for k in range(noise.shape[1]))]
    real = np.arange(len(names)) < data.data.shape[1]
    return np.hstack([data.data, noise]), data.target, np.array(names), real


def contenders(seed):
    """Return what is compared: `RelevanceSVC` scales the columns itself, a forest need not."""
    return {
        "SVC()": make_pipeline(StandardScaler(), sklearn.svm.SVC()),
        THE_GRID: make_pipeline(StandardScaler(), GridSearchCV(sklearn.svm.SVC(), GRID, cv=5)),
        "the same by SVCSearchCV": make_pipeline(StandardScaler(), SVCSearchCV(SVC(), GRID, cv=5)),
        "RandomForestClassifier(300)": RandomForestClassifier(300, random_state=seed),
        "RelevanceSVC(ensemble=False)": RelevanceSVC(ensemble=False),
        OURS: RelevanceSVC(),
    }


def compare_once(X, y, seed):
    """Fit all to some of the rows; return accuracy on the rest and seconds, and our selection."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=TRAINED, stratify=y, random_state=seed
    )
    results, models = {}, contenders(seed)
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - start
        results[name] = (100 * model.score(X_test, y_test), seconds)
    return results, models[OURS].selected_features_


class Row(NamedTuple):
    """A line of the table: means over the splits, and how far they spread."""

    name: str
    accuracy: float
    spread: float  # standard deviation over the splits
    gain: float  # over the grid, on the same splits
    gain_error: float  # standard error of that
    seconds: float


def summarise(runs):
    rows = []
    for name in runs[0]:
        accuracy, seconds = np.array([run[name] for run in runs]).T
        gain = accuracy - np.array([run[THE_GRID][0] for run in runs])
        gain_error = gain.std(ddof=1) / np.sqrt(len(runs))
        spread = accuracy.std(ddof=1)
        rows.append(Row(name, accuracy.mean(), spread, gain.mean(), gain_error, seconds.mean()))
    return rows


def print_table(rows):
    print(f"\n  {'':30s}{'accuracy, %':>13s}{'points over the grid':>22s}{'seconds':>11s}")
    for row in rows:
        accuracy = f"{row.accuracy:.1f} ± {row.spread:.1f}"
        gain = "" if row.name == THE_GRID else f"{row.gain:+.1f} ± {row.gain_error:.1f}"
        print(f"  {row.name:30s}{accuracy:>13s}{gain:>22s}{row.seconds:11.3f}")


def print_weights(names, real, shares):
    """Print the ten largest weights and that of the highest noise column, in equal shares."""
    mark = "█" if "utf" in (sys.stdout.encoding or "").lower() else "#"
    order = np.argsort(-shares)
    for k in [*order[:10], next(k for k in order if not real[k])]:
        bar = mark * max(1, round(40 * shares[k] / shares.max()))
        print(f"  {names[k]:24s}{shares[k]:6.2f}  {bar}")


def draw_weights(names, real, shares, selected):
    """Draw the shares of all columns, the largest on top."""
    order, places = np.argsort(shares), np.arange(len(shares))
    figure, axes = plt.subplots(figsize=(6.4, 8.8), layout="constrained")
    axes.barh(places, shares[order], height=0.72, color=np.where(real[order], REAL, NOISE))
    axes.set_xscale("function", functions=(np.sqrt, np.square))  # small bars stay visible
    ticks = [tick for tick in (0, 0.1, 0.5, 1, 2, 5, 10, 20, 50) if tick <= 1.2 * shares.max()]
    axes.set(xlim=(0, None), xticks=ticks, xticklabels=[f"{tick:g}" for tick in ticks])
    axes.set_xlabel("importance, in equal shares (square-root scale)")
    axes.set_yticks(places, names[order], fontsize=6.5)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.margins(y=0.005)
    axes.axvline(1, color=INK, lw=1, ls="--")
    cut = len(shares) - selected.sum()
    axes.text(1.2, cut - 1, "below an equal share: not selected", va="center", fontsize=8)
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in (REAL, NOISE)]
    axes.legend(handles, ["real column", "noise"], loc="center right", frameon=False, fontsize=10)
    return figure


def draw_learning(history, real):
    """Draw the bound while it is minimised, and where the weights are meanwhile."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.5), layout="constrained")
    for kernel, style in (("laplacian", "o-"), ("rbf", "s--")):
        own = history["kernel"] == kernel
        step = np.arange(1, own.sum() + 1)
        share = history["weights"][own][:, real].sum(axis=1) / history["weights"][own].sum(axis=1)
        for axes, values in ((left, history["value"][own]), (right, 100 * share)):
            axes.plot(step, values, style, ms=3, lw=1.2, color=REAL, label=kernel)
    left.set(title="radius-margin bound, log", xlabel="evaluation")
    right.set(title="weight on real columns, %", xlabel="evaluation", ylim=(0, 100))
    left.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.get_major_locator().set_params(integer=True)
    return figure


def in_bytes(figure, kind):
    """Return a figure as a file of a kind."""
    buffer = io.BytesIO()
    bare = dict.fromkeys(("Date", "Creator", "Format", "Type")) if kind == "svg" else None
    figure.savefig(buffer, format=kind, dpi=150, transparent=kind == "svg", metadata=bare)
    return buffer.getvalue()


def in_page(figure):
    """Return a figure for a page, in the colour of its text: light and dark both work."""
    svg = in_bytes(figure, "svg").decode()
    return svg[svg.index("<svg") :].replace(INK, "currentColor")


def write(path, content):
    """Write a file under another name first, so that it is never there by half."""
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def main():
    X, y, names, real = noisy_breast_cancer()
    print(f"breast cancer: {len(X)} rows, {real.sum()} real columns and {(~real).sum()} of noise\n")
    print(f"  {SPLITS} splits, after one that compiles and is not timed ", end="", flush=True)
    begin, runs, selections = time.perf_counter(), [], []
    with threadpool_limits(1):  # one thread for every contender
        compare_once(X, y, seed=SPLITS)  # of full size: some code is compiled only for many rows
        for seed in range(SPLITS):
            results, selected = compare_once(X, y, seed)
            runs.append(results)
            selections.append(selected)
            print(".", end="", flush=True)
        model = RelevanceSVC().fit(X, y)  # on all rows, for the weights
    print(f" {time.perf_counter() - begin:.0f} s")

    rows = summarise(runs)
    shares = model.feature_importances_ * len(names)  # an equal share is one
    selected = model.selected_features_
    print_table(rows)
    print(f"\n  {OURS} on all rows selects {selected.sum()} columns, ", end="")
    print(f"{selected[real].sum()} of them real.\n  Importance, in equal shares:\n")
    print_weights(names, real, shares)

    OUTPUT.mkdir(exist_ok=True)
    with plt.rc_context(STYLE):
        weights = draw_weights(names, real, shares, selected)
        learning = draw_learning(model.history_, real)
        write(OUTPUT / "weights.png", in_bytes(weights, "png"))
        write(OUTPUT / "learning.png", in_bytes(learning, "png"))
        source = (HERE / "demo_report.html.jinja").read_text(encoding="utf-8")
        page = jinja2.Template(source, autoescape=True).render(
            rows=rows,
            by_name={row.name: row for row in rows},
            grid=THE_GRID,
            ours=OURS,
            points=np.prod([len(values) for values in GRID.values()]),
            splits=SPLITS,
            trained=100 * TRAINED,
            n=len(X),
            n_real=real.sum(),
            n_noise=(~real).sum(),
            found=selected[real].sum(),
            wrong=selected[~real].sum(),
            often=np.mean(selections, axis=0)[real].sum(),
            wrongly=np.mean(selections, axis=0)[~real].sum(),
            weights=in_page(weights),
            learning=in_page(learning),
            versions={"kernelwise": kernelwise.__version__, "scikit-learn": sklearn.__version__},
        )
    plt.close("all")
    write(OUTPUT / "report.html", page.encode())
    print(f"\n  written: {OUTPUT.name}/report.html, weights.png, learning.png")


if __name__ == "__main__":
    main()
