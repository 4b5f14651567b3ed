"""Kinds: the names by which model files call the classes of kernelwise.

A public class is called by its public package, a part of a fitted model by its kind, for instance
``kernelwise.svm.SVC`` and ``kernelwise.part.Prior``. The modules that define them are named here
alone, so that code can move without breaking a file.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

# Package in files -> module -> its classes. FunctionKernel is left out on purpose: it wraps a
# function.
_REGISTRY: dict[str, dict[str, tuple[str, ...]]] = {
    "svm": {
        "svm.svc": ("SVC",),
        "svm.adaptive_kernel": ("AdaptiveKernelSVC",),
        "svm.dual_objective": ("DualObjectiveSVC",),
        "svm.feature_discrimination.estimator": ("FeatureDiscriminationSVC",),
        "svm.generalized_bias.estimator": ("GeneralizedBiasSVC",),
        "svm.margin_radius.estimator": ("MarginRadiusSVC",),
        "svm.relevance.classifier": ("RelevanceSVC",),
        "svm.relevance.regressor": ("RelevanceSVR",),
        "svm.search.estimator": ("SVCSearchCV",),
    },
    "transform": {
        "svm.relevance.selector": ("RelevanceSelector",),
        "transform.geodesic": ("GeodesicNeighborFeatures",),
        "transform.kernel_map": ("EmpiricalKernelMap",),
        "transform.scaler": ("FeatureDiscriminationScaler",),
        "transform.topics": ("TopicFeatures",),
    },
    "tabular": {"app.tabular.encoder": ("TableEncoder",)},
    "kernels": {
        "kernels.composed": ("Normalized", "Product", "Ridge", "Scaled", "Sum"),
        "kernels.dot": ("Linear", "Polynomial", "Sigmoid"),
        "kernels.empirical": ("EmpiricalMap",),
        "kernels.stationary": ("RBF", "Laplacian", "Matern32", "Matern52"),
        "kernels.user_kernels": ("Precomputed",),
    },
    "criteria": {
        "criteria.alignment": ("Alignment",),
        "criteria.cross_validation": ("CrossValidation",),
        "criteria.dual": ("DualObjective",),
        "criteria.radius_margin": ("RadiusMargin",),
        "criteria.span": ("LeaveOneOut",),
    },
    "qp": {
        "qp.adatron": ("Adatron",),
        "qp.smo": ("SMO",),
        "qp.solution": ("Solution",),
    },
    "part": {
        "svm.base.calibration": ("Calibration",),
        "svm.base.conformal": ("ConformalHalf",),
        "svm.base.predictor": ("Predictor", "SupportVectors"),
        "svm.base.sigmoids": ("Sigmoid",),
        "svm.base.steps": (
            "ColumnFeatures",
            "Columns",
            "MeanFill",
            "Products",
            "TransformerFeatures",
            "UnitNorm",
        ),
        "svm.base.warm_start": ("LastFit",),
        "svm.generalized_bias.input": ("BiasColumns",),
        "svm.relevance.cells": ("Cell", "Squared", "Tree"),
        "svm.relevance.columns.bins": ("ColumnBins",),
        "svm.relevance.columns.encoding": ("CategoryCodes", "ColumnEncoding", "ColumnLayout"),
        "svm.relevance.columns.scores": ("ColumnScores", "Knots"),
        "svm.relevance.fitting": ("ClassModel", "Part"),
        "svm.relevance.intervals": ("LocalDeviation",),
        "svm.relevance.joint": ("Joint",),
        "svm.relevance.levels": ("Family",),
        "svm.relevance.losses": ("LogMixture", "Several"),
        "svm.relevance.machine": ("Machine", "PairSigmoids"),
        "svm.relevance.number_model": ("NumberEnsemble", "NumberModel"),
        "svm.relevance.prior": ("Prior",),
        "svm.relevance.rows": ("ModelColumns", "Rows"),
        "svm.relevance.settings": ("Settings",),
        "svm.relevance.target": ("Target",),
    },
}

Name = tuple[str, str]  # module, class
_PLACES: dict[Name, Name] = {
    (f"kernelwise.{package}", name): (f"kernelwise.{module}", name)
    for package, modules in _REGISTRY.items()
    for module, names in modules.items()
    for name in names
}
_KINDS: dict[Name, Name] = {place: kind for kind, place in _PLACES.items()}
OURS = frozenset(map(".".join, _KINDS))  # the classes, by the modules that define them


def kind_of(cls: type) -> str:
    """Return the name by which a model file calls a class."""
    name = cls.__module__, cls.__name__
    return ".".join(_KINDS.get(name, name))


def with_kinds(payload: bytes) -> bytes:
    """Return a skops payload, compressed, that calls classes by their kinds."""
    return _renamed(payload, _KINDS, ZIP_DEFLATED)


def with_classes(payload: bytes) -> bytes:
    """Return a skops payload that names classes by the modules that define them."""
    return _renamed(payload, _PLACES, ZIP_STORED)


def _renamed(payload: bytes, names: Mapping[Name, Name], compression: int) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(payload)) as old, ZipFile(buffer, "w", compression) as new:
        for member in old.namelist():
            data = old.read(member)
            if member == "schema.json":
                root = json.loads(data)
                _rename_nodes(root, names)
                data = json.dumps(root).encode()
            new.writestr(member, data)
    return buffer.getvalue()


def _rename_nodes(node: Any, names: Mapping[Name, Name]) -> None:
    if isinstance(node, dict):
        name = str(node.get("__module__")), str(node.get("__class__"))
        if name in names:
            node["__module__"], node["__class__"] = names[name]
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            _rename_nodes(child, names)
