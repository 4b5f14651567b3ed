"""Which columns matter, by a test with an error rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...svm.relevance.selector import RelevanceSelector
from ...svm.relevance.testing import ColumnTests


@dataclass(frozen=True)
class RelevanceTest:
    """The test of every column of a table.

    Parameters
    ----------
    feature_names : tuple of str
        The names of the columns.
    shares : ndarray of shape (n_features,)
        The learned weights; they sum to one.
    statistic : ndarray of shape (n_features,)
        Mean gain on held-out rows over its standard error.
    pvalues : ndarray of shape (n_features,)
        The p-value of each column alone.
    adjusted : dict of str to ndarray
        P-values that account for the number of columns: "fdr" by Benjamini and Hochberg, "fwer"
        by Holm.
    """

    feature_names: tuple[str, ...]
    shares: Array
    statistic: Array
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
            The columns "feature", "share", "statistic", "p_value", "p_fdr" and "p_fwer".
        """
        columns = {
            "feature": np.array(self.feature_names, dtype=object),
            "share": self.shares,
            "statistic": self.statistic,
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
    X: Any, y: Any, *, sample_weight: Any = None, random_state: Any = 0, n_jobs: int | None = None
) -> RelevanceTest:
    """Test which columns matter for the classes, alone or together with others.

    Machines are fitted to the rows outside each of three folds, and asked how much worse they
    decide the rows of the fold when a column is averaged out.

    Parameters
    ----------
    X : data frame or array-like of shape (n_samples, n_features)
        The table; it may have categories and missing values.
    y : array-like of shape (n_samples,)
        The classes.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts.
    random_state : int, RandomState instance or None, default=0
        Deals out the rows.
    n_jobs : int, default=None
        Threads; None is one.

    Returns
    -------
    test : RelevanceTest
        P-values, and the columns that are selected at a level.

    See Also
    --------
    kernelwise.transform.RelevanceSelector : Selects columns by this test, in a pipeline.

    Notes
    -----
    Guaranteed for many rows: the error rates, for columns that are independent of the classes and
    of all other columns. Only measured: that doubling the p-values suffices for folds that share
    rows. Not guaranteed: an irrelevant column that is correlated with a relevant one may be
    selected, and with more columns than rows relevant ones are often missed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.app.inspection import relevance_test
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> y = X[:, 2] * X[:, 5] > 0  # neither says anything alone
    >>> np.flatnonzero(relevance_test(X, y).selected("fwer", alpha=0.05))
    array([2, 5])
    """
    selector = RelevanceSelector(test="fdr", random_state=random_state, n_jobs=n_jobs)
    selector.fit(X, y, sample_weight=sample_weight)
    tests = ColumnTests(selector.pvalues_, selector.scores_, selector.pvalues_ < 1)
    return RelevanceTest(
        tuple(map(str, _input_names(selector))),
        selector.feature_importances_,
        tests.statistic,
        tests.pvalues,
        {rate: tests.adjusted(rate) for rate in ("fdr", "fwer")},
    )
