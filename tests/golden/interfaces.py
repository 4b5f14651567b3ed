"""Store signatures and error messages: ``python -m tests.golden.interfaces FILE``.

The file is text, for review with ``diff``. Messages may be reworded; a signature that changes, or
a wrong call that is accepted or gets another type of exception, needs a reason.
"""

import argparse
import importlib
import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import kernelwise
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
    bounds_of,
)
from kernelwise.kernels import RBF, Polynomial, Sigmoid

from .data import TABLES

PACKAGES = (
    "kernelwise",
    "kernelwise.bounds",
    "kernelwise.datasets",
    "kernelwise.discrimination",
    "kernelwise.experiments",
    "kernelwise.inspection",
    "kernelwise.io",
    "kernelwise.kernels",
    "kernelwise.outer",
    "kernelwise.qp",
    "kernelwise.report",
    "kernelwise.svm",
    "kernelwise.tabular",
    "kernelwise.transform",
)

X, Y = TABLES["tiny3"]().X, TABLES["tiny3"]().y
GAPS = np.where(X > 1.9, np.nan, X)
WIDE = np.random.default_rng(0).normal(size=(12, 70))
SPARSE = sp.csr_array(X)


def _fit(model, rows=X, y=Y, **more):
    return lambda: model.fit(rows, y, **more)


def _after(fit, call):
    return lambda: call(fit())


WRONG_CALLS = {
    "C negative": _fit(SVC(C=-1.0)),
    "kernel unknown": _fit(SVC(kernel="cosine")),
    "gamma unknown": _fit(SVC(gamma="wide")),
    "gamma of a wrong length": _fit(SVC(gamma=[1.0, 2.0])),
    "feature_weights of a wrong length": _fit(SVC(feature_weights=[1.0])),
    "feature_weights negative": _fit(SVC(feature_weights=[1.0, -1.0, 1.0])),
    "NaN in X": _fit(SVC(), GAPS),
    "infinity in X": _fit(SVC(), np.where(X > 1.9, np.inf, X)),
    "texts in X": _fit(SVC(), np.full((12, 3), "a", dtype=object)),
    "one class": _fit(SVC(), y=np.zeros(12)),
    "continuous y": _fit(SVC(), y=X[:, 0]),
    "labels of several types": _fit(SVC(), y=np.array([0, "a"] * 6, dtype=object)),
    "lengths differ": _fit(SVC(), y=Y[:5]),
    "weights all zero": _fit(SVC(), sample_weight=np.zeros(12)),
    "weights of texts": _fit(SVC(), sample_weight=["a"] * 12),
    "class_weight zero": _fit(SVC(class_weight={0: 0.0, 1: 1.0, 2: 1.0})),
    "precomputed, not square": _fit(SVC(kernel="precomputed")),
    "not symmetric": _fit(SVC(kernel="precomputed"), WIDE[:, :12]),
    "not fitted": lambda: SVC().predict(X),
    "other columns": _after(_fit(SVC()), lambda model: model.predict(X[:, :2])),
    "sparse after dense": _after(_fit(SVC()), lambda model: model.predict(SPARSE)),
    "sparse laplacian": _fit(SVC(kernel="laplacian"), SPARSE),
    "ties of pairs": _after(
        _fit(SVC(break_ties=True, decision_function_shape="ovo")), lambda model: model.predict(X)
    ),
    "kernel__gamma of a name": lambda: SVC().set_params(kernel__gamma=1.0),
    "to_sklearn laplacian": _after(_fit(SVC(kernel="laplacian")), SVC.to_sklearn),
    "criterion unknown": _fit(AdaptiveKernelSVC(criterion="luck")),
    "values and widths": _fit(AdaptiveKernelSVC(values=[1.0], widths=[1.0])),
    "parameter unknown": _fit(AdaptiveKernelSVC(parameter="height", values=[1.0])),
    "no values": _fit(AdaptiveKernelSVC(kernel="poly", parameter="degree")),
    "widths negative": _fit(AdaptiveKernelSVC(widths=[-1.0])),
    "span of an indefinite kernel": _fit(AdaptiveKernelSVC(kernel=Sigmoid(5.0, coef0=-2.0))),
    "C of zero": _fit(AdaptiveKernelSVC(solver="adatron", C=[0.0])),
    "weights of a function": _fit(DualObjectiveSVC(kernel=np.dot)),
    "optimizer unknown": _fit(DualObjectiveSVC(optimizer="newton")),
    "criterion of a wrong type": _fit(DualObjectiveSVC(criterion=3)),
    "kernel without weights": _fit(DualObjectiveSVC(kernel="sigmoid")),
    "ball with p": _fit(MarginRadiusSVC(radius="ball", p=2.0)),
    "ball of many columns": _fit(MarginRadiusSVC(radius="ball"), WIDE),
    "radius unknown": _fit(MarginRadiusSVC(radius="diameter")),
    "huge values": _fit(MarginRadiusSVC(), X * 1e200),
    "measure unknown": _fit(FeatureDiscriminationSVC(importance="luck")),
    "measures without cv": _fit(FeatureDiscriminationSVC(importance=["fisher", "energy"])),
    "importances of a wrong length": _fit(FeatureDiscriminationSVC(importance=[1.0])),
    "components of no kernel": _fit(FeatureDiscriminationSVC(kernel=Polynomial(coef0=-1.0))),
    "bias column unknown": _fit(GeneralizedBiasSVC([9])),
    "bias names without names": _fit(GeneralizedBiasSVC(["age"])),
    "bias mask of a wrong length": _fit(GeneralizedBiasSVC([True, False])),
    "bias of NaN": _fit(GeneralizedBiasSVC(lambda rows: rows[:, :1] * np.nan)),
    "bias penalty negative": _fit(GeneralizedBiasSVC([0], bias_penalty=-1.0)),
    "gaps": _fit(RelevanceSVC(), GAPS),
    "missing unknown": _fit(RelevanceSVC(missing="drop")),
    "relevance of a kernel": _fit(RelevanceSVC(kernel="linear")),
    "ensemble to_sklearn": _after(_fit(RelevanceSVC(max_iter=1)), RelevanceSVC.to_sklearn),
    "search of another estimator": _fit(SVCSearchCV(LogisticRegression())),
    "search of an unknown name": _fit(SVCSearchCV(SVC(), {"depth": [1]}, cv=2)),
    "search of nothing": _fit(SVCSearchCV(SVC(), {"C": []}, cv=2)),
    "too many folds": _fit(SVCSearchCV(SVC(), {"C": [1.0]}, cv=50)),
    "too many features": _fit(RelevanceSelector(max_features=-1)),
    "negative counts": _fit(TopicFeatures(2), -np.abs(X)),
    "no neighbours": _fit(GeodesicNeighborFeatures(0)),
    "no components": _fit(EmpiricalKernelMap(n_components=0)),
    "scaler of an unknown measure": _fit(FeatureDiscriminationScaler("luck")),
    "bounds of other rows": _after(_fit(SVC()), lambda model: bounds_of(model, X[:3], Y[:3])),
    "bounds of another model": _after(
        _fit(LogisticRegression()), lambda model: bounds_of(model, X, Y)
    ),
    "gamma of a kernel": lambda: RBF(-1.0),
    "kernel parameter unknown": lambda: RBF().with_params(height=1.0),
    "no model file": lambda: kernelwise.load("no-such-file.kw"),
    "no estimator to save": lambda: kernelwise.save(3, "never-written.kw"),
    "data set unknown": lambda: kernelwise.datasets.load_dataset("no-such-set"),
    "name unknown": lambda: kernelwise.DeepSVC,
}


def signatures():
    """Return a line per public name of every public package."""
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an old name of a package may warn
        for package in PACKAGES:
            module = importlib.import_module(package)
            if not hasattr(module, "__all__"):
                lines.append(f"{package} lists no names")
            for name in getattr(module, "__all__", ()):
                value = getattr(module, name)
                lines.append(f"{package}.{name}{_signature(value)}")
                if inspect.isclass(value):
                    lines += _members(f"{package}.{name}", value)
    return lines


def _signature(value):
    if not callable(value):
        return f" is a {type(value).__name__}"
    try:
        return re.sub(" at 0x[0-9a-f]+", "", str(inspect.signature(value)))
    except ValueError:
        return "(...)"


def _members(owner, cls):
    """Return the public methods and properties that a class of the package defines."""
    lines = []
    for name, member in inspect.getmembers(cls):
        home = (
            getattr(inspect.unwrap(member), "__module__", "") if callable(member) else "kernelwise"
        )
        if name.startswith("_") or not str(home).startswith("kernelwise"):
            continue
        if isinstance(member, property):
            lines.append(f"{owner}.{name} is a property")
        elif inspect.isfunction(member) or inspect.ismethod(member):
            lines.append(f"{owner}.{name}{_signature(member)}")
    return lines


def messages():
    """Return what each wrong call is answered with."""
    return [f"{name}\n    {_answer(call)}" for name, call in WRONG_CALLS.items()]


def _answer(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except Exception as error:  # whatever comes is to be stored
            text = re.sub(" at 0x[0-9a-f]+", "", f"{type(error).__name__}: {error}")
            text = re.sub("{([^{}]*)}", _in_order, text)
            return text.replace("\n", "\n    ")
    return "no exception"


def _in_order(found):
    """Return a set that a message lists in alphabetical order."""
    return "{" + ", ".join(sorted(found[1].split(", "))) + "}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    file.write_text(
        "\n".join(["# Signatures", *signatures(), "", "# Messages", *messages()]) + "\n"
    )


if __name__ == "__main__":
    main()
