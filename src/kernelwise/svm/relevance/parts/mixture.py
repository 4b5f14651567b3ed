"""The mixture of parts: log-odds that are weighted sums of the parts' log-odds.

A sigmoid on the leave-one-out decisions of each part j and class c makes log-odds of them,
z_jc = a_jc f_jc + b_jc, and the weights of the parts have the least leave-one-out log loss:

    min  sum_ic p_i log(1 + exp(-y_ic sum_j w_j z_ijc)) + 30 sum_j (w_j - 1/J)^2
    s.t. w >= 0,  sum w = 1

Several classes: the softmax of these log-odds of one class against the rest would count what they
say nearly twice (of two classes it would be the sigmoid of 2 z), so they are multiplied by the
temperature of least leave-one-out log loss.

The weights sum to one because leave-one-out decisions are too good where there is little to learn:
a free factor would make the mixture still surer. A ridge logistic regression on the decisions,
which has such a factor, ranked small noisy tables worse and no table better.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.special import logsumexp

from ...._records import dataclass
from ...._typing import Array, Index
from ...base.sigmoids import fit_sigmoid
from ...base.softmax import fit_temperature
from .rows import PartRows

EQUAL_WEIGHTS = 30.0  # penalty on squared differences to equal weights, in units of rows
LEAST_NATS = 4.0  # least decrease of the summed log loss that pays: chance lowers it by about one
_LEAST_GAIN = 0.004  # relative decrease of the log loss by which a part pays
_TEMPERATURE_VARIANCE = 0.5  # prior variance of the factor of several classes' log-odds
_MAX_STEPS = 50  # Newton steps; about five are needed
_MIN_GAIN = 1e-12  # predicted decrease at which the steps end, relative to the loss


@dataclass(frozen=True)
class Mixture:
    """Log-odds, or scores inside a softmax, from the decisions of all parts.

    Parameters
    ----------
    weights : ndarray of shape (n_parts,)
        The weight of each part; they sum to one.
    factors : ndarray of shape (n_parts, k, k)
        What the decisions of each part are multiplied by.
    offset : ndarray of shape (k,)
        Added to the sum.
    """

    weights: Array
    factors: Array
    offset: Array

    def decisions(self, parts: Sequence[Array]) -> Array:
        """Return the log-odds.

        Parameters
        ----------
        parts : sequence of ndarray of shape (n, k)
            The decisions of each part.

        Returns
        -------
        log_odds : ndarray of shape (n, k)
            The log-odds of the second of two classes, or one score per class.
        """
        out = np.tile(self.offset, (len(parts[0]), 1))
        for decisions, factor in zip(parts, self.factors, strict=True):
            out += decisions @ factor
        return out


def mix(left_out: Sequence[Array], rows: PartRows, penalty: float = EQUAL_WEIGHTS) -> Mixture:
    """Mix parts by their leave-one-out decisions.

    Parameters
    ----------
    left_out : sequence of ndarray of shape (m, k)
        The leave-one-out decisions of each part.
    rows : PartRows
        The rows; their prices weight the losses.
    penalty : float, default=30.0
        The penalty on squared differences of the weights to equal ones, in units of rows.

    Returns
    -------
    mixture : Mixture
        The mixture.
    """
    F, Y = np.array(left_out), rows.codes
    n_parts, m, k = F.shape
    columns = F.transpose(1, 0, 2).reshape(m, n_parts * k)
    sigmoid = fit_sigmoid(columns, np.tile(Y > 0, n_parts), rows.price)
    slope, intercept = sigmoid.slope.reshape(n_parts, k), sigmoid.intercept.reshape(n_parts, k)
    Z = slope[:, None, :] * F + intercept[:, None, :]
    weights = simplex_weights(Z.reshape(n_parts, -1), Y.ravel(), np.repeat(rows.price, k), penalty)
    factors = np.array([np.diag(each) for each in weights[:, None] * slope])
    mixture = Mixture(weights, factors, weights @ intercept)
    if k == 1:
        return mixture
    temperature = fit_temperature(
        mixture.decisions(left_out), rows.classes, rows.price, prior_variance=_TEMPERATURE_VARIANCE
    )
    return Mixture(weights, temperature * mixture.factors, temperature * mixture.offset)


def simplex_weights(Z: Array, y: Array, price: Array, penalty: float = EQUAL_WEIGHTS) -> Array:
    """Return the weights of least log loss by Newton's method on the simplex.

    Parameters
    ----------
    Z : ndarray of shape (n_parts, n)
        The log-odds of each part.
    y : ndarray of shape (n,)
        Codes -1 and +1.
    price : ndarray of shape (n,)
        The weights of the rows.
    penalty : float, default=30.0
        The penalty on squared differences to equal weights.

    Returns
    -------
    weights : ndarray of shape (n_parts,)
        The weights, at least zero, of sum one.
    """
    n_parts = len(Z)
    equal = np.full(n_parts, 1 / n_parts)

    def loss(w: Array) -> tuple[float, Array]:
        z = -y * (w @ Z)
        tail = np.exp(-np.abs(z))
        losses = np.maximum(z, 0.0) + np.log1p(tail)  # log(1 + exp(z)), and its slope
        slopes = np.where(z >= 0, 1.0, tail) / (1 + tail)
        return float(price @ losses) + penalty * float(np.sum((w - equal) ** 2)), slopes

    weights, (value, miss) = equal, loss(equal)
    for _ in range(_MAX_STEPS):
        gradient = -Z @ (price * y * miss) + 2 * penalty * (weights - equal)
        hessian = (Z * (price * miss * (1 - miss))) @ Z.T + 2 * penalty * np.eye(n_parts)
        step = _simplex_minimum(hessian, gradient - hessian @ weights) - weights
        if -float(gradient @ step) <= _MIN_GAIN * (1 + value):
            break
        while (new := loss(weights + step))[0] > value:
            step = step / 2
        weights, (value, miss) = weights + step, new
    return weights


def _simplex_minimum(H: Array, g: Array) -> Array:
    """Return the minimum of 1/2 w'Hw + g'w on the simplex, for a positive definite H.

    Without its bounds the minimum has all weights free; where that is not feasible, it is the best
    over all smaller sets of free weights.
    """
    n = len(g)
    best = _minimum_of_sum_one(H, g)
    if (best >= 0).all():
        return best
    least = np.inf
    for size in range(1, n):
        for free in map(list, combinations(range(n), size)):
            block = H[np.ix_(free, free)]
            own = _minimum_of_sum_one(block, g[free])
            value = float(0.5 * own @ block @ own + g[free] @ own)
            if (own >= 0).all() and value < least:
                best, least = np.zeros(n), value
                best[free] = own
    return best


def _minimum_of_sum_one(H: Array, g: Array) -> Array:
    """Return the minimum of 1/2 w'Hw + g'w over weights of sum one."""
    free, ones = np.linalg.solve(H, np.column_stack([-g, np.ones(len(g))])).T
    minimum: Array = free + ones * ((1 - free.sum()) / ones.sum())
    return minimum


def pays(other: Array, hinge: Array, rows: PartRows, seen: Index) -> bool:
    """Return whether a machine lowers the log loss of another part on rows that it has not seen.

    Parameters
    ----------
    other : ndarray of shape (m, k)
        The leave-one-out decisions of the other part.
    hinge : ndarray of shape (m, k)
        The decisions of the machine.
    rows : PartRows
        All rows.
    seen : ndarray of shape (n_seen,)
        The rows that the machine was fitted to.

    Returns
    -------
    pays : bool
        Whether the log loss of the mixture of both is lower by a part in 250, and by more than
        chance.
    """
    unseen = np.setdiff1d(np.arange(len(rows)), seen)
    some = rows.part(unseen)
    before = mixed_loss([other[unseen]], some)
    after = mixed_loss([other[unseen], hinge[unseen]], some)
    return before - after >= max(_LEAST_GAIN * before, LEAST_NATS)


def mixed_loss(left_out: Sequence[Array], rows: PartRows) -> float:
    """Return the log loss of the mixture of parts.

    Parameters
    ----------
    left_out : sequence of ndarray of shape (m, k)
        The leave-one-out decisions of each part.
    rows : PartRows
        Their rows.

    Returns
    -------
    loss : float
        The log loss, summed over the rows by their prices.
    """
    log_odds = mix(left_out, rows).decisions(left_out)
    scores = np.hstack([np.zeros_like(log_odds), log_odds]) if rows.n_classes == 2 else log_odds
    own = np.take_along_axis(scores, rows.classes[:, None], axis=1)[:, 0]
    return float(rows.price @ (logsumexp(scores, axis=1) - own))
