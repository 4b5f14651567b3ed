"""Which columns matter, by a test with an error rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...svm.relevance.selector import RelevanceSelector


@dataclass(frozen=True)
class RelevanceTest:
    """The test of every column of a table.

    Parameters
    ----------
    feature_names : tuple of str
        The names of the columns.
    shares : ndarray of shape (n_features,)
        The share of each column in the prior variance of the target; they sum to one.
    alone : ndarray of shape (n_features,)
        The p-value of what each column says by itself, beyond all others.
    together : ndarray of shape (n_features,)
        The p-value of what it says together with others.
    pvalues : ndarray of shape (n_features,)
        Both combined.
    adjusted : dict of str to ndarray
        P-values that account for the number of columns: "fdr" by Benjamini and Hochberg, "fwer"
        by Holm.
    """

    feature_names: tuple[str, ...]
    shares: Array
    alone: Array
    together: Array
    pvalues: Array
    adjusted: dict[str, Array]

    def selected(self, error_rate: str = "fdr", alpha: float = 0.1) -> Any:
        """Return which columns are relevant.

        Parameters
        ----------
        error_rate : {"fdr", "fwer"}, default="fdr"
            The rate to bound: the expected share of false columns among the selected ones, or the
            probability of any.
        alpha : float, default=0.1
            The bound.

        Returns
        -------
        selected : ndarray of shape (n_features,)
            A mask.
        """
        if error_rate not in self.adjusted:
            raise ValueError(f'error_rate must be "fdr" or "fwer"; got {error_rate!r}.')
        return self.adjusted[error_rate] <= alpha

    def table(self) -> dict[str, Any]:
        """Return one row per column, the smallest p-value first, for ``pandas.DataFrame``.

        Returns
        -------
        table : dict of ndarray
            The columns "feature", "share", "p_alone", "p_together", "p_value", "p_fdr" and
            "p_fwer".
        """
        columns = {
            "feature": np.array(self.feature_names, dtype=object),
            "share": self.shares,
            "p_alone": self.alone,
            "p_together": self.together,
            "p_value": self.pvalues,
            "p_fdr": self.adjusted["fdr"],
            "p_fwer": self.adjusted["fwer"],
        }
        order = np.lexsort((-self.shares, self.pvalues))
        return {name: values[order] for name, values in columns.items()}


def _input_names(selector: Any) -> Any:
    """Return the names of the columns, or x0, x1 and so on."""
    numbered = [f"x{k}" for k in range(selector.n_features_in_)]
    return getattr(selector, "feature_names_in_", numbered)


def relevance_test(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    task: str = "auto",
    categorical_features: Any = "from_dtype",
    feature_groups: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> RelevanceTest:
    """Test which columns matter for the target, alone or together with others.

    The covariance of the target is learned from all columns. The score test of a variance
    component then asks whether it needs each column beside the others.

    Parameters
    ----------
    X : data frame or array-like of shape (n_samples, n_features)
        The table; it may have categories and missing values.
    y : array-like of shape (n_samples,)
        The classes or numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, relative to the others.
    task : {"auto", "classification", "regression"}, default="auto"
        What y holds: classes or numbers. "auto" takes words, flags and whole numbers as classes,
        and other numbers as numbers.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Which columns are categories; see `RelevanceSVC`.
    feature_groups : array-like, default=None
        Columns that are tested together: lists of names or numbers, or one label per column.
    random_state : int, RandomState instance or None, default=0
        Picks rows and landmarks.
    n_jobs : int, default=None
        Threads; None is one. They do not change the result.

    Returns
    -------
    test : RelevanceTest
        P-values, and the columns that are selected at a level.

    See Also
    --------
    kernelwise.transform.RelevanceSelector : Selects columns by this test, in a pipeline.

    Notes
    -----
    The p-values hold if the target is normal around a function from the learned prior; that they
    hold about as well for classes, and with a prior that is learned from the same rows, is
    measured. Numbers whose normal scores correlate by more than 0.75 are not tested beside each
    other, so that copies of a relevant column are all selected, noisy ones too. Of more than 5,000
    rows a random sample is read.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.app.inspection import relevance_test
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> y = X[:, 2] * X[:, 5] > 0  # neither says anything alone
    >>> np.flatnonzero(relevance_test(X, y).selected("fwer", alpha=0.05))
    array([2, 5])
    """
    selector = RelevanceSelector(
        test="fdr",
        task=task,
        categorical_features=categorical_features,
        feature_groups=feature_groups,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    tests = selector.fit(X, y, sample_weight=sample_weight).tests_
    return RelevanceTest(
        tuple(map(str, _input_names(selector))),
        tests.shares,
        tests.alone,
        tests.together,
        tests.pvalues,
        {rate: tests.adjusted(rate) for rate in ("fdr", "fwer")},
    )
