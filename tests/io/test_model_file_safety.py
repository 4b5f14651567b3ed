"""A model file is not trusted: nothing of it runs, damage is noticed, and what is wrong is said."""

import io
import json
import operator
import os
import tracemalloc
import zipfile
from collections import Counter
from contextlib import suppress
from copy import copy
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import kernelwise.app.io._container as container
from kernelwise import SVC, FeatureDiscriminationSVC
from kernelwise.app.io import ModelFileError, describe, load, save
from kernelwise.kernels import FunctionKernel
from tests.loop import loop

from .forging import change_model, members_of, nodes, signed, zipped
from .models import classifier, new_rows, table

RAN = []
TRIALS = 30  # of each damage


class Evil:
    """Tells when it is built, in whatever way."""

    def __new__(cls, *args):
        RAN.append("new")
        return super().__new__(cls)

    def __setstate__(self, state):
        RAN.append("setstate")


class Own(TransformerMixin, BaseEstimator):
    """A user's own transformer."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X


def product(X, Y):
    return X @ Y.T


@pytest.fixture
def path(tmp_path):
    return save(classifier("SVC"), tmp_path / "model.kw")


def assert_refused(path, words, *, described=True):
    """Assert that a file is refused, with its path and some words, by load and perhaps describe."""
    for read in (load, describe) if described else (load,):
        with pytest.raises(ModelFileError, match=words) as caught:
            read(path)
        assert str(path) in str(caught.value)


# --- Types ------------------------------------------------------------------------------------


@loop("loader", ["ObjectNode", "ConstructorFromReduceNode", "FunctionNode", "TypeNode", "ListNode"])
def test_types_of_a_stranger_are_not_built(loader, tmp_path):
    """A file with correct digests that names a type of its own in the place of a kernel."""
    path = save(classifier("SVC"), tmp_path / "model.kw")

    def change(root):
        attributes = root["content"]["content"]
        attributes["kernel_"] |= {"__class__": "Evil", "__module__": __name__}
        attributes["kernel_"] |= {"__loader__": loader, "__id__": -1}
        attributes["kernel_"]["content"] = attributes["intercept_"] | {"__id__": -2}
        if loader == "ListNode":
            attributes["kernel_"]["content"] = []
        return root

    change_model(path, change)
    RAN.clear()
    assert_refused(
        path, rf"types that are not trusted.*{__name__}\.Evil.*trusted=", described=False
    )
    assert RAN == []
    assert describe(path)["class"] == "kernelwise.svm.SVC"


@loop("name", ["os.system", "builtins.eval", "subprocess.Popen"])
def test_functions_of_python_are_not_called(name, tmp_path):
    path = save(classifier("SVC"), tmp_path / "model.kw")
    module, _, function = name.rpartition(".")
    proof = tmp_path / "ran"

    def change(root):
        argument = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"}
        argument |= {"content": json.dumps(f"touch {proof}"), "__id__": -3}
        values = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"}
        root["content"]["content"]["C"] = {
            "__class__": function,
            "__module__": module,
            "__loader__": "ConstructorFromReduceNode",
            "content": values | {"content": [argument], "__id__": -2},
            "__id__": -1,
        }
        return root

    change_model(path, change)
    assert_refused(path, name, described=False)
    assert not proof.exists()


def test_a_type_of_the_user_loads_when_it_is_trusted(tmp_path):
    X, y = table()
    path = save(make_pipeline(Own(), SVC()).fit(X, y), tmp_path / "model.kw")
    name = f"{__name__}.Own"
    assert describe(path)["needs_trusted"] == [name]
    assert_refused(path, "types that are not trusted", described=False)
    expected = classifier("SVC").predict(X)
    for trusted in ([name], [Own], name, Own):
        assert_array_equal(load(path, trusted=trusted).predict(X), expected)
    with pytest.raises(TypeError, match="trusted must be types or names"):
        load(path, trusted=[3])


def test_trees_need_to_be_trusted(tmp_path):
    path = save(DecisionTreeClassifier().fit(*table()), tmp_path / "model.kw")
    assert describe(path)["needs_trusted"] == ["sklearn.tree._tree.Tree"]
    assert_refused(path, r"sklearn\.tree\._tree\.Tree", described=False)


# --- Kinds ------------------------------------------------------------------------------------


@loop(
    "kind", [("kernelwise.part", "Wavelet"), ("kernelwise.svm.svc", "SVC"), ("kernelwise", "SVC")]
)
def test_kinds_that_are_unknown_are_named(kind, tmp_path):
    """Places of classes in the code are not kinds: they may move."""
    path = save(classifier("RelevanceSVC"), tmp_path / "model.kw")

    def change(root):
        for node in nodes(root):
            if node["__class__"] == "Prior":
                node["__module__"], node["__class__"] = kind
        return root

    change_model(path, change)
    words = rf"'{'.'.join(kind)}' is not a kind of part .* written by kernelwise '.*fit the model"
    assert_refused(path, words, described=False)


@loop("change", [lambda fields: fields.pop("rho"), lambda f: f.update(width=f["rho"])])
def test_parts_with_other_fields_are_refused(change, tmp_path):
    """Else a file of another version would load, and fail or predict something else."""
    path = save(classifier("RelevanceSVC"), tmp_path / "model.kw")

    def change_prior(root):
        for node in nodes(root):
            if node["__class__"] == "Prior" and node["__loader__"] == "ObjectNode":
                change(node["content"]["content"])
        return root

    change_model(path, change_prior)
    assert_refused(path, "'kernelwise.part.Prior' has the fields .* in the file", described=False)


def test_models_that_files_have_no_kind_for_are_refused(tmp_path):
    pytest.importorskip("dask", reason="estimators for clusters need Dask")
    from kernelwise.dask import DaskRelevanceSVC

    with pytest.raises(ModelFileError, match=r"model\.kw: DaskRelevanceSVC .* save its to_local"):
        save(DaskRelevanceSVC(), tmp_path / "model.kw")
    with pytest.raises(
        ModelFileError, match=r"model\.kw: kernelwise\.dask.*DaskRelevanceSVC is not"
    ):
        save(make_pipeline(DaskRelevanceSVC()), tmp_path / "model.kw")


# --- Code in a model --------------------------------------------------------------------------


@loop(
    ("make", "place"),
    [
        (lambda: SVC(kernel=product), "model.kernel"),
        (lambda: SVC(kernel=lambda X, Y: X @ Y.T), "model.kernel"),
        (lambda: SVC(kernel=FunctionKernel(product)), "model.kernel[0]"),
        (lambda: SVC(callback=print), "model.callback"),
        (lambda: SVC(callback=RAN.append), "model.callback"),
        (lambda: SVC(callback=partial(print, end="")), "model.callback"),
        (
            lambda: FeatureDiscriminationSVC(importance=lambda X, y: X.std(axis=0)),
            "model.importance",
        ),
        (
            lambda: make_pipeline(FunctionTransformer(operator.itemgetter(slice(None))), SVC()),
            "model.steps[0][1].func",
        ),
    ],
)
def test_code_is_refused_when_saving(make, place, tmp_path, capsys):
    model = make().fit(*table())
    with pytest.raises(ModelFileError, match="is code") as caught:
        save(model, tmp_path / "model.kw")
    assert f"model.kw: {place} is code" in str(caught.value)
    assert "callback=None" in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_functions_of_numpy_are_no_code_of_the_user(tmp_path):
    X, y = table()
    model = make_pipeline(FunctionTransformer(np.exp), SVC()).fit(X, y)
    found = load(save(model, tmp_path / "model.kw"))
    assert_array_equal(found.predict(X), model.predict(X))


@loop(
    ("keys", "words"),
    [
        ((False, True), r"model\.class_weight is a dict .*0 and 1 for False and True"),
        ((np.False_, np.True_), r"model\.class_weight is a dict .*0 and 1 for False and True"),
        ((None, 1), r"model\.class_weight is a dict .*NoneType"),
        ((("a", "b"),), "keys"),
    ],
)
def test_keys_that_json_would_change_are_refused(keys, words, tmp_path):
    with pytest.raises(ModelFileError, match=words):
        save(SVC(class_weight=dict.fromkeys(keys, 2.0)), tmp_path / "model.kw")


def test_keys_that_are_numbers_come_back(tmp_path):
    weights = {0: 1.0, np.int64(3): 2.0, 1.5: 3.0}
    found = load(save(SVC(class_weight=weights), tmp_path / "model.kw"))
    assert found.class_weight == weights


# --- Damage -----------------------------------------------------------------------------------


@loop("data", [b"", b"not a model", b"PK\x03\x04" + bytes(100)])
def test_what_is_no_zip_is_refused(data, tmp_path):
    path = tmp_path / "model.kw"
    path.write_bytes(data)
    assert_refused(path, r"model\.kw: not a model file of kernelwise")


def test_other_archives_are_refused(tmp_path):
    path = tmp_path / "model.kw"
    path.write_bytes(zipped({"readme.txt": b"hello"}))
    assert_refused(path, r"damaged: it has the members \['readme.txt'\]")
    skops.io.dump(classifier("SVC"), path)
    assert_refused(path, "damaged: it has the members")


def test_changes_are_noticed(path):
    members = members_of(path)
    header = json.loads(members["kernelwise.json"])
    header["classes"] = header["classes"][::-1]
    path.write_bytes(zipped(members | {"kernelwise.json": json.dumps(header)}))
    assert_refused(path, "header does not match its SHA-256 digest")
    data = bytearray(members["model.skops"])
    data[len(data) // 2] ^= 1
    path.write_bytes(zipped(members | {"model.skops": bytes(data)}))
    assert_refused(path, "model does not match its SHA-256 digest")


def test_headers_that_say_something_else_are_refused(path):
    whole = path.read_bytes()
    for field in ("class", "schema", "classes", "payload_sha256", "summary"):
        signed(path, without=[field])
        assert_refused(path, f"damaged: its header lacks '{field}'")
        path.write_bytes(whole)
    for schema in ("1", None, -1, 0.5):
        signed(path, schema=schema)
        assert_refused(path, "damaged: its schema is")
    signed(path, schema=container.SCHEMA + 1, kernelwise="99.0")
    assert_refused(path, r"kernelwise '99.0' in schema 2.*reads schema 1. Upgrade")
    signed(path, schema=1, **{"class": "sklearn.svm._classes.SVC"})
    assert_refused(path, "its header says sklearn", described=False)
    path.write_bytes(whole)
    signed(path)  # what is spoilt above is sound before
    assert_array_equal(load(path).predict(new_rows()), classifier("SVC").predict(new_rows()))


def loaded(path):
    """Return the model, or why it is refused."""
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
    members = members_of(data)
    order = rng.permutation(len(members))
    values = list(members.values())
    return zipped(dict(zip(members, [values[k] for k in order], strict=True)))


def change_json(data, rng):
    """Change one field of the header."""
    members = members_of(data)
    header = json.loads(members["kernelwise.json"])
    key = list(header)[rng.integers(len(header))]
    header[key] = [None, "x", -1, [], {}][rng.integers(5)]
    return zipped(members | {"kernelwise.json": json.dumps(header)})


@loop("damage", [cut, flip, overwrite, swap, change_json])
@loop("name", ["SVC-weights", "RelevanceSVC"])
def test_damage_is_noticed_or_harmless(name, damage, tmp_path):
    model, rows = classifier(name), new_rows()
    expected = model.decision_function(rows)
    path = save(model, tmp_path / "model.kw")
    whole, seen = path.read_bytes(), Counter()
    rng = np.random.default_rng(0)
    for _ in range(TRIALS):
        path.write_bytes(damage(whole, rng))
        found = loaded(path)
        if isinstance(found, str):
            assert str(path) in found
            seen["refused"] += 1
            continue
        assert_array_equal(found.decision_function(rows), expected)
        assert describe(path)["class"] == f"kernelwise.svm.{type(model).__name__}"
        seen["sound"] += 1
    assert seen.total() == TRIALS
    assert seen["refused"] >= TRIALS * 0.4


def other_types(text, rng):
    """Rename a type or a loader somewhere."""
    names = ["SVC", "RBF", "Prior", "Rows", "ndarray", "dict", "builtins", "numpy", "tuple"]
    names += ["ObjectNode", "DictNode", "JsonNode", "NdArrayNode", "TupleNode", "FunctionNode"]
    found = [name for name in names if f'"{name}"' in text]
    old, new = found[rng.integers(len(found))], names[rng.integers(len(names))]
    places = text.split(f'"{old}"')
    place = int(rng.integers(1, len(places)))
    before, after = f'"{old}"'.join(places[:place]), f'"{old}"'.join(places[place:])
    return f'{before}"{new}"{after}'


def less(text, rng):
    """Leave out an attribute, or a part of its description."""
    root = json.loads(text)
    found = [node["content"] for node in nodes(root) if isinstance(node.get("content"), dict)]
    some = found[rng.integers(len(found))]
    if some:
        some.pop(list(some)[rng.integers(len(some))])
    return json.dumps(root)


def other_numbers(text, rng):
    """Change a digit anywhere: names of files, numbers of objects, values."""
    digits = [k for k, letter in enumerate(text) if letter.isdigit()]
    place = digits[rng.integers(len(digits))]
    return text[:place] + str(rng.integers(10)) + text[place + 1 :]


@loop("change", [other_types, less, other_numbers])
@loop("name", ["SVC-weights", "RelevanceSVC"])
def test_a_forged_file_is_built_or_refused(name, change, tmp_path):
    """Digests that fit: whatever is built then is of the types that are trusted."""
    path = save(classifier(name), tmp_path / "model.kw")
    whole, rng, seen = path.read_bytes(), np.random.default_rng(1), Counter()
    for _ in range(TRIALS):
        path.write_bytes(whole)
        change_model(path, lambda root: change(json.dumps(root), rng))
        found = loaded(path)
        assert not isinstance(found, str) or str(path) in found
        seen[type(found).__name__] += 1
    assert seen.total() == TRIALS
    assert set(seen) == {type(classifier(name)).__name__, "str"}


# --- Sizes ------------------------------------------------------------------------------------


def test_archives_that_expand_too_much_are_refused(path):
    """A compressed payload, and a payload with compressed zeros in it."""
    members = members_of(path)
    path.write_bytes(zipped(members | {"model.skops": bytes(10**8)}, zipfile.ZIP_DEFLATED))
    assert_refused(path, r"an archive of \d+ bytes expands to 1\d{8} bytes")
    path.write_bytes(zipped(members, zipfile.ZIP_DEFLATED))
    assert_refused(path, "compressed members beside the model")
    parts = members_of(members["model.skops"])
    path.write_bytes(zipped(members))
    signed(path, zipped(parts | {"zeros.npy": bytes(10**8)}, zipfile.ZIP_DEFLATED))
    assert_refused(path, r"damaged: an archive of \d+ bytes expands to")


def test_members_over_members_are_refused(path):
    """Many entries for the same bytes: larger than the file when all are read."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("model.skops", bytes(10**5))
        for number in range(2000):
            again = copy(file.getinfo("model.skops"))
            again.filename = f"again{number}"
            file.filelist.append(again)
    path.write_bytes(buffer.getvalue())
    assert_refused(path, r"expands to 2\d{8} bytes")


def sparse_file(folder, replaced):
    """Save a model of sparse rows; ``replaced`` returns other bytes for each sparse matrix."""
    X, y = table()
    path = save(SVC().fit(sp.csr_array(X), y), folder / "model.kw")
    change_model(path, arrays=lambda name, data: replaced(data) if name.endswith(".npz") else data)
    return path


def test_a_sparse_matrix_that_points_out_of_itself_is_refused(tmp_path):
    def moved(data):
        with np.load(io.BytesIO(data)) as arrays:
            parts = dict(arrays)
        parts["indices"] = parts["indices"] + 10**6
        buffer = io.BytesIO()
        np.savez(buffer, **parts)
        return buffer.getvalue()

    assert_refused(sparse_file(tmp_path, moved), "damaged")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, format=np.bytes_("csr"), data=np.zeros(2 * 10**7))
    path = sparse_file(tmp_path, lambda data: buffer.getvalue())
    assert_refused(path, r"expands to 16\d{7} bytes")


@loop(
    ("form", "shape", "arrays"),
    [
        ("csc", (10**9, 1), {"data": [1.0], "indices": [7], "indptr": [0, 1]}),
        ("dia", (10**9, 10**9), {"data": [[1.0]], "offsets": [0]}),
        ("coo", (10**9, 10**9), {"data": [1.0], "row": [5], "col": [5]}),
        ("csr", (10**9, 2), {"data": [1.0], "indices": [0], "indptr": [0, 1]}),
    ],
)
def test_a_forged_shape_of_a_sparse_matrix_allocates_nothing(form, shape, arrays, tmp_path):
    buffer = io.BytesIO()
    values = {name: np.asarray(each) for name, each in arrays.items()}
    np.savez_compressed(
        buffer, format=np.bytes_(form), shape=np.array(shape), _is_array=np.array(True), **values
    )
    path = sparse_file(tmp_path, lambda data: buffer.getvalue())
    tracemalloc.start()
    with suppress(ModelFileError):  # a tall CSC matrix is odd, but consistent
        load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_an_array_whose_shape_does_not_fit_its_bytes_is_refused(path):
    def forged(name, data):
        out = io.BytesIO()
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        np.lib.format.write_array_header_1_0(out, header)
        return out.getvalue() + bytes(8)

    change_model(path, arrays=forged)
    assert_refused(path, "an array of 8 bytes is declared as")


def test_a_description_without_end_is_refused(path):
    whole = path.read_bytes()
    change_model(path, lambda root: '{"a":' * 20_000 + "1" + "}" * 20_000)
    assert_refused(path, "damaged", described=False)
    path.write_bytes(whole)

    def inside_itself(root):
        root["content"]["content"]["C"] = {"__id__": root["__id__"]}
        return root

    change_model(path, inside_itself)
    assert_refused(path, "cannot be (built|read)", described=False)
