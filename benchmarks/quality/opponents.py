"""The methods that are compared on tables: ours, today's, and their peers with native categories.

Each takes a split of data frames and returns predictions, scores and probabilities of the test rows
with CPU times. What a method cannot take as it is (categories, gaps) is encoded for it, untimed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import numpy as np

from .tables import Split, one_hot
from .tables.splits import categories

_MOST_BINS = 254  # levels of a category that HistGradientBoosting takes
_FOLDS = 5
_PATIENCE, _MOST_ROUNDS = 50, 1000  # rounds of boosting with early stopping
_HELD_BACK = 0.15  # share of the training rows that early stopping looks at


@dataclass(frozen=True)
class Judged:
    """What a method says of the test rows; `scores` has one column per class, or is of class 1."""

    predicted: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True)
class Setting:
    """Seed of a method, whether to be quick, and whether classes count equally."""

    seed: int = 0
    quick: bool = False
    balanced: bool = False

    @property
    def class_weight(self) -> str | None:
        return "balanced" if self.balanced else None


@dataclass(frozen=True)
class Opponent:
    """A label for the tables, and a function that fits and predicts."""

    label: str
    judge: Callable[[Split, Setting], Judged]


def run(model: Any, split: Split, **arguments: Any) -> Judged:
    """Fit a classifier with scikit-learn's interface, and let it predict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        model.fit(split.X, split.y, **arguments)
        middle = time.process_time()
        predicted = np.asarray(model.predict(split.X_test)).ravel()
        end = time.process_time()
        has_probabilities = hasattr(model, "predict_proba")
        probabilities = np.asarray(model.predict_proba(split.X_test)) if has_probabilities else None
        scores = model.decision_function(split.X_test) if probabilities is None else probabilities
    return Judged(predicted, np.asarray(scores), probabilities, middle - begin, end - middle)


def _relevance(split: Split, setting: Setting) -> Judged:
    from kernelwise import RelevanceSVC

    return run(RelevanceSVC(class_weight=setting.class_weight), split)


def _today(split: Split, setting: Setting) -> Judged:
    return _by_worker(split, setting, calibrated=False)


def _today_calibrated(split: Split, setting: Setting) -> Judged:
    return _by_worker(split, setting, calibrated=True)


def _by_worker(split: Split, setting: Setting, *, calibrated: bool) -> Judged:
    from .today import worker

    found = worker().fit(one_hot(split), calibrated=calibrated, class_weight=setting.class_weight)
    return Judged(
        found["predicted"], found["scores"], found["scores"] if calibrated else None,
        found["fit_seconds"], found["predict_seconds"],
    )  # fmt: skip


def _lightgbm(split: Split, setting: Setting) -> Judged:
    return run(_boosted(setting), _renamed(split))


def _boosted(setting: Setting, **parameters: Any) -> Any:
    from lightgbm import LGBMClassifier

    settings: dict[str, Any] = {"n_estimators": 5 if setting.quick else 100} | parameters
    return LGBMClassifier(
        n_jobs=1, verbose=-1, random_state=setting.seed, class_weight=setting.class_weight,
        **settings,
    )  # fmt: skip


@dataclass
class _Stopped:
    """LightGBM with small steps, as many as rows held back ask for, then fitted to all rows."""

    setting: Setting

    def fit(self, X: Any, y: np.ndarray) -> _Stopped:
        from lightgbm import early_stopping
        from sklearn.model_selection import train_test_split

        small = {"num_leaves": 15, "learning_rate": 0.05}
        rounds = 5 if self.setting.quick else _MOST_ROUNDS
        fitted, held = train_test_split(
            np.arange(len(y)), test_size=_HELD_BACK, stratify=y, random_state=self.setting.seed
        )
        first = _boosted(self.setting, n_estimators=rounds, **small)
        first.fit(
            X.iloc[fitted], y[fitted], eval_set=[(X.iloc[held], y[held])],
            callbacks=[early_stopping(_PATIENCE, verbose=False)],
        )  # fmt: skip
        steps = first.best_iteration_ or rounds
        self.model_ = _boosted(self.setting, n_estimators=steps, **small).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)


def _lightgbm_stopped(split: Split, setting: Setting) -> Judged:
    return run(_Stopped(setting), _renamed(split))


def _renamed(split: Split) -> Split:
    """Return the split with plain column names: LightGBM and XGBoost refuse some characters."""
    names = [f"c{k}" for k in range(split.X.shape[1])]
    return replace(
        split, X=split.X.set_axis(names, axis=1), X_test=split.X_test.set_axis(names, axis=1)
    )


def _xgboost(split: Split, setting: Setting) -> Judged:
    from xgboost import XGBClassifier

    model = XGBClassifier(
        n_estimators=5 if setting.quick else 100, n_jobs=1, random_state=setting.seed,
        enable_categorical=True, tree_method="hist",
    )  # fmt: skip
    return run(model, _renamed(split))


def _catboost(split: Split, setting: Setting) -> Judged:
    from catboost import CatBoostClassifier

    words = categories(split.X)
    model = CatBoostClassifier(
        iterations=5 if setting.quick else None, thread_count=1, verbose=False,
        random_seed=setting.seed, allow_writing_files=False, cat_features=words,
        auto_class_weights="Balanced" if setting.balanced else None,
    )  # fmt: skip
    return run(model, replace(split, X=_text(split.X, words), X_test=_text(split.X_test, words)))


def _text(X: Any, words: list[str]) -> Any:
    """Return categories as text: CatBoost takes no missing ones."""
    return X.assign(**{name: X[name].astype("object").fillna("missing") for name in words})


def _histogram(split: Split, setting: Setting) -> Judged:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=5 if setting.quick else 100, random_state=setting.seed,
        class_weight=setting.class_weight, categorical_features="from_dtype",
    )  # fmt: skip
    return run(model, _few_levels(split))


def _few_levels(split: Split) -> Split:
    """Return the split with the frequent levels of long categories only; the others are gaps."""
    X, X_test = split.X.copy(), split.X_test.copy()
    for name in categories(X):
        frequent = X[name].value_counts().index[:_MOST_BINS].tolist()
        X[name] = X[name].cat.set_categories(frequent)
        X_test[name] = X_test[name].cat.set_categories(frequent)
    return replace(split, X=X, X_test=X_test)


def _forest(split: Split, setting: Setting) -> Judged:
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(
        10 if setting.quick else 300, random_state=setting.seed, class_weight=setting.class_weight
    )
    return run(model, one_hot(split))


def _balanced_forest(split: Split, setting: Setting) -> Judged:
    from imblearn.ensemble import BalancedRandomForestClassifier

    model = BalancedRandomForestClassifier(
        10 if setting.quick else 300, random_state=setting.seed, sampling_strategy="all",
        replacement=True, bootstrap=False,
    )  # fmt: skip
    return run(model, one_hot(split))


def _logistic(split: Split, setting: Setting) -> Judged:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000, class_weight=setting.class_weight)
    return run(model, one_hot(split))


def _svc_grid(split: Split, setting: Setting) -> Judged:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    costs, widths = ((1.0,), (-1.0,)) if setting.quick else ((0.1, 1, 10, 100, 1000), range(-4, 1))
    grid = {"C": list(costs), "gamma": [10.0**power for power in widths]}
    model = GridSearchCV(
        SVC(class_weight=setting.class_weight), grid, cv=_FOLDS,
        scoring="balanced_accuracy" if setting.balanced else "accuracy",
    )  # fmt: skip
    return run(model, one_hot(split))


class _RecursiveFeatureMachine:
    """xRFM at its defaults, with a fifth of the training rows to tune on, as it asks for."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> _RecursiveFeatureMachine:
        from sklearn.model_selection import train_test_split
        from xrfm import xRFM

        X, held, y, y_held = train_test_split(
            X.astype(np.float32), y, test_size=0.2, stratify=y, random_state=self._seed
        )
        self._model = xRFM(device="cpu", random_state=self._seed, n_threads=1, verbose=False)
        self._model.fit(X, y, held, y_held)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._model.predict_proba(X.astype(np.float32)))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.predict_proba(X).argmax(axis=1)


def _xrfm(split: Split, setting: Setting) -> Judged:
    model = _RecursiveFeatureMachine(setting.seed)
    return _process_with_torch().submit(run, model, one_hot(split)).result()


@cache
def _process_with_torch() -> ProcessPoolExecutor:
    """Return a process for xRFM: once torch is loaded, LightGBM fails to read its own models."""
    # The package is loaded before the first fit, which is not charged for it.
    return ProcessPoolExecutor(
        1, get_context("spawn"), initializer=import_module, initargs=("xrfm",)
    )


OURS, TODAY, CALIBRATED = "relevance", "today", "today_calibrated"
OPPONENTS: dict[str, Opponent] = {
    OURS: Opponent("`RelevanceSVC()`", _relevance),
    TODAY: Opponent("version before", _today),
    CALIBRATED: Opponent("version before, `CalibratedClassifierCV`", _today_calibrated),
    "catboost": Opponent("CatBoost", _catboost),
    "lightgbm": Opponent("LightGBM", _lightgbm),
    "lightgbm_stopped": Opponent("LightGBM, early stopping", _lightgbm_stopped),
    "xgboost": Opponent("XGBoost", _xgboost),
    "histogram": Opponent("`HistGradientBoostingClassifier`", _histogram),
    "forest": Opponent("`RandomForestClassifier(300)`", _forest),
    "balanced_forest": Opponent("`BalancedRandomForestClassifier(300)`", _balanced_forest),
    "logistic": Opponent("`LogisticRegression`", _logistic),
    "svc_grid": Opponent("`GridSearchCV(SVC)` of 25 points", _svc_grid),
    "xrfm": Opponent("xRFM", _xrfm),
}
