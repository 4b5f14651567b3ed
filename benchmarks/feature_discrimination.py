"""What ``FeatureDiscriminationSVC(eta="cv")`` costs and gives, beside the paper's grid search.

    KERNELWISE_DATA=... python -m benchmarks.feature_discrimination [n_splits]

On sonar, random stratified halves, columns standardised on the training half; CPU time of one
thread, which what else runs on the machine hardly changes.

The paper's search is scikit-learn's ``GridSearchCV`` over sigma, eta and C, five folds, for each of
the three measures: 21 x 7 x 7 candidates. Its pipeline is the empirical kernel map, the scaling and
a linear ``SVC``. All of it is timed on every third sigma, eta and C; the time of a fit hardly
depends on them (the spread is printed), so that the whole takes as many times as long as there are
more candidates.

Its accuracy is that of the same candidates by our own walk over folds, which gives the errors of
fits fold by fold: tests/svm/test_feature_discrimination_choice.py. It chooses for each measure from
its own candidates, and the accuracies of the three are averaged; so do the two stages. "at once" is
a search over all widths, C, eta in units of the data, and measures.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kernelwise import EmpiricalKernelMap, FeatureDiscriminationScaler, FeatureDiscriminationSVC

from .data import load

MEASURES = ["fisher", "separation", "efficiency"]
SIGMAS = 2.0 ** np.arange(-10, 11)
POWERS = 10.0 ** np.arange(-3, 4)  # of C, and of eta in the units of the measure


def halves(n_splits: int):
    """Yield the halves of sonar."""
    sonar = load("sonar", drop_leaks=True)
    X, y = sonar.X, sonar.y
    for seed in range(n_splits):
        A, B, a, b = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        scaler = StandardScaler().fit(A)
        yield scaler.transform(A), scaler.transform(B), a, b


def grid_search(measure: str, sigmas, etas, costs) -> GridSearchCV:
    """Return the paper's search."""
    pipeline = Pipeline(
        [
            ("map", EmpiricalKernelMap(kernel="rbf")),
            ("scale", FeatureDiscriminationScaler(importance=measure, eta_units="raw")),
            ("svc", SVC(kernel="linear", max_iter=1_000_000)),
        ]
    )
    grid = {
        "map__gamma": (0.5 / sigmas**2).tolist(),
        "scale__eta": etas.tolist(),
        "svc__C": costs.tolist(),
    }
    return GridSearchCV(pipeline, grid, cv=5)


def time_of_the_papers_search(X, y) -> float:
    """Return the seconds of the whole search with all measures, from a part of it."""
    seconds = 0.0
    for measure in MEASURES:
        search = grid_search(measure, SIGMAS[::3], POWERS[::3], POWERS[::3])
        begin = time.process_time()
        search.fit(X, y)
        seconds += time.process_time() - begin
        times = search.cv_results_["mean_fit_time"]
        share = len(times) / (len(SIGMAS) * len(POWERS) ** 2)
        spread = f"{times.min():.4f} to {times.max():.4f} s"
        print(f"  {measure}: {len(times)} candidates, a fit takes {spread}", flush=True)
    return seconds / share


def candidates(X, y, **settings) -> list[tuple]:
    """Return (error, eta, C, gamma, measure) of all points of a choice, those that converged."""
    path = FeatureDiscriminationSVC(kernel="rbf", importance=MEASURES, eta="cv", **settings)
    path = path.fit(X, y).path_
    names = ("held_out_error", "eta", "C", "gamma", "importance", "stage", "converged")
    rows = zip(*(path[name].tolist() for name in names), strict=True)
    return [(round(row[0], 9), *row[1:6]) for row in rows if row[6]]


def everywhere(X, y, **settings) -> list[tuple]:
    """Return the candidates of every width of the paper."""
    widths = (0.5 / sigma**2 for sigma in SIGMAS)
    return [point for gamma in widths for point in candidates(X, y, gamma=gamma, **settings)]


def score(part, points, **settings) -> float:
    """Fit what the best point says to the training half; return the accuracy on the other."""
    A, B, a, b = part
    _, eta, C, gamma, measure, _ = min(points)
    given = {"eta": eta, "C": C, "gamma": gamma, "importance": measure or None}
    return FeatureDiscriminationSVC(kernel="rbf", **given, **settings).fit(A, a).score(B, b)


def accuracies(part) -> dict[str, float]:
    """Return the accuracies of the ways to choose, on one pair of halves."""
    A, _, a, _ = part
    two = candidates(A, a)
    gamma = min(point for point in two if point[5] == 1)[3]
    at_width = [point for point in two if point[3] == gamma]
    raw = {"eta_units": "raw"}
    papers = [p for p in everywhere(A, a, etas=POWERS, **raw) if p[5] == 2]
    each = {m: [p for p in at_width if p[4] in ("", m)] for m in MEASURES}
    return {
        "plain": score(part, [point for point in two if point[5] == 1]),
        "two stages": score(part, at_width),
        "two stages, each measure": np.mean([score(part, each[m]) for m in MEASURES]),
        "the paper's grid, each measure": np.mean(
            [score(part, [p for p in papers if p[4] == m], **raw) for m in MEASURES]
        ),
        "at once": score(part, everywhere(A, a)),
    }


def main(n_splits: int) -> None:
    found, ours = [], []
    with threadpool_limits(1):
        parts = list(halves(n_splits))
        model = FeatureDiscriminationSVC(kernel="rbf", eta="cv", importance=MEASURES)
        model.fit(*parts[0][::2])
        for part in parts[:10]:
            begin = time.process_time()
            model.fit(*part[::2])
            ours.append(time.process_time() - begin)
        print(f"two stages: {np.median(ours):.3f} s, {model.n_solves_} solves in the last")
        papers = time_of_the_papers_search(parts[0][0], parts[0][2])
        print(f"the paper's search: {papers:.0f} s, {papers / np.median(ours):.0f} times as long")
        for part in parts:
            found.append(accuracies(part))
            print({name: round(value, 4) for name, value in found[-1].items()}, flush=True)
    table = pd.DataFrame(found)
    off = table.sub(table["two stages"], axis=0)
    for name in table:
        error = off[name].std() / np.sqrt(n_splits)
        print(f"{name}: {table[name].mean():.4f}, {off[name].mean():+.4f} +- {error:.4f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
