"""The selections on tables of noise, of known rules, and of strong and weak columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..measure import Effort, rounded
from ..suite import Results, Row, Suite, Task
from ..summaries import Mean
from ..text import table
from .problems import NOISE, ODDS, SMALL, TRUTHS, WIDE, mixed, noise, truth

FDR, FWER = 0.1, 0.05  # the levels of the tests
TEST_NAMES = {
    "fdr": f"test, FDR {FDR:g}",
    "fwer": f"test, FWER {FWER:g}",
    "F": f"F test, FDR {FDR:g}",
}
RULE_NAMES = TEST_NAMES | {"path": "path"}
_TABLES, _REPEATS, _MIXED = 40, 20, 20  # tables of each kind of noise, of each rule, and mixed


def selected_by_tests(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the columns that each test selects."""
    from sklearn.feature_selection import SelectFdr

    from kernelwise.app.inspection import relevance_test

    columns = relevance_test(X, y)
    return {
        "fdr": columns.selected("fdr", FDR),
        "fwer": columns.selected("fwer", FWER),
        "F": SelectFdr(alpha=FDR).fit(X, y).get_support(),
    }


def likelihood_ratio(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the p-values of the columns in a logistic regression, by likelihood ratios."""
    from scipy.stats import chi2
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    def loss(columns: np.ndarray) -> float:
        model = LogisticRegression(C=np.inf, tol=1e-8).fit(columns, y)
        return log_loss(y, model.predict_proba(columns), normalize=False)

    full = loss(X)
    rest = [loss(np.delete(X, j, axis=1)) for j in range(X.shape[1])]
    return chi2.sf(2 * (np.array(rest) - full), 1)


class NoiseTables(Suite):
    """How often a rule selects anything where nothing is relevant."""

    name = "selection-noise"
    title = "Nothing to find"
    is_timed = False
    seconds = 1.0

    def cases(self, quick: bool) -> list[Task]:
        kinds, count = (["300 x 30"], 1) if quick else (list(NOISE), _TABLES)
        return [{"problem": name, "seed": seed} for name in kinds for seed in range(count)]

    def measure(self, case: Task, effort: Effort) -> Row:
        found = selected_by_tests(*noise(case["problem"], case["seed"]))
        return {name: int(chosen.sum()) for name, chosen in found.items()}

    def section(self, results: Results) -> str:
        cells = [
            [name, len(own), *(_percent(anything(own, rule)) for rule in TEST_NAMES)]
            for name, own in _by_problem(results.rows)
        ]
        total = [anything(results.rows, rule) for rule in TEST_NAMES]
        cells.append(["all", len(results.rows), *map(_percent, total)])
        return (
            "Columns that have nothing to do with the classes: the share of the tables in which a "
            "rule selects any column. In a chain, neighbouring columns correlate.\n\n"
            + table(["table", "tables", *TEST_NAMES.values()], cells, left=1)
        )


class KnownTruths(Suite):
    """The false share of the selected columns, and the share of the relevant ones found."""

    name = "selection-truth"
    title = "A few columns to find"
    is_timed = False
    seconds = 3.0

    def cases(self, quick: bool) -> list[Task]:
        if quick:
            return [{"problem": "linear", "n": SMALL[0], "p": SMALL[1], "seed": 0}]
        return [
            {"problem": name, "n": n, "p": p, "seed": seed}
            for n, p in (SMALL, WIDE)
            for name in TRUTHS
            for seed in range(_REPEATS)
        ]

    def measure(self, case: Task, effort: Effort) -> Row:
        from kernelwise.transform import RelevanceSelector

        X, y, relevant = truth(case["problem"], (case["n"], case["p"]), case["seed"])
        row: Row = {"relevant": relevant}
        path = RelevanceSelector().fit(X, y).get_support()
        for name, chosen in {**selected_by_tests(X, y), "path": path}.items():
            hits, count = int(chosen[:relevant].sum()), int(chosen.sum())
            row[name] = {
                "false": rounded((count - hits) / max(count, 1)),
                "recall": rounded(hits / relevant),
            }
        return row

    def section(self, results: Results) -> str:
        parts = [
            "The class is the sign of a noisy sum of five columns; whether three columns lie in a "
            "ball; the sign of the product of two; the sign of a noisy sum of three hidden factors "
            "with three noisy columns each; and the first again, in a chain of columns in which "
            "neighbours correlate. Each cell has the mean share of false columns among the "
            "selected ones (nothing selected counts as no error), and the mean share of the "
            "relevant columns that are found. In the chain, neighbours of relevant columns count "
            "as false."
        ]
        for n, p in (SMALL, WIDE):
            own = [row for row in results.rows if (row["n"], row["p"]) == (n, p)]
            cells = [
                [name, rows[0]["relevant"], *(_rates(rows, rule) for rule in RULE_NAMES)]
                for name, rows in _by_problem(own)
            ]
            if cells:
                header = [f"{n} rows, {p} columns", "relevant", *RULE_NAMES.values()]
                parts.append(table(header, cells, left=1))
        return "\n\n".join(parts)


class MixedStrengths(Suite):
    """Strong and weak columns side by side, against a test that knows the rule's form."""

    name = "selection-mixed"
    title = "Strong and weak columns"
    is_timed = False
    seconds = 2.0

    def cases(self, quick: bool) -> list[Task]:
        return [{"seed": seed} for seed in range(1 if quick else _MIXED)]

    def measure(self, case: Task, effort: Effort) -> Row:
        from scipy.stats import false_discovery_control

        from kernelwise.app.inspection import relevance_test

        X, y = mixed(case["seed"])
        found = {"test": relevance_test(X, y).pvalues, "ratio": likelihood_ratio(X, y)}
        return {
            name: {
                "log10_p": [rounded(np.log10(max(each, 1e-300))) for each in p],
                "selected": [int(each) for each in false_discovery_control(p) <= FDR],
            }
            for name, p in found.items()
        }

    def section(self, results: Results) -> str:
        names = [*ODDS, *(["none"] * (len(results.rows[0]["test"]["selected"]) - len(ODDS)))]
        cells = []
        for j, name in enumerate(names):
            row: list[Any] = [name]
            for test in ("test", "ratio"):
                logs = [each[test]["log10_p"][j] for each in results.rows]
                row += [
                    f"{10 ** np.median(logs):.1g}",
                    _percent(share_found(results.rows, test, j)),
                ]
            cells.append(row)
        header = ["log-odds per unit", "median p, test", "found", "median p, ratio", "found"]
        return (
            "1,000 rows of six columns, four of which add to the log-odds of the class: normal "
            "columns and a flag. The likelihood ratio of a logistic regression with and without "
            "the column is the test to use if the rule is known to be such a sum. Found: by the "
            f"test at a false discovery rate of {FDR:g}, over {len(results.rows)} tables.\n\n"
            + table(header, cells, left=1)
        )


def share_found(rows: Iterable[Row], test: str, column: int) -> float:
    """Return the share of tables in which a test selects a column."""
    return float(np.mean([row[test]["selected"][column] for row in rows]))


def anything(rows: Iterable[Row], rule: str) -> float:
    """Return the share of tables in which a rule selects any column."""
    return float(np.mean([row[rule] > 0 for row in rows]))


def rates(rows: Iterable[Row], rule: str) -> tuple[Mean, Mean]:
    """Return the mean false share and the mean recall of a rule."""
    found = [row[rule] for row in rows]
    return Mean.of(one["false"] for one in found), Mean.of(one["recall"] for one in found)


def by_shape(rows: Iterable[Row], p: int) -> Iterator[tuple[str, list[Row]]]:
    """Yield the rows of each rule at one number of columns."""
    yield from _by_problem(row for row in rows if row["p"] == p)


def _by_problem(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["problem"], []).append(row)
    return list(found.items())


def _rates(rows: list[Row], rule: str) -> str:
    false, recall = rates(rows, rule)
    return f"{false.text()}, {recall.text()}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
