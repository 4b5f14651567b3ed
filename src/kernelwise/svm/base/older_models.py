"""States of models that earlier versions saved or pickled.

`Machines` and `Space` stand for the classes of that time; they only hold what the file holds.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from ..._typing import Array
from .predictor import Predictor, SupportVectors
from .steps import (
    ColumnFeatures,
    Columns,
    FunctionFeatures,
    MeanFill,
    Products,
    RowStep,
    TransformerFeatures,
    UnitNorm,
)

_RENAMED = {"_last_fit": "_last_fit_", "_calibrated": "_calibrated_", "_shares": "_shares_"}
_RENAMED |= {"_last_theta": "_last_fit_", "_last_start": "_last_fit_", "_spread": "_spread_"}
_DROPPED = {
    "_machines",
    "_space",
    "_margins",
    "_kernel_columns",
    "_bias_columns",
    "_bias_function",
    "_trouble",
    "_doubts",
    "_rows_as_given",
    "_path_steps",
    "_tasks",
}


class Machines:
    """Machines of an older model: kernels, support rows, coefficients and intercepts."""

    kernel: Any
    support: Any
    rows: Any
    coef: Any
    intercept: Any
    own_kernels: Any = None


class Space:
    """How an older MarginRadiusSVC made its columns."""

    map: Any
    unit_norm: bool


def with_all_parameters(cls: type, state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with the defaults of parameters that the class has got since.

    A model that was fitted before there were probabilities has none.
    """
    parameters = signature(cls).parameters.items()
    new = {name: each.default for name, each in parameters if each.default is not each.empty}
    if "calibration" in new:
        new["calibration"] = None
    return new | state


def older_scores(model: Any, X: Any) -> Array:
    """Return the scores of an SVC whose probabilities another estimator calibrated."""
    probabilities = model._calibrated_.predict_proba(X)
    logs: Array = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
    return logs + np.log(model.class_weight_)


def upgraded(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a fitted classifier in the present form."""
    machines = state.get("_machines")
    if machines is None:
        return state
    new = {_RENAMED.get(k, k): v for k, v in state.items() if k not in _DROPPED}
    new["_predictor_"] = _predictor(state, machines)
    return new


def _predictor(state: dict[str, Any], machines: Any) -> Predictor:
    n_machines = machines.coef.shape[1]
    kernels = machines.own_kernels or (machines.kernel,) * n_machines
    features: tuple[RowStep, ...] = ()
    linear = None
    if "column_coef_" in state:  # margin-radius: a linear part alone
        kernels, features, linear = (), _space_steps(state["_space"]), state["column_coef_"].T
    elif state.get("bias_coef_") is not None and state["bias_coef_"].size:
        features, linear = (_bias_features(state),), state["bias_coef_"].T
    by_pairs = "decision_function_shape" in state and state.get("multi_class", "ovo") == "ovo"
    return Predictor(
        vectors=SupportVectors(machines.support, machines.rows, machines.coef),
        intercept=machines.intercept,
        kernels=tuple(kernels),
        before=_before(state),
        features=features,
        linear=linear,
        n_members=len(state.get("members_", [0])),
        multiclass="ovo" if by_pairs else "ovr",
        loss=_loss(state),
        merged=not state.get("_rows_as_given", True),
    )


def _loss(state: dict[str, Any]) -> str:
    if "column_coef_" in state:
        return "squared"
    if "criterion_value_" not in state:
        return "hinge"
    from .recipes import Recipe

    slack: str = Recipe.of(state["criterion"]).criterion(state["C"]).slack
    return slack


def _before(state: dict[str, Any]) -> tuple[RowStep, ...]:
    if state.get("means_") is not None:
        return (MeanFill(state["means_"]),)
    if state.get("map_") is not None:
        return (state["map_"],)
    if state.get("_kernel_columns") is not None:
        return (Columns(state["_kernel_columns"]),)
    return ()


def _space_steps(space: Any) -> tuple[RowStep, ...]:
    steps: tuple[RowStep, ...] = ()
    if space.map is not None:
        steps = (space.map if hasattr(space.map, "apply") else Products(space.map),)
    return (*steps, UnitNorm()) if space.unit_norm else steps


def _bias_features(state: dict[str, Any]) -> RowStep:
    width = state["bias_coef_"].shape[1]
    if state["_bias_columns"] is not None:
        return ColumnFeatures(state["_bias_columns"])
    if state["bias_transformer_"] is not None:
        return TransformerFeatures(state["bias_transformer_"], width)
    return FunctionFeatures(state["_bias_function"], width)
