"""Splits and statistical tests of the papers' protocols."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split

from kernelwise._typing import Array

Index = NDArray[np.intp]


class Verdict(NamedTuple):
    """The outcome of a test."""

    statistic: float
    pvalue: float


class Split(NamedTuple):
    """Training and test rows with their classes."""

    X: Array
    y: Any
    X_test: Array
    y_test: Any


def random_split(n: int, test: float, seed: int, y: ArrayLike | None = None) -> tuple[Index, Index]:
    """Return training and test rows of a random split, stratified if y is given.

    The number of test rows is the fraction `test` of n, rounded down.
    """
    train, held = train_test_split(
        np.arange(n), test_size=int(test * n), random_state=seed, stratify=y
    )
    return train, held


def folds(y: ArrayLike, n_folds: int, seed: int) -> list[tuple[Index, Index]]:
    """Return training and test rows of shuffled folds by class."""
    y = np.asarray(y)
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return the result of a function, and the CPU seconds that it took."""
    begin = time.thread_time()
    result = work(*arguments)
    return result, round(time.thread_time() - begin, 6)


@contextmanager
def unconverged_allowed() -> Iterator[None]:
    """Hide warnings of machines that stop early: their number is among the results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def mcnemar(first: ArrayLike, second: ArrayLike) -> Verdict:
    """Compare two classifiers on the same rows by McNemar's exact test.

    The statistic counts the rows that only the second has right, minus those of the first.
    """
    first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    lost, won = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    pvalue = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    return Verdict(float(won - lost), float(pvalue))


def signed_rank(first: ArrayLike, second: ArrayLike) -> Verdict:
    """Return z of Wilcoxon's signed-rank test, negative if the second values are larger, and p."""
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if not np.any(difference):
        return Verdict(0.0, 1.0)
    # Only a one-sided test has the sign: the two-sided statistic is that of the smaller sum.
    z = stats.wilcoxon(difference, alternative="less", method="approx").zstatistic
    return Verdict(float(z), float(stats.wilcoxon(difference, method="approx").pvalue))


def paired_t(first: ArrayLike, second: ArrayLike) -> Verdict:
    """Return t of Student's paired test, positive if the second values are larger, and p."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if np.array_equal(first, second):
        return Verdict(0.0, 1.0)
    result = stats.ttest_rel(second, first)
    return Verdict(float(result.statistic), float(result.pvalue))


def correlation(first: ArrayLike, second: ArrayLike) -> Verdict:
    """Return Pearson's correlation coefficient and its two-sided p."""
    result = stats.pearsonr(first, second)
    return Verdict(float(result.statistic), float(result.pvalue))
