"""Tables of numbers and categories, for the tests of the parts for larger tables."""

import numpy as np

from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.rows import PartRows


def mixed_rows(m=300, n_classes=2, *, seed=0, count=None, groups=None, copy=np.inf, signal=3.0):
    """Return rows of five numbers and two categories.

    A pair of numbers, one number and a category say something about the class; the other numbers,
    one of them constant, and a category of 12 levels do not.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 7))
    X[:, 3] = np.exp(2 * X[:, 3])
    X[:, 4] = 2.5
    X[:, 5], X[:, 6] = rng.integers(0, 4, m), rng.integers(0, 12, m)
    f = signal * (np.sign(X[:, 0] * X[:, 1]) + 0.7 * X[:, 2] + (X[:, 5] == 1) - 0.25)
    scores = np.column_stack([np.zeros(m), f, -f, 0.5 * f - 1])[:, :n_classes]
    classes = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    layout = ColumnLayout(np.arange(7) >= 5, np.arange(7), np.arange(7), 7)
    count = np.ones(m) if count is None else np.asarray(count, dtype=float)
    return PartRows(X, layout, classes, n_classes, count, count, groups, copy)


def log_loss(decisions, rows):
    """Return the mean log loss of one-vs-rest decisions."""
    return float(np.mean(rows.count @ np.logaddexp(0, -rows.codes * decisions)) / rows.count.sum())


def rare_class(rows, n_rare=3):
    """Return the rows with all but a few of class one turned into class zero."""
    from dataclasses import replace

    kept = np.flatnonzero(rows.classes == 1)[:n_rare]
    classes = np.zeros(len(rows), dtype=np.intp)
    classes[kept] = 1
    return replace(rows, classes=classes)
