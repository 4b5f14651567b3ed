"""The methods that are compared on tables: ours first, then their peers.

A method is a label, a function that makes its model, and the view of a split that it gets: most
peers cannot take categories or gaps, which are encoded for them, untimed. A new one needs an entry
here and in the splits of a suite.
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

from .generated import without_noise
from .tables import Split, categories, one_hot

_MAX_BINS = 254  # levels of a category that HistGradientBoosting takes
_FOLDS = 5
_PATIENCE, _MAX_ROUNDS = 50, 1000  # rounds of boosting with early stopping
_HELD_OUT = 0.15  # share of the training rows that early stopping looks at


@dataclass(frozen=True)
class Predictions:
    """Predictions for the test rows, CPU times, and the model.

    `scores` has one column per class, or is of class 1, and is None for a regressor.
    """

    predicted: np.ndarray
    scores: np.ndarray | None
    probabilities: np.ndarray | None
    fit_seconds: float
    predict_seconds: float
    model: Any


@dataclass(frozen=True)
class Setting:
    """Seed of a method, whether to be quick, and whether classes count equally."""

    seed: int = 0
    quick: bool = False
    balanced: bool = False

    @property
    def class_weight(self) -> str | None:
        return "balanced" if self.balanced else None

    def steps(self, full: int) -> int:
        """Return the number of trees or rounds."""
        return 5 if self.quick else full


@dataclass(frozen=True)
class Method:
    """A label for the tables, a function of the setting and the categories, and a view."""

    label: str
    make: Callable[[Setting, list[str]], Any]
    view: Callable[[Split], Split] = lambda split: split

    def run(self, split: Split, setting: Setting) -> Predictions:
        """Fit to the training rows and predict the test rows."""
        words = categories(split.X)
        view, model = self.view(split), self.make(setting, words)
        if isinstance(model, _RecursiveFeatureMachine):
            return _process_with_torch().submit(_without_model, model, view).result()
        return fit_and_predict(model, view)


def fit_and_predict(model: Any, split: Split) -> Predictions:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        model.fit(split.X, split.y)
        middle = time.process_time()
        predicted = np.asarray(model.predict(split.X_test)).ravel()
        end = time.process_time()
        probabilities = scores = None
        if hasattr(model, "predict_proba"):
            scores = probabilities = np.asarray(model.predict_proba(split.X_test))
        elif hasattr(model, "decision_function"):
            scores = np.asarray(model.decision_function(split.X_test))
    return Predictions(predicted, scores, probabilities, middle - begin, end - middle, model)


def _without_model(model: Any, split: Split) -> Predictions:
    """Fit and predict, and leave the model, which may not travel, in this process."""
    return replace(fit_and_predict(model, split), model=None)


# Views of a split


def renamed(split: Split) -> Split:
    """Return the split with plain column names: LightGBM and XGBoost refuse some characters."""
    names = [f"c{k}" for k in range(split.X.shape[1])]
    return replace(
        split, X=split.X.set_axis(names, axis=1), X_test=split.X_test.set_axis(names, axis=1)
    )


def as_text(split: Split) -> Split:
    """Return the split with categories as text, without gaps, as CatBoost takes them."""
    words = categories(split.X)

    def text(X: Any) -> Any:
        return X.assign(**{name: X[name].astype("object").fillna("missing") for name in words})

    return replace(split, X=text(split.X), X_test=text(split.X_test))


def few_levels(split: Split) -> Split:
    """Return the split with the frequent levels of long categories only; the others are gaps."""
    X, X_test = split.X.copy(), split.X_test.copy()
    for name in categories(X):
        frequent = X[name].value_counts().index[:_MAX_BINS].tolist()
        X[name] = X[name].cat.set_categories(frequent)
        X_test[name] = X_test[name].cat.set_categories(frequent)
    return replace(split, X=X, X_test=X_test)


# Classifiers


def _relevance_svc(setting: Setting, words: list[str]) -> Any:
    from kernelwise import RelevanceSVC

    return RelevanceSVC(class_weight=setting.class_weight, verbose=False, random_state=setting.seed)


def _lightgbm(setting: Setting, words: list[str], **parameters: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        **{"n_estimators": setting.steps(100)} | parameters,
        n_jobs=1, verbose=-1, random_state=setting.seed, class_weight=setting.class_weight,
    )  # fmt: skip


@dataclass
class _Stopped:
    """LightGBM with small steps, as many as rows held out ask for, then fitted to all rows."""

    setting: Setting
    words: list[str]

    def fit(self, X: Any, y: np.ndarray) -> _Stopped:
        from lightgbm import early_stopping
        from sklearn.model_selection import train_test_split

        small = {"num_leaves": 15, "learning_rate": 0.05}
        rounds = self.setting.steps(_MAX_ROUNDS)
        fitted, held = train_test_split(
            np.arange(len(y)), test_size=_HELD_OUT, stratify=y, random_state=self.setting.seed
        )
        first = _lightgbm(self.setting, self.words, n_estimators=rounds, **small)
        first.fit(
            X.iloc[fitted], y[fitted], eval_set=[(X.iloc[held], y[held])],
            callbacks=[early_stopping(_PATIENCE, verbose=False)],
        )  # fmt: skip
        steps = first.best_iteration_ or rounds
        self.model_ = _lightgbm(self.setting, self.words, n_estimators=steps, **small).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)


def _xgboost(setting: Setting, words: list[str]) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=setting.steps(100), n_jobs=1, random_state=setting.seed,
        enable_categorical=True, tree_method="hist",
    )  # fmt: skip


def _catboost(setting: Setting, words: list[str]) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=5 if setting.quick else None, thread_count=1, verbose=False,
        random_seed=setting.seed, allow_writing_files=False, cat_features=words,
        auto_class_weights="Balanced" if setting.balanced else None,
    )  # fmt: skip


def _histogram(setting: Setting, words: list[str]) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=setting.steps(100), random_state=setting.seed,
        class_weight=setting.class_weight, categorical_features="from_dtype",
    )  # fmt: skip


def _forest(setting: Setting, words: list[str]) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        setting.steps(300), random_state=setting.seed, class_weight=setting.class_weight
    )


def _balanced_forest(setting: Setting, words: list[str]) -> Any:
    from imblearn.ensemble import BalancedRandomForestClassifier

    return BalancedRandomForestClassifier(
        setting.steps(300), random_state=setting.seed, sampling_strategy="all", replacement=True,
        bootstrap=False,
    )  # fmt: skip


def _logistic(setting: Setting, words: list[str]) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, class_weight=setting.class_weight)


def _svc_grid(setting: Setting, words: list[str]) -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    costs, widths = ((1.0,), (-1.0,)) if setting.quick else ((0.1, 1, 10, 100, 1000), range(-4, 1))
    grid = {"C": list(costs), "gamma": [10.0**power for power in widths]}
    return GridSearchCV(
        SVC(class_weight=setting.class_weight), grid, cv=_FOLDS,
        scoring="balanced_accuracy" if setting.balanced else "accuracy",
    )  # fmt: skip


class _RecursiveFeatureMachine:
    """xRFM at its defaults, with a fifth of the training rows to tune on, as it asks for."""

    def __init__(self, setting: Setting, words: list[str]) -> None:
        self._seed = setting.seed

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


@cache
def _process_with_torch() -> ProcessPoolExecutor:
    """Return a process for xRFM: once torch is loaded, LightGBM fails to read its own models."""
    # The package is loaded before the first fit, which is not charged for it.
    return ProcessPoolExecutor(
        1, get_context("spawn"), initializer=import_module, initargs=("xrfm",)
    )


# Regressors


def _relevance_svr(setting: Setting, words: list[str]) -> Any:
    from kernelwise import RelevanceSVR

    return RelevanceSVR(verbose=False, random_state=setting.seed)


def _lightgbm_numbers(setting: Setting, words: list[str]) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(
        n_estimators=setting.steps(100), n_jobs=1, verbose=-1, random_state=setting.seed
    )


def _catboost_numbers(setting: Setting, words: list[str]) -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(
        iterations=5 if setting.quick else None, thread_count=1, verbose=False,
        random_seed=setting.seed, allow_writing_files=False, cat_features=words,
    )  # fmt: skip


def _histogram_numbers(setting: Setting, words: list[str]) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=setting.steps(100), random_state=setting.seed, categorical_features="from_dtype"
    )


def _forest_numbers(setting: Setting, words: list[str]) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(setting.steps(300), random_state=setting.seed)


def _ridge(setting: Setting, words: list[str]) -> Any:
    from sklearn.linear_model import RidgeCV

    return RidgeCV(np.logspace(-3, 3, 13))


OURS, ORACLE = "relevance", "oracle"
CLASSIFIERS: dict[str, Method] = {
    OURS: Method("`RelevanceSVC()`", _relevance_svc),
    ORACLE: Method("the same, given the right columns", _relevance_svc, without_noise),
    "catboost": Method("CatBoost", _catboost, as_text),
    "lightgbm": Method("LightGBM", _lightgbm, renamed),
    "lightgbm_stopped": Method("LightGBM, early stopping", _Stopped, renamed),
    "xgboost": Method("XGBoost", _xgboost, renamed),
    "histogram": Method("`HistGradientBoostingClassifier`", _histogram, few_levels),
    "forest": Method("`RandomForestClassifier(300)`", _forest, one_hot),
    "balanced_forest": Method(
        "`BalancedRandomForestClassifier(300)`", _balanced_forest, one_hot
    ),
    "logistic": Method("`LogisticRegression`", _logistic, one_hot),
    "svc_grid": Method("`GridSearchCV(SVC)` of 25 points", _svc_grid, one_hot),
    "xrfm": Method("xRFM", _RecursiveFeatureMachine, one_hot),
}  # fmt: skip
REGRESSORS: dict[str, Method] = {
    OURS: Method("`RelevanceSVR()`", _relevance_svr),
    "catboost": Method("CatBoost", _catboost_numbers, as_text),
    "lightgbm": Method("LightGBM", _lightgbm_numbers, renamed),
    "histogram": Method("`HistGradientBoostingRegressor`", _histogram_numbers, few_levels),
    "forest": Method("`RandomForestRegressor(300)`", _forest_numbers, one_hot),
    "ridge": Method("`RidgeCV`", _ridge, one_hot),
}
