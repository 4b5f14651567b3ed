"""Where the features are measured and weighted: the inputs, or the components of a kernel.

The kernel of inputs x and z is ``k(A^{-1/2} x, A^{-1/2} z)``, a kernel with feature weights; that
of components ``phi(x)' A^{-1} phi(z)``, with phi the empirical kernel map of the training rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array, Codes
from ...discrimination import importances, log_scales
from ...kernels import Kernel, Laplacian, Linear, Precomputed
from ...kernels.empirical import EmpiricalMap
from ..base.feature_weights import weight_names
from ..base.multiclass import members_of


@dataclass(frozen=True)
class Space:
    """The features that are weighted, and the kernel of them.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the features, before they are weighted.
    training : ndarray of shape (n, r)
        The features of the training rows.
    map : EmpiricalMap or None
        What makes features of rows; None where the columns themselves are the features.
    """

    kernel: Kernel
    training: Array
    map: EmpiricalMap | None = None

    @classmethod
    def of(cls, svc: Any, kernel: Kernel, X: Array, counts: Array) -> Space:
        """Return the space that an estimator's parameters ask for, for these training rows."""
        if not takes_components(svc, kernel):
            return cls(kernel, X)
        if (counts == counts[0]).all():
            made = EmpiricalMap.of(kernel, X, n_components=svc.n_components)
            return cls(Linear(), made.training, made)
        return cls(Linear(), *_counted_map(kernel, X, counts, svc.n_components))

    def features(self, X: Array) -> Array:
        """Return the features of new rows."""
        return X if self.map is None else self.map.apply(X)

    def weighted(self, scales: Array) -> Kernel:
        """Return the kernel of the features with their scales A^{-1/2}."""
        return weighted(self.kernel, scales, self.training)


def _counted_map(
    kernel: Kernel, X: Array, counts: Array, n_components: Any
) -> tuple[Array, EmpiricalMap]:
    """Return the components of the rows and their map, a weight of two being the row twice.

    Copies of rows change the eigenvectors of K. With u their entries, one for all copies of a row,
    and W the numbers of copies, V = W^(1/2) u are the eigenvectors of W^(1/2) K W^(1/2).
    """
    roots = np.sqrt(counts / counts.max())[:, None]
    K = roots * kernel(X) * roots.T
    found = EmpiricalMap.of(Precomputed(), 0.5 * (K + K.T), n_components=n_components)
    made = EmpiricalMap(kernel, X, roots * found.vectors, found.eigenvalues.copy())
    return found.training / roots, made


def takes_components(svc: Any, kernel: Kernel) -> bool:
    """Tell whether components are weighted; those of a linear kernel are the columns."""
    return svc.space == "components" and not isinstance(kernel, Linear)


def weighted(kernel: Kernel, scales: Array, X: Array) -> Kernel:
    """Return the kernel of columns that are scaled; the same one where no scale differs from 1."""
    if (scales == 1).all():
        return kernel  # bit for bit the plain machine
    for name in weight_names(kernel, X):
        owner: Any = kernel
        for part in name.split("__")[:-1]:
            owner = getattr(owner, part)
        # A weight multiplies a square, or a product of two; in an L1 kernel the difference itself.
        factors = scales if isinstance(owner, Laplacian) else scales**2
        own = factors if owner.weights is None else owner.weights * factors
        kernel = kernel.with_params(**{name: own})
    return kernel


@dataclass(frozen=True)
class Measuring:
    """How features are measured, and how that scales them.

    Parameters
    ----------
    shared : bool
        Whether all pairs of classes share their scales.
    normalization, eta_units : str
        As `kernelwise.discrimination.log_scales` has them.
    """

    shared: bool
    normalization: str
    eta_units: str

    @classmethod
    def of(cls, svc: Any) -> Measuring:
        """Read the parameters of an estimator."""
        return cls(svc.importance_per == "shared", svc.normalization, svc.eta_units)

    def importances(self, measure: Any, Z: Array, y: Any, Y: Codes, counts: Array) -> Array:
        """Return q: one row a pair of classes, or one for all.

        ``y`` are the labels of the rows, which a user's measure sees; ``counts`` their sample
        weights.
        """
        if self.shared or Y.shape[1] == 1:
            return self._measured(measure, Z, y, counts)[None]
        members = members_of(Y)
        return np.array([self._measured(measure, Z[m], y[m], counts[m]) for m in members])

    def _measured(self, measure: Any, Z: Array, y: Any, counts: Array) -> Array:
        if len(np.unique(y)) < 2:  # what folds leave of rare classes: nothing to solve, either
            return np.zeros(Z.shape[1])
        # Equal weights change no measure, and may be too small to count as rows.
        weights = None if (counts == counts[0]).all() else counts
        return importances(measure, Z, y, sample_weight=weights)

    def scales(self, q: Array, eta: float) -> Array:
        """Return A^{-1/2} for one row of q."""
        logs = log_scales(q, eta, normalization=self.normalization, eta_units=self.eta_units)
        return np.exp(logs)
