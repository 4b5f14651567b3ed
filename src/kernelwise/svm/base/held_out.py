"""The loss of decisions on held-out rows, by which settings are chosen.

    error + mean of 1 / (1 + exp(5 margin))

The smooth part breaks ties of the error, which is a count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from ..._typing import Array, Codes

_SLOPE = 5.0  # slope of the smooth error


def held_out_loss(Y: Codes, decisions: Array, sample_weight: Array) -> float:
    """Return the error plus the mean smooth error.

    Shapes: ``Y`` (n, n_machines), codes -1, 0 (row not in the machine) and +1; ``decisions`` (n,
    n_machines); ``sample_weight`` (n,). A margin of one-vs-rest machines is half of the lead of the
    own class; machines of pairs have margins of their own.
    """
    if Y.shape[1] > 1 and (Y != 0).all():
        own = np.where(Y > 0, decisions, -np.inf).max(axis=1)
        margins = 0.5 * (own - np.where(Y > 0, -np.inf, decisions).max(axis=1))
        weight = sample_weight
    else:
        rows, machines = np.nonzero(Y)
        margins, weight = (Y * decisions)[rows, machines], sample_weight[rows]
    total = float(weight.sum())
    return float(weight @ ((margins <= 0) + expit(-_SLOPE * margins))) / total


def lowest(losses: Sequence[float] | Array) -> int:
    """Return the place of the lowest loss, the first of those that are equal but for rounding."""
    losses = np.asarray(losses)
    return int(np.argmax(losses <= losses.min() + 1e-12))
