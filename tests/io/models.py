"""Every estimator and transformer of the package, in small: what the exports are tested with."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelwise import (
    SVC,
    SVR,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    EmpiricalKernelMap,
    FeatureDiscriminationScaler,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RelevanceSelector,
    RelevanceSVC,
    RelevanceSVR,
    SVCSearchCV,
    SVRSearchCV,
)
from kernelwise.app.tabular import TableEncoder
from kernelwise.criteria import RadiusMargin
from kernelwise.kernels import (
    RBF,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Normalized,
    Polynomial,
    Ridge,
    Sigmoid,
)
from kernelwise.transform import GeodesicNeighborFeatures, TopicFeatures

WEIGHTS = np.array([0.5, 2.0, 0.0, 1.3, 0.2])
NAMES = np.array(["setosa", "versicolor", "virginica"])

KERNELS = {
    "linear": Linear(0.3, WEIGHTS),
    "poly": Polynomial(0.1, WEIGHTS, degree=3, coef0=1.0),
    "poly-negative": Polynomial(0.3, degree=3, coef0=-0.7),
    "poly-0": Polynomial(degree=0, coef0=0.5),
    "rbf": RBF(0.2, WEIGHTS),
    "rbf-flat": RBF(0.0),
    "sigmoid": Sigmoid(0.05, WEIGHTS, coef0=-0.3),
    "laplacian": Laplacian(0.3, WEIGHTS),
    "laplacian-flat": Laplacian(0.3, np.zeros(5)),
    "matern32": Matern32(0.2, WEIGHTS),
    "matern52": Matern52(0.2, WEIGHTS),
    "sum": RBF(0.2) + 0.3 * Linear(weights=WEIGHTS),
    "product": RBF(0.2) * Laplacian(0.1),
    "ridge": RBF(0.2) + Ridge(0.5),
    "normalized": Normalized(Polynomial(degree=2, coef0=1.0)),
    "normalized-sum": Normalized(0.5 * Linear(weights=WEIGHTS) + Ridge(0.5) + Matern32()),
    "normalized-product": Normalized(Sigmoid(0.01, coef0=0.2) * Laplacian()),
    "normalized-twice": Normalized(Normalized(Linear())),
}

CLASSIFIERS = {
    "SVC": SVC(),
    "SVC-weights": SVC(feature_weights=WEIGHTS, class_weight={"setosa": 2.0, "versicolor": 1.5}),
    "SVC-ovo": SVC(decision_function_shape="ovo"),
    "SVC-ties": SVC(kernel="laplacian", break_ties=True, C=100.0),
    "SVC-balanced": SVC(class_weight="balanced", random_state=np.random.RandomState(0)),
    "SVC-calibrated": SVC(calibration="halves", class_weight="balanced"),
    "SVC-calibrated-ovo": SVC(calibration="loo", decision_function_shape="ovo"),
    "NuSVC": NuSVC(nu=0.2, feature_weights=WEIGHTS),
    "NuSVC-calibrated": NuSVC(kernel="linear", calibration="loo"),
    "AdaptiveKernelSVC": AdaptiveKernelSVC(widths=3, warm_start=True),
    "AdaptiveKernelSVC-hard": AdaptiveKernelSVC(widths=2, criterion="bound", kernel="rbf", C=10.0),
    "DualObjectiveSVC": DualObjectiveSVC(max_iter=3, warm_start=True),
    "DualObjectiveSVC-per_class": DualObjectiveSVC(max_iter=3, weights="per_class"),
    "DualObjectiveSVC-criterion": DualObjectiveSVC(max_iter=2, criterion=RadiusMargin()),
    "RelevanceSVC": RelevanceSVC(),
    "RelevanceSVC-members": RelevanceSVC(effort=2, categorical_features=[3], max_features=3),
    "MarginRadiusSVC": MarginRadiusSVC(warm_start=True),
    "MarginRadiusSVC-calibrated": MarginRadiusSVC(calibration="halves"),
    "MarginRadiusSVC-degree": MarginRadiusSVC(degree=3, unit_norm=True),
    "MarginRadiusSVC-kernel": MarginRadiusSVC(kernel="rbf"),
    "FeatureDiscriminationSVC": FeatureDiscriminationSVC(kernel="linear", eta=2.0),
    "FeatureDiscriminationSVC-shared": FeatureDiscriminationSVC(
        kernel="linear", importance_per="shared", eta=4.0, decision_function_shape="ovo"
    ),
    "FeatureDiscriminationSVC-map": FeatureDiscriminationSVC(
        space="components", eta=1.0, n_components=8, importance_per="shared"
    ),
    "FeatureDiscriminationSVC-cv": FeatureDiscriminationSVC(
        kernel="linear", etas=[0, 1], costs=[1, 10], cv=StratifiedKFold(2)
    ),
    "GeneralizedBiasSVC": GeneralizedBiasSVC([1, 4], warm_start=True),
    "GeneralizedBiasSVC-excluded": GeneralizedBiasSVC(
        [0], exclude_bias_from_kernel=True, multi_class="ovr"
    ),
    "GeneralizedBiasSVC-transformer": GeneralizedBiasSVC(
        EmpiricalKernelMap(n_components=2, gamma=1.0), bias_penalty=0.1
    ),
    "GeneralizedBiasSVC-plain": GeneralizedBiasSVC(multi_class="ovr"),
    "SVCSearchCV": SVCSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=2),
    "SVCSearchCV-scorers": SVCSearchCV(
        SVC(), {"C": [1.0, 10.0]}, cv=2, scoring=["accuracy", "f1_macro"], refit="f1_macro"
    ),
}

REGRESSORS = {
    "RelevanceSVR": RelevanceSVR(),
    "RelevanceSVR-members": RelevanceSVR(effort=2, random_state=3),
    "SVR": SVR(epsilon=0.05, calibration="loo", warm_start=True),
    "SVR-weights": SVR(kernel="poly", gamma=[0.1, 0.2, 0.3, 0.0], coef0=1.0),
    "SVR-several": SVR(kernel="linear", C=10.0),
    "NuSVR": NuSVR(nu=0.3, C=5.0),
    "SVRSearchCV": SVRSearchCV(SVR(), {"C": [1.0, 10.0]}, cv=2),
    "NuSVR-several": NuSVR(calibration="loo"),
}

DETECTORS = {
    "OneClassSVM": OneClassSVM(nu=0.2, feature_weights=WEIGHTS, warm_start=True),
    "OneClassSVM-calibrated": OneClassSVM(nu=0.1, calibration="loo"),
}

TRANSFORMERS = {
    "EmpiricalKernelMap": EmpiricalKernelMap(n_components=7),
    "FeatureDiscriminationScaler": FeatureDiscriminationScaler(eta=2.0),
    "RelevanceSelector": RelevanceSelector(max_features=3),
    "TopicFeatures": TopicFeatures(2, random_state=0, tol=1e-2),
    "GeodesicNeighborFeatures": GeodesicNeighborFeatures(),
}


def with_nan(X):
    X = X.copy()
    X[::7, 2] = np.nan
    return X


@cache
def table(n_classes=3):
    """Return rows of five columns, one of them noise, and classes of names."""
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(150, 1))])[::2]
    y = NAMES[y][::2] if n_classes == 3 else NAMES[(y > 1).astype(int)][::2]
    X.flags.writeable = False
    return X, y


def new_rows():
    """Return rows that no model was fitted to."""
    X, _ = table()
    return X + np.random.default_rng(1).normal(size=X.shape)


@cache
def classifier(name, n_classes=3):
    """Return a classifier of the list, fitted."""
    return clone(CLASSIFIERS[name]).fit(*table(n_classes))


@cache
def regressor(name):
    """Return a regressor of the list, fitted to one column by the others, or to two."""
    X, _ = table()
    y = X[:, :2] if name.endswith("several") else X[:, 0]
    return clone(REGRESSORS[name]).fit(rows_of(name, X[:, 1:]), y)


def rows_of(name, X):
    """Return rows that a regressor of the list can read: some read gaps."""
    return with_nan(X) if name.startswith("Relevance") else X


@cache
def detector(name):
    """Return an outlier detector of the list, fitted."""
    return clone(DETECTORS[name]).fit(table()[0])


@cache
def with_kernel(name, n_classes=3):
    return SVC(kernel=KERNELS[name]).fit(*table(n_classes))


@cache
def transformer(name):
    X, y = table()
    return TRANSFORMERS[name].fit(np.abs(X), y)


def frame():
    """Return a table of numbers with gaps and of texts."""
    X, _ = table()
    rows = pd.DataFrame(with_nan(X), columns=["a", "b", "c", "d", "e"])
    rng = np.random.default_rng(2)
    rows["colour"] = np.array(["red", "green", "blue"], dtype=object)[rng.integers(3, size=len(X))]
    rows["size"] = np.array(["S", "L"], dtype=object)[rng.integers(2, size=len(X))]
    return rows


def columns_and_svc():
    """Return a pipeline from named columns of numbers and texts."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    encoder = OneHotEncoder(sparse_output=False)
    return make_pipeline(
        ColumnTransformer([("n", numbers, list("abcde")), ("t", encoder, ["colour", "size"])]),
        SVC(),
    )


@cache
def composed(name):
    """Return an object of scikit-learn that holds ours, fitted, and its rows."""
    X, y = table()
    numbers = make_column_selector(dtype_include="number")
    made = {
        "pipeline": (make_pipeline(StandardScaler(), SVC()), X),
        "columns": (columns_and_svc(), frame()),
        "selector": (
            make_pipeline(
                ColumnTransformer([("n", SimpleImputer(), numbers)], remainder="drop"), SVC()
            ),
            frame(),
        ),
        "calibrated": (CalibratedClassifierCV(SVC(), cv=2), X),
        "isotonic": (CalibratedClassifierCV(SVC(), cv=2, method="isotonic"), X),
        "ours": (
            make_pipeline(
                StandardScaler(),
                TRANSFORMERS["RelevanceSelector"],
                EmpiricalKernelMap(n_components=5),
                MarginRadiusSVC(),
            ),
            X,
        ),
        "grid": (GridSearchCV(SVC(), {"C": [1.0, 9.0]}, cv=2, scoring="balanced_accuracy"), X),
        "table": (make_pipeline(TableEncoder(), SVC()), frame()),
    }
    model, rows = made[name]
    return model.fit(rows, y), rows


COMPOSED = ["pipeline", "columns", "selector", "calibrated", "isotonic", "ours", "grid", "table"]
