"""Many rows: time, memory and accuracy of RelevanceSVC, each fit in a process of its own.

``python -m benchmarks.quality_growth FORM rows columns`` is one of them.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator

from .environment import ROOT, limit_threads
from .quality_names import ENSEMBLE, SINGLE

_SIZES, _QUICK_SIZES = ((2000, 50), (20_000, 50), (60_000, 50)), ((300, 10),)
_TEST_ROWS = 5000
_MOST_FOR_SVC = 20_000


def growth(quick: bool) -> Iterator[dict]:
    """Fit more and more rows."""
    for n, p in _QUICK_SIZES if quick else _SIZES:
        found = {form: _in_own_process(form, n, p) for form in (SINGLE, ENSEMBLE)}
        yield {"case": {"n": n, "p": p}, "found": found}


def _in_own_process(form: str, n: int, p: int) -> dict:
    command = [sys.executable, "-m", "benchmarks.quality_growth", form, str(n), str(p)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def main(form: str, n: int, p: int) -> None:
    limit_threads()
    from sklearn.svm import SVC

    from .quality_contenders import CONTENDERS, Setting
    from .quality_cost import synthetic
    from .suites.large import peak_bytes

    X, y = synthetic(n + _TEST_ROWS, p, min(10, p // 2))
    X, y, X_test, y_test = X[:n], y[:n], X[n:], y[n:]
    model = CONTENDERS[form].make(Setting(p))
    model.fit(X[:300], y[:300])  # compiles
    begin = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - begin
    plain = SVC().fit(X, y).score(X_test, y_test) if n <= _MOST_FOR_SVC else None
    found = {
        "cpu": seconds,
        "peak_bytes": peak_bytes(),
        "accuracy": float(model.score(X_test, y_test)),
        "plain_accuracy": plain,
        "fit_status": int(model.fit_status_),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
