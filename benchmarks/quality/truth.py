"""Whether importances are true and stable: known problems, and halves of noisy sets."""

from collections.abc import Callable
from itertools import combinations
from statistics import fmean

import numpy as np
from scipy.stats import spearmanr
from sklearn.feature_selection import SelectFdr
from sklearn.inspection import permutation_importance
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from ..data import Table
from ..measure import Effort, rounded
from ..rounds import Round
from ..suite import Results, Row, Suite, Task
from ..summaries import Mean
from ..text import table
from .contenders import CONTENDERS, Setting, quiet
from .data import generator, read, whole
from .names import ENSEMBLE, FOREST, QUICK_SETS, SEEDS, SINGLE

N, P = 300, 30  # training rows and columns; as many rows are held out
_HALVES = ("sonar", "wdbc")
_BALL = 2.366  # the median of the squared norm of three standard normal inputs

Rule = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, int]]
Judgement = tuple[np.ndarray, np.ndarray]  # scores, and what is selected
Judge = Callable[[Round, int, bool], Judgement]


def _linear(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    noise = 0.5 * rng.normal(size=len(X))
    return X[:, :5] @ np.array([1.0, -1.0, 1.0, -1.0, 1.0]) + noise > 0, 5


def _radial(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    return (X[:, :3] ** 2).sum(axis=1) < _BALL, 3


def _xor(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    return X[:, 0] * X[:, 1] > 0, 2


def _groups(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Three factors with three columns each; writes the columns into X."""
    factors = rng.normal(size=(len(X), 3))
    X[:, :9] = np.repeat(factors, 3, axis=1) + 0.5 * X[:, :9]
    return factors @ np.array([1.0, -1.0, 1.0]) + 0.5 * rng.normal(size=len(X)) > 0, 9


RULES: dict[str, Rule] = {
    "linear": _linear, "radial": _radial, "XOR": _xor, "correlated groups": _groups,
}  # fmt: skip


def problem(name: str, seed: int) -> tuple[Round, np.ndarray]:
    """Return training rows, as many held-out rows, and which columns are relevant."""
    rng = generator(seed, name)
    X = rng.normal(size=(2 * N, P))
    y, relevant = RULES[name](X, rng)
    rows = np.arange(2 * N)
    split = Round.of(Table(X, y.astype(int)), rows[:N], rows[N:])
    return split, np.arange(P) < relevant


def _relevance(name: str) -> Judge:
    def judge(split: Round, seed: int, quick: bool) -> Judgement:
        model = CONTENDERS[name].make(Setting(split.X.shape[1], seed, quick))
        model.fit(split.X, split.y)
        return model.feature_importances_, model.selected_features_

    return judge


def _permutation(split: Round, seed: int, quick: bool) -> Judgement:
    """Shuffle columns of the held-out rows; select those that cost more than two errors."""
    model = CONTENDERS[FOREST].make(Setting(split.X.shape[1], seed, quick))
    model.fit(split.X, split.y)
    repeats = 2 if quick else 10
    found = permutation_importance(
        model, split.X_test, split.y_test, n_repeats=repeats, random_state=seed
    )
    error = found.importances.std(axis=1, ddof=1) / np.sqrt(repeats)
    return found.importances_mean, found.importances_mean > 2 * error


def _univariate(split: Round, seed: int, quick: bool) -> Judgement:
    model = SelectFdr(alpha=0.05).fit(split.X, split.y)
    return np.nan_to_num(model.scores_), model.get_support()


JUDGES: dict[str, tuple[str, Judge]] = {
    SINGLE: (CONTENDERS[SINGLE].label, _relevance(SINGLE)),
    ENSEMBLE: (CONTENDERS[ENSEMBLE].label, _relevance(ENSEMBLE)),
    "permutation": ("forest, permutation", _permutation),
    "F": ("F test, `SelectFdr`", _univariate),
}


def compared(
    scores: np.ndarray, selected: np.ndarray, relevant: np.ndarray
) -> dict[str, float | None]:
    """Return precision (None if nothing is selected), recall and the area under the curve."""
    hits, count = int((selected & relevant).sum()), int(selected.sum())
    return {
        "precision": rounded(hits / count) if count else None,
        "recall": rounded(hits / int(relevant.sum())),
        "auc": rounded(float(roc_auc_score(relevant, scores))),
    }


class Truth(Suite):
    """Scores and selections against the columns that are relevant."""

    name = "quality-truth"
    title = "Truth of the weights"
    is_timed = False
    seconds = 6.0

    def cases(self, quick: bool) -> list[Task]:
        names, seeds = (["linear"], SEEDS["report"][:2]) if quick else (RULES, SEEDS["report"])
        return [{"problem": name, "seed": seed} for name in names for seed in seeds]

    def measure(self, case: Task, effort: Effort) -> Row:
        split, relevant = problem(case["problem"], case["seed"])
        row: Row = {"n": N, "p": P, "relevant": int(relevant.sum())}
        with quiet():
            for method, (_, judge) in JUDGES.items():
                found = judge(split, case["seed"], effort.quick)
                row[method] = compared(*found, relevant)
        return row

    def section(self, results: Results) -> str:
        cells = []
        for name in dict.fromkeys(row["problem"] for row in results.rows):
            own = [row for row in results.rows if row["problem"] == name]
            for method, (label, _) in JUDGES.items():
                found = {
                    key: [n for row in own if (n := row[method][key]) is not None]
                    for key in ("precision", "recall", "auc")
                }
                texts = [Mean.of(f).text() if f else "nothing selected" for f in found.values()]
                cells.append([name, label, own[0]["relevant"], *texts])
        first, repeats = results.rows[0], len({row["seed"] for row in results.rows})
        header = ["problem", "method", "relevant", "precision", "recall", "area under the curve"]
        return (
            f"Which of {first['p']} columns matter, with {first['n']} training rows and {repeats} "
            "repeats: the class is the sign of a noisy sum of five inputs; whether three inputs "
            "lie in a ball; the sign of the product of two; and the sign of a noisy sum of three "
            "hidden factors with three noisy columns each. Precision and recall are those of "
            "`selected_features_`, and precision is the mean over the repeats in which something "
            "was selected; the area under the ROC curve is that of `feature_importances_` for "
            "separating relevant columns from the others. The permutation importance of the forest "
            "uses as many further rows, which the other methods do not see, and selects columns "
            "above two standard errors of its shuffles. The F test selects at a false discovery "
            "rate of 5 %.\n\n" + table(header, cells, left=2)
        )


class Stability(Suite):
    """Importances and selections of random halves of sets with noise columns."""

    name = "quality-stability"
    title = "Stability of the weights"
    is_timed = False
    needs_folder = True
    seconds = 60.0

    def cases(self, quick: bool) -> list[Task]:
        sets, halves = (QUICK_SETS[:1], 2) if quick else (_HALVES, len(SEEDS["report"]))
        return [{"dataset": name, "halves": halves} for name in sets]

    def measure(self, case: Task, effort: Effort) -> Row:
        name, seeds = case["dataset"], SEEDS["report"][: case["halves"]]
        y = read(name).y
        rows = np.arange(len(y))
        noisy = whole(name, "doubled", seeds[0], rows)  # the same noise in all halves
        judged: dict[str, list[Judgement]] = {}
        for seed in seeds:
            halves = train_test_split(rows, test_size=0.5, stratify=y, random_state=seed)
            split = Round.of(noisy, *halves)
            with quiet():
                for method, (_, judge) in JUDGES.items():
                    judged.setdefault(method, []).append(judge(split, seed, effort.quick))
        found = {method: agreement(own) for method, own in judged.items()}
        return {"n": len(split.X), "p": split.X.shape[1], "found": found}

    def section(self, results: Results) -> str:
        cells = [
            [
                f"{row['dataset']} + noise", JUDGES[method][0], row["n"], row["p"],
                f"{found['spearman']:.2f}", f"{found['jaccard']:.2f}", f"{found['selected']:.1f}",
                f"{100 * found['noise']:.0f} %",
            ]
            for row in results.rows
            for method, found in row["found"].items()
        ]  # fmt: skip
        header = ["set", "method", "n", "p", "Spearman", "Jaccard", "selected", "of them noise"]
        return (
            f"{results.rows[0]['halves']} random halves of sets with as many noise columns, which "
            "are the same in all halves: the mean over pairs of halves of Spearman's correlation "
            "of the importances and of the Jaccard index of the selections, the mean number of "
            "selected columns, and the share of noise among them. The forest's importances are "
            "measured on the other half.\n\n" + table(header, cells, left=2)
        )


def agreement(judged: list[Judgement]) -> dict[str, float]:
    """Return how similar the judgements are, and the share of noise in the selected columns.

    The second half of the columns is noise. Two empty selections are equal.
    """
    pairs = combinations([scores for scores, _ in judged], 2)
    selected = [chosen for _, chosen in judged]
    half, total = len(selected[0]) // 2, sum(int(chosen.sum()) for chosen in selected)
    unions = [(int((a & b).sum()), int((a | b).sum())) for a, b in combinations(selected, 2)]
    return {
        "spearman": rounded(fmean(_rank_correlation(a, b) for a, b in pairs)),
        "jaccard": rounded(fmean(both / either if either else 1.0 for both, either in unions)),
        "selected": rounded(total / len(selected)),
        "noise": rounded(sum(int(c[half:].sum()) for c in selected) / total) if total else 0.0,
    }


def _rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Return Spearman's correlation, 0 if all scores of one are equal."""
    return 0.0 if min(np.ptp(a), np.ptp(b)) == 0 else float(spearmanr(a, b).statistic)
