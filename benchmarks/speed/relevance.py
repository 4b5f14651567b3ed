"""RelevanceSVC and RelevanceSVR: CPU time and size of a model by the shape of the table."""

import pickle
import time

import numpy as np

from kernelwise import RelevanceSVC, RelevanceSVR

from ..measure import Effort, rounded
from ..suite import Results, Row, Suite, Task
from ..text import digits, seconds, table

CLASSES, NUMBERS = "classes", "a number"
_SHAPES = (
    (500, 20), (1990, 20), (2010, 20), (9900, 20), (10_100, 20), (20_000, 20), (500_000, 20),
    (480, 2000), (200, 20_000),
)  # fmt: skip
_SHAPES_OF_NUMBERS = ((500, 20), (1990, 20), (2010, 20), (2990, 20), (3010, 20), (20_000, 20))
_TEST_ROWS = 2000


def made(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of standard normal columns, and a number that depends on the first five."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), dtype=np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * X[:, 4]
    return X, signal + 0.7 * rng.standard_normal(n)


class Relevance(Suite):
    """One fit of each shape, and sizes on both sides of where the method changes."""

    name = "speed-relevance"
    title = "RelevanceSVC and RelevanceSVR"
    seconds = 6.0

    def cases(self, quick: bool) -> list[Task]:
        shapes = ((100, 6),) if quick else _SHAPES
        numbers = ((100, 6),) if quick else _SHAPES_OF_NUMBERS
        return [
            {"target": target, "n": n, "p": p}
            for target, found in ((CLASSES, shapes), (NUMBERS, numbers))
            for n, p in found
        ]

    def measure(self, case: Task, effort: Effort) -> Row:
        n = case["n"]
        X, y = made(n + _TEST_ROWS, case["p"])
        if case["target"] == CLASSES:
            y, model = (y > 0).astype(int), RelevanceSVC(verbose=False, random_state=0)
        else:
            model = RelevanceSVR(verbose=False, random_state=0)
        begin = time.process_time()
        model.fit(X[:n], y[:n])
        middle = time.process_time()
        predicted = model.predict(X[n:])
        end = time.process_time()
        right = predicted == y[n:] if case["target"] == CLASSES else (predicted - y[n:]) ** 2
        score = np.mean(right) if case["target"] == CLASSES else 1 - np.mean(right) / y[n:].var()
        return {
            "fit_seconds": rounded(middle - begin),
            "predict_seconds": rounded(end - middle),
            "bytes": len(pickle.dumps(model)),
            "score": rounded(float(score)),
        }

    def section(self, results: Results) -> str:
        cells = [
            [
                row["target"], f"{row['n']:,}", f"{row['p']:,}", seconds(row["fit_seconds"]),
                seconds(row["predict_seconds"]), f"{digits(row['bytes'] / 1e6, 2)} MB",
                f"{100 * row['score']:.1f}",
            ]
            for row in results.rows
        ]  # fmt: skip
        header = ["target", "n", "p", "fit", "2,000 predictions", "pickle", "accuracy or R², %"]
        return (
            "CPU time of one fit and of 2,000 predictions on a generated table: five columns "
            "matter, two of them only together, the others are noise. The method changes at 2,000 "
            "rows, from three folds to one, and at 3,000 rows of a number, from an exact solution "
            "to cells; the time on both sides of these should be alike.\n\n"
            + table(header, cells, left=1)
        )
