"""Columns whose scalar products are kernel values, so that linear models act as kernel models."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parameters import Interval, Options
from .._sklearn import atomic_fit, checked_fit, naming_the_remedy
from .._threads import single_blas
from .._typing import Array, Matrix
from ..kernels import EmpiricalMap, Kernel, Precomputed
from ..svm.base.kernel_spec import KERNEL_NAMES, KernelSpec
from .geodesic import as_like


class EmpiricalKernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Map rows to columns whose scalar products are the kernel values of the training rows.

    The columns are coordinates along the principal axes (without centring) of the training rows in
    the feature space of the kernel. A linear model on them is the kernel model, and a method that
    weights or selects columns does so in that feature space.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "laplacian", "matern32", "matern52", \
            "precomputed"}, Kernel or callable, default="rbf"
        The kernel: a name, a kernel object, or a function of two sets of rows.
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        Width parameter of the named kernels, as in `SVC`.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=0.0
        The constant in "poly" and "sigmoid".
    n_components : int or float, default=None
        An integer keeps at most that many columns, those with the largest eigenvalues. A number
        between 0 and 1 keeps the fewest columns that make up that share of the trace of the kernel
        matrix. None keeps all columns.
    tol : float, default=1e-10
        Eigenvalues up to this fraction of the largest one are dropped.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, with its width resolved.
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalues, in descending order.
    map_ : EmpiricalMap
        The fitted map.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of X, if it has any.

    See Also
    --------
    kernelwise.kernels.EmpiricalMap : The map as a value, without scikit-learn.

    Notes
    -----
    The cost is that of an eigendecomposition of the kernel matrix of the training rows. Sample
    weights do not affect the map. The kernel matrix alone determines the columns, including their
    signs and the basis for equal eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.kernels import RBF
    >>> from kernelwise.transform import EmpiricalKernelMap
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> F = EmpiricalKernelMap(RBF()).fit_transform(X)
    >>> np.allclose(F @ F.T, RBF()(X))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [Options(KERNEL_NAMES), callable],
        "gamma": [
            Options({"scale", "auto"}),
            Interval(Real, 0, None, closed="left"),
            "array-like",
        ],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(float, 0, 1, closed="neither"),
            None,
        ],
        "tol": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_components: float | None = None,
        tol: float = 1e-10,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = self._accepts_sparse()
        return tags

    @atomic_fit
    @checked_fit
    def fit(self, X: Any, y: Any = None) -> EmpiricalKernelMap:
        """Find the principal axes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The training rows; kernel values between them for ``kernel="precomputed"``.
        y : object, default=None
            Not used.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        X = self._rows(X, reset=True)
        with single_blas():
            self.kernel_ = KernelSpec.of(self).resolve(X, np.ones(X.shape[0]))
            self.map_ = EmpiricalMap.of(
                self.kernel_, X, n_components=self.n_components, tol=self.tol
            )
        self.eigenvalues_ = self.map_.eigenvalues
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the principal axes and map the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The training rows; kernel values between them for ``kernel="precomputed"``.
        y : object, default=None
            Not used.

        Returns
        -------
        columns : ndarray of shape (n_samples, n_components)
            The columns, more accurate than those of `transform` and computed without another kernel
            matrix.
        """
        return self.fit(X).map_.training

    def transform(self, X: Any) -> Array:
        """Map rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_training)
            The rows; kernel values against the training rows for ``kernel="precomputed"``.

        Returns
        -------
        columns : ndarray of shape (n_samples, n_components)
            The columns.
        """
        check_is_fitted(self)
        X = as_like(self.map_.rows, self._rows(X, reset=False))
        with single_blas():
            return self.map_.apply(X)

    @property
    def _n_features_out(self) -> int:
        return self.map_.n_components

    def _rows(self, X: Any, *, reset: bool) -> Matrix:
        with naming_the_remedy():
            return validate_data(
                self,
                X,
                reset=reset,
                dtype=np.float64,
                accept_sparse="csr" if self._accepts_sparse() else False,
                accept_large_sparse=False,
            )

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        )

    def _accepts_sparse(self) -> bool:
        if isinstance(self.kernel, Kernel):
            return self.kernel.accepts_sparse
        return callable(self.kernel) or self.kernel not in ("precomputed", "laplacian")
