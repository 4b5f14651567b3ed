"""The prior of the model: additive columns and a Gaussian process, with one weight per column.

f(x) = c + sum_j [line, score, levels of column j ~ v_j; its steps ~ tau v_j]
+ GP(0, s2 exp(-sum_j w_j d_j) + r2 exp(-rho/2 sum_j (w_j d_j)^2))
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._native import exp_of_minus_rows
from ..._typing import Array, Index
from .rows import Additive, Rows

CONSTANT = 10.0  # prior variance of the constant: wide
AMPLITUDES = ("s2", "tau", "noise", "r2", "rho")


@dataclass(frozen=True)
class Prior:
    """Hyperparameters of the model."""

    # (n_groups,): the weight of each group of columns in both kernels; zero for a dropped one
    w: Array
    # (n_groups,): the variance of the additive effects of each group; zero for a dropped one
    v: Array
    s2: float  # the amplitudes of the Laplacian and of the Gaussian kernel
    tau: float  # the variance of steps relative to lines and levels
    noise: float  # the variance of the target around f
    r2: float
    rho: float  # the inverse squared width of the Gaussian kernel, relative to the weights

    @property
    def kept(self) -> Index:
        """The groups that are not dropped."""
        return np.flatnonzero(self.v > 0)

    def of_kind(self, kind: str) -> Prior:
        """Return the prior without the kernels ("additive"), and without steps too ("linear")."""
        if kind == "joint":
            return self
        return replace(self, s2=0.0, r2=0.0, tau=self.tau if kind == "additive" else 0.0)

    @property
    def has_kernel(self) -> bool:
        """Whether there is a Gaussian process."""
        return self.s2 + self.r2 > 0

    def shares(self, size: Index) -> Array:
        """Return the share of each group, of so many columns, in the prior variance of f."""
        kernels = self.s2 * _shares(self.w * size) + self.r2 * _shares(self.w**2 * size)
        return _shares(kernels + 2 * self.v * size)

    def variances(self, additive: Additive) -> Array:
        """Return the prior variance of the coefficient of each additive column."""
        own = self.v[additive.group] * np.where(additive.is_step, self.tau, 1.0)
        return np.where(additive.group < 0, CONSTANT, own)

    def root(self, rows: Rows) -> Array:
        """Return additive columns times the deviations of their coefficients, so that C = UU'."""
        additive = rows.additive(self.v > 0, steps=self.tau > 0)
        scale = np.sqrt(self.variances(additive)).astype(np.float32)
        out: Array = additive.A * scale
        return out

    def kernel(self, rows: Rows, other: Rows) -> Array:
        """Return the covariance of the Gaussian process between rows, in float32."""
        out = np.zeros((len(rows), len(other)), dtype=np.float32)
        if self.s2 > 0:
            out += np.float32(self.s2) * rows.laplacian(other, self.w)
        if self.r2 > 0:
            K = rows.squares(other, self.w).astype(np.float32)
            K *= np.float32(self.rho / 2)
            K = np.ascontiguousarray(K)
            exp_of_minus_rows(K)
            out += np.float32(self.r2) * K
        return out

    def exact_kernel(self, rows: Rows, other: Rows) -> Array:
        """Return the same in float64, for predictions: coefficients can be large, and cancel."""
        out = np.zeros((len(rows), len(other)))
        if self.s2 > 0:
            out += self.s2 * rows.exact_laplacian(other, self.w)
        if self.r2 > 0:
            K = np.ascontiguousarray(rows.squares(other, self.w)) * (self.rho / 2)
            exp_of_minus_rows(K)
            out += self.r2 * K
        return out


def _shares(values: Array) -> Array:
    out: Array = values / max(float(values.sum()), 1e-300)
    return out


def equal_prior(rows: Rows, kept: Index, rng: np.random.Generator) -> Prior:
    """Return equal weights of some groups, at which typical rows are at distance one."""
    mask = np.zeros(rows.columns.n_groups)
    mask[kept] = 1
    a, b = (rows.part(rng.permutation(len(rows))[:300]) for _ in range(2))
    typical = max(float(np.median(a.distances(b, mask))), 1e-6)
    squares = max(float(np.median(a.squares(b, mask))) / typical**2, 1e-9)
    return Prior(
        w=mask / typical,
        v=mask * 0.3 / len(kept),
        s2=0.25,
        tau=0.3,
        noise=0.2,
        r2=0.25,
        rho=2 / squares,
    )


def mean_prior(priors: list[Prior], kept: Index) -> Prior:
    """Return the mean of priors on some groups; a group has at least a twentieth of the mean."""
    mask = np.isin(np.arange(len(priors[0].w)), kept)

    def mean(name: str) -> Array:
        x = np.mean([getattr(p, name) for p in priors], axis=0)
        out: Array = np.where(mask, np.maximum(x, 0.05 * x[x > 0].mean()), 0.0)
        return out

    logs = {
        name: float(np.exp(np.mean([np.log(getattr(p, name)) for p in priors])))
        for name in AMPLITUDES
    }
    return Prior(w=mean("w"), v=mean("v"), **logs)


def between(last: Prior, equal: Prior) -> Prior:
    """Return a start half-way between equal weights and those of a stage with more columns."""
    kept = equal.kept
    w, v = np.zeros(len(equal.w)), np.zeros(len(equal.v))
    scaled = last.w * equal.w.sum() / max(float(last.w[kept].sum()), 1e-300)
    w[kept] = np.sqrt(np.maximum(scaled[kept], 1e-300) * equal.w[kept])
    v[kept] = np.sqrt(np.maximum(last.v[kept], 1e-300) * equal.v[kept])
    return replace(last, w=w, v=v)
