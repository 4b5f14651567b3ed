"""Damaged and forged model files: each is refused with a reason, or loads as it was."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import numpy as np

from kernelwise.io import ModelFileError, load, save
from tests.io.models import classifier, new_rows
from tests.io.test_model_file_fuzz import (
    change_json,
    cut,
    flip,
    less,
    other_numbers,
    other_types,
    overwrite,
    swap,
)
from tests.io.test_model_file_safety import changed_schema, members_of, signed

from .tally import Tally

_DAMAGES = (cut, flip, overwrite, swap, change_json)
_FORGERIES = (other_types, less, other_numbers)
_MODELS = ("SVC-weights", "RelevanceSVC", "MarginRadiusSVC", "GeneralizedBiasSVC")
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
    tally.facts["growth of memory, MB"] = _peak() - before
    return tally


def forged_files(folder: Path, n: int, seed: int) -> Tally:
    """Load n files with a changed schema and digests that fit it."""
    tally, rng = Tally("forged files"), np.random.default_rng(seed)
    before = _peak()
    for k in range(n):
        name, forge = _MODELS[k % len(_MODELS)], _FORGERIES[k % len(_FORGERIES)]
        path = save(classifier(name), folder / "forged.kw")
        payload = members_of(path)["model.skops"]
        signed(path, changed_schema(payload, lambda text, forge=forge: forge(text, rng)))
        found = _loaded(path, tally, f"{forge.__name__} of {name}, trial {k}")
        if found is not None:
            own = type(found).__module__.startswith("kernelwise.")
            (tally.held if own else tally.broke)("built from trusted types" if own else f"{k}")
    tally.facts["growth of memory, MB"] = _peak() - before
    return tally


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


def _peak() -> float:
    """Return the most memory that this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
