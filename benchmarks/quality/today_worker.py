"""Fit the RelevanceSVC of whichever kernelwise is installed on splits named on standard input.

A script of its own, run as ``PYTHON -P today_worker.py``: it imports nothing of the benchmarks, so
that it works with older versions of the package. A line is a request as JSON: `path` of the split,
`calibrated`, and the parameters of the estimator; the answer is a line with CPU times, and
``found.npz`` beside the split.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.calibration import CalibratedClassifierCV

import kernelwise


def fitted(request: dict) -> dict:
    """Fit and predict; write the arrays and return the times."""
    path = Path(request.pop("path"))
    calibrated = request.pop("calibrated", False)
    with np.load(path) as split:
        X, y, X_test = split["X"], split["y"], split["X_test"]
    model = kernelwise.RelevanceSVC(**request)
    if calibrated:
        model = CalibratedClassifierCV(model, ensemble=False)
    begin = time.process_time()
    model.fit(X, y)
    middle = time.process_time()
    found = {"predicted": model.predict(X_test)}
    end = time.process_time()
    found["scores"] = model.predict_proba(X_test) if calibrated else model.decision_function(X_test)
    np.savez(path.with_name("found.npz"), **found)
    return {"fit_seconds": middle - begin, "predict_seconds": end - middle}


def main() -> None:
    warnings.simplefilter("ignore")
    for classes in (2, 3):  # load or compile what is needed, untimed
        X = np.random.default_rng(0).normal(size=(90, 5))
        kernelwise.RelevanceSVC().fit(X, np.arange(90) % classes).predict(X)
    for line in sys.stdin:
        try:
            answer = fitted(json.loads(line))
        except Exception as error:  # reported to the process that asked
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
