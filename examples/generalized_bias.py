"""Put prior knowledge into the bias of a machine, and let the kernel model the rest.

There are two problems. In the first, synthetic one, rows come from twenty sites, each with its own
level, and five measurements have nonlinear effects. In the second, on real data, a model fitted to
patients with a lower body mass index predicts those with a higher one, so a kernel has to
extrapolate.

    python examples/generalized_bias.py
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

from kernelwise import SVC, GeneralizedBiasSVC

REPEATS = 5
GRID = {"C": [0.3, 3.0], "gamma": [0.03, 0.1, 0.3]}
N_SITES, N_MEASURED = 20, 5


def sites(seed, n_train=300, n_test=2000):
    """Return training and test rows (measurements, one-hot sites), and the columns of the sites."""
    rng = np.random.default_rng(seed)
    n = n_train + n_test
    site, X = rng.integers(0, N_SITES, n), rng.normal(size=(n, N_MEASURED))
    level = 1.5 * rng.normal(size=N_SITES)
    score = level[site] + 1.5 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = score + 0.5 * rng.logistic(size=n) > 0
    X = np.hstack([X, np.eye(N_SITES)[site]])
    known = list(range(N_MEASURED, X.shape[1]))
    return (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:]), known


def heavier_patients(seed, n_train=200):
    """Return patients inside and above the lowest 60 % of body mass index, and its column."""
    table = load_diabetes()
    X, y = table.data / table.data.std(axis=0), table.target > np.median(table.target)
    known = [table.feature_names.index("bmi")]
    order = np.argsort(X[:, known[0]], kind="stable")
    cut = int(0.6 * len(y))
    lighter = np.random.default_rng(seed).choice(order[:cut], n_train, replace=False)
    return (X[lighter], y[lighter]), (X[order[cut:]], y[order[cut:]]), known


def contenders(known):
    """Return the models by name; cross-validation chooses C and, for kernels, gamma."""

    def search(model, grid=GRID):
        return GridSearchCV(model, grid, cv=3)

    def biased(penalty):
        return GeneralizedBiasSVC(known, exclude_bias_from_kernel=True, bias_penalty=penalty)

    linear = LogisticRegression(max_iter=2000)
    return {
        "SVC, all columns in the kernel": search(SVC()),
        "GeneralizedBiasSVC": search(biased(0.0)),
        "GeneralizedBiasSVC, bias_penalty=1": search(biased(1.0)),
        "logistic regression, all columns": search(linear, {"C": [0.01, 0.1, 1.0, 10.0]}),
        "logistic regression, known columns": OnColumns(known),
    }


class OnColumns:
    """Logistic regression on a subset of the columns."""

    def __init__(self, columns):
        self.columns, self.model = columns, LogisticRegression(C=100.0, max_iter=2000)

    def fit(self, X, y):
        self.model.fit(X[:, self.columns], y)
        return self

    def decision_function(self, X):
        return self.model.decision_function(X[:, self.columns])


def compare(problem):
    """Print accuracy and AUC on the test rows: mean and standard deviation over the repeats."""
    scores = {}
    for seed in range(REPEATS):
        train, (X, y), known = problem(seed)
        for name, model in contenders(known).items():
            decisions = model.fit(*train).decision_function(X)
            own = 100 * np.mean((decisions > 0) == y), 100 * roc_auc_score(y, decisions)
            scores.setdefault(name, []).append(own)
    print(f"  {'':36s}{'accuracy, %':>14s}{'AUC, %':>14s}")
    for name, values in scores.items():
        means, spreads = np.mean(values, axis=0), np.std(values, axis=0)
        cells = [f"{m:.1f} ± {s:.1f}" for m, s in zip(means, spreads, strict=True)]
        print(f"  {name:36s}{cells[0]:>14s}{cells[1]:>14s}")


def main():
    print(f"{N_SITES} sites, 300 training rows; {REPEATS} repeats")
    compare(sites)
    (X, y), _, known = sites(0)
    how = {"C": 3.0, "gamma": 0.1, "bias_penalty": 0.0}
    model = GeneralizedBiasSVC(known, exclude_bias_from_kernel=True, **how).fit(X, y)
    print(f"\n  the kernel carries {100 * model.kernel_share_[0]:.0f} % of the decision,")
    levels = model.bias_coef_[0] + model.intercept_[0]
    print(f"  and the levels of the sites range from {levels.min():.1f} to {levels.max():.1f}")
    print(f"\nPatients with a higher body mass index than in training; {REPEATS} repeats")
    compare(heavier_patients)


if __name__ == "__main__":
    main()
