"""Compare weights with permutation importances and with weights of shuffled labels."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata, spearmanr
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.metrics import check_scoring
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from .._models import unwrap
from .._parameters import checked_arguments
from .._typing import Array
from ._arguments import (
    CALLBACK,
    CLASSES,
    ESTIMATOR,
    JOBS,
    SEED,
    SHARE,
    TABLE,
    VERBOSE,
    count,
)
from ._progress import PATIENCE, run_all
from .weights import frame_columns, has_equal_share, like, read_weights

_WORTH_NAMING = 0.05  # loss of a column of small weight that is named, over the largest loss
_MIN_SHUFFLES = 19  # shuffles that a p-value as small as 0.05 needs


@dataclass(frozen=True)
class PermutationCheck:
    """Weights with permutation importances, and with the weights of shuffled labels.

    Parameters
    ----------
    feature_names : tuple of str
        The names of the features.
    shares : ndarray of shape (n_features,)
        The learned weights; they sum to one.
    importances : ndarray of shape (n_features, n_repeats)
        The loss of held-out score when the values of a feature are shuffled; NaN where that was
        not measured.
    null : ndarray of shape (n_shuffles, n_features)
        The weights learned from shuffled labels, each row of sum one; no rows without shuffles.
    """

    feature_names: tuple[str, ...]
    shares: Array
    importances: Array
    null: Array

    @property
    def correlation(self) -> float:
        """Spearman's correlation of weights and importances; NaN where either is constant."""
        losses = self.importances.mean(axis=1)
        known = ~np.isnan(losses)
        losses, shares = losses[known], self.shares[known]
        if np.ptp(losses) == 0 or np.ptp(shares) == 0:
            return float("nan")
        return float(spearmanr(shares, losses).statistic)

    @property
    def is_heavy(self) -> Any:
        """Whether each feature has at least an equal share of the weight."""
        return has_equal_share(self.shares)

    @property
    def is_needed(self) -> Any:
        """Whether shuffling a feature lowers the held-out score: mean loss above two deviations."""
        return self.importances.mean(axis=1) - 2 * self.importances.std(axis=1) > 0

    @property
    def p_values(self) -> Array:
        """P-value of each weight: how often shuffled labels give one as large."""
        if not len(self.null):
            raise ValueError(
                "no labels were shuffled; call permutation_check with n_shuffles, for instance 99."
            )
        reached = (self.null >= self.shares).sum(axis=0)
        return (1 + reached) / (1 + len(self.null))

    def table(self) -> dict[str, Any]:
        """Return one row per feature, the largest weight first, for ``pandas.DataFrame``.

        Returns
        -------
        table : dict of ndarray
            The columns "feature", "share", "importance", "importance_std", "share_rank",
            "importance_rank" and, where labels were shuffled, "p_value".
        """
        losses = self.importances.mean(axis=1)
        columns = {
            "feature": np.array(self.feature_names, dtype=object),
            "share": self.shares,
            "importance": losses,
            "importance_std": self.importances.std(axis=1),
            "share_rank": rankdata(-self.shares),
            "importance_rank": rankdata(-losses, nan_policy="omit"),
        }
        if len(self.null):
            columns["p_value"] = self.p_values
        order = np.argsort(-self.shares, kind="stable")
        return {name: column[order] for name, column in columns.items()}

    def disagreements(self) -> dict[str, Any]:
        """Return the features whose weight and importance disagree.

        Returns
        -------
        table : dict of ndarray
            The columns "feature", "share", "importance" and "why": "heavy, not needed" (at least
            an equal share of the weight, but no loss of score) or "needed, light" (the loss is at
            least a twentieth of the largest one, too). The features whose ranks differ most come
            first.
        """
        losses = self.importances.mean(axis=1)
        counts = losses >= _WORTH_NAMING * np.nanmax(losses, initial=0.0)
        rank_gap = np.abs(rankdata(self.shares) - rankdata(losses, nan_policy="omit"))
        apart = (self.is_heavy & ~self.is_needed) | (~self.is_heavy & self.is_needed & counts)
        rows = np.flatnonzero(apart & ~np.isnan(losses))
        rows = rows[np.argsort(-rank_gap[rows], kind="stable")]
        why = np.where(self.is_heavy[rows], "heavy, not needed", "needed, light")
        return {
            "feature": np.array(self.feature_names, dtype=object)[rows],
            "share": self.shares[rows],
            "importance": losses[rows],
            "why": why.astype(object),
        }


@checked_arguments(
    estimator=ESTIMATOR,
    X=[*TABLE, "sparse matrix"],
    y=CLASSES,
    test_size=SHARE,
    n_repeats=count(1),
    n_shuffles=count(0),
    scoring=[str, callable, None],
    random_state=SEED,
    n_jobs=JOBS,
    verbose=VERBOSE,
    callback=CALLBACK,
)
def permutation_check(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    test_size: float = 0.3,
    n_repeats: int = 10,
    n_shuffles: int = 0,
    scoring: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | str = "auto",
    callback: Callable[[int, int], Any] | None = None,
) -> PermutationCheck:
    """Compare learned weights with permutation importances on held-out rows.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``feature_importances_`` or ``coef_``, or a pipeline that ends with one.
        Clones of it are fitted.
    X : array-like of shape (n_samples, n_features)
        The rows; the column names of a data frame are kept.
    y : array-like of shape (n_samples,)
        The classes.
    test_size : float, default=0.3
        Share of the rows to hold out, stratified by class.
    n_repeats : int, default=10
        Number of shuffles of each feature.
    n_shuffles : int, default=0
        Number of fits to shuffled labels, which show how large weights are by chance; 0, or at
        least 19.
    scoring : str or callable, default=None
        The score; None is the accuracy of a classifier.
    random_state : int, RandomState instance or None, default=0
        Seed of the split and the shuffles; results do not depend on ``n_jobs``.
    n_jobs : int, default=None
        Number of fits and features at a time; None is one.
    verbose : bool or "auto", default="auto"
        Whether to print the expected time and the progress to stderr; "auto" prints where it takes
        more than two seconds.
    callback : callable, default=None
        Called with the number of finished fits to shuffled labels and their total.

    Returns
    -------
    check : PermutationCheck
        Weights, importances and their rank correlation, disagreements, and p-values.

    Notes
    -----
    In a pipeline, the features are the inputs of its last step. Redundant features can each be
    shuffled without loss, so a feature that is heavy and not needed may still be relevant.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from kernelwise.inspection import permutation_check
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> check = permutation_check(RandomForestClassifier(20, random_state=0), X, y, n_repeats=5)
    >>> bool(check.correlation > 0.3), sorted(check.disagreements())
    (True, ['feature', 'importance', 'share', 'why'])
    """
    check_consistent_length(X, y)
    if n_shuffles and n_shuffles < _MIN_SHUFFLES:
        raise ValueError(
            f"n_shuffles={n_shuffles} is too few for a p-value of 0.05: take "
            f"{_MIN_SHUFFLES} or more, or 0."
        )
    columns, random = frame_columns(X), check_random_state(random_state)
    seed = int(random.randint(2**31 - 1))
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=test_size, stratify=y, random_state=seed
    )
    model = clone(estimator).fit(X_train, y_train)
    found = read_weights(model, columns=columns)
    last, before = unwrap(model)
    for steps in before:
        X_test = steps.transform(X_test)
    _announce(last, X_test, n_repeats, verbose)
    losses = permutation_importance(
        last,
        _shufflable(X_test),
        y_test,
        n_repeats=n_repeats,
        scoring=_Scorer(check_scoring(last, scoring), X_test),
        n_jobs=n_jobs,
        random_state=seed,
    )
    labels = np.asarray(y_train)
    shuffled = [random.permutation(labels) for _ in range(n_shuffles)]
    null = run_all(
        _shares_by_name,
        [(estimator, X_train, own, columns) for own in shuffled],
        what="shuffled labels",
        n_jobs=n_jobs,
        verbose=verbose,
        callback=callback,
    )
    table = np.array([[own.get(name, 0.0) for name in found.names] for own in null])
    return PermutationCheck(
        tuple(found.names),
        found.shares,
        losses.importances,
        table.reshape(n_shuffles, len(found.names)),
    )


class _Scorer:
    """Scores rows as the type of table that was fitted; scikit-learn only keeps pandas frames."""

    def __init__(self, scorer: Any, X: Any) -> None:
        self._scorer, self._head = scorer, X[:1]

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        rows = like(self._head, X) if isinstance(X, np.ndarray) else X
        return float(self._scorer(model, rows, y))


def _shufflable(X: Any) -> Any:
    """Return rows that scikit-learn can shuffle: a data frame of pandas, or an array."""
    if hasattr(X, "iloc"):
        return X
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def _announce(model: Any, X: Any, n_repeats: int, verbose: bool | str) -> None:
    """Print the expected time of the predictions to stderr, where it is long."""
    begin = time.perf_counter()
    model.predict(X)
    seconds = (time.perf_counter() - begin) * np.shape(X)[1] * n_repeats
    if verbose is True or (verbose and seconds > PATIENCE):
        print(f"[kernelwise] importances: about {seconds:.0f} s", file=sys.stderr)


def _shares_by_name(estimator: Any, X: Any, y: Any, columns: Any) -> dict[str, float]:
    found = read_weights(clone(estimator).fit(X, y), columns=columns)
    return dict(zip(found.names, found.shares.tolist(), strict=True))
