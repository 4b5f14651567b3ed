"""The space in which features are measured and weighted: inputs, or components of a kernel.

The kernel of inputs x and z is ``k(A^{-1/2} x, A^{-1/2} z)``, a kernel with feature weights; that
of components ``phi(x)' A^{-1} phi(z)``, with phi the empirical kernel map of the training rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...discrimination import importances, log_scales
from ...kernels import Kernel, Laplacian, Linear, Precomputed
from ...kernels.empirical import EmpiricalMap
from ..base.feature_weights import weight_names
from ..base.multiclass import members_of


@dataclass(frozen=True)
class ScaledSpace:
    """The weighted features and their kernel."""

    kernel: Kernel  # the kernel of the features, before they are weighted
    training: Array  # (n, r), the features of the training rows
    # the map from rows to features; None where the columns themselves are the features
    map: EmpiricalMap | None = None

    def features(self, X: Array) -> Array:
        """Return the features of new rows."""
        return X if self.map is None else self.map.apply(X)

    def weighted(self, scales: Array) -> Kernel:
        """Return the kernel of the features with their scales A^{-1/2}."""
        return weighted(self.kernel, scales, self.training)


@dataclass(frozen=True)
class SpaceRule:
    """Which features are weighted."""

    kind: str  # components of the kernel, or columns
    # how many components, or the part of the variance that they explain; None is all
    n_components: float | None

    def takes_components(self, kernel: Kernel) -> bool:
        """Return whether components are weighted; a linear kernel has columns for components."""
        return self.kind == "components" and not isinstance(kernel, Linear)

    def cuts(self, kernel: Kernel) -> bool:
        """Return whether components are left out of the kernel."""
        return self.n_components is not None and self.takes_components(kernel)

    def space(self, kernel: Kernel, X: Array, sample_weight: Array) -> ScaledSpace:
        """Return the space of a kernel on training rows."""
        if not self.takes_components(kernel):
            return ScaledSpace(kernel, X)
        if (sample_weight == sample_weight[0]).all():
            made = EmpiricalMap.of(kernel, X, n_components=self.n_components)
            return ScaledSpace(Linear(), made.training, made)
        return ScaledSpace(Linear(), *_weighted_map(kernel, X, sample_weight, self.n_components))


def _weighted_map(
    kernel: Kernel, X: Array, sample_weight: Array, n_components: Any
) -> tuple[Array, EmpiricalMap]:
    """Return the components of the rows and their map; a weight of two is the row given twice.

    Copies of rows change the eigenvectors of K. With u their entries, one for all copies of a row,
    and W the numbers of copies, V = W^(1/2) u are the eigenvectors of W^(1/2) K W^(1/2).
    """
    roots = np.sqrt(sample_weight / sample_weight.max())[:, None]
    K = roots * kernel(X) * roots.T
    found = EmpiricalMap.of(Precomputed(), 0.5 * (K + K.T), n_components=n_components)
    made = EmpiricalMap(kernel, X, roots * found.vectors, found.eigenvalues.copy())
    return found.training / roots, made


def weighted(kernel: Kernel, scales: Array, X: Array) -> Kernel:
    """Return the kernel of scaled columns; the same one where no scale differs from 1."""
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
class ScaleRule:
    """How features are measured, and how that scales them."""

    shared: bool  # whether all pairs of classes share their scales
    normalization: str  # as `kernelwise.discrimination.log_scales` has them
    eta_units: str

    def importances(self, measure: Any, Z: Array, y: Any, Y: Any, sample_weight: Array) -> Array:
        """Return q: one row per pair of classes, or one for all.

        A user's measure sees the labels ``y`` of the rows.
        """
        if self.shared or Y.shape[1] == 1:
            return self._measured(measure, Z, y, sample_weight)[None]
        members = members_of(Y)
        return np.array([self._measured(measure, Z[m], y[m], sample_weight[m]) for m in members])

    def _measured(self, measure: Any, Z: Array, y: Any, sample_weight: Array) -> Array:
        if len(np.unique(y)) < 2:  # a fold without a rare class: there is nothing to solve, either
            return np.zeros(Z.shape[1])
        # Equal weights change no measure, and may be too small to count as rows.
        is_even = (sample_weight == sample_weight[0]).all()
        return importances(measure, Z, y, sample_weight=None if is_even else sample_weight)

    def scales(self, q: Array, eta: float) -> Array:
        """Return A^{-1/2} for one row of q."""
        logs = log_scales(q, eta, normalization=self.normalization, eta_units=self.eta_units)
        return np.exp(logs)
