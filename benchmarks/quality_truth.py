"""Whether importances are true and stable: known problems, and halves of noisy sets."""

from collections.abc import Callable, Iterator
from itertools import combinations
from statistics import fmean

import numpy as np

from .measure import rounded
from .quality_contenders import CONTENDERS, Setting, missing
from .quality_data import generator, read, whole
from .quality_names import ENSEMBLE, FOREST, QUICK_SETS, SINGLE
from .quality_run import quiet
from .rounds import Round

N, P = 300, 30  # training rows and columns; as many rows are held out
_HALVES = ("sonar", "wdbc")
_BALL = 2.366  # the median of the squared distance of three standard normal inputs from 0

Problem = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, int]]
Judgement = tuple[np.ndarray, np.ndarray]  # scores, and what is selected
Method = Callable[[Round, int, bool], Judgement]


def _linear(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    noise = 0.5 * rng.normal(size=len(X))
    return X[:, :5] @ np.array([1.0, -1.0, 1.0, -1.0, 1.0]) + noise > 0, 5


def _radial(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    return (X[:, :3] ** 2).sum(axis=1) < _BALL, 3


def _xor(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    return X[:, 0] * X[:, 1] > 0, 2


def _groups(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Three factors, each seen by three columns; writes the columns into X."""
    factors = rng.normal(size=(len(X), 3))
    X[:, :9] = np.repeat(factors, 3, axis=1) + 0.5 * X[:, :9]
    return factors @ np.array([1.0, -1.0, 1.0]) + 0.5 * rng.normal(size=len(X)) > 0, 9


PROBLEMS: dict[str, Problem] = {
    "linear": _linear, "radial": _radial, "XOR": _xor, "correlated groups": _groups,
}  # fmt: skip


def problem(name: str, seed: int) -> tuple[Round, np.ndarray]:
    """Return training rows, as many held-out rows, and which columns are relevant."""
    from .data import Table

    rng = generator(seed, name)
    X = rng.normal(size=(2 * N, P))
    y, relevant = PROBLEMS[name](X, rng)
    rows = np.arange(2 * N)
    one = Round.of(Table(X, y.astype(int)), rows[:N], rows[N:])
    return one, np.arange(P) < relevant


def _relevance(name: str) -> Method:
    def judge(one: Round, seed: int, quick: bool) -> Judgement:
        model = CONTENDERS[name].make(Setting(one.X.shape[1], seed, quick)).fit(one.X, one.y)
        return model.feature_importances_, model.selected_features_

    return judge


def _permutation(one: Round, seed: int, quick: bool) -> Judgement:
    """Shuffle columns of the held-out rows; selected is what costs more than two errors of that."""
    from sklearn.inspection import permutation_importance

    model = CONTENDERS[FOREST].make(Setting(one.X.shape[1], seed, quick)).fit(one.X, one.y)
    repeats = 2 if quick else 10
    found = permutation_importance(
        model, one.X_test, one.y_test, n_repeats=repeats, random_state=seed
    )
    error = found.importances.std(axis=1, ddof=1) / np.sqrt(repeats)
    return found.importances_mean, found.importances_mean > 2 * error


def _univariate(one: Round, seed: int, quick: bool) -> Judgement:
    from sklearn.feature_selection import SelectFdr

    model = SelectFdr(alpha=0.05).fit(one.X, one.y)
    return np.nan_to_num(model.scores_), model.get_support()


METHODS: dict[str, Method] = {
    SINGLE: _relevance(SINGLE),
    ENSEMBLE: _relevance(ENSEMBLE),
    "permutation": _permutation,
    "F": _univariate,
}


def _methods() -> dict[str, Method]:
    absent = missing()
    return {name: method for name, method in METHODS.items() if name not in absent}


def truth(seeds: tuple[int, ...], quick: bool) -> Iterator[dict]:
    """Compare scores and selections with what is relevant."""
    for name in list(PROBLEMS)[: 1 if quick else None]:
        found: dict[str, dict[str, list]] = {}
        for seed in seeds:
            one, relevant = problem(name, seed)
            for method, judge in _methods().items():
                with quiet():
                    scores, selected = judge(one, seed, quick)
                for key, number in compared(scores, selected, relevant).items():
                    found.setdefault(method, {}).setdefault(key, []).append(number)
        case = {"problem": name, "n": N, "p": P, "relevant": int(relevant.sum())}
        yield {"case": case, "found": found}


def compared(
    scores: np.ndarray, selected: np.ndarray, relevant: np.ndarray
) -> dict[str, float | None]:
    """Return precision, None where nothing is selected, recall and the area under the curve."""
    from sklearn.metrics import roc_auc_score

    hits, count = int((selected & relevant).sum()), int(selected.sum())
    return {
        "precision": rounded(hits / count) if count else None,
        "recall": rounded(hits / int(relevant.sum())),
        "auc": rounded(float(roc_auc_score(relevant, scores))),
    }


def stability(seeds: tuple[int, ...], quick: bool) -> Iterator[dict]:
    """Compare the importances and selections of random halves of sets with noise columns."""
    from sklearn.model_selection import train_test_split

    for name in QUICK_SETS[:1] if quick else _HALVES:
        y = read(name).y
        rows = np.arange(len(y))
        table = whole(name, "doubled", seeds[0], rows)  # the same noise in all halves
        judged: dict[str, list[Judgement]] = {}
        for seed in seeds:
            halves = train_test_split(rows, test_size=0.5, stratify=y, random_state=seed)
            one = Round.of(table, *halves)
            for method, judge in _methods().items():
                with quiet():
                    judged.setdefault(method, []).append(judge(one, seed, quick))
        case = {"set": name, "n": len(one.X), "p": one.X.shape[1], "halves": len(seeds)}
        yield {"case": case, "found": {key: agreement(found) for key, found in judged.items()}}


def agreement(judged: list[Judgement]) -> dict[str, float]:
    """Return how alike the judgements are, and what part of the selected columns is noise.

    The second half of the columns is noise. Two empty selections are alike.
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
    """Return Spearman's correlation, 0 where all scores of one are equal."""
    from scipy.stats import spearmanr

    return 0.0 if min(np.ptp(a), np.ptp(b)) == 0 else float(spearmanr(a, b).statistic)
