"""The golden fits: every estimator, by the public import paths only."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from kernelwise import (
    SVC,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    EmpiricalKernelMap,
    FeatureDiscriminationScaler,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    GeodesicNeighborFeatures,
    MarginRadiusSVC,
    RelevanceSelector,
    RelevanceSVC,
    SVCSearchCV,
    TopicFeatures,
)
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
from kernelwise.tabular import TableEncoder

NAMED = ["linear", "poly", "rbf", "sigmoid", "laplacian", "matern32", "matern52"]
DEFINITE = ["linear", "poly", "rbf", "laplacian", "matern32", "matern52"]
COSTS = [0.1, 1.0, 10.0, 100.0]
GAMMAS = [0.01, 0.1, 1.0]


@dataclass(frozen=True)
class Case:
    """One fit: an unfitted estimator, the name of its table, and how it is fitted."""

    model: Any
    table: str
    weighted: bool = False  # whether the table's sample weights are given
    first: dict[str, Any] | None = None  # parameters of an earlier fit to a part of the rows
    events: bool = False  # whether the calls of a callback are counted
    also: tuple[str, ...] = field(default=())  # "to_sklearn", "bounds_of"


CASES: dict[str, Case] = {}


def add(name, model, *tables, **how):
    """Register a fit of a model to each of the tables."""
    for table in tables:
        full = f"{type(model).__name__}/{name}/{table}"
        if full in CASES:
            raise ValueError(f"two cases are called {full!r}.")
        CASES[full] = Case(model, table, **how)


def chi(X, Z):
    """Return a kernel that the package does not know."""
    return 1.0 / (1.0 + ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def trend(X):
    """Return two bias features of rows."""
    return np.column_stack([X[:, 0], np.tanh(X[:, 1])])


def difference(X, y):
    """Return a measure of the columns that the package does not know."""
    return np.abs(X[y == y.max()].mean(axis=0) - X[y != y.max()].mean(axis=0))


def weights_of(n):
    return np.linspace(0.0, 2.0, n)


def _plain_kernels():
    for kernel in NAMED:
        coef0 = 1.0 if kernel == "poly" else 0.0
        add(kernel, SVC(kernel=kernel, coef0=coef0), "cancer", "wine", "digits")
    kernels = {
        "Linear": Linear(0.3, weights_of(6)),
        "Polynomial": Polynomial(0.1, weights_of(6), degree=2, coef0=1.0),
        "Polynomial-odd": Polynomial(0.3, degree=3, coef0=-0.7),
        "RBF": RBF(0.2, weights_of(6)),
        "Sigmoid": Sigmoid(0.05, weights_of(6), coef0=-0.3),
        "Laplacian": Laplacian(0.3, weights_of(6)),
        "Matern32": Matern32(0.2, weights_of(6)),
        "Matern52": Matern52(0.2),
        "sum": RBF(0.2) + 0.3 * Linear(weights=weights_of(6)),
        "product": RBF(0.2) * Laplacian(0.1),
        "ridge": RBF(0.2) + Ridge(0.5),
        "normalized": Normalized(0.5 * Linear() + Ridge(0.5) + Matern32()),
    }
    for name, kernel in kernels.items():
        add(f"object-{name}", SVC(kernel=kernel, C=5.0), "iris")


def _plain_options():
    for C in (0.01, 100.0, 1e6):
        add(f"C={C:g}", SVC(C=C), "noisy", "noisy3")
    for tol in (1e-6, 1e-9):
        add(f"tol={tol:g}", SVC(tol=tol, C=10.0), "noisy", "wine", "duplicates")
    add("auto", SVC(gamma="auto"), "moons", "wine_raw")
    add("gamma", SVC(gamma=0.7), "moons", "circles", "tiny", "tiny3", "constant")
    add("gammas", SVC(gamma=weights_of(6)), "iris")
    for kernel in ("rbf", "linear", "laplacian"):
        add(f"weights-{kernel}", SVC(kernel=kernel, feature_weights=weights_of(13)), "wine")
    add("balanced", SVC(class_weight="balanced"), "imbalanced", "noisy3")
    add("class_weight", SVC(class_weight={0: 0.5, 1: 4.0}), "imbalanced", "noisy")
    add("sample_weight", SVC(C=3.0), "noisy", "noisy3", "digits", weighted=True)
    add("both_weights", SVC(class_weight="balanced"), "imbalanced", "names", weighted=True)
    add("ovo", SVC(decision_function_shape="ovo"), "wine", "digits", also=("to_sklearn",))
    add("break_ties", SVC(break_ties=True, kernel="laplacian"), "names", "digits")
    add("short", SVC(max_iter=20, C=100.0), "noisy", "noisy3")
    for kernel in ("linear", "rbf", "poly"):
        add(f"sparse-{kernel}", SVC(kernel=kernel), "sparse", "sparse3")
    add("sparse-weighted", SVC(C=10.0), "sparse3", weighted=True)
    for kernel in ("linear", "rbf"):
        add(f"table-{kernel}", SVC(kernel=kernel), "wide", "wide3", "tiny", "duplicates")
    add("precomputed", SVC(kernel="precomputed"), "precomputed", "precomputed3")
    add("precomputed-weighted", SVC(kernel="precomputed"), "precomputed", weighted=True)
    add("function", SVC(kernel=chi), "moons", "tiny3", "noisy")
    add("warm-C", SVC(warm_start=True, C=10.0), "noisy", "wine", first={"C": 1.0})
    add("warm-rows", SVC(warm_start=True), "cancer", "digits", first={})
    add("warm-gamma", SVC(warm_start=True, gamma=0.1), "noisy3", first={"gamma": 0.02})
    add("two_threads", SVC(n_jobs=2), "wine", "large")
    add("large", SVC(C=2.0), "many3", "large", "digits_large")
    add("large-linear", SVC(kernel="linear"), "many3")
    add("little_cache", SVC(cache_size=0.5), "large", "digits_large")
    add("callback", SVC(tol=1e-5, C=100.0), "large", events=True)
    also = ("bounds_of", "to_sklearn")
    add("also", SVC(gamma=0.1), "noisy", "noisy3", "names", weighted=True, also=also)


def _adaptive():
    for criterion in ("span", "bound", "radius", "cv", "validation"):
        model = AdaptiveKernelSVC(criterion=criterion, widths=5)
        add(criterion, model, "separable", "wine", "noisy")
    for kernel in ("laplacian", "matern32", "matern52"):
        model = AdaptiveKernelSVC(kernel=kernel, widths=4, C=[1.0, 10.0])
        add(kernel, model, "noisy", "wine")
    add("default", AdaptiveKernelSVC(), "moons", "iris")
    costs = AdaptiveKernelSVC(kernel="linear", parameter=None, C=[0.01, 0.1, 1.0])
    add("costs-linear", costs, "wide", "wine")
    degree = AdaptiveKernelSVC(kernel="poly", parameter="degree", values=[1, 2, 3], coef0=1.0)
    add("degree", degree, "noisy", "iris")
    total = AdaptiveKernelSVC(
        kernel=RBF(0.1) + Laplacian(0.1), parameter="left__gamma", values=GAMMAS, C=[1.0, 10.0]
    )
    add("sum", total, "noisy3")
    short = {"widths": 3, "C": [1.0, 10.0]}
    add("sample_weight", AdaptiveKernelSVC(**short), "noisy", "names", weighted=True)
    cv = AdaptiveKernelSVC(criterion="cv", n_folds=3, **short)
    add("cv-weighted", cv, "noisy", "noisy3", "duplicates", weighted=True)
    add("class_weight", AdaptiveKernelSVC(class_weight="balanced", **short), "imbalanced")
    add("sparse", AdaptiveKernelSVC(**short), "sparse", "sparse3")
    add("tables", AdaptiveKernelSVC(**short), "tiny3", "duplicates", "wide", "digits", "constant")
    hard = AdaptiveKernelSVC(criterion="bound", widths=4)
    add("hard", hard, "separable", "tiny", "tiny3")
    for bias in (False, True):
        model = AdaptiveKernelSVC(solver="adatron", bias=bias, widths=3, tol=1e-2)
        add(f"adatron-{bias}", model, "separable", "tiny3")
    add("max_rows", AdaptiveKernelSVC(max_rows=100, **short), "noisy", "many3")
    add("precomputed", AdaptiveKernelSVC(kernel="precomputed", parameter=None), "precomputed")
    add("warm", AdaptiveKernelSVC(warm_start=True, **short), "noisy", first={})
    add("two_threads", AdaptiveKernelSVC(n_jobs=2, **short), "wine")
    add("large", AdaptiveKernelSVC(widths=2, C=[1.0, 10.0]), "many3", "large")
    add("callback", AdaptiveKernelSVC(**short), "noisy", events=True)
    add("also", AdaptiveKernelSVC(**short), "moons", also=("bounds_of", "to_sklearn"))


def _dual_objective():
    for kernel in DEFINITE:
        model = DualObjectiveSVC(kernel=kernel, max_iter=6, coef0=float(kernel == "poly"))
        add(kernel, model, "noisy", "iris")
    for criterion in ("radius_margin", "span", "cv", "alignment"):
        add(criterion, DualObjectiveSVC(criterion=criterion, max_iter=5), "noisy", "wine")
    for optimizer in ("projected_gradient", "exponentiated_gradient", "paper"):
        model = DualObjectiveSVC(optimizer=optimizer, max_iter=6)
        add(optimizer, model, "noisy", "iris")
    add("default", DualObjectiveSVC(), "moons", "wine")
    add("per_class", DualObjectiveSVC(weights="per_class", max_iter=5), "iris", "digits")
    add("object", DualObjectiveSVC(kernel=RBF(0.1) + 0.5 * Linear(), max_iter=5), "noisy")
    five = DualObjectiveSVC(max_iter=5, C=10.0)
    add("tables", five, "tiny", "tiny3", "duplicates", "constant", "wide", "wide3", "digits")
    add("sample_weight", five, "noisy", "names", weighted=True)
    add("balanced", DualObjectiveSVC(max_iter=5, class_weight="balanced"), "imbalanced")
    add("sparse", five, "sparse", "sparse3")
    add("warm", DualObjectiveSVC(max_iter=3, warm_start=True), "noisy", first={})
    add("two_threads", DualObjectiveSVC(max_iter=3, n_jobs=2), "wine")
    add("large", DualObjectiveSVC(max_iter=3), "many3", "large")
    add("callback", DualObjectiveSVC(max_iter=5), "noisy3", events=True)
    add("also", DualObjectiveSVC(max_iter=3), "moons", also=("bounds_of", "to_sklearn"))


def _margin_radius():
    for radius in ("product", "paper"):
        add(radius, MarginRadiusSVC(radius=radius), "cancer", "wine", "noisy3")
    add("ball", MarginRadiusSVC(radius="ball"), "separable", "tiny3")
    for p in (0.7, 1.5, 2.0):
        add(f"p={p}", MarginRadiusSVC(p=p), "noisy", "iris")
    add("degree", MarginRadiusSVC(degree=2, unit_norm=True), "separable", "iris")
    for kernel in ("rbf", "poly", "laplacian"):
        add(kernel, MarginRadiusSVC(kernel=kernel, coef0=1.0, degree=2), "moons", "tiny3")
    add("C", MarginRadiusSVC(C=100.0), "cancer_raw", "noisy", "imbalanced")
    add("sample_weight", MarginRadiusSVC(), "noisy", "names", weighted=True)
    add("balanced", MarginRadiusSVC(class_weight="balanced"), "imbalanced")
    add("tables", MarginRadiusSVC(), "tiny", "duplicates", "constant", "wide", "wide3", "digits")
    add("tol", MarginRadiusSVC(tol=1e-8), "noisy", "wine")
    add("warm", MarginRadiusSVC(warm_start=True), "noisy", first={"C": 0.1})
    add("also", MarginRadiusSVC(), "separable", also=("to_sklearn",))


def _feature_discrimination():
    for importance in ("fisher", "separation", "efficiency", "energy"):
        model = FeatureDiscriminationSVC(importance=importance, eta=3.0)
        add(importance, model, "noisy", "wine")
    given = FeatureDiscriminationSVC(importance=weights_of(20), eta=2.0)
    add("given", given, "noisy")
    add("function", FeatureDiscriminationSVC(importance=difference), "noisy", "iris")
    add("none", FeatureDiscriminationSVC(importance=None), "wine")
    for kernel in ("rbf", "poly", "laplacian"):
        for space in ("components", "inputs"):
            model = FeatureDiscriminationSVC(kernel=kernel, space=space, coef0=1.0)
            add(f"{kernel}-{space}", model, "moons", "iris")
    add("some", FeatureDiscriminationSVC(kernel="rbf", n_components=8), "noisy")
    raw = FeatureDiscriminationSVC(eta_units="raw", normalization="trace")
    add("paper", raw, "noisy", "wine")
    shared = FeatureDiscriminationSVC(importance_per="shared", eta=4.0)
    add("shared", shared, "wine", "digits", also=("to_sklearn",))
    small = {"eta": "cv", "etas": [0, 1, 4], "costs": [0.1, 1.0, 10.0]}
    add("cv", FeatureDiscriminationSVC(**small), "noisy", "wine", "duplicates")
    add("cv-weighted", FeatureDiscriminationSVC(**small), "noisy", "names", weighted=True)
    for space in ("components", "inputs"):
        model = FeatureDiscriminationSVC(kernel="rbf", space=space, widths=3, cv=3, **small)
        add(f"cv-rbf-{space}", model, "moons", "iris")
    several = FeatureDiscriminationSVC(importance=["fisher", "energy"], cv=3, **small)
    add("cv-measures", several, "noisy")
    folds = FeatureDiscriminationSVC(cv=StratifiedKFold(3), max_rows=100, **small)
    add("cv-folds", folds, "noisy3")
    add("cv-rows", FeatureDiscriminationSVC(max_rows=100, cv=3, **small), "many3")
    add("balanced", FeatureDiscriminationSVC(class_weight="balanced"), "imbalanced")
    plain = FeatureDiscriminationSVC(eta=2.0)
    add("tables", plain, "tiny", "tiny3", "constant", "wide", "wide3")
    ovo = FeatureDiscriminationSVC(decision_function_shape="ovo")
    add("ovo", ovo, "wine", "names", weighted=True)


def _generalized_bias():
    add("columns", GeneralizedBiasSVC([0, 1]), "noisy", "wine", "iris", "cancer")
    excluded = GeneralizedBiasSVC([0], exclude_bias_from_kernel=True)
    add("excluded", excluded, "noisy", "wine")
    add("plain", GeneralizedBiasSVC(), "noisy", "noisy3")
    for kernel in ("linear", "poly", "laplacian", "matern52"):
        add(kernel, GeneralizedBiasSVC([1], kernel=kernel, coef0=1.0), "moons", "iris")
    add("function", GeneralizedBiasSVC(trend), "noisy", "iris")
    add("function-kernel", GeneralizedBiasSVC(trend, kernel=chi), "moons")
    mapped = GeneralizedBiasSVC(EmpiricalKernelMap(n_components=2, gamma=0.1), bias_penalty=0.1)
    add("transformer", mapped, "noisy", "iris")
    crossed = GeneralizedBiasSVC(SelectKBest(k=2), cross_fit=True, cv=3)
    add("cross_fit", crossed, "noisy", "wine")
    add("neighbors", GeneralizedBiasSVC(GeodesicNeighborFeatures()), "moons", "wine")
    add("penalty", GeneralizedBiasSVC([0, 1], bias_penalty=0.5), "noisy", "wine")
    add("no_intercept", GeneralizedBiasSVC([0], fit_intercept=False), "noisy", "wine")
    add("ovr", GeneralizedBiasSVC([0], multi_class="ovr"), "wine", "digits")
    add("ovo", GeneralizedBiasSVC([0], decision_function_shape="ovo"), "wine")
    add("sample_weight", GeneralizedBiasSVC([0, 2]), "noisy", "names", weighted=True)
    add("balanced", GeneralizedBiasSVC([0], class_weight="balanced"), "imbalanced")
    add("tables", GeneralizedBiasSVC([0], C=10.0), "tiny", "tiny3", "duplicates", "wide")
    add("sparse", GeneralizedBiasSVC([0, 1]), "sparse", "sparse3")
    add("precomputed", GeneralizedBiasSVC(kernel="precomputed"), "precomputed")
    add("warm", GeneralizedBiasSVC([0], warm_start=True, C=5.0), "noisy", first={"C": 1.0})


def _relevance():
    add("default", RelevanceSVC(), "noisy", "wine", "moons")
    five = {"max_iter": 5}
    add("single", RelevanceSVC(ensemble=False, **five), "noisy", "wine_raw", "digits")
    add("single-rbf", RelevanceSVC(ensemble=False, kernel="rbf", **five), "noisy", "names")
    add("rbf", RelevanceSVC(kernel="rbf", **five), "noisy", "cancer_raw")
    add("raw", RelevanceSVC(standardize=False, **five), "noisy", "iris")
    for ensemble in (False, True):
        model = RelevanceSVC(missing="impute", ensemble=ensemble, **five)
        add(f"impute-{ensemble}", model, "missing", "missing3")
    add("rows", RelevanceSVC(weight_rows=80, path_rows=100, **five), "noisy", "noisy3")
    add("sample_weight", RelevanceSVC(**five), "noisy", "names", weighted=True)
    add("balanced", RelevanceSVC(class_weight="balanced", **five), "imbalanced")
    tables = ["tiny", "tiny3", "duplicates", "constant", "wide", "wide3", "digits"]
    add("tables", RelevanceSVC(**five), *tables)
    add("warm", RelevanceSVC(warm_start=True, max_iter=4), "noisy", first={})
    add("two_threads", RelevanceSVC(max_iter=3, n_jobs=2), "wine")
    add("large", RelevanceSVC(max_iter=2, ensemble=False), "many3", "large")
    add("large-ensemble", RelevanceSVC(max_iter=2), "many3")
    add("callback", RelevanceSVC(**five), "noisy", events=True)
    rbf = RelevanceSVC(max_iter=3, ensemble=False, kernel="rbf")
    add("also", rbf, "circles", also=("to_sklearn",))


def _search():
    grid = {"C": COSTS, "gamma": GAMMAS}
    add("grid", SVCSearchCV(SVC(), grid), "noisy", "wine", "duplicates")
    add("default", SVCSearchCV(cv=3), "moons", "iris")
    add("scale", SVCSearchCV(SVC(), {"C": COSTS}, cv=3), "noisy", "digits")
    kernels = [
        {"kernel": ["linear"], "C": [0.1, 1.0]},
        {"kernel": ["rbf", "laplacian"], "C": [1.0, 10.0], "gamma": GAMMAS},
    ]
    add("kernels", SVCSearchCV(SVC(), kernels, cv=3), "noisy", "wine")
    scores = {"scoring": ["accuracy", "f1_macro"], "refit": "f1_macro"}
    add("scores", SVCSearchCV(SVC(), grid, cv=3, **scores), "noisy3", "imbalanced")
    auc = SVCSearchCV(SVC(), grid, cv=3, scoring="roc_auc", return_train_score=True)
    add("auc", auc, "imbalanced")
    add("weights", SVCSearchCV(SVC(class_weight="balanced"), grid, cv=3), "imbalanced")
    add("sample_weight", SVCSearchCV(SVC(), grid, cv=3), "noisy", "names", weighted=True)
    given = SVCSearchCV(SVC(kernel=RBF()), {"kernel__gamma": GAMMAS, "C": COSTS}, cv=3)
    add("object", given, "noisy")
    add("function", SVCSearchCV(SVC(kernel=chi), {"C": COSTS}, cv=3), "moons")
    add("precomputed", SVCSearchCV(SVC(kernel="precomputed"), {"C": COSTS}), "precomputed")
    split = ShuffleSplit(3, random_state=0)
    add("split", SVCSearchCV(SVC(), grid, cv=split, n_jobs=2), "wine", "tiny3")
    add("sparse", SVCSearchCV(SVC(), grid, cv=3), "sparse", "sparse3")
    add("wide", SVCSearchCV(SVC(kernel="linear"), {"C": COSTS}, cv=3), "wide", "wide3")
    add("large", SVCSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": [0.1]}, cv=3), "many3")


def _transformers():
    add("default", RelevanceSelector(), "noisy", "wine_raw", "digits")
    add("single", RelevanceSelector(ensemble=False, kernel="rbf"), "noisy", "names")
    add("two", RelevanceSelector(max_features=2, max_iter=5), "cancer_raw", "wide3")
    add("impute", RelevanceSelector(missing="impute", max_iter=5), "missing", "missing3")
    add("rows", RelevanceSelector(max_rows=80, max_iter=5, standardize=False), "many3")
    for kernel in ("rbf", "poly", "laplacian"):
        add(kernel, EmpiricalKernelMap(kernel, n_components=6), "moons", "wine")
    add("share", EmpiricalKernelMap(n_components=0.9), "noisy")
    add("function", EmpiricalKernelMap(chi, n_components=5), "moons")
    for importance in ("fisher", "separation", "efficiency", "energy"):
        add(importance, FeatureDiscriminationScaler(importance, eta=2.0), "noisy", "wine")
    raw = FeatureDiscriminationScaler(eta_units="raw", normalization="trace")
    add("paper", raw, "noisy", "missing")
    add("topics", TopicFeatures(4, random_state=0, max_iter=40), "counts")
    add("raw", TopicFeatures(3, random_state=1, normalize=False, max_iter=40), "counts")
    add("frame", TableEncoder(), "frame")
    add("dropped", TableEncoder(drop=["colour"], keep=["number"]), "frame")
    add("near", GeodesicNeighborFeatures(), "wine", "moons", "duplicates")
    add("never", GeodesicNeighborFeatures(5, disconnected="never"), "circles", "digits")


def _many_rows():
    """Register fits with more rows than active sets, float64 kernels and paths take."""
    add("big", SVC(C=10.0), "big", "big3", "digits_all")
    add("big-laplacian", SVC(kernel="laplacian"), "big")
    add("big-little_cache", SVC(cache_size=5), "big3")
    add("big-warm", SVC(warm_start=True, C=10.0), "big", first={"C": 1.0})
    add("big-weighted", SVC(), "big", weighted=True)
    add("big", AdaptiveKernelSVC(widths=2, C=[1.0, 10.0]), "big")
    add("big-cv", AdaptiveKernelSVC(widths=2, C=[1.0], criterion="cv", n_folds=3), "digits_all")
    add("big", DualObjectiveSVC(max_iter=3), "big", "digits_large")
    add("big-span", DualObjectiveSVC(max_iter=3, criterion="span"), "many3")
    add("big", MarginRadiusSVC(), "big", "many3")
    small = {"eta": "cv", "etas": [0, 2], "costs": [1.0, 10.0], "cv": 3}
    add("big", FeatureDiscriminationSVC(**small), "big")
    add("big-rbf", FeatureDiscriminationSVC(kernel="rbf", widths=2, **small), "many3")
    add("big", GeneralizedBiasSVC([0]), "large", "many3")
    add("big", RelevanceSVC(max_iter=3), "big", "digits_all")
    add("big", SVCSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": [0.05, 0.1]}, cv=3), "big")
    add("big", RelevanceSelector(max_iter=4), "big")


for _register in (
    _plain_kernels,
    _plain_options,
    _adaptive,
    _dual_objective,
    _margin_radius,
    _feature_discrimination,
    _generalized_bias,
    _relevance,
    _search,
    _transformers,
    _many_rows,
):
    _register()
