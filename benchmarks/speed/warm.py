"""Fits after a small change, from the last solution and from scratch."""

from copy import deepcopy
from itertools import product

from kernelwise import SVC

from ..measure import Contender, Effort, compare
from ..problems import classification, scale_gamma
from ..suite import Results, Row, Suite, Task
from ..text import factor, span, spread, table

_CHANGES = ("C x 1.5", "gamma x 1.1", "1 % new rows")


class WarmStarts(Suite):
    """Fits after a small change of C, gamma or the rows."""

    name = "speed-warm"
    title = "Warm starts"
    seconds = 10.0

    def cases(self, quick: bool) -> list[Task]:
        sizes = (100, 200) if quick else (1000, 5000)
        return [{"n": n, "p": p, "change": c} for n, p, c in product(sizes, (20, 100), _CHANGES)]

    def measure(self, case: Task, effort: Effort) -> Row:
        n = case["n"]
        X, y = classification(n, case["p"], extra=n // 100)
        gamma = scale_gamma(X[:n])
        base = {"C": 10.0, "gamma": gamma}
        fitted = SVC(**base, warm_start=True).fit(X[:n], y[:n])
        params, rows = {
            "C x 1.5": (base | {"C": 15.0}, n),
            "gamma x 1.1": (base | {"gamma": 1.1 * gamma}, n),
            "1 % new rows": (base, len(X)),
        }[case["change"]]

        def fit(model: SVC) -> SVC:
            return model.fit(X[:rows], y[:rows])

        contenders = {
            "warm": Contender(fit, prepare=lambda: deepcopy(fitted).set_params(**params)),
            "cold": Contender(fit, prepare=lambda: SVC(**params)),
        }
        times, models = compare(contenders, effort)
        for name, model in models.items():
            times[name]["steps"] = int(model.n_iter_.sum())
            times[name]["objective"] = float(model.certificate_.objective.sum())
        return {"times": times}

    def section(self, results: Results) -> str:
        cells, shares = [], []
        for row in results.rows:
            warm, cold = row["times"]["warm"], row["times"]["cold"]
            difference = (warm["objective"] - cold["objective"]) / abs(cold["objective"])
            shares.append(warm["steps"] / max(1, cold["steps"]))
            cells.append(
                [
                    row["change"],
                    *(f"{row[key]:,}" for key in ("n", "p")),
                    spread(warm),
                    spread(cold),
                    factor(cold["ratio"]),
                    *(f"{one['steps']:,}" for one in (warm, cold)),
                    f"{difference:.1e}",
                ]
            )
        ratios = span(row["times"]["cold"]["ratio"] for row in results.rows)
        header = ["change", "n", "p", "warm", "cold", "ratio", "steps warm", "cold", "objectives"]
        return (
            "Fitted at C = 10, changed, and fitted again with `warm_start=True`: "
            f"{ratios} times as fast as a new fit, with {span(shares)} times its steps. The last "
            "column is the relative difference of the objectives.\n\n"
            + table(header, cells, left=1)
        )
