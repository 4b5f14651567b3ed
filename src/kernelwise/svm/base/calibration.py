"""From decision values to probabilities.

Decision values of rows that took part in a fit are too good. So a calibration is fitted to
decisions of rows that were left out: F, leave-one-out decisions of the whole fit. Where there is
little to learn F is too good as well, because the rows helped to choose the kernel. So there may
also be G, the decisions of two halves that choose everything anew and decide each other's rows.
Halves know less than the whole, so G only caps how steep the probabilities are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logsumexp, softmax

from ..._typing import Array, Index
from .sigmoids import (
    CAP,
    MARGIN_SLOPE,
    MIN_SLOPE,
    Sigmoid,
    cap_slope,
    fit_intercept,
    fit_sigmoid,
    platt_targets,
)
from .softmax import fit_offsets, fit_temperature, smoothed_targets

__all__ = [
    "CAP",
    "MARGIN_SLOPE",
    "MIN_SLOPE",
    "Calibration",
    "Sigmoid",
    "calibrate_log_odds",
    "calibrate_margins",
    "cap_slope",
    "coupled",
    "fit_intercept",
    "fit_offsets",
    "fit_sigmoid",
    "fit_temperature",
    "platt_targets",
    "probabilities",
    "smoothed_targets",
]

_LOO_VARIANCE = 0.5  # prior variance of the slope on leave-one-out decisions
_LOO_TEMPERATURE_VARIANCE = 0.1  # prior variance of the temperature on leave-one-out decisions
_HALVES_TEMPERATURE_VARIANCE = 0.5  # prior variance of the temperature on decisions of halves


@dataclass(frozen=True)
class Calibration:
    """A map from decision values to log-odds of two classes, or to scores inside a softmax.

    Parameters
    ----------
    sigmoid : Sigmoid
        Slope and intercept of each column of decision values.
    pairs : ndarray of shape (n_columns, n_classes) or None, default=None
        For columns of pairs of classes: +1 for the first class of a pair, -1 for the second. None
        where there is one column per class, or one for two classes.
    temperature : float, default=1.0
        Factor of the scores of several classes.
    offsets : ndarray of shape (n_classes,) or None, default=None
        Added to the scores of several classes; None is zero.
    is_capped : bool, default=False
        Whether two halves made the probabilities less extreme.
    """

    sigmoid: Sigmoid
    pairs: Array | None = None
    temperature: float = 1.0
    offsets: Array | None = None
    is_capped: bool = False

    def scores(self, decisions: Array) -> Array:
        """Return log-odds or scores.

        Parameters
        ----------
        decisions : ndarray of shape (n, n_columns)
            Decision values.

        Returns
        -------
        scores : ndarray of shape (n, 1) or (n, n_classes)
            Log-odds of the second of two classes, or scores whose softmax are probabilities.
        """
        scores = self.sigmoid.log_odds(decisions)
        if self.pairs is not None:
            scores = coupled(scores, self.pairs)
        scores = self.temperature * scores
        return scores if self.offsets is None else scores + self.offsets


def coupled(log_odds: Array, pairs: Array) -> Array:
    """Return one score per class from log-odds l_cd of each class c against each other class d.

    If the log-odds are those of probabilities p, then 1 / p_c = 1 + sum_d exp(-l_cd). So the score
    of a class is z_c = -log(1 + sum_d exp(-l_cd)), after D. Price et al., "Pairwise neural network
    classifiers with probabilistic outputs", NIPS 1994: the pair that a class loses decides.

    Parameters
    ----------
    log_odds : ndarray of shape (n, n_pairs)
        Log-odds of the first class of each pair against the second.
    pairs : ndarray of shape (n_pairs, n_classes)
        +1 for the first class of a pair, -1 for the second, else zero.

    Returns
    -------
    scores : ndarray of shape (n, n_classes)
        The scores.
    """
    scores = np.empty((len(log_odds), pairs.shape[1]))
    for label, signs in enumerate(pairs.T):
        own = np.flatnonzero(signs)
        against = np.hstack([np.zeros((len(log_odds), 1)), -signs[own] * log_odds[:, own]])
        scores[:, label] = -logsumexp(against, axis=1)
    return scores


def probabilities(scores: Array, class_weight: Array | None = None) -> Array:
    """Return the probabilities of the classes, with the shares that they have in the table.

    Where the classes were weighted, the scores belong to a table in which class c has w_c times
    its share. Division by the weights undoes that: p_c / w_c, normalised.

    Parameters
    ----------
    scores : ndarray of shape (n, 1) or (n, n_classes)
        Log-odds of the second of two classes, or scores whose softmax are probabilities.
    class_weight : ndarray of shape (n_classes,), default=None
        The weights w; None is one each.

    Returns
    -------
    probabilities : ndarray of shape (n, n_classes)
        One column per class.
    """
    logs = np.zeros(1) if class_weight is None else np.log(class_weight)
    if scores.shape[1] > 1:
        shares: Array = softmax(scores - logs, axis=1)
        return shares
    second = expit(scores[:, 0] - (logs[-1] - logs[0]))
    return np.column_stack([1 - second, second])


def calibrate_margins(
    left_out: Array,
    classes: Index,
    weight: Array,
    halves: Array | None = None,
    *,
    pairs: Array | None = None,
) -> Calibration:
    """Calibrate the decision values of machines, which are +-1 at the margin.

    Two classes: a sigmoid with a prior on its slope, a ~ N(2.5, 1/2), capped by `cap_slope`.
    Several classes: a sigmoid without a prior for each of them gives z, and softmax(t z + o) with
    a temperature t ~ N(1, 1/10), capped as in `calibrate_log_odds`.
    Pairs of several classes: a sigmoid for each pair on its rows, z from these by `coupled`, and
    from there as above.

    Parameters
    ----------
    left_out : ndarray of shape (n, n_machines)
        Decisions of rows that were left out: one column for two classes, one per class, or one
        per pair of classes.
    classes : ndarray of shape (n,)
        Their classes.
    weight : ndarray of shape (n,)
        Their weights.
    halves : ndarray of the shape of ``left_out``, default=None
        The decisions of each row by the half that did not have it; None for no cap.
    pairs : ndarray of shape (n_machines, n_classes), default=None
        For machines of pairs: +1 for the first class of each, -1 for the second, else zero.

    Returns
    -------
    calibration : Calibration
        The calibration.
    """
    if left_out.shape[1] == 1:
        positive = (classes == 1)[:, None]
        sigmoid = fit_sigmoid(left_out, positive, weight, prior_variance=_LOO_VARIANCE)
        is_capped = False
        if halves is not None:
            sigmoid, is_capped = cap_slope(sigmoid, halves, positive, weight)
        return Calibration(sigmoid, is_capped=is_capped)
    if pairs is None:
        sides = np.where(classes[:, None] == np.arange(left_out.shape[1]), 1, -1)
    else:
        sides = pairs.T[classes]
    sigmoid = fit_sigmoid(
        left_out, sides > 0, weight[:, None] * (sides != 0), prior_variance=np.inf
    )
    bare = Calibration(sigmoid, pairs)
    temperature = fit_temperature(
        bare.scores(left_out), classes, weight, prior_variance=_LOO_TEMPERATURE_VARIANCE
    )
    if halves is None:
        return replace(bare, temperature=temperature)
    capped = _capped_temperature(temperature, bare.scores(halves), classes, weight)
    return Calibration(sigmoid, pairs, *capped)


def calibrate_log_odds(halves: Array, classes: Index, weight: Array) -> Calibration:
    """Cap log-odds, which need no further sigmoid, by the log-odds of two halves.

    Two classes: a = min(1, 1.25 ax) with ax the slope on the halves, ax ~ N(1, 1/2), and the
    intercept (1 - a) s, which draws the log-odds towards s: the log-odds of the classes' shares,
    two standard errors nearer to zero. So the capped log-odds of classes that may well be equally
    frequent keep their signs.
    Several classes: t = min(1, 1.25 tx) with tx the temperature on the halves, tx ~ N(1, 1/2);
    where t < 1, the offsets are fitted to the halves at that temperature, otherwise they are zero.

    Parameters
    ----------
    halves : ndarray of shape (n, 1) or (n, n_classes)
        The log-odds or scores of each row by the half that did not have it.
    classes : ndarray of shape (n,)
        The classes of the rows.
    weight : ndarray of shape (n,)
        Their weights.

    Returns
    -------
    calibration : Calibration
        The identity, or what the cap makes of it.
    """
    width = halves.shape[1]
    identity = Sigmoid(np.ones(width), np.zeros(width))
    if width > 1:
        return Calibration(identity, None, *_capped_temperature(1.0, halves, classes, weight))
    sigmoid, is_capped = cap_slope(
        identity,
        halves,
        (classes == 1)[:, None],
        weight,
        prior_mean=1.0,
        prior_variance=_HALVES_TEMPERATURE_VARIANCE,
    )
    if is_capped:
        intercept = (1 - sigmoid.slope) * _cautious_log_odds(classes, weight)
        sigmoid = Sigmoid(sigmoid.slope, intercept)
    return Calibration(sigmoid, is_capped=is_capped)


def _cautious_log_odds(classes: Index, weight: Array) -> float:
    """Return the log-odds of the second class's share, two standard errors nearer to zero."""
    first, second = np.bincount(classes, weight, minlength=2) + 0.5
    log_odds = np.log(second / first)
    error = np.sqrt(1 / first + 1 / second)
    return float(np.sign(log_odds) * max(0.0, abs(log_odds) - 2 * error))


def _capped_temperature(
    temperature: float, halves: Array, classes: Index, weight: Array
) -> tuple[float, Array | None, bool]:
    """Return the temperature, the offsets and whether the cap of the halves acted."""
    crossed = fit_temperature(halves, classes, weight, prior_variance=_HALVES_TEMPERATURE_VARIANCE)
    most = max(MIN_SLOPE, CAP * crossed)
    if temperature <= most:
        return temperature, None, False
    return most, fit_offsets(most * halves, classes, weight), True
