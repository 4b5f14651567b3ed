"""Damaged and forged model files: each is refused with a reason, or loads as it was."""

from __future__ import annotations

import io
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from kernelwise.app.io import ModelFileError, load, save
from tests.io.forging import change_model, members_of
from tests.io.models import classifier, new_rows
from tests.io.test_model_file_safety import (
    change_json,
    cut,
    flip,
    less,
    other_numbers,
    other_types,
    overwrite,
    sparse_file,
    swap,
)

from .tally import Tally

_DAMAGES = (cut, flip, overwrite, swap, change_json)
_MODELS = ("SVC-weights", "RelevanceSVC", "MarginRadiusSVC", "GeneralizedBiasSVC")
_MOST_GROWTH = 200.0  # megabytes above the base that refused files may take
_SLOW = 10.0  # seconds after which a file counts as one that hangs


def damaged_files(folder: Path, n: int, seed: int) -> Tally:
    """Load n files whose bytes, members or header are damaged: the digests tell."""
    tally, rng, rows = Tally("damaged files"), np.random.default_rng(seed), new_rows()
    before = _peak()
    for k in range(n):
        name, damage = _MODELS[k % len(_MODELS)], _DAMAGES[k % len(_DAMAGES)]
        model = classifier(name)
        path = save(model, folder / "damaged.kw")
        path.write_bytes(damage(path.read_bytes(), rng))
        found = _loaded(path, tally, f"{damage.__name__} of {name}, trial {k}")
        if found is None:
            continue
        if np.array_equal(found.decision_function(rows), model.decision_function(rows)):
            tally.held("loaded as it was")
        else:
            tally.broke(f"{damage.__name__} of {name}, trial {k}: another model was loaded")
    _note_growth(tally, _peak() - before)
    return tally


def forged_files(folder: Path, n: int, seed: int) -> Tally:
    """Load n files with a changed schema or with arrays of other shapes, and digests that fit."""
    tally, rng = Tally("forged files"), np.random.default_rng(seed)
    before = _peak()
    for k in range(n):
        name, forge = _MODELS[k % len(_MODELS)], _FORGERIES[k % len(_FORGERIES)]
        path = save(classifier(name), folder / "forged.kw")
        forge(path, rng)
        found = _loaded(path, tally, f"{forge.__name__} of {name}, trial {k}")
        if found is not None:
            own = type(found).__module__.startswith("kernelwise.")
            (tally.held if own else tally.broke)("built from trusted types" if own else f"{k}")
    _note_growth(tally, _peak() - before)
    return tally


def other_schema(path: Path, rng: Any) -> None:
    """Change the description of the model: types, lines or numbers."""
    change = (other_types, less, other_numbers)[rng.integers(3)]
    change_model(path, lambda root: change(json.dumps(root), rng))


def other_array(path: Path, rng: Any) -> None:
    """Give an array another type or a huge shape, with the bytes that it had."""
    members = members_of(members_of(path)["model.skops"])
    arrays = [name for name in members if name.endswith(".npy")]
    chosen = arrays[rng.integers(len(arrays))]
    out = io.BytesIO()
    header = {
        "descr": _TYPES[rng.integers(len(_TYPES))],
        "fortran_order": bool(rng.integers(2)),
        "shape": _SHAPES[rng.integers(len(_SHAPES))],
    }
    np.lib.format.write_array_header_1_0(out, header)

    def forged(name: str, data: bytes) -> bytes:  # the header has 128 bytes
        return out.getvalue() + data[128:] if name == chosen else data

    change_model(path, arrays=forged)


def other_sparse_matrix(path: Path, rng: Any) -> None:
    """Declare a huge shape of a sparse matrix."""
    shape = np.array([(10**9, 2), (10**9, 10**9), (3, 10**12)][rng.integers(3)])
    parts = {"data": np.ones(1), "indices": np.zeros(1, int), "indptr": np.array([0, 1])}
    out = io.BytesIO()
    kind = np.bytes_(("csr", "csc")[rng.integers(2)])
    np.savez_compressed(out, format=kind, shape=shape, _is_array=np.array(True), **parts)
    sparse_file(path.parent, lambda data: out.getvalue()).replace(path)


_TYPES = ("<f8", "<f4", "<i8", "|O", "<U9", "|V8", "<c16")
_SHAPES = ((10**12,), (10**6, 10**6), (2**62,), (0, 10**12), (3, 0), (), (10**5, 1, 10**5))
_FORGERIES = (other_schema, other_array, other_schema, other_sparse_matrix, other_array)


def _loaded(path: Path, tally: Tally, what: str) -> object | None:
    """Return the model of a file that loads; count a refusal, and whatever else happens."""
    begin = time.monotonic()
    try:
        found = load(path)
    except ModelFileError:
        found = None
        tally.held("refused with a reason")
    except Exception as error:
        tally.broke(f"{what}: {type(error).__name__}: {error}")
        return None
    if time.monotonic() - begin > _SLOW:
        tally.broke(f"{what}: took {time.monotonic() - begin:.0f} s")
    return found


def _note_growth(tally: Tally, megabytes: float) -> None:
    """Keep by how much all the files together let the memory of the process grow."""
    tally.facts["growth of memory, MB"] = megabytes
    if megabytes > _MOST_GROWTH:
        tally.broke(f"memory grew by {megabytes:.0f} MB")


def _peak() -> float:
    """Return the most memory that this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
