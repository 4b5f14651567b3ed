"""Fit one method to all rows of a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from ..._parameters import check_kind
from ..._typing import Index
from ..tabular import TableEncoder, Target
from ..tabular.errors import require_columns
from .methods import method_named


class ColumnChoice(NamedTuple):
    """The choices of a user about the columns of a table.

    ``drop`` are columns to leave out, ``keep`` those to use although they look like an id, and
    ``category`` those that are categories although they hold numbers.
    """

    drop: Collection[str] = ()
    keep: Collection[str] = ()
    category: Collection[str] = ()

    @classmethod
    def checked(
        cls, frame: Any, drop: Collection[str], keep: Collection[str], category: Collection[str]
    ) -> ColumnChoice:
        """Return the choice; raise an error if it names a column that the table does not have."""
        chosen = cls(drop, keep, category)
        for where, names in chosen._asdict().items():
            require_columns(frame, names, where)
        return cls(*map(tuple, chosen))

    def encoder(self, *, one_hot: bool) -> TableEncoder:
        """Return the encoder of the table, before it is fitted."""
        return TableEncoder(**self._asdict(), one_hot=one_hot)

    def steps(self, *, one_hot: bool) -> list[tuple[str, Any]]:
        """Return the steps before an estimator: numbers are scaled where categories are numbers."""
        from sklearn.preprocessing import StandardScaler

        scaler: list[tuple[str, Any]] = [("scale", StandardScaler())] if one_hot else []
        return [("encode", self.encoder(one_hot=one_hot)), *scaler]


def encode_split(
    choice: ColumnChoice, rows: Any, train: Index, test: Index, *, one_hot: bool
) -> tuple[list[tuple[str, Any]], Any, Any]:
    """Return the steps before a method, and training and test rows as the method reads them.

    All is learned from the training rows.
    """
    from sklearn.pipeline import Pipeline

    steps = Pipeline(choice.steps(one_hot=one_hot))
    return steps.steps, steps.fit_transform(rows.iloc[train]), steps.transform(rows.iloc[test])


def fit_table(
    frame: Any,
    target: Target,
    method: str = "relevance",
    *,
    balanced: bool = False,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    category: Collection[str] = (),
    seed: int = 0,
) -> Any:
    """Fit a method to all rows of a table that have a target.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : Target
        Its target, by `check_target`.
    method : str, default="relevance"
        A key of `methods` that learns.
    balanced : bool, default=False
        Whether all classes count alike in the fit. Probabilities keep the shares of the classes in
        the table, so that the model may predict a class that is not the most probable one.
    drop : collection of str, default=()
        Columns to leave out.
    keep : collection of str, default=()
        Columns to use although they look like an id.
    category : collection of str, default=()
        Columns that are categories although they hold numbers, such as codes.
    seed : int, default=0
        Seed of the method.

    Returns
    -------
    model : sklearn.pipeline.Pipeline
        With the steps "encode", "scale" and "model", without "scale" for a method that reads
        categories; it predicts from tables as they are read. Classifiers give probabilities.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelwise.app.evaluation import fit_table
    >>> from kernelwise.app.tabular import check_target, column_weights
    >>> frame = pd.DataFrame({"size": [1, 2, 8, 9] * 5, "noise": [3, 1, 2, 0, 3] * 4})
    >>> frame["kind"] = ["small", "small", "large", "large"] * 5
    >>> model = fit_table(frame, check_target(frame, "kind"))
    >>> model.predict(pd.DataFrame({"size": ["7.5"], "noise": [None]})).tolist()
    ['large']
    >>> column_weights(model)[0].column
    'size'
    """
    from sklearn.pipeline import Pipeline

    check_kind(target, "target", Target)
    own = method_named(method, target.task, learns=True)
    estimator = own.estimator(seed, balanced=balanced, proba=True)
    steps = ColumnChoice.checked(frame, drop, keep, category).steps(
        one_hot=not own.reads_categories
    )
    return Pipeline([*steps, ("model", estimator)]).fit(target.rows_of(frame), target.y)
