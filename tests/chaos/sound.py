"""Sound arguments for everything public, by the names of the parameters.

A wrong call replaces one sound argument; so what is public and has no sound argument cannot be
attacked, and `callees` says which name is missing here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import kernelwise
from kernelwise import criteria, kernels, outer, qp
from kernelwise.app import evaluation, inspection, tabular
from kernelwise.app.io import save

N = 24  # rows
X = np.abs(np.random.default_rng(0).normal(size=(N, 4)))
Y = np.where(X[:, 0] + 0.3 * X[:, 1] > 1, 1.0, -1.0)
K = X @ X.T + np.eye(N)


def frame() -> Any:
    """Return a table whose column "target" has two classes by name."""
    table = pd.DataFrame(X, columns=list("abcd"))
    return table.assign(target=np.where(Y > 0, "yes", "no"))


@cache
def fitted(name: str = "SVC", **params: Any) -> Any:
    """Return a fitted classifier."""
    return getattr(kernelwise, name)(**params).fit(X, Y.astype(int))


@cache
def evaluated() -> Any:
    """Return an evaluation of held-out rows."""
    return evaluation.evaluate(frame(), "target", "svc", against=["guessing"], cv=2)


def by_name() -> dict[str, Any]:
    """Return a sound value for each name of a parameter that has one meaning everywhere.

    Files are written to and read from the current folder.
    """
    save(fitted(), "model.kw")
    frame().to_csv("table.csv", index=False)
    return {
        "K": K, "gram": K, "X": X, "y": Y.astype(int), "Y": Y, "beta": 0.1 * Y,
        "decisions": 0.5 * Y, "frame": frame(), "target": "target", "p": Y, "lo": -np.ones(N),
        "hi": np.ones(N), "terms": qp.Terms.c_svc(Y), "kernel": kernels.RBF(),
        "left": kernels.RBF(), "right": kernels.Linear(), "qp": qp.c_svc(K, Y), "model": fitted(),
        "criterion": criteria.RadiusMargin(), "names": "gamma",
        "factors": Y[:, None], "rows": X, "path": "model.kw", "path_or_buffer": "table.csv",
        "name": "iris", "ratio": np.linspace(0.1, 1, 4), "q": np.linspace(0.1, 1, 4), "eta": 1.0,
        "importance": "fisher", "classes": tabular.check_target(frame(), "target"), "n_fits": 2.0,
        "evaluation": evaluated(), "values": [1.0, 2.0],
        "group": "accuracy", "figure": _figure(), "scores": {"a": [0.1, 0.2], "b": [0.2, 0.3]},
        "estimators": {"a": kernelwise.SVC(), "b": kernelwise.SVC(C=2.0)}, "weights": np.ones(4),
        "history": {"value": [2.0, 1.0], "weights": np.ones((2, 4))}, "Cs": [0.1, 1.0],
        "fun": lambda theta: (float(theta @ theta), 2 * theta), "theta0": np.ones(3),
        "method": outer.LBFGS(), "estimator": kernelwise.SVC(), "vectors": np.eye(N)[:, :3],
        "eigenvalues": np.ones(3), "theta": np.ones(1),
    }  # fmt: skip


def for_one() -> dict[str, dict[str, Any]]:
    """Return sound values that hold for one callable alone: other meanings, and less work."""
    quick = {"cv": 2, "against": ["guessing"], "method": "svc", "repeats": 1}
    relevance = fitted("RelevanceSVC")
    pipeline = evaluation.fit_table(frame(), _classes(), "relevance")
    return {
        "evaluation.evaluate": quick,
        "evaluation.evaluate_model": {"cv": 2, "model": fitted()},
        "evaluation.drift_from_training": {"model": pipeline},
        "evaluation.fit_table": {"method": "svc", "target": _classes()},
        "evaluation.score_model": {"model": pipeline},
        "evaluation.leaking_columns": {"columns": tabular.describe_columns(frame(), "target")}
        | {"target": _classes()},
        "inspection.ComparisonDisplay.from_results": {
            "results": {"a": [0.1, 0.2], "b": [0.2, 0.3]}
        },
        "inspection.ComparisonDisplay.from_estimators": {"cv": 2},
        "inspection.ColumnEffectsDisplay": {"effects": inspection.column_effects(relevance, X)},
        "inspection.ColumnEffectsDisplay.from_estimator": {"estimator": relevance, "X": X},
        "inspection.column_effects": {"model": relevance, "X": X},
        "inspection.explain_rows": {"model": relevance, "X_train": X},
        "inspection.FeatureWeightsDisplay.from_estimator": {"estimator": relevance},
        "inspection.ImportanceDisplay": {
            "importance": inspection.held_out_importance(relevance, X, Y.astype(int))
        },
        "inspection.ImportanceDisplay.from_estimator": {"estimator": relevance, "cv": 2},
        "inspection.PathDisplay": {"path": relevance.path_},
        "inspection.PathDisplay.from_estimator": {"estimator": relevance},
        "inspection.weight_stability": {"estimator": kernelwise.RelevanceSVC()}
        | {"n_resamples": 2},
        "io.save": {"path": "other.kw"},
        "io.save_onnx": {"path": "model.onnx"},
        "kernels.FunctionKernel": {"function": lambda A, B: np.asarray(A) @ np.asarray(B).T},
        "kernels.Precomputed.diag": {"X": K},
        "qp.Adatron": {"eta": 0.1},
        "report.write_report": {"path": "report.html"},
        "svm.GeneralizedBiasSVC": {"bias_features": [0]},
        "svm.SVCSearchCV": {"estimator": kernelwise.SVC(), "param_grid": {"C": [0.1, 1.0]}}
        | {"cv": 2},
        "tabular.TableEncoder.fit": {"X": frame()},
        "tabular.TableEncoder.fit_transform": {"X": frame()},
        "tabular.TableEncoder.transform": {"X": frame()},
        "tabular.check_new_rows": {"model": pipeline},
        "tabular.column_weights": {"model": pipeline},
        "transform.RelevanceSelector": {"max_features": 2},
        "transform.RelevanceSelector.inverse_transform": {"X": X[:, :2]},
        "transform.TopicFeatures": {"n_components": 2},
    }


def _classes() -> Any:
    return tabular.check_target(frame(), "target")


def _figure() -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 2))
    figure.add_subplot().plot([0, 1])
    return figure
