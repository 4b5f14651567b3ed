"""Fit whichever RelevanceSVC is installed to stored rows, and print the CPU time as JSON.

A script of its own, run as ``PYTHON -P before.py FOLDER``: it imports nothing of the benchmarks and
only public names, so that it works with older versions of the package. The folder has the arrays
``X``, ``y`` and ``new``, and gets ``classes``, the predictions of the new rows.
"""

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from kernelwise import RelevanceSVC

_FIRST_ROWS = 500  # rows of a first fit, which does not count: older versions compile then


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    X, y, new = (np.load(folder / f"{name}.npy") for name in ("X", "y", "new"))
    RelevanceSVC().fit(X[:_FIRST_ROWS], y[:_FIRST_ROWS]).predict(new[:_FIRST_ROWS])
    begin = time.process_time()
    model = RelevanceSVC().fit(X, y)
    spent = time.process_time() - begin
    begin = time.process_time()
    np.save(folder / "classes.npy", model.predict(new))
    found = {
        "fit_seconds": spent,
        "predict_seconds": time.process_time() - begin,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
