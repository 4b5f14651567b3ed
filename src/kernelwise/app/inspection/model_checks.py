"""All that a report checks about a model, in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.base import clone, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..._models import final_estimator
from ..._parameters import checked_arguments
from ..._sklearn import safe_indexing
from ..._typing import Array
from ...svm.relevance.base import BaseRelevance
from ..tabular.encoder import table_encoder
from ._arguments import CALLBACK, ESTIMATOR, SEED, TABLE, TARGET, count
from .effects import ColumnEffects, column_effects
from .importance import ColumnImportance, held_out_importance
from .relevance import relevance_test
from .stability import WeightStability, weight_stability
from .weights import frame_columns

ALPHA = 0.1  # bound on the expected share of false columns among the selected ones
_STEPS = {
    "effects": "effects of columns",
    "importance": "importance on held-out rows",
    "test": "test of the columns",
    "stability": "stability of the weights",
}
_FOLDS = 3
_MAX_TEST_ROWS = 2000  # rows of the test of the columns
_MAX_TEST_VALUES = 400_000  # rows times columns of the test
_MIN_TEST_ROWS = 20
_MAX_TEXT = 300  # characters of an error that are shown


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
    importance : ColumnImportance or None
        What shuffling a column costs on rows that were held out from clones of the model.
    effects : ColumnEffects or None
        How the outputs change with the leading columns.
    verdicts : ColumnVerdicts or None
        Which columns matter, by a test.
    stability : WeightStability or None
        How the weights vary over resamples of the rows.
    failed : dict of str to str
        A sentence for each check that ended with an error: "effects", "importance", "test" or
        "stability".
    """

    importance: ColumnImportance | None = None
    effects: ColumnEffects | None = None
    verdicts: ColumnVerdicts | None = None
    stability: WeightStability | None = None
    failed: dict[str, str] = field(default_factory=dict)


def failure_text(error: Exception) -> str:
    """Return a sentence in the place of what an error has prevented."""
    return f"this part could not be made ({type(error).__name__}: {error})"[:_MAX_TEXT]


@checked_arguments(
    model=ESTIMATOR,
    X=TABLE,
    y=TARGET,
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
    importance: ColumnImportance | None = None,
    random_state: Any = 0,
    callback: Callable[[int, int, str], Any] | None = None,
) -> ModelChecks:
    """Check what a fitted model has learned, for a report.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor, or a pipeline that ends with one. Clones of it are fitted.
    X : data frame or array-like of shape (n, n_columns)
        The training table, as the model reads it.
    y : array-like of shape (n,)
        The classes or the target.
    n_resamples : int, default=10
        Number of resamples for the stability of the weights; 0 leaves that out.
    positive : object, default=None
        The one of two classes that effects speak of; None is the second.
    importance : ColumnImportance, default=None
        The importance, where it is known already; None measures it.
    random_state : int, RandomState instance or None, default=0
        Seed of all checks.
    callback : callable, default=None
        Called with the number of finished steps, their total and the name of the next one.

    Returns
    -------
    checks : ModelChecks
        The checks. Only models with weights have the stability of these; the test of the columns is
        made for `RelevanceSVC` and `RelevanceSVR`, on at most 2,000 rows and 400,000 values. A
        check that ends with an error is a sentence in ``failed``.

    See Also
    --------
    kernelwise.app.report.write_report : Writes them into a page.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.inspection import check_model
    >>> X = np.random.default_rng(0).normal(size=(120, 4))
    >>> y = X[:, 1] > 0
    >>> checks = check_model(RelevanceSVC().fit(X, y), X, y, n_resamples=2)
    >>> checks.importance.matters.tolist()
    [False, True, False, False]
    """
    check_is_fitted(model)
    check_consistent_length(X, y)
    y, final = np.asarray(y), final_estimator(model)
    smallest = np.unique(y, return_counts=True)[1].min() if is_classifier(model) else len(y)
    resamples = n_resamples if smallest > 1 and _has_weights(final) else 0
    steps = resamples + 3

    def tell(done: int, text: str) -> None:
        if callback is not None:
            callback(done, steps, text)

    def stability() -> WeightStability:
        return weight_stability(
            clone(final),
            _encoded(model, X),
            y,
            n_resamples=resamples,
            random_state=random_state,
            callback=lambda done, of: tell(3 + done, "stability of the weights"),
        )

    seed = random_state
    makers: dict[str, Callable[[], Any]] = {
        "effects": lambda: column_effects(model, X, positive=positive, random_state=seed),
        "importance": lambda: importance or held_out_importance(model, X, y, random_state=seed),
        "test": lambda: _verdicts(model, X, y, smallest, seed),
        "stability": stability,
    }
    applies = {"importance": smallest >= _FOLDS, "stability": bool(resamples)}
    found, failed = dict.fromkeys(makers), {}
    for step, (name, make) in enumerate(makers.items()):
        tell(step, _STEPS[name])
        try:
            found[name] = make() if applies.get(name, True) else None
        except Exception as error:  # a check that fails does not take the others away
            failed[name] = failure_text(error)
    return ModelChecks(
        found["importance"], found["effects"], found["test"], found["stability"], failed
    )


def _has_weights(final: Any) -> bool:
    return hasattr(final, "feature_importances_") or hasattr(final, "coef_")


def _encoded(model: Any, X: Any) -> Any:
    """Return the rows as the last step of the command line's pipelines reads them, with names."""
    encoder = table_encoder(model)
    if encoder is None:
        return X
    import pandas as pd

    rows = model[:-1].transform(X)
    return rows if hasattr(rows, "columns") else pd.DataFrame(rows, columns=encoder.outputs_)


def _verdicts(
    model: Any, X: Any, y: Array, smallest: int, random_state: Any
) -> ColumnVerdicts | None:
    """Test the columns on as many rows as are affordable; None where those are too few."""
    final, encoder = final_estimator(model), table_encoder(model)
    if not isinstance(final, BaseRelevance) or (encoder is None and final is not model):
        return None
    rows = _encoded(model, X)
    n, d = np.shape(rows)
    size, by_class = (
        min(n, _MAX_TEST_ROWS, _MAX_TEST_VALUES // d),
        y if is_classifier(model) else None,
    )
    least = max(_MIN_TEST_ROWS, 0 if by_class is None else 4 * len(np.unique(y)))
    if smallest < 4 or size < least:
        return None
    if size < n:
        chosen, _ = train_test_split(
            np.arange(n), train_size=size, stratify=by_class, random_state=random_state
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
