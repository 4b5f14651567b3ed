"""All that a report checks about a model, in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._models import final_estimator
from .._parameters import checked_arguments
from .._sklearn import safe_indexing
from .._typing import Array
from ..svm.relevance.estimator import RelevanceSVC
from ..tabular.pipeline import table_encoder
from ._arguments import CALLBACK, CLASSES, ESTIMATOR, SEED, TABLE, count
from .effects import ColumnEffects, column_effects
from .importance import held_out_importance
from .permutation import PermutationCheck
from .relevance import relevance_test
from .row_pool import ModelReader
from .stability import WeightStability, weight_stability
from .weights import frame_columns

ALPHA = 0.1  # bound on the expected share of false columns among the selected ones
_MAX_TEST_ROWS = 2000  # rows of the test of the columns
_MAX_TEST_VALUES = 400_000  # rows times columns of the test
_MIN_TEST_ROWS = 20


@dataclass(frozen=True)
class ColumnVerdicts:
    """Which columns matter, by a test on held-out rows.

    Parameters
    ----------
    pvalues : dict of str to float
        The p-value of each column of the table.
    adjusted : dict of str to float
        The same, adjusted for the number of columns by Benjamini and Hochberg.
    n_rows : int
        The rows of the test.
    """

    pvalues: dict[str, float]
    adjusted: dict[str, float]
    n_rows: int

    def verdict(self, column: str) -> str:
        """Return "selected", "maybe" or "not" for a column.

        Parameters
        ----------
        column : str
            A column of the table.

        Returns
        -------
        verdict : str
            Columns whose adjusted p-value is at most 0.1 are selected; "maybe" have such a p-value
            of their own only. "" where the column was not tested.
        """
        if column not in self.pvalues:
            return ""
        if self.adjusted[column] <= ALPHA:
            return "selected"
        return "maybe" if self.pvalues[column] <= ALPHA else "not"


@dataclass(frozen=True)
class ModelChecks:
    """The results of all checks of a model; None where a check does not apply or takes too long.

    Parameters
    ----------
    stability : WeightStability or None
        How the weights vary over resamples of the rows.
    importance : PermutationCheck or None
        The shares of the model, and what shuffling a column costs on rows that were held out from a
        clone of it.
    verdicts : ColumnVerdicts or None
        Which columns matter, by a test.
    effects : ColumnEffects or None
        How the outputs change with the leading columns.
    n_train, n_test : int
        The rows to which a clone was fitted for ``importance``, and those held out.
    """

    stability: WeightStability | None = None
    importance: PermutationCheck | None = None
    verdicts: ColumnVerdicts | None = None
    effects: ColumnEffects | None = None
    n_train: int = 0
    n_test: int = 0


@checked_arguments(
    model=ESTIMATOR,
    X=TABLE,
    y=CLASSES,
    n_resamples=count(0),
    random_state=SEED,
    callback=CALLBACK,
)
def check_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 10,
    positive: Any = None,
    random_state: Any = 0,
    callback: Callable[[int, int, str], Any] | None = None,
) -> ModelChecks:
    """Check the weights of a fitted model, and measure its effects, for a report.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a pipeline that ends with one. Clones of it are fitted.
    X : data frame or array-like of shape (n, n_columns)
        The training table, as the model reads it.
    y : array-like of shape (n,)
        The classes.
    n_resamples : int, default=10
        Number of resamples for the stability of the weights; 0 leaves that out.
    positive : object, default=None
        The one of two classes that effects speak of; None is the second.
    random_state : int, RandomState instance or None, default=0
        Seed of all checks.
    callback : callable, default=None
        Called with the number of finished steps, their total and the name of the next one.

    Returns
    -------
    checks : ModelChecks
        The checks. Models without weights have effects only; the test of the columns is made for
        `RelevanceSVC`, on at most 2,000 rows and 400,000 values.

    See Also
    --------
    kernelwise.report.write_report : Writes them into a page.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.inspection import check_model
    >>> X = np.random.default_rng(0).normal(size=(120, 4))
    >>> y = X[:, 1] > 0
    >>> checks = check_model(RelevanceSVC().fit(X, y), X, y, n_resamples=2)
    >>> [checks.verdicts.verdict(f"x{k}") for k in range(4)]
    ['not', 'selected', 'not', 'not']
    """
    check_is_fitted(model)
    check_consistent_length(X, y)
    y, tell = np.asarray(y), callback or (lambda done, total, text: None)
    n_steps = n_resamples + 3
    tell(0, n_steps, "effects")
    effects = column_effects(model, X, positive=positive, random_state=random_state)
    if not hasattr(final_estimator(model), "feature_importances_"):
        return ModelChecks(effects=effects)
    tell(1, n_steps, "held-out importance")
    smallest = int(np.unique(y, return_counts=True)[1].min())
    importance, n_test = None, 0
    if smallest >= 2:
        importance = held_out_importance(model, X, y, random_state=random_state)
        shares = ModelReader(model).shares(importance.feature_names)
        importance = replace(importance, shares=shares)  # those that the report shows
        n_test = int(np.ceil(0.3 * len(y)))
    tell(2, n_steps, "test of the columns")
    verdicts = _verdicts(model, X, y, random_state)
    stability = None
    if n_resamples:
        stability = weight_stability(
            clone(final_estimator(model)),
            _encoded(model, X),
            y,
            n_resamples=n_resamples,
            random_state=random_state,
            verbose=False,
            callback=lambda done, of: tell(3 + done, n_steps, "resamples"),
        )
    return ModelChecks(stability, importance, verdicts, effects, len(y) - n_test, n_test)


def _encoded(model: Any, X: Any) -> Any:
    """Return the rows as the last step of the command line's pipelines reads them, with names."""
    encoder = table_encoder(model)
    if encoder is None:
        return X
    import pandas as pd

    rows = model[:-1].transform(X)
    return rows if hasattr(rows, "columns") else pd.DataFrame(rows, columns=encoder.outputs_)


def _verdicts(model: Any, X: Any, y: Array, random_state: Any) -> ColumnVerdicts | None:
    """Test the columns on as many rows as are affordable; None where those are too few."""
    final, encoder = final_estimator(model), table_encoder(model)
    if type(final) is not RelevanceSVC or (encoder is None and final is not model):
        return None
    rows = _encoded(model, X)
    n, d = np.shape(rows)
    counts = np.unique(y, return_counts=True)[1]
    size = min(n, _MAX_TEST_ROWS, _MAX_TEST_VALUES // d)
    if counts.min() < 4 or size < max(_MIN_TEST_ROWS, 4 * len(counts)):
        return None
    if size < n:
        chosen, _ = train_test_split(
            np.arange(n), train_size=size, stratify=y, random_state=random_state
        )
        rows, y = safe_indexing(rows, np.sort(chosen)), y[np.sort(chosen)]
    test = relevance_test(rows, y, random_state=random_state)
    names = frame_columns(rows) or list(test.feature_names)
    sources = names if encoder is None else encoder.sources_
    own: dict[str, list[float]] = {}
    for source, p_value in zip(sources, test.pvalues.tolist(), strict=True):
        own.setdefault(source, []).append(p_value)
    # Encoded columns of one column, such as the parts of a date, are corrected by Bonferroni.
    pvalues = {name: min(1.0, len(each) * min(each)) for name, each in own.items()}
    adjusted = np.asarray(false_discovery_control(list(pvalues.values())))
    return ColumnVerdicts(pvalues, dict(zip(pvalues, adjusted.tolist(), strict=True)), len(y))
