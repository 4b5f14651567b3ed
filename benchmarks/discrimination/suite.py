"""The cost and accuracy of ``FeatureDiscriminationSVC(eta="cv")``, beside the paper's grid search.

The data are random stratified halves of sonar, columns standardised on the training half. Times
are CPU times of one thread, which background load hardly changes.

The paper's search is scikit-learn's ``GridSearchCV`` over sigma, eta and C, five folds, for each of
the three measures: 21 x 7 x 7 candidates. Its pipeline is the empirical kernel map, the scaling and
a linear ``SVC``. It is timed on every third sigma, eta and C. The time of a fit hardly depends on
them, so the whole search takes longer by the ratio of the numbers of candidates.

Its accuracy is that of the same candidates by our own walk over folds, which gives the errors of
fits fold by fold: tests/svm/feature_discrimination/test_choice.py. It chooses for each measure from
its own candidates, and the accuracies of the three are averaged; so do the two stages. "at once" is
a search over all widths, C, eta in units of the data, and measures.
"""

from __future__ import annotations

import time
from statistics import median

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from kernelwise import EmpiricalKernelMap, FeatureDiscriminationScaler, FeatureDiscriminationSVC

from ..data import Table, load, read
from ..measure import Effort
from ..rounds import Round
from ..suite import Results, Row, Suite, Task
from ..summaries import Mean
from ..text import digits, factor, seconds, table

_MEASURES = ("fisher", "separation", "efficiency")
_SIGMAS = 2.0 ** np.arange(-10, 11)
_POWERS = 10.0 ** np.arange(-3, 4)  # C, and eta in the units of the measure
_STAGES = "two stages"


def _halves(split: int, quick: bool) -> Round:
    data = read("diagnostic") if quick else load("sonar", drop_leaks=True)
    rows = np.arange(len(data.y))[:: 5 if quick else 1]
    train, test = train_test_split(rows, test_size=0.5, stratify=data.y[rows], random_state=split)
    return Round.of(Table(data.X, data.y), train, test)


def _grid_search(measure: str, every: int) -> GridSearchCV:
    """Return the paper's search on every so many values of each parameter."""
    pipeline = Pipeline(
        [
            ("map", EmpiricalKernelMap(kernel="rbf")),
            ("scale", FeatureDiscriminationScaler(importance=measure, eta_units="raw")),
            ("svc", SVC(kernel="linear", max_iter=1_000_000)),
        ]
    )
    grid = {
        "map__gamma": (0.5 / _SIGMAS[::every] ** 2).tolist(),
        "scale__eta": _POWERS[::every].tolist(),
        "svc__C": _POWERS[::every].tolist(),
    }
    return GridSearchCV(pipeline, grid, cv=5)


def _candidates(X, y, **settings) -> list[tuple]:
    """Return (error, eta, C, gamma, measure, stage) of all points of a choice that converged."""
    model = FeatureDiscriminationSVC(kernel="rbf", importance=list(_MEASURES), eta="cv", **settings)
    path = model.fit(X, y).path_
    names = ("held_out_error", "eta", "C", "gamma", "importance", "stage", "converged")
    rows = zip(*(path[name].tolist() for name in names), strict=True)
    return [(round(row[0], 9), *row[1:6]) for row in rows if row[6]]


def _everywhere(X, y, every: int, **settings) -> list[tuple]:
    """Return the candidates at every width of the paper."""
    widths = (0.5 / sigma**2 for sigma in _SIGMAS[::every])
    return [point for gamma in widths for point in _candidates(X, y, gamma=gamma, **settings)]


def _score(split: Round, points, **settings) -> float:
    """Fit the best point to the training half; return the accuracy on the other half."""
    _, eta, C, gamma, measure, _ = min(points)
    given = {"eta": eta, "C": C, "gamma": gamma, "importance": measure or None}
    model = FeatureDiscriminationSVC(kernel="rbf", **given, **settings)
    return float(model.fit(split.X, split.y).score(split.X_test, split.y_test))


def _accuracies(split: Round, every: int) -> dict[str, float]:
    """Return the accuracies of the ways to choose, on one pair of halves."""
    X, y, raw = split.X, split.y, {"eta_units": "raw"}
    two = _candidates(X, y)
    plain = [point for point in two if point[5] == 1]
    at_width = [point for point in two if point[3] == min(plain)[3]]
    papers = [p for p in _everywhere(X, y, every, etas=_POWERS[::every], **raw) if p[5] == 2]
    each = {m: [p for p in at_width if p[4] in ("", m)] for m in _MEASURES}
    grid = {m: [p for p in papers if p[4] == m] for m in _MEASURES}
    return {
        "plain": _score(split, plain),
        _STAGES: _score(split, at_width),
        "two stages, mean of the measures": np.mean([_score(split, each[m]) for m in _MEASURES]),
        "the paper's grid, mean of the measures": np.mean(
            [_score(split, grid[m], **raw) for m in _MEASURES]
        ),
        "at once": _score(split, _everywhere(X, y, every)),
    }


class Discrimination(Suite):
    """One task per pair of halves, and one per measure for the time of the paper's search."""

    name = "discrimination"
    title = "FeatureDiscriminationSVC against the paper's grid search"
    needs_folder = True
    seconds = 60.0

    def cases(self, quick: bool) -> list[Task]:
        searches = [{"search": measure} for measure in _MEASURES]
        return searches + [{"split": split} for split in range(2 if quick else 20)]

    def measure(self, case: Task, effort: Effort) -> Row:
        split, every = _halves(case.get("split", 0), effort.quick), 10 if effort.quick else 3
        if "search" in case:
            search = _grid_search(case["search"], every)
            begin = time.process_time()
            search.fit(split.X, split.y)
            tried = len(search.cv_results_["params"])
            share = tried / (len(_SIGMAS) * len(_POWERS) ** 2)
            return {"search_seconds": (time.process_time() - begin) / share, "tried": tried}
        model = FeatureDiscriminationSVC(kernel="rbf", eta="cv", importance=list(_MEASURES))
        model.fit(split.X, split.y)  # compiles
        begin = time.process_time()
        model.fit(split.X, split.y)
        spent = time.process_time() - begin
        every = every if effort.quick else 1
        return {"stages_seconds": spent, "accuracy": _accuracies(split, every)}

    def section(self, results: Results) -> str:
        splits = [row for row in results.rows if "split" in row]
        searches = [row for row in results.rows if "search" in row]
        if not splits:
            return "No split is measured."
        stages = median(row["stages_seconds"] for row in splits)
        text = f"Two stages take {seconds(stages)} of CPU (median)."
        if len(searches) == len(_MEASURES):
            whole = sum(row["search_seconds"] for row in searches)
            text += f" The paper's search takes {digits(whole)} s, {factor(whole / stages)}."
        cells = []
        for name in splits[0]["accuracy"]:
            own = [100 * row["accuracy"][name] for row in splits]
            apart = [a - 100 * row["accuracy"][_STAGES] for a, row in zip(own, splits, strict=True)]
            cells.append([name, Mean.of(own).text(), Mean.of(apart).text()])
        header = ["choice", "accuracy, %", "- two stages, points"]
        return f"{text}\n\n{table(header, cells, left=1)}"
