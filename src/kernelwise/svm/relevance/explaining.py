"""What explanations of a RelevanceSVC read: training rows, and the model on encoded rows."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ..._records import dataclass
from ..._typing import Array, Index
from ..base.predictor import predictor_of
from ..paths.rows import TrainingRows

N_BACKGROUND = 100  # training rows that a model keeps for explanations
_SEED = 0  # seed that picks these rows, so that they leave the random numbers of a fit alone


@dataclass(frozen=True)
class KnownRows:
    """Encoded training rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    classes : ndarray of shape (n,)
        The number of the class of each row.
    numbers : ndarray of shape (n,)
        Where each row is in the training table.
    """

    X: Array
    classes: Index
    numbers: Index

    @classmethod
    def sample(cls, table: TrainingRows, numbers: Index, size: int = N_BACKGROUND) -> KnownRows:
        """Draw rows that stand for a table: each class and each row in proportion to its weight.

        Parameters
        ----------
        table : TrainingRows
            The distinct rows.
        numbers : ndarray of shape (n,)
            Where each row of the table of ``table.first`` is in the table of the user.
        size : int, default=100
            Number of rows; fewer where there are fewer distinct ones.

        Returns
        -------
        rows : KnownRows
            The rows; one of large weight may come more than once.
        """
        return cls.draw(table.X, table.classes, table.sample_weight, numbers[table.first], size)

    @classmethod
    def draw(
        cls, X: Array, classes: Index, weight: Array, numbers: Index, size: int = N_BACKGROUND
    ) -> KnownRows:
        """Draw some of encoded rows, in proportion to their weights."""
        mixed = np.random.default_rng(_SEED).permutation(len(classes))
        order = mixed[np.argsort(classes[mixed], kind="stable")]
        below = np.cumsum(weight[order])
        size = min(size, len(classes))
        steps = (np.arange(size) + 0.5) / size * below[-1]
        chosen = order[np.searchsorted(below, steps)]
        return cls(X[chosen], classes[chosen], numbers[chosen])


def background_rows(model: Any) -> KnownRows | None:
    """Return the training rows that stand for the table; None where a model has kept none.

    Models of versions that kept no such rows have their support vectors instead.
    """
    kept: KnownRows | None = getattr(model, "_background_", None)
    return kept if kept is not None else _support_rows(model)


def known_rows(model: Any) -> KnownRows | None:
    """Return all training rows that a model holds: support vectors and background, each once."""
    parts = [getattr(model, "_background_", None), _support_rows(model)]
    kept = [part for part in parts if part is not None]
    if not kept:
        return None
    numbers = np.concatenate([part.numbers for part in kept])
    first = np.unique(numbers, return_index=True)[1]
    X = np.vstack([part.X for part in kept])
    classes = np.concatenate([part.classes for part in kept])
    return KnownRows(X[first], classes[first], numbers[first])


def _support_rows(model: Any) -> KnownRows | None:
    X = np.asarray(model.support_vectors_, dtype=np.float64)
    if not len(X) or X.shape[1] != len(model.columns_.layout.source):
        return None
    classes = np.repeat(np.arange(len(model.classes_)), model.n_support_)
    return KnownRows(X, classes, np.asarray(model.support_, dtype=np.intp))


def reader_of_encoded_rows(model: Any) -> Any:
    """Return the same fitted classifier for rows that its ``columns_`` have encoded already."""
    reader = copy.copy(model)
    own = vars(reader)
    own["_predictor_"] = replace(predictor_of(model), before=())
    own["n_features_in_"] = len(own.pop("columns_").layout.source)
    own.pop("feature_names_in_", None)
    return reader
