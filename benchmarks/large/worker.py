"""One fit in this process: ``python -m benchmarks.large.worker CONTENDER TABLE ROWS SEED``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..speed.large import peak_bytes
from .contenders import CLASSIFIERS, OURS, REGRESSORS
from .tables import NUMBERS, TABLES, TEST_ROWS

_RESETS_PEAK = "5"  # what Linux is told to forget the peak memory of a process


def forget_peak() -> None:
    """Start the peak memory anew, where the system can: making a table takes more than a fit."""
    refs = Path("/proc/self/clear_refs")
    if refs.exists():
        refs.write_text(_RESETS_PEAK)


def table_bytes(X: Any) -> int:
    """Return the memory of a table."""
    return int(X.memory_usage(deep=False).sum()) if hasattr(X, "memory_usage") else int(X.nbytes)


def scores(model: Any, X: Any, y: np.ndarray) -> dict[str, float]:
    """Return accuracy, area under the ROC curve and, of probabilities, the log loss; or R²."""
    from sklearn.base import is_regressor
    from sklearn.metrics import log_loss, r2_score, roc_auc_score

    if is_regressor(model):
        return {"r2": float(r2_score(y, model.predict(X)))}
    if not hasattr(model, "predict_proba"):
        decisions = model.decision_function(X)
        area = float(roc_auc_score(y, decisions)) if decisions.ndim == 1 else None
        winners = decisions.argmax(axis=1) if decisions.ndim > 1 else decisions > 0
        return {"accuracy": float(np.mean(winners == y)), "area": area}
    shares = model.predict_proba(X)
    own = shares[:, 1] if shares.shape[1] == 2 else shares
    return {
        "accuracy": float(np.mean(shares.argmax(axis=1) == y)),
        "area": float(roc_auc_score(y, own, multi_class="ovr")),
        "log_loss": float(log_loss(y, shares)),
    }


def stored(model: Any) -> dict[str, float]:
    """Return the size of the model file, and the time that it takes to load."""
    from kernelwise.app.io import load, save

    with TemporaryDirectory() as folder:
        path = save(model, Path(folder) / "model.kw")
        begin = time.process_time()
        load(path)
        return {"file_bytes": path.stat().st_size, "load_seconds": time.process_time() - begin}


def main(contender: str, name: str, n: int, seed: int, n_test: int = TEST_ROWS) -> None:
    X, y = TABLES[name](n + n_test, seed)
    rows, new = X[:n], X[n:]
    model = (REGRESSORS if name in NUMBERS else CLASSIFIERS)[contender]()
    forget_peak()
    begin = time.process_time()
    model.fit(rows, y[:n])
    spent, peak = time.process_time() - begin, peak_bytes()
    begin = time.process_time()
    model.predict(new)
    predicting = time.process_time() - begin
    found = {
        "fit_seconds": spent,
        "predict_seconds": predicting,
        "peak_bytes": peak,
        "table_bytes": table_bytes(X),
        **scores(model, new, y[n:]),
    }
    if contender == OURS:
        found |= stored(model)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
