"""Entries that the docstrings of the estimators share."""

from __future__ import annotations

import re
from textwrap import indent

_WEIGHTS = """\
feature_weights : array-like of shape (n_features,), default=None
    Non-negative weights of the features in a named kernel; each multiplies its feature's own
    term, as in ``gamma * sum_k w_k (x_k - z_k)^2``.
"""
_WARM = """\
warm_start : bool, default=False
    Whether a re-fit starts from the last solution. Rows are recognised by their contents, so
    they may have been added, removed or shuffled.
"""
_THREADS = """\
n_jobs : int, default=None
    Threads, for the kernel and over the machines; None is one.
callback : callable, default=None
    Called during a fit with a `kernelwise.qp.Progress`."""
TEXTS = {
    "kernel": """\
kernel : str, callable or Kernel, default="rbf"
    One of "linear", "poly", "rbf", "sigmoid", "precomputed", "laplacian", "matern32" and
    "matern52", a function ``k(X, Y)``, or an object of `kernelwise.kernels`.
degree : int, default=3
    The degree of "poly".
gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
    The inverse width. "scale" is 1 / (n_features * X.var()), with the sample weights
    (``X.std()`` for "laplacian"); "auto" is 1 / n_features. A vector gives each feature its
    own width.
coef0 : float, default=0.0
    The constant of "poly" and "sigmoid".
shrinking : bool, default=True
    Accepted for compatibility; the solver always works on active rows.""",
    "precision": """\
tol : float, default=1e-3
    The tolerance of the optimality conditions, in units of the decision values. Below
    1e-5 the solution is polished to rounding.
cache_size : float, default=None
    Megabytes for entries of the kernel matrix. None is a quarter of the machine's memory, at
    most 2000, shared among the threads. Where not all entries fit, the solver keeps some.""",
    "report": """\
verbose : bool or "auto", default=False
    Whether to print one line per machine; "auto" shows how far the fit is, once it has taken
    two seconds, on a terminal alone.
max_iter : int, default=-1
    Maximum number of solver steps per machine; -1 is ten million, or fewer where many rows
    make them slow.""",
    "extras": _WEIGHTS + _WARM + _THREADS,
    "cold_extras": _WEIGHTS + _THREADS,
    "votes": """\
decision_function_shape : {"ovo", "ovr"}, default="ovr"
    Whether decision values come per pair of classes ("ovo") or per class ("ovr").
break_ties : bool, default=False
    Whether `predict` breaks ties of the vote by the decision values.
random_state : int, RandomState instance or None, default=None
    Used by ``probability=True`` only.""",
    "residuals": """\
calibration : {"loo"} or None, default=None
    Whether `predict_interval` is available. "loo": from residuals of left-out rows, without
    which the machines are solved again at the same kernel and parameters. None: no
    intervals.""",
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
    "vectors": """\
support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
    The support vectors; empty for a precomputed kernel.
coef_ : {ndarray, sparse matrix} of shape (n_machines, n_features)
    The weights of the features; for a linear kernel only.
intercept_ : ndarray of shape (n_machines,)
    The intercepts.
certificate_ : Bunch
    Arrays ``violation`` (of the optimality conditions), ``gap`` (how far the objective may be
    from its minimum; NaN for kernels not known to be positive semi-definite), ``objective``
    and ``status``, with one entry per machine.
kernel_ : Kernel
    The kernel with all its parameters resolved.""",
    "numbers": """\
support_ : ndarray of shape (n_support,)
    The training rows that are support vectors.
n_support_ : ndarray of shape (1,)
    The number of support vectors.
fit_status_ : int
    0 when every machine converged, else 1.
dual_coef_ : {ndarray, sparse matrix} of shape (n_machines, n_support)
    The dual coefficients of the support vectors.
shape_fit_ : tuple of int
    The shape of the training rows.""",
    "left_out": """\
calibration_ : Bunch
    ``mode`` and ``n_rows``, the number of left-out rows; unless ``calibration=None``.
loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
    The predictions of left-out rows, NaN for rows that were not left out; unless
    ``calibration=None``.""",
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
