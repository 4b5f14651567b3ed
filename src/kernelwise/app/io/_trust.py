"""Types that a model file may hold, and that are built when it is loaded.

skops builds only the types that it is told to trust, and most of scikit-learn by default. Models of
kernelwise also need the types below. None of them runs code from a file.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any
from zipfile import ZipFile

from ._container import ModelFileError
from ._kinds import OURS

# Parts of scikit-learn's fitted estimators, in the versions that have them, besides the estimators
# that skops trusts. Decision trees and neighbour trees are excluded: they contain memory addresses
# that nothing checks.
_INSIDE_SCIKIT_LEARN = frozenset(
    (
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.callback._progressbar.ProgressBar",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.utils._bunch.Bunch",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
    )
)

_NAMED_CODE = {"FunctionNode", "TypeNode"}  # skops loaders of code that is imported by name
_MADE_CODE = {"MethodNode", "OperatorFuncNode", "PartialNode"}  # loaders that construct functions
_KEYS = {"str", "int", "float"}  # types of dict keys that survive JSON unchanged


@cache
def trusted_names() -> frozenset[str]:
    """Return the types that a model file may hold besides those that skops trusts."""
    parts = frozenset(name for name in _INSIDE_SCIKIT_LEARN if _exists(name))
    return OURS | parts | _splitters() | _metrics()


def trusted_types() -> list[str]:
    """Return the types that fitted models consist of, for other users of skops.

    `load` trusts them by itself. Tools that keep models in the format of skops, such as MLflow,
    take the list: ``skops_trusted_types=trusted_types()``.

    Returns
    -------
    names : list of str
        The full names of the types of kernelwise, and of those of scikit-learn that skops does not
        trust by default. None of them runs code from a file.

    See Also
    --------
    load : Load a model file.

    Examples
    --------
    >>> from kernelwise.app.io import trusted_types
    >>> "kernelwise.svm.svc.SVC" in trusted_types()
    True
    """
    return sorted(trusted_names())


def _exists(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(import_module(module), attribute)
    except ImportError:
        return False


def _splitters() -> frozenset[str]:
    """Return the names of scikit-learn's splitters, the values of the parameter ``cv``."""
    from sklearn import model_selection

    types = (each for each in vars(model_selection).values() if isinstance(each, type))
    return frozenset(_name_of(each) for each in types if hasattr(each, "split"))


def _metrics() -> frozenset[str]:
    """Return the names of the metrics of scikit-learn's scorers, which a search keeps."""
    from sklearn.metrics import get_scorer, get_scorer_names

    return frozenset(_name_of(get_scorer(name)._score_func) for name in get_scorer_names())


def _name_of(named: Any) -> str:
    return f"{named.__module__}.{named.__qualname__}"


def names_of(trusted: Iterable[str | type]) -> frozenset[str]:
    """Return the names of types that are given by name or as classes."""
    if isinstance(trusted, str | type):
        trusted = (trusted,)
    found = set()
    for each in trusted:
        if not isinstance(each, str | type):
            raise TypeError(f"trusted must be types or names of types; got {each!r}.")
        found.add(each if isinstance(each, str) else _name_of(each))
    return frozenset(found)


def refuse_code(payload: bytes, untrusted: frozenset[str]) -> None:
    """Refuse content that a file cannot restore: functions, and dict keys that JSON changes."""
    with ZipFile(io.BytesIO(payload)) as file:
        root = json.loads(file.read("schema.json"))
    for place, node in _nodes(root, "model"):
        name = f"{node['__module__']}.{node['__class__']}"
        is_named = node["__loader__"] in _NAMED_CODE and name in untrusted
        if is_named or node["__loader__"] in _MADE_CODE:
            raise ModelFileError(
                f"{place} is code ({name}), which a model file cannot hold. Replace it by a name, "
                "None or an object of kernelwise: callback=None, a kernel of kernelwise.kernels or "
                'kernel="precomputed", importances as numbers.'
            )
        if node["__loader__"] == "DictNode":
            _refuse_keys(place, node)


def _refuse_keys(place: str, node: dict[str, Any]) -> None:
    types = [(each["__module__"], each["__class__"]) for each in node["key_types"]["content"]]
    lost = {name for module, name in types if module == "builtins" and name not in _KEYS}
    lost |= {name for module, name in types if module == "numpy" and name.startswith("bool")}
    if lost:
        raise ModelFileError(
            f"{place} is a dict with keys of type {sorted(lost)}, which a model file cannot "
            "restore; use strings or numbers (0 and 1 for False and True)."
        )


def _nodes(node: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the nodes of a skops schema, each with its place in the model."""
    if isinstance(node, list):
        for number, child in enumerate(node):
            yield from _nodes(child, f"{place}[{number}]")
        return
    if not isinstance(node, dict):
        return
    if "__loader__" not in node:
        for key, child in node.items():
            yield from _nodes(child, f"{place}.{key}")
        return
    yield place, node
    content = node.get("content")
    if node["__loader__"] == "ObjectNode" and isinstance(content, dict):
        content = content.get("content")  # the attributes, without the dict that holds them
    yield from _nodes(content, place)
