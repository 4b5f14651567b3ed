"""Make the two pictures of the README and print the numbers that the README quotes.

The first picture shows the accuracy of `RelevanceSVC` and its peers as columns of noise are added
to four tables that come with scikit-learn. The second shows the feature weights that `RelevanceSVC`
learns on one of these tables. Both are written to docs/images/ as SVG, and the accuracies as
JSON.

    python examples/readme_pictures.py [FOLDER]        or: make pictures
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no display is needed

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from kernelwise import SVC, RelevanceSVC, SVCSearchCV
from kernelwise.app.inspection import FeatureWeightsDisplay
from kernelwise.app.inspection.style import PALETTE

FOLDER = Path(__file__).parents[1] / "docs" / "images"
RATIOS = (0, 1, 2, 4, 8)  # noise columns per real column
REPEATS = 10
TRAIN_ROWS = 100  # drawn anew for each repeat, stratified; the other rows are the test rows
GRID = {"C": [0.1, 1, 10, 100, 1000], "gamma": np.logspace(-4, 0, 9)}
TABLES = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
OURS = "RelevanceSVC()"


def contenders():
    """Return the models to compare by name; all but ours get standardised columns."""
    return {
        OURS: RelevanceSVC(),
        "SVC, grid search": make_pipeline(StandardScaler(), SVCSearchCV(SVC(), GRID)),
        "random forest": RandomForestClassifier(300, random_state=0),
        "SVC()": make_pipeline(StandardScaler(), SVC()),
    }


def with_noise(X, ratio, seed):
    """Append ``ratio`` columns of standard normal noise per column of X."""
    noise = np.random.default_rng(seed).normal(size=(len(X), ratio * X.shape[1]))
    return np.hstack([X, noise])


def accuracies(load, ratio):
    """Return the accuracy of each contender on the test rows, one entry per repeat."""
    X, y = load(return_X_y=True)
    found = {name: [] for name in contenders()}
    for seed in range(REPEATS):
        X_train, X_test, y_train, y_test = train_test_split(
            with_noise(X, ratio, seed), y, train_size=TRAIN_ROWS, stratify=y, random_state=seed
        )
        for name, model in contenders().items():
            found[name].append(model.fit(X_train, y_train).score(X_test, y_test))
    return {name: 100 * np.array(values) for name, values in found.items()}


def summarise(values):
    """Return the mean and its standard error."""
    return [float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))]


def measure():
    """Return {table: {ratio: {contender: [mean, standard error]}}}, and print it."""
    names = list(contenders())
    results = {}
    for table, load in TABLES.items():
        print(f"\n  {table:14s}" + "".join(f"{name:>17s}" for name in names))
        results[table] = {}
        for ratio in RATIOS:
            found = {name: summarise(each) for name, each in accuracies(load, ratio).items()}
            results[table][str(ratio)] = found
            cells = [f"{mean:.1f} ± {error:.1f}" for mean, error in found.values()]
            print(f"  noise x {ratio:<6d}" + "".join(f"{cell:>17s}" for cell in cells), flush=True)
    return results


def print_means(results):
    """Print the mean over the tables; the README quotes the last line."""
    print("\n  mean over tables")
    for ratio in RATIOS:
        cells = [
            np.mean([found[str(ratio)][name][0] for found in results.values()])
            for name in contenders()
        ]
        print(f"  noise x {ratio:<6d}" + "".join(f"{cell:17.1f}" for cell in cells))


def draw_accuracy(results):
    """Draw one panel per table: accuracy against the number of noise columns."""
    figure, axes = plt.subplots(
        1, len(results), figsize=(10, 3.3), layout="constrained", squeeze=False
    )
    places = np.arange(len(RATIOS))
    for ax, (table, found) in zip(axes[0], results.items(), strict=True):
        for k, name in enumerate(contenders()):
            means, errors = zip(*(found[str(ratio)][name] for ratio in RATIOS), strict=True)
            style = {"color": PALETTE[k], "marker": "osD^"[k], "markersize": 4, "capsize": 2}
            width = 2.4 if name == OURS else 1.3
            ax.errorbar(places, means, errors, label=name, linewidth=width, **style)
        ax.set_xticks(places, RATIOS)
        ax.set_title(table)
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("noise columns per real column", fontsize="medium")
    axes[0, 0].set_ylabel("accuracy on held-out rows, %")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure


def draw_weights():
    """Fit the wine table with one noise column per real one, and draw the importances."""
    wine = load_wine()
    n_real = len(wine.feature_names)
    names = [*wine.feature_names, *(f"noise {k + 1}" for k in range(n_real))]
    model = RelevanceSVC().fit(with_noise(wine.data, 1, seed=0), wine.target)
    weights = model.feature_importances_
    figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    colours = {"real column": PALETTE[0], "noise column": PALETTE[4]}
    FeatureWeightsDisplay(weights, feature_names=names).plot(
        ax, max_features=len(names), color=np.repeat(list(colours.values()), n_real).tolist()
    )
    ax.tick_params(axis="y", labelsize=8)
    patches = [Patch(color=colour, label=label) for label, colour in colours.items()]
    ax.legend(handles=patches, loc="lower right", frameon=False)
    share = 100 * weights[n_real:].sum()
    print(f"\n  wine: the {n_real} noise columns have {share:.1f} % of the prior variance")
    return figure


def save(figure, path):
    """Write a figure as SVG on white; the same figure gives the same file."""
    with plt.rc_context({"svg.hashsalt": "kernelwise"}):
        figure.savefig(path, format="svg", facecolor="white", metadata={"Date": None})
    plt.close(figure)
    print(f"  written: {path.name}")


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    print(f"accuracy after training on {TRAIN_ROWS} rows, %: mean ± standard error, ", end="")
    print(f"{REPEATS} random splits")
    with threadpool_limits(1):
        results = measure()
        print_means(results)
        text = json.dumps(results, indent=1)
        (folder / "accuracy_noise.json").write_text(text + "\n", encoding="utf-8")
        save(draw_accuracy(results), folder / "accuracy_noise.svg")
        save(draw_weights(), folder / "feature_weights.svg")


if __name__ == "__main__":
    main()
