"""Many rows: time, memory and accuracy of RelevanceSVC, each fit in a process of its own.

``python -m benchmarks.quality.growth CONTENDER ROWS COLUMNS`` is one of them.
"""

import json
import subprocess
import sys
import time

from sklearn.svm import SVC

from ..environment import ROOT
from ..measure import Effort
from ..speed.large import peak_bytes
from ..suite import Results, Row, Suite, Task
from ..text import gigabytes, seconds, table
from .contenders import CONTENDERS, Setting
from .cost import synthetic
from .names import FORMS

_SIZES, _QUICK_SIZES = ((2000, 50), (20_000, 50), (60_000, 50)), ((300, 10),)
_TEST_ROWS = 5000
_MOST_FOR_SVC = 20_000  # rows


def _percent(part: float | None) -> str:
    return "" if part is None else f"{100 * part:.1f}"


class ManyRows(Suite):
    """Fits of more and more rows."""

    name = "quality-growth"
    title = "Many rows"
    seconds = 60.0

    def cases(self, quick: bool) -> list[Task]:
        sizes = _QUICK_SIZES if quick else _SIZES
        return [{"n": n, "p": p, "contender": form} for n, p in sizes for form in FORMS]

    def measure(self, case: Task, effort: Effort) -> Row:
        arguments = [case["contender"], str(case["n"]), str(case["p"])]
        command = [sys.executable, "-m", "benchmarks.quality.growth", *arguments]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    def section(self, results: Results) -> str:
        cells = [
            [
                f"{row['n']:,}", row["p"], CONTENDERS[row["contender"]].label,
                seconds(row["fit_seconds"]), gigabytes(row["peak_bytes"]),
                _percent(row["accuracy"]), _percent(row["plain_accuracy"]),
            ]
            for row in results.rows
        ]  # fmt: skip
        header = ["n", "p", "method", "CPU time", "peak memory", "accuracy, %", "`SVC()`, %"]
        return (
            "Two classes by `make_classification` with ten informative columns, each fit in a "
            "process of its own, with the default `weight_rows` and `path_rows`. The peak memory "
            "includes the libraries and the rows; the accuracy is on 5,000 further rows.\n\n"
            + table(header, cells)
        )


def main(form: str, n: int, p: int) -> None:
    X, y = synthetic(n + _TEST_ROWS, p, min(10, p // 2))
    X, y, X_test, y_test = X[:n], y[:n], X[n:], y[n:]
    model = CONTENDERS[form].make(Setting(p))
    model.fit(X[:300], y[:300])  # compiles
    begin = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - begin
    plain = SVC().fit(X, y).score(X_test, y_test) if n <= _MOST_FOR_SVC else None
    found = {
        "fit_seconds": seconds,
        "peak_bytes": peak_bytes(),
        "accuracy": float(model.score(X_test, y_test)),
        "plain_accuracy": plain,
        "fit_status": int(model.fit_status_),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
