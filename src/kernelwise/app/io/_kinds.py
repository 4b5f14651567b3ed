"""Kinds: the names by which model files call the classes of kernelwise.

A public class is called by its public package, a part of a fitted model by its kind, for instance
``kernelwise.svm.SVC`` and ``kernelwise.part.Prior``. The modules that define them are named here
alone, so that code can move without breaking a file.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

# Package in files -> module -> its classes. FunctionKernel is left out on purpose: it wraps a
# function.
_REGISTRY: dict[str, dict[str, tuple[str, ...]]] = {
    "svm": {
        "svm.svc": ("SVC",),
        "svm.svr": ("SVR",),
        "svm.nu_svc": ("NuSVC",),
        "svm.nu_svr": ("NuSVR",),
        "svm.one_class": ("OneClassSVM",),
        "svm.adaptive_kernel": ("AdaptiveKernelSVC",),
        "svm.dual_objective.estimator": ("DualObjectiveSVC",),
        "svm.feature_discrimination.estimator": ("FeatureDiscriminationSVC",),
        "svm.generalized_bias.estimator": ("GeneralizedBiasSVC",),
        "svm.margin_radius.estimator": ("MarginRadiusSVC",),
        "svm.relevance.classifier": ("RelevanceSVC",),
        "svm.relevance.regressor": ("RelevanceSVR",),
        "svm.search.estimator": ("SVCSearchCV", "SVRSearchCV"),
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
        "qp.problem": ("Solution",),
    },
    "part": {
        "calibration.conformal": ("Conformity", "Ranking"),
        "calibration.scores": ("Calibration",),
        "calibration.sigmoids": ("Sigmoid",),
        "svm.base.predictor": ("Predictor", "SupportVectors"),
        "svm.base.probability": ("ConformalHalf",),
        "svm.base.steps": (
            "ColumnFeatures",
            "Columns",
            "Products",
            "TransformerFeatures",
            "UnitNorm",
        ),
        "svm.base.warm_start": ("LastFit",),
        "svm.generalized_bias.input": ("BiasColumns",),
        "svm.relevance.cells": ("Cell", "Squared"),
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
        "svm.relevance.target": ("Target",),
        "svm.relevance.trees": ("Tree",),
        "values.reading": ("Reading",),
        "values.text": ("Text",),
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


class KindError(ValueError):
    """Raised when a model or a file has a part without a kind; the message names it."""


def with_kinds(payload: bytes, *, compressed: bool = True) -> bytes:
    """Return a skops payload that calls classes by their kinds."""
    return _changed(payload, _name_kind, ZIP_DEFLATED if compressed else ZIP_STORED)


def with_classes(payload: bytes) -> bytes:
    """Return a skops payload that names classes by the modules that define them."""
    return _changed(payload, _name_class, ZIP_STORED)


def _changed(payload: bytes, change: Callable[[dict[str, Any]], None], compression: int) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(payload)) as old, ZipFile(buffer, "w", compression) as new:
        for member in old.namelist():
            data = old.read(member)
            if member == "schema.json":
                root = json.loads(data)
                _change_nodes(root, change)
                data = json.dumps(root).encode()
            new.writestr(member, data)
    return buffer.getvalue()


def _change_nodes(node: Any, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the nodes of a skops schema in place."""
    if isinstance(node, dict):
        if isinstance(node.get("__module__"), str) and isinstance(node.get("__class__"), str):
            change(node)
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            _change_nodes(child, change)


def _name_kind(node: dict[str, Any]) -> None:
    name = node["__module__"], node["__class__"]
    if name not in _KINDS and _is_ours(name):
        raise KindError(f"{'.'.join(name)} is not a kind of part that model files hold")
    node["__module__"], node["__class__"] = _KINDS.get(name, name)


def _is_ours(name: Name) -> bool:
    return name[0].partition(".")[0] == "kernelwise"


def _name_class(node: dict[str, Any]) -> None:
    kind = node["__module__"], node["__class__"]
    if kind not in _PLACES:
        if _is_ours(kind):
            raise KindError(f"{'.'.join(kind)!r} is not a kind of part that this version knows")
        return
    node["__module__"], node["__class__"] = _PLACES[kind]
    if node.get("__loader__") == "ObjectNode":
        _check_fields(".".join(kind), _PLACES[kind], node)


def _check_fields(kind: str, place: Name, node: dict[str, Any]) -> None:
    """Refuse a record with other fields than its class has."""
    cls = getattr(import_module(place[0]), place[1])
    if not is_dataclass(cls):
        return
    attributes = node["content"]  # "null" if there are none
    content = attributes["content"] if attributes["__loader__"] == "DictNode" else {}
    cached = {name for name, value in vars(cls).items() if isinstance(value, cached_property)}
    stored, known = set(content) - cached, {field.name for field in fields(cls)}
    if stored != known:
        raise KindError(
            f"{kind!r} has the fields {sorted(stored)} in the file, and {sorted(known)} here"
        )
