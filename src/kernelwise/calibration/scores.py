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

from .._typing import Array, Index
from .sigmoids import CAP, MIN_SLOPE, Sigmoid, cap_slope, fit_sigmoid
from .softmax import fit_offsets, fit_temperature

_LOO_VARIANCE = 0.5  # prior variance of the slope on leave-one-out decisions
_LOO_TEMPERATURE_VARIANCE = 0.1  # prior variance of the temperature on leave-one-out decisions
_HALVES_TEMPERATURE_VARIANCE = 0.5  # prior variance of the temperature on decisions of halves


@dataclass(frozen=True)
class Calibration:
    """A map from decision values to log-odds of two classes, or to scores inside a softmax."""

    sigmoid: Sigmoid  # of each column of decision values
    pairs: Array | None = None  # (n_columns, n_classes): +1, -1 for the classes of a pair, else 0
    temperature: float = 1.0  # factor of the scores of several classes
    offsets: Array | None = None  # (n_classes,), added to the scores of several classes
    is_capped: bool = False  # whether two halves made the probabilities less extreme

    def scores(self, decisions: Array) -> Array:
        """Return log-odds (n, 1) or scores (n, n_classes) from decision values (n, n_columns)."""
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

    ``log_odds`` (n, n_pairs) are of the first class of each pair against the second; ``pairs``
    (n_pairs, n_classes) has +1 for the first class, -1 for the second, else zero.
    """
    scores = np.empty((len(log_odds), pairs.shape[1]))
    for label, signs in enumerate(pairs.T):
        own = np.flatnonzero(signs)
        against = np.hstack([np.zeros((len(log_odds), 1)), -signs[own] * log_odds[:, own]])
        scores[:, label] = -logsumexp(against, axis=1)
    return scores


def probabilities(scores: Array, class_weight: Array | None = None) -> Array:
    """Return the probabilities of the classes, with the shares that they have in the table.

    Scores of weighted classes belong to a table in which class c has w_c times its share; division
    by the weights undoes that: p_c / w_c, normalised. ``scores`` are log-odds (n, 1) of the second
    of two classes, or scores (n, n_classes) whose softmax are probabilities.
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
    a temperature t ~ N(1, 1/10), capped by that on the halves, where offsets are fitted, too.
    Pairs of several classes: a sigmoid for each pair on its rows, z from these by `coupled`, and
    from there as above.

    ``left_out`` (n, n_machines) are decisions of rows that were left out; ``halves`` of the same
    shape are the decisions of each row by the half that did not have it, None for no cap; ``pairs``
    (n_machines, n_classes) are the classes of machines of pairs, as for `coupled`.
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


def _capped_temperature(
    temperature: float, halves: Array, classes: Index, weight: Array
) -> tuple[float, Array | None, bool]:
    """Return the temperature, the offsets and whether the cap of the halves acted."""
    crossed = fit_temperature(halves, classes, weight, prior_variance=_HALVES_TEMPERATURE_VARIANCE)
    most = max(MIN_SLOPE, CAP * crossed)
    if temperature <= most:
        return temperature, None, False
    return most, fit_offsets(most * halves, classes, weight), True
