"""Decisions of cells as log-odds.

The expected squared hinge is least at f = 2 p - 1, where p is the probability of the class. Such
decisions end near -1 and +1, where log-odds go on, so that a sigmoid of them is not sure enough of
easy rows, and a mixture that pays for that listens too little to the cells of hard ones. Where
cells know p well, log-odds do better:

    z = log((1 + e + c) / (1 + e - c)) + (f - c) / 2,        c = f, but at least -1 and at most 1

The room e bounds them: it is the smaller, the less noise the decisions have. Rows are ranked as
before.
"""

from __future__ import annotations

import numpy as np

from ...._typing import Array
from ...base.sigmoids import fit_sigmoid
from .rows import PartRows

ROOMS = (0.3, 0.1, 0.03, 0.01, 0.003)
_BEYOND = 0.5  # slope beyond -1 and 1: keeps the order of the rows


def log_odds(decisions: Array, room: float | None) -> Array:
    """Return log-odds, up to a factor.

    Parameters
    ----------
    decisions : ndarray of shape (n, k)
        Decisions of machines with the squared hinge.
    room : float or None
        The room e; None returns the decisions as they are.

    Returns
    -------
    log_odds : ndarray of shape (n, k)
        The log-odds.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.svm.relevance.parts.cell_odds import log_odds
    >>> log_odds(np.array([[-1.2, 0.0, 0.5, 1.0]]), 0.1).round(2).tolist()
    [[-3.14, 0.0, 0.98, 3.04]]
    """
    if room is None:
        return decisions
    inside = np.clip(decisions, -1, 1)
    odds: Array = np.log((1 + room + inside) / (1 + room - inside))
    return odds + _BEYOND * (decisions - inside)


def best_room(left_out: Array, rows: PartRows) -> float | None:
    """Return the room whose log-odds have the least log loss.

    Parameters
    ----------
    left_out : ndarray of shape (m, k)
        Decisions on the rows without each of them.
    rows : PartRows
        The rows; their prices weight the losses.

    Returns
    -------
    room : float or None
        The room; None where decisions as they are do as well.
    """
    best: float | None = None
    least = _loss(left_out, rows)
    for room in ROOMS:
        if (loss := _loss(log_odds(left_out, room), rows)) >= least:
            break
        best, least = room, loss
    return best


def _loss(decisions: Array, rows: PartRows) -> float:
    """Return the log loss of sigmoids of decisions, summed over the machines."""
    codes = rows.codes
    sigmoid = fit_sigmoid(decisions, codes > 0, rows.price)
    return float(rows.price @ np.logaddexp(0, -codes * sigmoid.log_odds(decisions)).sum(axis=1))
