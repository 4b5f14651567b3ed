"""Facts about a fitted estimator: selected parameters, path and certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

_SETTINGS = {
    "C_": "C, the cost of errors",
    "gamma_": "gamma, the inverse kernel width",
    "sigma_": "sigma, the kernel width",
    "eta_": "eta, the strength of the weights",
    "measure_": "measure of feature discrimination",
    "members_": "averaged machines, by the source of their weights",
    "loo_error_": "leave-one-out error, estimated from spans",
    "bound_": "bound R² Σα / n",
    "n_solves_": "problems solved",
    "n_iter_": "iterations",
}
_CERTIFICATE = {
    "status": "status",
    "violation": "largest KKT violation",
    "gap": "duality gap",
    "objective": "dual objective",
    "n_iter": "steps",
}
_PATH = {
    "member": "machine",
    "sigma": "sigma",
    "gamma": "gamma",
    "factor": "factor of gamma",
    "eta": "eta",
    "C": "C",
    "bound": "R² Σα / n",
    "loo_error": "leave-one-out error",
    "held_out_error": "held-out error",
    "score": "score (lowest is best)",
    "converged": "converged",
}


def selected_parameters(final: Any) -> list[tuple[str, str]]:
    """Return the selected parameters and counts of the fit, in words."""
    found = []
    for name, words in _SETTINGS.items():
        value = getattr(final, name, None)
        if value is None or (isinstance(value, float) and np.isnan(value)):
            continue
        found.append((words, _text(value)))
    return found


def certificate_table(final: Any) -> dict[str, list[Any]]:
    """Return the columns of the certificate, one entry per machine; empty without one."""
    certificate = getattr(final, "certificate_", None)
    if certificate is None:
        return {}
    return {
        words: np.atleast_1d(certificate[name]).tolist()
        for name, words in _CERTIFICATE.items()
        if name in certificate
    }


def path_table(final: Any) -> dict[str, list[Any]]:
    """Return the columns of the path, one entry per point; empty without a path."""
    path = getattr(final, "path_", None) or {}
    found = {words: np.asarray(path[name]) for name, words in _PATH.items() if name in path}
    return {
        words: values.tolist()
        for words, values in found.items()
        if values.dtype.kind != "f" or np.isfinite(values).any()
    }


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    each = np.ravel(np.asarray(value, dtype=object)).tolist()
    shown = [one if isinstance(one, str) else f"{one:.4g}" for one in each[:10]]
    return ", ".join(shown) + (" ..." if len(each) > 10 else "")
