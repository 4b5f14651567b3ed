"""How a classifier reads tables: training rows with their labels, and rows to predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, validate_data

from ..._sklearn import naming_the_remedy, validate_fit
from ..._typing import Index
from .kernel_spec import KernelSpec
from .predictor import take
from .task import Labels


@dataclass(frozen=True)
class TableReader:
    """Reads tables of numbers, or whatever the kernel of a user takes."""

    model: Any  # the classifier, on which the number and the names of the columns are recorded
    sparse: bool = False  # whether sparse matrices are accepted

    def check(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Check a training table and its labels; record the number and names of the columns."""
        spec = KernelSpec(self.model.kernel)
        if spec.is_function:  # a user's kernel may be of texts or graphs: X stays as it is
            check_consistent_length(X, y)
            return X if hasattr(X, "shape") else np.asarray(X), y
        X, y = validate_fit(self.model, X, y, **self._checks())
        if spec.is_precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x"
                f"{X.shape[1]} matrix."
            )
        return X, y

    def training_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Labels]:
        """Return the rows of a checked table that count, as machines read them, and their labels.

        They come in the order in which they are fitted.
        """
        found = Labels.of(y, sample_weight, self.model.class_weight)
        labels = found.by_class()
        is_whole = labels is found and len(labels.rows) == X.shape[0]
        return X if is_whole else self.take(X, labels.rows), labels

    def new_rows(self, X: Any) -> Any:
        """Check rows to predict, and bring them into the form of the training rows."""
        is_function = KernelSpec(self.model.kernel).is_function
        if is_function:
            X = X if hasattr(X, "shape") else np.asarray(X)
        else:
            with naming_the_remedy():
                X = validate_data(self.model, X, reset=False, **self._checks())
        trained_sparse = sp.issparse(self.model.support_vectors_)
        if sp.issparse(X) and not trained_sparse and not is_function:
            raise ValueError(
                f"cannot use sparse input in {type(self.model).__name__!r} trained on dense data; "
                "convert it with X.toarray()"
            )
        return sp.csr_array(X) if trained_sparse and not sp.issparse(X) else X

    def take(self, X: Any, rows: Index) -> Any:
        """Return some rows of a table, and their columns where X holds kernel values."""
        if len(rows) == X.shape[0] and (rows[1:] > rows[:-1]).all():
            return X
        is_precomputed = KernelSpec(self.model.kernel).is_precomputed
        return X[np.ix_(rows, rows)] if is_precomputed else take(X, rows)

    def _checks(self) -> dict[str, Any]:
        """Return the arguments of scikit-learn's validation."""
        return {
            "dtype": np.float64,
            "order": "C",
            "accept_sparse": "csr" if self.sparse else False,
            "accept_large_sparse": False,
            "ensure_all_finite": True,
        }
