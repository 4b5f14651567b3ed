"""The span estimate of the leave-one-out error, against leaving out each row."""

import numpy as np
from sklearn.svm import SVC

from kernelwise import AdaptiveKernelSVC
from kernelwise.kernels import RBF

from ..data import read, standardised
from ..measure import Effort
from ..rounds import quiet
from ..suite import Results, Row, Suite, Task
from ..summaries import missed_rows
from ..text import digits, table
from .noisy import QUICK_SETS, shape

CLOSE = 2.0  # largest error of the span estimate that counts as close, percent of the rows
_SETS = ("bupa", "sonar", "ionosphere", "wdbc", "biomed", "iris", "wine", "glass", "voting")


def brute_force(X: np.ndarray, y: np.ndarray, C: float, gamma: float) -> np.ndarray:
    """Return for each row whether SVCs fitted without it, one-vs-rest, misclassify it."""
    K, classes = RBF(gamma=gamma)(X), np.unique(y)
    labels = classes[len(classes) == 2 :]
    decisions = np.zeros((len(y), len(labels)))
    for j, label in enumerate(labels):
        sign = np.where(y == label, 1, -1)
        for i in range(len(y)):
            others = np.arange(len(y)) != i
            if len(np.unique(sign[others])) == 1:
                decisions[i, j] = sign[others][0]
                continue
            machine = SVC(C=C, kernel="precomputed", tol=1e-4)
            machine.fit(K[np.ix_(others, others)], sign[others])
            decisions[i, j] = machine.decision_function(K[[i]][:, others])[0]
    if len(labels) == 1:
        return (decisions[:, 0] > 0) != (y == labels[0])
    return labels[decisions.argmax(axis=1)] != y


class LeaveOneOut(Suite):
    """Errors of leave-one-out by the span estimate, and by one fit per row."""

    name = "learners-leave-one-out"
    title = "The span estimate and leave-one-out"
    needs_folder = True
    seconds = 60.0

    def cases(self, quick: bool) -> list[Task]:
        return [{"dataset": name} for name in (QUICK_SETS if quick else _SETS)]

    def measure(self, case: Task, effort: Effort) -> Row:
        data = read(case["dataset"])
        X, y = standardised(data.X), data.y
        model = AdaptiveKernelSVC(widths=3 if effort.quick else None).fit(X, y)
        with quiet():
            wrong = brute_force(X, y, model.C_, model.gamma_)
        found = {
            "span": {"errors": round(model.loo_error_ * len(y))},
            "left out": {"errors": int(wrong.sum())},
            "training rows": {"errors": int((model.predict(X) != y).sum())},
        }
        return shape(X, y) | {"C": model.C_, "sigma": float(f"{model.sigma_:.4g}"), "found": found}

    def section(self, results: Results) -> str:
        cells = []
        for row in results.rows:
            found = row["found"]
            difference = found["span"]["errors"] - found["left out"]["errors"]
            cells.append(
                [
                    row["dataset"], *(f"{row[key]:,}" for key in ("n", "p", "classes")),
                    f"{row['C']:g}", digits(row["sigma"]),
                    *(found[key]["errors"] for key in ("training rows", "span", "left out")),
                    f"{difference:+d}", f"{missed_rows(row):.2f} %",
                ]
            )  # fmt: skip
        close = sum(missed_rows(row) <= CLOSE for row in results.rows)
        hard = [row for row in results.rows if row["dataset"] == "bupa"]
        header = ["set", "n", "p", "classes", "C", "sigma", "errors on training rows", "span"]
        return (
            "At the point that `AdaptiveKernelSVC()` chooses on all rows, standardised: the "
            "leave-one-out errors as the span estimate counts them, and as counted by fitting "
            "scikit-learn's `SVC`, one-vs-rest, without each row (`tol=1e-4`). The estimate is "
            f"within {CLOSE:g} % of the rows on {close} of {len(results.rows)} sets"
            + "".join(
                f", and off by {missed_rows(row):.2f} % on bupa, the hard one" for row in hard
            )
            + ".\n\n"
            + table([*header, "left out", "difference", "of the rows"], cells, left=1)
        )
