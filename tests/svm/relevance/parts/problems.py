"""Rows for the tests of parts."""

import numpy as np

from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.rows import PartRows


def part_rows(m=40, d=3, n_classes=2, *, seed=0, count=None, groups=None, copy=np.inf, noise=1.0):
    """Return rows whose first column tells the classes apart, and others that are noise."""
    rng = np.random.default_rng(seed)
    classes = np.arange(m) % n_classes if n_classes > 2 else (np.arange(m) % 3 == 0).astype(np.intp)
    X = noise * rng.normal(size=(m, d))
    X[:, 0] += 1.5 * classes
    X[:, -1] = np.exp(X[:, -1])
    count = np.ones(m) if count is None else np.asarray(count, dtype=float)
    return PartRows(X, ColumnLayout.plain(d), classes, n_classes, count, count, groups, copy)


def counts(m=40, seed=1):
    """Return whole counts from one to four."""
    return np.random.default_rng(seed).integers(1, 5, size=m).astype(float)
