"""Scale each column by how well it separates the classes."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted, validate_data

from .._parameters import Interval, Options
from .._sklearn import atomic_fit, check_sample_weight, checked_fit, naming_the_remedy
from .._typing import Array
from ..discrimination import importances, log_scales
from ..discrimination.scales import ETA_UNITS, MEASURES, NORMALIZATIONS


class FeatureDiscriminationScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Multiply each column by a factor that grows with how well it separates the classes.

    A regularised linear model on the scaled columns penalises the coefficients of discriminative
    columns less: this is the weighting of the feature-discrimination SVM [1]_, for use with any
    model. Bring the columns to a comparable scale first, for instance with `StandardScaler`;
    scaling them afterwards would undo this scaling.

    Parameters
    ----------
    importance : {"fisher", "separation", "efficiency", "energy"}, array-like, callable or None, \
            default="fisher"
        Importance of each column: a measure of `kernelwise.discrimination`, an array of known
        values, a function ``importance(X, y)`` that returns them, or None for equal importances.
    eta : float, default=1.0
        Strength of the scaling; at zero the importances have no effect.
    eta_units : {"data", "raw"}, default="data"
        Whether the importances are first scaled to the range from 0 to 1 ("data") or used as they
        are, as in the paper ("raw").
    normalization : {"inverse", "trace"}, default="inverse"
        Whether the squared factors have mean 1, so that ``eta=0`` changes nothing ("inverse"), or
        their inverses sum to 1, as in the paper ("trace").

    Attributes
    ----------
    importances_ : ndarray of shape (n_features,)
        Importance of each column.
    scale_ : ndarray of shape (n_features,)
        Factor of each column. The largest is at most 10,000 times the smallest; there is no such
        limit with ``normalization="trace"`` and ``eta_units="raw"``, the paper's choices.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of X, if it has any.

    See Also
    --------
    kernelwise.discrimination.importances : The measures.
    kernelwise.discrimination.log_scales : The factors.

    Notes
    -----
    Missing values are allowed, except with "energy": a column is measured on its observed rows, and
    NaN stays NaN. With more than two classes the importance is the mean over all pairs of classes.

    References
    ----------
    .. [1] Y. Wang, S. Chen and H. Xue, "Support Vector Machine incorporated with feature
       discrimination", Expert Systems with Applications 38, 2011.

    Examples
    --------
    >>> from kernelwise.transform import FeatureDiscriminationScaler
    >>> X = [[0, 3], [2, 1], [8, 2], [8, 2]]
    >>> scaler = FeatureDiscriminationScaler("separation", eta=2.0).fit(X, [0, 0, 1, 1])
    >>> scaler.importances_
    array([0.75, 0.  ])
    >>> scaler.scale_.round(3)
    array([1.327, 0.488])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "importance": [Options(set(MEASURES)), "array-like", callable, None],
        "eta": [Interval(Real, 0, None, closed="left")],
        "eta_units": [Options(ETA_UNITS)],
        "normalization": [Options(NORMALIZATIONS)],
    }

    def __init__(
        self,
        importance: Any = "fisher",
        *,
        eta: float = 1.0,
        eta_units: str = "data",
        normalization: str = "inverse",
    ) -> None:
        self.importance = importance
        self.eta = eta
        self.eta_units = eta_units
        self.normalization = normalization

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = isinstance(self.importance, str) or callable(self.importance)
        tags.input_tags.allow_nan = not self._is_energy()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @atomic_fit
    @checked_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FeatureDiscriminationScaler:
        """Compute the importance and the factor of each column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,), default=None
            The classes; not needed if `importance` is an array or None.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows with weight zero are ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        X, y = self._validated(X, y)
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, X.shape[0], ensure_non_negative=True)
        self.importances_ = importances(self.importance, X, y, sample_weight=sample_weight)
        self.scale_ = np.exp(
            log_scales(
                self.importances_,
                self.eta,
                normalization=self.normalization,
                eta_units=self.eta_units,
            )
        )
        return self

    def transform(self, X: Any) -> Array:
        """Multiply the columns by their factors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scaled : ndarray of shape (n_samples, n_features)
            The rows, scaled.
        """
        X = self._rows(X)
        return X * self.scale_.astype(X.dtype)

    def inverse_transform(self, X: Any) -> Array:
        """Divide the columns by their factors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Scaled rows.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            The rows before scaling.
        """
        X = self._rows(X)
        return X / self.scale_.astype(X.dtype)

    def _is_energy(self) -> bool:
        return isinstance(self.importance, str) and self.importance == "energy"

    def _checks(self) -> dict[str, Any]:
        return {"ensure_all_finite": True if self._is_energy() else "allow-nan"}

    def _validated(self, X: Any, y: Any) -> tuple[Array, Any]:
        checks = {"dtype": np.float64, **self._checks()}
        with naming_the_remedy():
            if y is None:
                return validate_data(self, X, y, **checks), None
            X, y = validate_data(self, X, y, **checks)
        check_classification_targets(y)
        return X, y

    def _rows(self, X: Any) -> Array:
        check_is_fitted(self)
        with naming_the_remedy():
            rows: Array = validate_data(self, X, reset=False, dtype=FLOAT_DTYPES, **self._checks())
        return rows
