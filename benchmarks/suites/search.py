"""Grid searches with cross-validation against scikit-learn's, over the same 49 points."""

from collections.abc import Iterator

import numpy as np

from ..measure import Contender, Effort, compare, rounded
from ..problems import classification, scale_gamma

_POINTS = 7  # of C, and of gamma
_FOLDS = 5


def search(effort: Effort) -> Iterator[dict]:
    """Search C and gamma on two classes, and on the ten digits."""
    points = 3 if effort.quick else _POINTS
    for name, X, y, largest in _problems(quick=effort.quick):
        exponents = np.log10(largest) + np.linspace(-4, 0, points)
        gamma = scale_gamma(X) * 2.0 ** np.linspace(-6, 6, points)
        grid = {"C": 10.0**exponents, "gamma": gamma}
        times, found = compare(_contenders(X, y, grid), effort)
        _add_scores(times, found, _exact(X, y, grid))
        shape = {"n": X.shape[0], "p": X.shape[1], "classes": len(np.unique(y))}
        case = {"data": name} | shape | {"C": largest, "points": points**2, "folds": _FOLDS}
        yield {"case": case, "times": times}


def _problems(*, quick: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray, float]]:
    from sklearn.datasets import load_digits

    sizes = ((120, 20, 100.0),) if quick else ((1000, 20, 1000.0), (2000, 20, 100.0))
    for n, p, largest in sizes:
        yield "two classes", *classification(n, p), largest
    X, y = load_digits(return_X_y=True)
    step = 12 if quick else 1
    yield "digits", X[::step] / 16, y[::step], 100.0


def _contenders(X: np.ndarray, y: np.ndarray, grid: dict) -> dict[str, Contender]:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    import kernelwise
    from kernelwise.svm import SVCSearchCV

    return {
        "kernelwise": Contender(lambda: SVCSearchCV(kernelwise.SVC(), grid, cv=_FOLDS).fit(X, y)),
        "GridSearchCV(SVC)": Contender(lambda: GridSearchCV(SVC(), grid, cv=_FOLDS).fit(X, y)),
    }


def _exact(X: np.ndarray, y: np.ndarray, grid: dict) -> np.ndarray:
    """Return the scores of solutions that are exact for all that scores show."""
    import kernelwise
    from kernelwise.svm import SVCSearchCV

    tight = SVCSearchCV(kernelwise.SVC(tol=1e-6), grid, cv=_FOLDS, refit=False)
    return _scores(tight.fit(X, y))


def _scores(fitted) -> np.ndarray:
    """Return a column a fold."""
    results = fitted.cv_results_
    return np.column_stack([results[f"split{fold}_test_score"] for fold in range(fitted.n_splits_)])


def _add_scores(times: dict[str, dict], found: dict, exact: np.ndarray) -> None:
    """Add what was chosen, and how far scores are from those of exact solutions.

    At the usual tolerance rows next to the boundary may fall on either side of it: scikit-learn's
    scores have such a distance, too.
    """
    reference = _scores(found["GridSearchCV(SVC)"])
    for name, fitted in found.items():
        scores = _scores(fitted)
        times[name] |= {
            "best_score": rounded(fitted.best_score_),
            "best": {key: rounded(value) for key, value in fitted.best_params_.items()},
            "off": int(np.count_nonzero(scores != exact)),
            "most_off": rounded(np.abs(scores - exact).max()),
            "mean_off_reference": rounded(np.abs((scores - reference).mean(axis=1)).max()),
        }
