"""Fit every golden case and store what came out: ``python -m tests.golden.record FOLDER``."""

import argparse
import json
import platform
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from threadpoolctl import threadpool_limits

from kernelwise import bounds_of

from .cases import CASES
from .data import TABLES

# Attributes whose values are chosen from a list: they must stay equal.
SELECTED = (
    "best_index_",
    "best_params_",
    "eta_",
    "measure_",
    "members_",
    "n_features_in_",
    "n_path_rows_",
    "n_splits_",
    "selected_features_",
    "support_features_",
    "C_",
    "gamma_",
)
# Attributes of numbers, compared as the decision values are.
VALUES = (
    "best_score_",
    "bias_coef_",
    "bound_",
    "criterion_value_",
    "feature_importances_",
    "feature_scales_",
    "feature_weights_",
    "held_out_error_",
    "importances_",
    "intercept_",
    "kernel_share_",
    "loo_error_",
    "margin_",
    "objective_",
    "radius_",
    "scale_",
)
# Attributes that tell how much work a fit was, and how its machines ended.
COUNTS = ("n_iter_", "n_solves_", "n_support_", "fit_status_", "classes_")
PATH_COLUMNS = ("score", "held_out_error", "loo_error")
# Attributes that follow from learned weights, though other estimators choose them from a list.
LEARNED = {"DualObjectiveSVC": ("C_", "gamma_"), "RelevanceSVC": ("gamma_",)}


class Result(NamedTuple):
    """What a fit is remembered by: arrays that are compared as numbers, and all else."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]


def fitted(case):
    """Return the fitted model of a case, its events and its warnings."""
    data, model, events = TABLES[case.table](), clone(case.model), []
    if case.events:
        model.set_params(callback=lambda event: events.append(type(event).__name__) and None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if case.first is not None:
            last = {name: getattr(model, name) for name in case.first}
            n = len(data.y) * 4 // 5
            model.set_params(**case.first).fit(data.X[:n], data.y[:n])
            model.set_params(**last)
        more = {"sample_weight": data.sample_weight} if case.weighted else {}
        model.fit(data.X, data.y, **more)
    texts = sorted({f"{each.category.__name__}: {each.message}" for each in caught})
    return model, data, events, texts


def plain(value):
    """Return a value as JSON knows it."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return value


def _attribute(model, name):
    """Return a fitted attribute; None where the model has none."""
    try:
        return getattr(model, name, None)
    except ValueError:  # some attributes exist for some parameters only, and say so
        return None


def _arrays(model, data, also):
    rows = data.rows
    decide = model.decision_function if is_classifier(model) else model.transform
    arrays = {"decisions": np.asarray(decide(rows), dtype=np.float64)}
    for name in (*VALUES, *LEARNED.get(type(model).__name__, ())):
        value = _attribute(model, name)
        if value is not None:
            arrays[name] = np.asarray(value, dtype=np.float64)
    tried = getattr(model, "path_", None) or {}
    arrays |= {f"path_{name}": tried[name] for name in PATH_COLUMNS if name in tried}
    tried = getattr(model, "cv_results_", None) or {}
    arrays |= {
        name: tried[name] for name in tried if name.startswith("mean_t") and "_s" in name[6:]
    }
    if "to_sklearn" in also:
        arrays["to_sklearn"] = model.to_sklearn().decision_function(rows)
    return arrays


def _chosen_factors(model):
    """Return the factor of gamma that each machine of a RelevanceSVC chose; larger tables none."""
    if model.members_ == ["evidence"] or not model.members_:
        return []
    path = {key: np.asarray(column) for key, column in model.path_.items()}
    members = [path["member"] == each for each in model.members_]
    return [path["factor"][own][np.nanargmin(path["score"][own])] for own in members]


def _certificate(model):
    """Return objective and violation per machine, and the least criterion of learned weights.

    The violation is the duality gap where that is the test of convergence.
    """
    model = getattr(model, "best_estimator_", model)
    certificate = getattr(model, "certificate_", None)
    if certificate is None:
        return {}
    test = "violation" if "violation" in certificate else "gap"
    found = {"objective": certificate["objective"], "violation": certificate[test]}
    if hasattr(model, "history_"):
        history = model.history_
        group = np.asarray(history["kernel" if "kernel" in history else "machine"])
        values = np.asarray(history["value"])
        found["criterion"] = [np.nanmin(values[group == each]) for each in np.unique(group)]
    return {key: np.asarray(value, dtype=np.float64) for key, value in found.items()}


def run(name):
    """Fit a case and return its result."""
    case = CASES[name]
    with threadpool_limits(1):
        model, data, events, texts = fitted(case)
        arrays = _arrays(model, data, case.also)
        if "bounds_of" in case.also:
            weights = data.sample_weight if case.weighted else None
            found = bounds_of(model, data.X, data.y, sample_weight=weights)
            arrays |= {f"bounds_of_{key}": np.asarray(found[key]) for key in found}
    arrays |= {f"certificate_{key}": value for key, value in _certificate(model).items()}
    learned = LEARNED.get(type(model).__name__, ())
    selected = {key: _attribute(model, key) for key in SELECTED if key not in learned}
    if hasattr(model, "members_"):
        selected["factors"] = _chosen_factors(model)
    inner = getattr(model, "best_estimator_", model)
    counts = {key: _attribute(inner, key) for key in COUNTS}
    counts["certificate status"] = getattr(inner, "certificate_", {}).get("status")
    if case.events:
        counts["events"] = {kind: events.count(kind) for kind in sorted(set(events))}
    facts = {
        "selected": {key: plain(value) for key, value in selected.items() if value is not None},
        "counts": {key: plain(value) for key, value in counts.items() if value is not None},
        "warnings": texts,
        "tol": getattr(inner, "tol", 0.0),
    }
    return Result(arrays, facts)


def environment():
    """Return the versions that rounding may depend on."""
    packages = ("numpy", "scipy", "scikit-learn")
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{name: version(name) for name in packages},
    }


def write(results, folder):
    """Store results in a folder: numbers in one file, all else in the other."""
    folder.mkdir(parents=True, exist_ok=True)
    named = [(case, key, a) for case in results for key, a in results[case].arrays.items()]
    layout = json.dumps([(case, key, array.shape) for case, key, array in named])
    numbers = np.concatenate([array.ravel() for _, _, array in named])
    np.savez_compressed(folder / "values.npz", layout=layout, numbers=numbers)
    lines = [f'"environment": {json.dumps(environment())}']
    for name, result in results.items():
        lines.append(f"{json.dumps(name)}: {json.dumps(result.facts, sort_keys=True)}")
    (folder / "facts.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def read(folder):
    """Return the results that a folder holds, by case."""
    facts = json.loads((folder / "facts.json").read_text())
    del facts["environment"]
    results = {name: Result({}, facts[name]) for name in facts}
    with np.load(folder / "values.npz") as stored:
        numbers, place = stored["numbers"], 0
        for case, key, shape in json.loads(str(stored["layout"])):
            end = place + int(np.prod(shape, dtype=int))
            results[case].arrays[key] = numbers[place:end].reshape(shape)
            place = end
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="part of the names of the cases to run")
    options = parser.parse_args()
    results, seconds = {}, {}
    for name in CASES:
        if options.only in name:
            begin = time.perf_counter()
            results[name] = run(name)
            seconds[name] = time.perf_counter() - begin
    write(results, options.folder)
    print(f"{len(results)} cases in {sum(seconds.values()):.0f} s; the slowest:")
    for name in sorted(seconds, key=lambda name: -seconds[name])[:10]:
        print(f"  {seconds[name]:6.2f} s  {name}")


if __name__ == "__main__":
    main()
