"""Measure how weights vary over resamples of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata
from sklearn.base import is_classifier
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_consistent_length

from ..._parameters import checked_arguments
from ..._typing import Array, Index
from ._arguments import CALLBACK, ESTIMATOR, JOBS, SEED, SHARE, TABLE, TARGET, count
from .feature_weights import FeatureWeightsDisplay
from .refit import refit
from .weights import frame_columns, has_equal_share, read_weights


@dataclass(frozen=True)
class WeightStability:
    """The weights of features over resamples of the rows, as shares that sum to one.

    Parameters
    ----------
    feature_names : tuple of str
        The names of the features.
    shares : ndarray of shape (n_resamples, n_features)
        The share of each feature in each resample; zero where a pipeline left it out.
    selected : ndarray of bool of shape (n_resamples, n_features)
        Which features each resample selects.
    """

    levels: ClassVar[tuple[float, float]] = (0.05, 0.95)
    feature_names: tuple[str, ...]
    shares: Array
    selected: Any

    @property
    def mean(self) -> Array:
        """Mean share of each feature."""
        return self.shares.mean(axis=0)

    @property
    def quantiles(self) -> Array:
        """The 5 % and 95 % quantiles of the shares, of shape (2, n_features)."""
        return np.quantile(self.shares, self.levels, axis=0)

    @property
    def selection_frequency(self) -> Array:
        """Share of the resamples that select each feature."""
        return np.asarray(self.selected).mean(axis=0)

    @property
    def rank_agreement(self) -> float:
        """Mean of Spearman's correlation over pairs of resamples; NaN if all shares are equal."""
        ranks = rankdata(self.shares, axis=1)
        ranks = ranks[ranks.std(axis=1) > 0]
        if len(ranks) < 2:
            return float("nan")
        return float(np.corrcoef(ranks)[np.triu_indices(len(ranks), 1)].mean())

    def table(self) -> dict[str, Any]:
        """Return one row per feature, the largest mean first, for ``pandas.DataFrame``.

        Returns
        -------
        table : dict of ndarray
            The columns "feature", "mean", "low", "high" and "selected".
        """
        order = np.argsort(-self.mean, kind="stable")
        low, high = self.quantiles[:, order]
        return {
            "feature": np.array(self.feature_names, dtype=object)[order],
            "mean": self.mean[order],
            "low": low,
            "high": high,
            "selected": self.selection_frequency[order],
        }

    def display(self) -> FeatureWeightsDisplay:
        """Return a display of means, quantiles and selections.

        Returns
        -------
        display : FeatureWeightsDisplay
            Plot it with ``plot()``.
        """
        return FeatureWeightsDisplay(
            self.mean,
            feature_names=self.feature_names,
            interval=self.quantiles,
            frequency=self.selection_frequency,
        )


@checked_arguments(
    estimator=ESTIMATOR,
    X=TABLE,
    y=TARGET,
    n_resamples=count(2),
    fraction=SHARE,
    groups=["column", None],
    random_state=SEED,
    n_jobs=JOBS,
    callback=CALLBACK,
)
def weight_stability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 20,
    fraction: float = 0.5,
    groups: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callable[[int, int], Any] | None = None,
) -> WeightStability:
    """Fit an estimator to resamples of the rows, and measure how its weights vary.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor with ``feature_importances_`` or ``coef_``, or a pipeline that
        ends with one. Clones of it are fitted.
    X : array-like of shape (n_samples, n_features)
        The rows; the column names of a data frame are kept.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The classes or the target.
    n_resamples : int, default=20
        Number of resamples.
    fraction : float, default=0.5
        Share of the rows in each resample, drawn without replacement, and by class unless there
        are groups.
    groups : array-like of shape (n_samples,), default=None
        Groups of rows that stay together.
    random_state : int, RandomState instance or None, default=0
        Seed of the resamples; results do not depend on ``n_jobs``.
    n_jobs : int, default=None
        Number of fits at a time; None is one.
    callback : callable, default=None
        Called with the number of finished fits and their total.

    Returns
    -------
    stability : WeightStability
        Means and quantiles of the weights, selection frequencies, and the rank agreement.

    Notes
    -----
    A feature counts as selected where the estimator says so (``selected_features_``), else where
    its share is at least an equal one and not zero. Half of the rows give less certain weights than
    all rows would: read the spread as that of half as many rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from kernelwise.app.inspection import weight_stability
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> stability = weight_stability(forest, X, y, n_resamples=5)
    >>> stability.mean.shape, bool(stability.rank_agreement > 0.5)
    ((13,), True)
    """
    check_consistent_length(X, y, groups)
    columns = frame_columns(X)
    kind: Any = StratifiedShuffleSplit if is_classifier(estimator) else ShuffleSplit
    splitter = (GroupShuffleSplit if groups is not None else kind)(
        n_resamples, train_size=fraction, random_state=random_state
    )
    splits = splitter.split(np.zeros(len(y)), y, groups)
    fits: Iterator[Any] = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fit_one)(estimator, X, y, columns, np.sort(train)) for train, _ in splits
    )
    found = []
    for fit in fits:
        found.append(fit)
        if callback is not None:
            callback(len(found), n_resamples)
    names = list(dict.fromkeys(name for own, _, _ in found for name in own))
    position = {name: k for k, name in enumerate(names)}
    table = np.zeros((n_resamples, len(names)))
    chosen = np.zeros((n_resamples, len(names)), dtype=bool)
    for j, (own, shares, selected) in enumerate(found):
        own_columns = [position[name] for name in own]
        table[j, own_columns], chosen[j, own_columns] = shares, selected
    return WeightStability(tuple(names), table, chosen)


def _fit_one(
    estimator: Any, X: Any, y: Any, columns: Any, rows: Index
) -> tuple[list[str], Array, Any]:
    """Fit to some rows; return the names, shares and selection of the features."""
    found = read_weights(refit(estimator, X, y, rows), columns)
    selected = has_equal_share(found.shares) if found.selected is None else found.selected
    return found.names, found.shares, selected
