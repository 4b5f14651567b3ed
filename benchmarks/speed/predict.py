"""Predictions against the peers, each with its own fitted model."""

from itertools import product

import numpy as np

from ..measure import Contender, Effort, compare
from ..peers import classifiers
from ..problems import classification
from ..suite import Results, Row, Suite, Task
from ..text import spread, table
from .peer_cells import COMPARED, against, of_peers, peer_cells


class Predict(Suite):
    """Predictions of new rows."""

    name = "speed-predict"
    title = "Predict"
    seconds = 15.0

    def cases(self, quick: bool) -> list[Task]:
        sizes, n_new = ((100, 200), 200) if quick else ((1000, 10_000), 2000)
        return [{"n": n, "p": p, "rows": n_new} for n, p in product(sizes, (20, 100))]

    def measure(self, case: Task, effort: Effort) -> Row:
        n = case["n"]
        X, y = classification(n, case["p"], extra=case["rows"])
        models = {name: cls().fit(X[:n], y[:n]) for name, cls in classifiers().items()}
        contenders = {
            name: Contender(lambda model=model: model.predict(X[n:]))
            for name, model in models.items()
        }
        times, predicted = compare(contenders, effort)
        for name, model in models.items():
            times[name]["n_support"] = int(np.sum(model.n_support_))
            times[name]["agreement"] = float(np.mean(predicted["kernelwise"] == predicted[name]))
        return {"times": times}

    def section(self, results: Results) -> str:
        rows = [
            [
                *(f"{row[key]:,}" for key in ("n", "p")),
                f"{row['times']['kernelwise']['n_support']:,}",
                spread(row["times"]["kernelwise"]),
                *peer_cells(row),
            ]
            for row in results.rows
        ]
        return (
            f"{results.rows[0]['rows']:,} new rows, C = 1: {against(results)}. The predictions "
            f"agree in at least {100 * min(of_peers(results.rows, 'agreement')):.4g} % of the "
            "rows.\n\n" + table(["n", "p", "support vectors", *COMPARED], rows)
        )
