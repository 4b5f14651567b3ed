"""Facts about a fitted estimator: selected parameters, path and certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array
from ..evaluation import Evaluation
from ..inspection import ModelChecks

_SETTLED = 0.02  # part of the gain in the last quarter of the evaluations below which it is over
_SETTINGS = {
    "C_": "C, the cost of errors",
    "gamma_": "gamma, the inverse kernel width",
    "sigma_": "sigma, the kernel width",
    "eta_": "eta, the strength of the weights",
    "measure_": "measure of feature discrimination",
    "bound_": "bound R² Σα / n",
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
    "n_features": "columns",
    "loss": "held-out loss",
    "weight": "weight in the model",
    "sigma": "sigma",
    "gamma": "gamma",
    "factor": "factor of gamma",
    "eta": "eta",
    "C": "C",
    "bound": "R² Σα / n",
    "held_out_error": "held-out error",
    "score": "criterion (lowest is selected)",
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
    if hasattr(final, "selected_features_"):
        selected = np.asarray(final.selected_features_)
        found.append(("columns that are read", f"{int(selected.sum())} of {selected.size}"))
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
    """Return the columns of the path, one entry per point; empty where it has one point."""
    path = getattr(final, "path_", None) or {}
    if not path or len(next(iter(path.values()))) < 2:
        return {}
    found = {words: np.asarray(path[name]) for name, words in _PATH.items() if name in path}
    return {
        words: values.tolist()
        for words, values in found.items()
        if values.dtype.kind != "f" or np.isfinite(values).any()
    }


def learning_text(final: Any) -> str:
    """Say how far weight learning got, as its problem is not convex; "" without it."""
    history = getattr(final, "history_", None) or {}
    values = np.asarray(history.get("value", ()), dtype=np.float64)
    if len(values) < 2:
        return ""
    parts = history.get("kernel", history.get("machine", np.zeros(len(values))))
    left = max(_late_gain(values[np.asarray(parts) == part]) for part in set(np.asarray(parts)))
    settled = "had settled" if left < _SETTLED else "was still falling"
    return (
        f"The weights took {len(values)} evaluations of their criterion, which has no single "
        f"optimum: it {settled} at the end, where the last quarter of the evaluations brought "
        f"{100 * left:.0f}\u00a0% of the whole gain."
    )


def _late_gain(values: Array) -> float:
    """Return the part of the gain that the last quarter of the evaluations brought."""
    best = np.minimum.accumulate(values)
    whole = float(best[0] - best[-1])
    late = float(best[len(best) - 1 - len(best) // 4] - best[-1])
    return late / whole if whole > 0 else 0.0


def rows_used(evaluation: Evaluation, checks: ModelChecks | None) -> list[tuple[str, str]]:
    """Return the rows that each step has used, in words."""
    n = len(evaluation.target.y)
    found = [("scores and errors", f"{evaluation.protocol}; none predicts its own training rows")]
    if checks is None:
        return found
    if checks.importance is not None:
        rows = f"{checks.importance.n_rows} of {n}, held out from clones of the model"
        found.append(("held-out importance", rows))
    if checks.verdicts is not None:
        found.append(("test of the columns", f"{checks.verdicts.n_rows} of {n}"))
    if checks.stability is not None:
        found.append(("resamples", f"half of {n}, {len(checks.stability.shares)} times"))
    if checks.effects is not None:
        found.append(("effects", f"mean over {checks.effects.n_rows} of {n}"))
    return found


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    each = np.ravel(np.asarray(value, dtype=object)).tolist()
    shown = [one if isinstance(one, str) else f"{one:.4g}" for one in each[:10]]
    return ", ".join(shown) + (" ..." if len(each) > 10 else "")
