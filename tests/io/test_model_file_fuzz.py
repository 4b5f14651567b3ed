"""Damaged model files by the hundred: each loads as it was, or is refused with a reason."""

import hashlib
import io
import json
import zipfile
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.app.io import ModelFileError, describe, load, save

from .models import classifier, new_rows
from .test_model_file_safety import changed_schema, members_of, signed, write

TRIALS = 40  # of each damage


def tried(path):
    """Return the model, or why it was refused."""
    try:
        return load(path)
    except ModelFileError as error:
        return str(error)


def cut(data, rng):
    return data[: rng.integers(len(data))]


def flip(data, rng):
    data = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    return bytes(data)


def overwrite(data, rng):
    start = rng.integers(len(data))
    noise = rng.bytes(int(rng.integers(1, 200)))
    return data[:start] + noise + data[start + len(noise) :]


def swap(data, rng):
    """Give the members the names of each other."""
    members = members_of(io.BytesIO(data))
    names = list(members)
    order = rng.permutation(len(names))
    return zipped(dict(zip(names, [members[names[k]] for k in order], strict=True)))


def change_json(data, rng):
    """Change one field of the header."""
    members = members_of(io.BytesIO(data))
    header = json.loads(members["kernelwise.json"])
    key = list(header)[rng.integers(len(header))]
    header[key] = [None, "x", -1, [], {}][rng.integers(5)]
    return zipped(members | {"kernelwise.json": json.dumps(header)})


def zipped(members):
    buffer = io.BytesIO()
    write(buffer, members)
    return buffer.getvalue()


@pytest.mark.parametrize("damage", [cut, flip, overwrite, swap, change_json])
def test_damage_is_noticed_or_harmless(damage, tmp_path):
    model, rows = classifier("SVC-weights"), new_rows()
    expected = model.decision_function(rows)
    path = save(model, tmp_path / "model.kw")
    whole, seen = path.read_bytes(), Counter()
    rng = np.random.default_rng(0)
    for _ in range(TRIALS):
        path.write_bytes(damage(whole, rng))
        found = tried(path)
        if isinstance(found, str):
            assert str(path) in found
            seen["refused"] += 1
            continue
        assert_array_equal(found.decision_function(rows), expected)
        assert describe(path)["class"] == "kernelwise.svm.SVC"
        seen["sound"] += 1
    assert seen.total() == TRIALS
    assert seen["refused"] >= TRIALS * 0.4


def other_types(text, rng):
    """Rename a type or a loader somewhere."""
    names = ["SVC", "RBF", "Machines", "Bunch", "ndarray", "dict", "builtins", "numpy", "tuple"]
    names += ["ObjectNode", "DictNode", "JsonNode", "NdArrayNode", "TupleNode", "FunctionNode"]
    found = [name for name in names if f'"{name}"' in text]
    old, new = found[rng.integers(len(found))], names[rng.integers(len(names))]
    places = text.split(f'"{old}"')
    place = int(rng.integers(1, len(places)))
    before, after = f'"{old}"'.join(places[:place]), f'"{old}"'.join(places[place:])
    return f'{before}"{new}"{after}'


def less(text, rng):
    """Leave out or double a line of the schema."""
    lines = text.splitlines()
    place = int(rng.integers(len(lines)))
    return "\n".join(lines[:place] + lines[place + 1 :] + lines[place : place + 1])


def other_numbers(text, rng):
    """Change a digit anywhere: names of files, numbers of objects, values."""
    digits = [k for k, letter in enumerate(text) if letter.isdigit()]
    place = digits[rng.integers(len(digits))]
    return text[:place] + str(rng.integers(10)) + text[place + 1 :]


@pytest.mark.parametrize("change", [other_types, less, other_numbers])
def test_a_forged_file_is_built_or_refused(change, tmp_path):
    """Digests that fit: whatever is built then is of the types that are trusted."""
    path = save(classifier("SVC-weights"), tmp_path / "model.kw")
    payload = members_of(path)["model.skops"]
    rng, seen = np.random.default_rng(1), Counter()
    for _ in range(TRIALS):
        signed(path, changed_schema(payload, lambda text: change(text, rng)))
        found = tried(path)
        assert not isinstance(found, str) or str(path) in found
        seen[type(found).__name__] += 1
    assert seen.total() == TRIALS
    assert set(seen) <= {"SVC", "str"}


def test_the_digest_is_of_the_header_and_of_the_model(tmp_path):
    members = members_of(save(classifier("SVC"), tmp_path / "model.kw"))
    header = json.loads(members["kernelwise.json"])
    assert members["sha256"].decode() == hashlib.sha256(members["kernelwise.json"]).hexdigest()
    assert header["payload_sha256"] == hashlib.sha256(members["model.skops"]).hexdigest()
    with zipfile.ZipFile(io.BytesIO(members["model.skops"])) as file:
        assert "schema.json" in file.namelist()
