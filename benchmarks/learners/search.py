"""Grid searches with cross-validation against scikit-learn's, over the same 49 points."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import kernelwise
from kernelwise import SVCSearchCV

from ..measure import Contender, Effort, compare, rounded
from ..problems import classification, scale_gamma
from ..suite import Results, Row, Suite, Task
from ..text import factor, spread, table
from .noisy import shape

OURS, REFERENCE = "kernelwise", "GridSearchCV(SVC)"
_POINTS = 7  # values of C, and of gamma
_FOLDS = 5


def _problem(case: Task) -> tuple[np.ndarray, np.ndarray]:
    if case["data"] == "two classes":
        return classification(case["rows"], 20)
    X, y = load_digits(return_X_y=True)
    step = len(y) // case["rows"]
    return X[::step] / 16, y[::step]


def _scores(fitted: SVCSearchCV | GridSearchCV) -> np.ndarray:
    """Return one column of scores per fold."""
    results = fitted.cv_results_
    return np.column_stack([results[f"split{fold}_test_score"] for fold in range(fitted.n_splits_)])


def _add_scores(times: dict[str, dict], found: dict, exact: np.ndarray) -> None:
    """Add the chosen point, and how far scores are from those of exact solutions.

    At the usual tolerance rows next to the boundary may fall on either side of it, so that
    scikit-learn's scores differ from exact ones, too.
    """
    reference = _scores(found[REFERENCE])
    for name, fitted in found.items():
        scores = _scores(fitted)
        times[name] |= {
            "best_score": rounded(fitted.best_score_),
            "best": {key: rounded(value) for key, value in fitted.best_params_.items()},
            "off": int(np.count_nonzero(scores != exact)),
            "most_off": rounded(np.abs(scores - exact).max()),
            "mean_off_reference": rounded(np.abs((scores - reference).mean(axis=1)).max()),
        }


class Search(Suite):
    """Searches of C and gamma, with two classes and on the ten digits."""

    name = "learners-search"
    title = "Grid search"
    seconds = 200.0

    def cases(self, quick: bool) -> list[Task]:
        sizes = [(120, 100.0)] if quick else [(1000, 1000.0), (2000, 100.0)]
        cases = [{"data": "two classes", "rows": n, "C": largest} for n, largest in sizes]
        return [*cases, {"data": "digits", "rows": 149 if quick else 1797, "C": 100.0}]

    def measure(self, case: Task, effort: Effort) -> Row:
        points = 3 if effort.quick else _POINTS
        X, y = _problem(case)
        gamma = scale_gamma(X) * 2.0 ** np.linspace(-6, 6, points)
        grid = {"C": 10.0 ** (np.log10(case["C"]) + np.linspace(-4, 0, points)), "gamma": gamma}
        contenders = {
            OURS: Contender(lambda: SVCSearchCV(kernelwise.SVC(), grid, cv=_FOLDS).fit(X, y)),
            REFERENCE: Contender(lambda: GridSearchCV(SVC(), grid, cv=_FOLDS).fit(X, y)),
        }
        times, found = compare(contenders, effort)
        tight = SVCSearchCV(kernelwise.SVC(tol=1e-6), grid, cv=_FOLDS, refit=False)
        _add_scores(times, found, _scores(tight.fit(X, y)))
        return shape(X, y) | {"points": points**2, "folds": _FOLDS, "times": times}

    def section(self, results: Results) -> str:
        cells = []
        for row in results.rows:
            ours, grid = row["times"].values()
            same = "same" if ours["best"] == grid["best"] else "**another**"
            cells.append(
                [
                    row["data"], *(f"{row[key]:,}" for key in ("n", "p", "classes")),
                    f"{row['C']:g}", spread(ours), spread(grid), factor(grid["ratio"]),
                    f"{ours['off']} / {grid['off']}",
                    f"{100 * ours['mean_off_reference']:.2g}",
                    f"{100 * ours['best_score']:.2f} / {100 * grid['best_score']:.2f}", same,
                ]
            )  # fmt: skip
        points, folds = (results.rows[0][key] for key in ("points", "folds"))
        header = ["data", "n", "p", "classes", "C up to", "`SVCSearchCV`", "`GridSearchCV`"]
        header += ["ratio", "scores off", "largest difference of a mean, points", "best", "point"]
        return (
            f"`SVCSearchCV()` against `GridSearchCV(SVC())` over the same {points} points of C "
            f"and gamma with {folds} folds, which makes {points * folds} fits and one more on all "
            "rows: C over four decades, gamma from 1/64 to 64 times that of `gamma='scale'`. At "
            "the usual tolerance, 1e-3, a row next to the boundary may fall on either side of it "
            f"in both searches: of the {points * folds} scores, one per point and fold, the table "
            "counts those that differ from the scores of solutions to 1e-6, for `SVCSearchCV` and "
            "for `GridSearchCV`. Then come the largest difference between the two of a point's "
            "mean score, the best mean score of both, and whether they choose the same "
            "point.\n\n" + table(header, cells, left=1)
        )
