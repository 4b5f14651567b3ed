"""Entries that the docstrings of all classifiers share."""

from __future__ import annotations

import re
from textwrap import indent

TEXTS = {
    "class_weight": """\
class_weight : dict or "balanced", default=None
    Weights of the classes; they multiply C.""",
    "calibration": """\
calibration : {"loo", "halves"} or None, default=None
    How `predict_proba` is made. "loo": from decision values of left-out rows, without which
    the machines are solved again at the same kernel and C. "halves": the same, made less
    extreme where two halves of the rows, each fitted anew, say so; it also gives
    `predict_set`, and costs two fits of half the rows. None: no probabilities.""",
    "machines": """\
classes_ : ndarray of shape (n_classes,)
    The classes.
support_ : ndarray of shape (n_support,)
    The training rows that are support vectors, by class.
n_support_ : ndarray of shape (n_classes,)
    The number of support vectors of each class.
fit_status_ : int
    0 when every machine converged, else 1.
class_weight_ : ndarray of shape (n_classes,)
    The weights of the classes.
calibration_ : Bunch
    The calibration of the probabilities, unless ``calibration=None``: ``slope`` and
    ``intercept`` of each machine's sigmoid, ``temperature`` and ``offsets`` inside the softmax
    of several classes, ``capped`` (whether the halves made it less extreme), ``n_rows``
    (left-out rows) and ``mode``.
shape_fit_ : tuple of int
    The shape of the training rows.""",
    "features": """\
n_features_in_ : int
    The number of features.
feature_names_in_ : ndarray of shape (n_features,)
    The names of the features, where X has such names.""",
}


def with_shared_texts(text: str | None) -> str | None:
    """Return a docstring in which lines such as ``{machines}`` are what they stand for."""
    if text is None:  # Python without docstrings
        return None

    def entries(line: re.Match[str]) -> str:
        return indent(TEXTS[line[2]], line[1]) if line[2] in TEXTS else line[0]

    return re.sub(r"^( *)\{(\w+)\}$", entries, text, flags=re.M)
