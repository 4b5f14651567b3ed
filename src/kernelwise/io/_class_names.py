"""Class names in model files: public names, independent of the modules that define them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from importlib import import_module
from typing import Any
from zipfile import ZIP_STORED, ZipFile

from .._moved import current_name

# Public package -> its classes that a model file may hold. FunctionKernel is left out on purpose:
# it wraps a function.
_PUBLIC = {
    "svm": (
        "SVC",
        "AdaptiveKernelSVC",
        "CellSVC",
        "DualObjectiveSVC",
        "FeatureDiscriminationSVC",
        "GeneralizedBiasSVC",
        "MarginRadiusSVC",
        "RelevanceSVC",
        "SVCSearchCV",
    ),
    "transform": (
        "EmpiricalKernelMap",
        "FeatureDiscriminationScaler",
        "GeodesicNeighborFeatures",
        "RelevanceSelector",
        "TopicFeatures",
    ),
    "tabular": ("TableEncoder",),
    "kernels": (
        "RBF",
        "EmpiricalMap",
        "Laplacian",
        "Linear",
        "Matern32",
        "Matern52",
        "Normalized",
        "Polynomial",
        "Precomputed",
        "Product",
        "Ridge",
        "Scaled",
        "Sigmoid",
        "Sum",
    ),
    "criteria": ("Alignment", "CrossValidation", "DualObjective", "LeaveOneOut", "RadiusMargin"),
    "qp": ("SMO", "Adatron"),
}
# Parts of fitted estimators, under the names of the modules that define them.
_INTERNAL = (
    "kernelwise.scale.bins.ColumnBins",
    "kernelwise.scale.cells.CellSettings",
    "kernelwise.scale.forest.CellForest",
    "kernelwise.scale.forest.CellTree",
    "kernelwise.scale.metric.Metric",
    "kernelwise.scale.trees.Tree",
    "kernelwise.svm.base.calibration.Calibration",
    "kernelwise.svm.base.conformal.ConformalHalf",
    "kernelwise.svm.base.older_models.Machines",
    "kernelwise.svm.base.older_models.Space",
    "kernelwise.svm.base.predictor.Predictor",
    "kernelwise.svm.base.predictor.SupportVectors",
    "kernelwise.svm.base.sigmoids.Sigmoid",
    "kernelwise.svm.base.steps.ColumnFeatures",
    "kernelwise.svm.base.steps.Columns",
    "kernelwise.svm.base.steps.MeanFill",
    "kernelwise.svm.base.steps.Products",
    "kernelwise.svm.base.steps.TransformerFeatures",
    "kernelwise.svm.base.steps.UnitNorm",
    "kernelwise.svm.base.warm_start.LastFit",
    "kernelwise.svm.cell_svc.CellPredictor",
    "kernelwise.svm.generalized_bias.input.BiasColumns",
    "kernelwise.svm.relevance.columns.CategoryCodes",
    "kernelwise.svm.relevance.columns.ColumnEncoding",
    "kernelwise.svm.relevance.columns.ColumnLayout",
    "kernelwise.svm.relevance.columns.OrderedCodes",
    "kernelwise.svm.relevance.explaining.KnownRows",
    "kernelwise.svm.relevance.parts.additive.AdditiveColumns",
    "kernelwise.svm.relevance.parts.additive.AdditivePart",
    "kernelwise.svm.relevance.parts.cell_rows.CellColumns",
    "kernelwise.svm.relevance.parts.cells.CellsPart",
    "kernelwise.svm.relevance.parts.crossed.CrossedPart",
    "kernelwise.svm.relevance.parts.evidence_hinge.EvidenceHingePart",
    "kernelwise.svm.relevance.parts.hinge.HingePart",
    "kernelwise.svm.relevance.parts.indicators.IndicatorPart",
    "kernelwise.svm.relevance.parts.indicators.Indicators",
    "kernelwise.svm.relevance.parts.joint.JointPart",
    "kernelwise.svm.relevance.parts.joint.LandmarkColumns",
    "kernelwise.svm.relevance.parts.linear.LinearFeatures",
    "kernelwise.svm.relevance.parts.linear.LinearPart",
    "kernelwise.svm.relevance.parts.metric.MetricColumns",
    "kernelwise.svm.relevance.parts.mixture.Mixture",
    "kernelwise.svm.relevance.parts.normal_scores.NormalScores",
    "kernelwise.svm.relevance.parts.pairs.PairColumns",
    "kernelwise.svm.relevance.parts.pairs.PairsPart",
    "kernelwise.svm.relevance.parts.ridge.RidgePart",
    "kernelwise.svm.relevance.predictor.MixturePredictor",
)
_PACKAGES = {name: f"kernelwise.{package}" for package, names in _PUBLIC.items() for name in names}
OURS = frozenset((*_INTERNAL, *(f"{package}.{name}" for name, package in _PACKAGES.items())))

Name = tuple[str, str]  # module, class


def public_name(module: str, name: str) -> Name:
    """Return the public package and name of a kernelwise class; return other names unchanged."""
    package = _PACKAGES.get(name)
    if package is None or not module.startswith("kernelwise."):
        return module, name
    found = getattr(import_module(module), name, None)
    return (package, name) if found is getattr(import_module(package), name) else (module, name)


def public_name_of(cls: type) -> str:
    """Return the name under which a model file holds a class."""
    return ".".join(public_name(cls.__module__, cls.__name__))


def with_public_names(payload: bytes) -> bytes:
    """Return a skops payload in which each class has its public name."""
    return _renamed(payload, public_name)


def name_since_schema_2(name: str) -> str:
    """Convert the name of a class from schema 1 to schema 2."""
    module, _, class_name = name.rpartition(".")
    return ".".join(_since_schema_2(module, class_name))


def with_names_since_schema_2(payload: bytes) -> bytes:
    """Convert the class names in a payload from schema 1 (modules of that time) to schema 2."""
    return _renamed(payload, _since_schema_2)


def _since_schema_2(module: str, name: str) -> Name:
    return public_name(*current_name(module, name))


def _renamed(payload: bytes, rename: Callable[[str, str], Name]) -> bytes:
    """Rename the classes in a skops payload."""
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(payload)) as old, ZipFile(buffer, "w", ZIP_STORED) as new:
        for member in old.namelist():
            data = old.read(member)
            if member == "schema.json":
                root = json.loads(data)
                _rename_nodes(root, rename)
                data = json.dumps(root, indent=2).encode()
            new.writestr(member, data)
    return buffer.getvalue()


def _rename_nodes(node: Any, rename: Callable[[str, str], Name]) -> None:
    if isinstance(node, dict):
        if "__module__" in node and "__class__" in node:
            node["__module__"], node["__class__"] = rename(node["__module__"], node["__class__"])
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            _rename_nodes(child, rename)
