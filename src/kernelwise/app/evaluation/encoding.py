"""The steps that turn a table into what a method reads."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from ..._typing import Index
from ..tabular import TableEncoder
from ..tabular.errors import require_columns


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
) -> tuple[Any, Any]:
    """Return training and test rows as a method reads them, all learned from the training rows."""
    from sklearn.pipeline import Pipeline

    steps = Pipeline(choice.steps(one_hot=one_hot))
    return steps.fit_transform(rows.iloc[train]), steps.transform(rows.iloc[test])
