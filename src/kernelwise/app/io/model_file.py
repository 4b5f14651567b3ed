"""Save estimators to model files, and load them without running code from the file."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..._version import __version__
from ._container import SCHEMA, Contents, ModelFileError, digest, grows_too_much, read, write
from ._kinds import KindError, kind_of, with_classes, with_kinds
from ._trust import names_of, refuse_code, trusted_names


def save(
    model: Any, path: str | os.PathLike[str], *, summary: Mapping[str, Any] | None = None
) -> Path:
    """Save an estimator, transformer or pipeline to a model file.

    Parameters
    ----------
    model : estimator
        Estimator to save: one of kernelwise, or one of scikit-learn that contains such estimators.
    path : path-like
        File to write, usually with the suffix ".kw". It is written atomically.
    summary : mapping, default=None
        Additional entries of the summary that `describe` returns, such as a score: names mapped to
        numbers or strings.

    Returns
    -------
    path : Path
        Path of the file.

    Raises
    ------
    ModelFileError
        If the model holds something that a file cannot, such as a function as kernel or callback,
        or computes on a cluster: save its ``to_local()``.

    See Also
    --------
    load : Load the model.
    describe : Describe a model file without loading the model.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from kernelwise import SVC
    >>> from kernelwise.app.io import describe, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC().fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = save(model, f"{folder}/iris.kw", summary={"score": model.score(X, y)})
    ...     (load(path).predict(X) == model.predict(X)).all(), describe(path)["summary"]
    (np.True_, {'rows': 150, 'columns': 4, 'score': 0.9733333333333334})
    """
    path = Path(path)
    if not hasattr(model, "get_params") or isinstance(model, type):
        raise TypeError(f"model must be an estimator; got {model!r:.80}.")
    if hasattr(model, "to_local"):
        raise ModelFileError(
            f"{path}: {type(model).__name__} computes on a cluster; save its to_local(), which "
            "predicts the same in one process."
        )
    payload = _dumped(model, path)
    untrusted = _needed(path, payload) - trusted_names()
    try:
        refuse_code(payload, untrusted)
        header = _header(model, payload := _packed(payload), untrusted, summary)
    except (ModelFileError, KindError) as error:
        raise ModelFileError(f"{path}: {error}") from None
    write(path, Contents(header, payload))
    return path


def load(path: str | os.PathLike[str], *, trusted: Iterable[str | type] = ()) -> Any:
    """Load a model from a model file.

    No code from the file runs. Only types of kernelwise, types of scikit-learn that skops trusts,
    and types named in ``trusted`` are built.

    Parameters
    ----------
    path : path-like
        File to read.
    trusted : iterable of str or type, default=()
        Additional types that may be built, given as classes or by their full names.

    Returns
    -------
    model : estimator
        The model, with the same predictions as the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, was written by a newer kernelwise, or holds other types.

    See Also
    --------
    save : Save a model; includes an example.
    """
    path = Path(path)
    contents = read(path)
    payload = _with_classes(path, contents)
    needed = _needed(path, payload)
    refused = needed - trusted_names() - names_of(trusted)
    if refused:
        raise ModelFileError(
            f"{path}: it holds types that are not trusted: {sorted(refused)}. If you know them and "
            f"trust the source of the file, load it with trusted={sorted(refused)}."
        )
    model = _built(path, payload, needed)
    found = kind_of(type(model))
    if found != contents.header["class"]:
        raise ModelFileError(
            f"{path}: damaged: its header says {contents.header['class']}, its model is {found}."
        )
    return model


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe a model file without building the model.

    Parameters
    ----------
    path : path-like
        File to read.

    Returns
    -------
    header : dict
        "class", "feature_names", "classes", "summary" ("rows", "columns" and the entries given
        to `save`), "needs_trusted" (types to name when loading), the versions of "kernelwise",
        "scikit-learn", "numpy", "skops" and "python", the "schema" and "payload_sha256".

    See Also
    --------
    save : Save a model; includes an example.
    """
    return read(Path(path)).header


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("model files need skops: pip install 'kernelwise[persist]'.") from error
    return skops.io


def _dumped(model: Any, path: Path) -> bytes:
    try:
        dumped: bytes = _skops().dumps(model)
    except (TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(
            f"{path}: the model holds something that a model file cannot ({error}). Dict keys must "
            "be strings or numbers; open files, locks and the like cannot be saved."
        ) from error
    return dumped


def _packed(payload: bytes) -> bytes:
    """Return the payload of a file: compressed, unless it is nearly all zeros."""
    packed = with_kinds(payload)
    return with_kinds(payload, compressed=False) if grows_too_much(packed) else packed


def _header(
    model: Any, payload: bytes, untrusted: frozenset[str], summary: Mapping[str, Any] | None
) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    classes = getattr(model, "classes_", None)
    entries = {"rows": _rows(model), "columns": getattr(model, "n_features_in_", None)}
    entries |= dict(summary or {})
    try:
        entries = json.loads(json.dumps(entries, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"summary must contain only numbers and strings: {error}.") from None
    return {
        "schema": SCHEMA,
        "kernelwise": __version__,
        "scikit-learn": version("scikit-learn"),
        "numpy": version("numpy"),
        "skops": version("skops"),
        "python": platform.python_version(),
        "class": kind_of(type(model)),
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": None if classes is None else [_shown(each) for each in classes.tolist()],
        "summary": entries,
        "needs_trusted": sorted(untrusted),
        "payload_sha256": digest(payload),
    }


def _shown(label: Any) -> Any:
    return label if isinstance(label, str | bool | int) else str(label)


def _rows(model: Any) -> int | None:
    """Return the number of training rows of the model inside pipelines, searches and the like."""
    if hasattr(model, "steps"):
        return _rows(model.steps[-1][1])
    if hasattr(model, "calibrated_classifiers_"):
        parts = model.calibrated_classifiers_
        return _rows(parts[0].estimator) if len(parts) == 1 else None  # each saw a part of the rows
    for name in ("best_estimator_", "estimator_"):
        if hasattr(model, name):
            return _rows(getattr(model, name))
    shape = getattr(model, "shape_fit_", None)
    return None if shape is None else int(shape[0])


def _with_classes(path: Path, contents: Contents) -> bytes:
    try:
        return with_classes(contents.payload)
    except KindError as error:
        raise ModelFileError(
            f"{path}: {error}. The file was written by kernelwise "
            f"{contents.header['kernelwise']!r}, and this is {__version__!r}: load it with the "
            "version that wrote it, or fit the model again."
        ) from None
    except Exception as error:  # a forged payload may lack anything
        raise ModelFileError(f"{path}: damaged: its model cannot be read: {error!r}.") from error


def _needed(path: Path, payload: bytes) -> frozenset[str]:
    """Return the types in a payload that skops does not trust by default."""
    skops_io = _skops()
    try:
        return frozenset(skops_io.get_untrusted_types(data=payload))
    except Exception as error:  # a malformed payload may raise anything in skops
        raise ModelFileError(f"{path}: damaged: its model cannot be read: {error!r}.") from error


def _built(path: Path, payload: bytes, types: frozenset[str]) -> Any:
    try:
        return _skops().loads(payload, trusted=sorted(types))
    except Exception as error:  # as above, and anything in constructors
        raise ModelFileError(
            f"{path}: its model cannot be built: {error!r}. It is damaged, or needs another "
            "version of scikit-learn or of the other packages that it uses."
        ) from error
