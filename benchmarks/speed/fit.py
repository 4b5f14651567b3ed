"""Cold fits against the peers, at equal objective: two classes, and ten."""

from itertools import product

import numpy as np
from sklearn.datasets import load_digits

from ..measure import Contender, Effort, compare
from ..peers import classifiers
from ..problems import add_objectives, classification, scale_gamma
from ..suite import Results, Row, Suite, Task
from ..text import spread, table
from .peer_cells import COMPARED, EXCESS, against, excess_cells, objectives, of_peers, peer_cells


def _compare_fits(X: np.ndarray, y: np.ndarray, C: float, effort: Effort) -> tuple[dict, dict]:
    contenders = {
        name: Contender(lambda cls=cls: cls(C=C, gamma="scale", tol=1e-3).fit(X, y))
        for name, cls in classifiers().items()
    }
    times, models = compare(contenders, effort)
    add_objectives(times, models, X, scale_gamma(X))
    return times, models


class Fit(Suite):
    """Fits of two classes."""

    name = "speed-fit"
    title = "Fit"
    seconds = 20.0

    def cases(self, quick: bool) -> list[Task]:
        sizes = (100, 200) if quick else (500, 1000, 2000, 5000, 10_000)
        columns, costs = ((20,), (1, 10)) if quick else ((20, 100), (1, 10, 100))
        return [{"n": n, "p": p, "C": C} for n, p, C in product(sizes, columns, costs)]

    def measure(self, case: Task, effort: Effort) -> Row:
        X, y = classification(case["n"], case["p"])
        return {"times": _compare_fits(X, y, case["C"], effort)[0]}

    def section(self, results: Results) -> str:
        rows = [
            [
                *(f"{row[key]:,}" for key in ("n", "p", "C")),
                spread(row["times"]["kernelwise"]),
                *peer_cells(row),
                *excess_cells(row),
            ]
            for row in results.rows
        ]
        return (
            f"Over {len(rows)} cases {against(results)}. The dual objective, which is minimised, "
            f"is {objectives(results.rows)}; in the last columns a minus means that kernelwise's "
            "is lower.\n\n" + table(["n", "p", "C", *COMPARED, *EXCESS], rows)
        )


class Multiclass(Suite):
    """Fits of the ten digits, one machine per pair of them."""

    name = "speed-multiclass"
    title = "Several classes"
    seconds = 20.0

    def cases(self, quick: bool) -> list[Task]:
        return [{"C": C} for C in (1, 10, 100)]

    def measure(self, case: Task, effort: Effort) -> Row:
        X, y = load_digits(return_X_y=True)
        step = 6 if effort.quick else 1
        X, y = X[::step] / 16, y[::step]
        times, models = _compare_fits(X, y, case["C"], effort)
        predicted = {name: model.predict(X) for name, model in models.items()}
        for name in models:
            times[name]["agreement"] = float(np.mean(predicted["kernelwise"] == predicted[name]))
        return {"n": len(X), "p": X.shape[1], "times": times}

    def section(self, results: Results) -> str:
        rows = [
            [
                row["C"],
                spread(row["times"]["kernelwise"]),
                *peer_cells(row),
                *excess_cells(row),
            ]
            for row in results.rows
        ]
        first = results.rows[0]
        return (
            f"The digits of scikit-learn, {first['n']:,} rows of {first['p']} columns divided by "
            f"16, with ten classes and so 45 machines: {against(results)}. The objective, summed "
            f"over the machines, is {objectives(results.rows)}, and the predictions on these rows "
            f"agree in at least {100 * min(of_peers(results.rows, 'agreement')):.4g} %.\n\n"
            + table(["C", *COMPARED, *EXCESS], rows)
        )
