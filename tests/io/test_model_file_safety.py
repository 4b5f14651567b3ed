"""A model file is not trusted: nothing of it runs, and what is wrong with it is said."""

import hashlib
import io
import json
import operator
import os
import re
import tracemalloc
import zipfile
from contextlib import suppress
from copy import copy
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import kernelwise.app.io._container as container
from kernelwise import SVC, FeatureDiscriminationSVC, RelevanceSVC
from kernelwise.app.io import ModelFileError, describe, load, save
from kernelwise.kernels import FunctionKernel

from .models import classifier, new_rows, table

RAN = []


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


def members_of(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def write(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in members.items():
            file.writestr(name, data)


def signed(path, payload=None, **changes):
    """Write the file again with another payload or header, and digests that fit."""
    members = members_of(path)
    payload = members["model.skops"] if payload is None else payload
    header = json.loads(members["kernelwise.json"]) | changes
    header["payload_sha256"] = hashlib.sha256(payload).hexdigest()
    text = json.dumps(header).encode()
    digest = hashlib.sha256(text).hexdigest()
    write(path, {"kernelwise.json": text, "sha256": digest, "model.skops": payload})


def changed_schema(payload, change):
    """Return a payload whose schema of skops went through a function of its text."""
    with zipfile.ZipFile(io.BytesIO(payload)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    members["schema.json"] = change(members["schema.json"].decode()).encode()
    buffer = io.BytesIO()
    write(buffer, members)
    return buffer.getvalue()


@pytest.fixture
def path(tmp_path):
    return save(classifier("SVC"), tmp_path / "model.kw")


# --- Types ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loader", ["ObjectNode", "ConstructorFromReduceNode", "FunctionNode", "TypeNode", "ListNode"]
)
def test_types_of_a_stranger_are_not_built(path, loader):
    """A file with correct digests that names a type of its own in the place of a kernel."""
    name = f"{__name__}.Evil"

    def change(text):
        root = json.loads(text)
        attributes = root["content"]["content"]
        attributes["kernel_"] |= {"__class__": "Evil", "__module__": __name__}
        attributes["kernel_"] |= {"__loader__": loader, "__id__": -1}
        attributes["kernel_"]["content"] = attributes["intercept_"] | {"__id__": -2}
        if loader == "ListNode":
            attributes["kernel_"]["content"] = []
        return json.dumps(root)

    signed(path, changed_schema(members_of(path)["model.skops"], change))
    RAN.clear()
    with pytest.raises(ModelFileError, match="types that are not trusted") as caught:
        load(path)
    assert name in str(caught.value)
    assert "trusted=" in str(caught.value)
    assert str(path) in str(caught.value)
    assert RAN == []
    assert describe(path)["class"] == "kernelwise.svm.SVC"


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "subprocess.Popen"])
def test_functions_of_python_are_not_called(path, name, tmp_path):
    module, _, function = name.rpartition(".")
    proof = tmp_path / "ran"

    def change(text):
        root = json.loads(text)
        argument = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"}
        argument |= {"content": json.dumps(f"touch {proof}"), "__id__": -3}
        tuple_ = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"}
        tuple_ |= {"content": [argument], "__id__": -2}
        root["content"]["content"]["C"] = {
            "__class__": function,
            "__module__": module,
            "__loader__": "ConstructorFromReduceNode",
            "content": tuple_,
            "__id__": -1,
        }
        return json.dumps(root)

    signed(path, changed_schema(members_of(path)["model.skops"], change))
    with pytest.raises(ModelFileError, match=name):
        load(path)
    assert not proof.exists()


def test_a_type_of_the_user_loads_when_it_is_trusted(tmp_path):
    X, y = table()
    path = save(make_pipeline(Own(), SVC()).fit(X, y), tmp_path / "model.kw")
    name = f"{__name__}.Own"
    assert describe(path)["needs_trusted"] == [name]
    with pytest.raises(ModelFileError, match="types that are not trusted"):
        load(path)
    expected = classifier("SVC").predict(X)
    for trusted in ([name], [Own], name, Own):
        np.testing.assert_array_equal(load(path, trusted=trusted).predict(X), expected)


def test_trees_need_to_be_trusted(tmp_path):
    X, y = table()
    path = save(DecisionTreeClassifier().fit(X, y), tmp_path / "model.kw")
    assert describe(path)["needs_trusted"] == ["sklearn.tree._tree.Tree"]
    with pytest.raises(ModelFileError, match=r"sklearn\.tree\._tree\.Tree"):
        load(path)


# --- Code in a model --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "place"),
    [
        pytest.param(lambda: SVC(kernel=product), "model.kernel", id="kernel"),
        pytest.param(lambda: SVC(kernel=lambda X, Y: X @ Y.T), "model.kernel", id="lambda"),
        pytest.param(lambda: SVC(kernel=FunctionKernel(product)), "model.kernel[0]", id="object"),
        pytest.param(lambda: SVC(callback=print), "model.callback", id="builtin"),
        pytest.param(lambda: SVC(callback=RAN.append), "model.callback", id="method"),
        pytest.param(
            lambda: RelevanceSVC(max_iter=1, callback=partial(print, end="")),
            "model.callback",
            id="partial",
        ),
        pytest.param(
            lambda: FeatureDiscriminationSVC(importance=lambda X, y: X.std(axis=0)),
            "model.importance",
            id="measure",
        ),
        pytest.param(
            lambda: make_pipeline(FunctionTransformer(operator.itemgetter(slice(None))), SVC()),
            "model.steps[0][1].func",
            id="operator",
        ),
    ],
)
def test_code_is_refused_when_saving(make, place, tmp_path, capsys):
    X, y = table()
    model = make().fit(X, y)
    with pytest.raises(ModelFileError, match="is code") as caught:
        save(model, tmp_path / "model.kw")
    assert f"model.kw: {place} is code" in str(caught.value)
    assert "callback=None" in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_functions_of_numpy_are_no_code_of_the_user(tmp_path):
    X, y = table()
    model = make_pipeline(FunctionTransformer(np.exp), SVC()).fit(X, y)
    found = load(save(model, tmp_path / "model.kw"))
    np.testing.assert_array_equal(found.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ((False, True), "0 and 1 for False and True"),
        ((np.False_, np.True_), "0 and 1 for False and True"),
        ((None, 1), "NoneType"),
    ],
    ids=["bool", "numpy", "None"],
)
def test_keys_that_json_would_change_are_refused(keys, words, tmp_path):
    model = SVC(class_weight=dict.fromkeys(keys, 2.0))
    with pytest.raises(ModelFileError, match=r"model\.class_weight is a dict") as caught:
        save(model, tmp_path / "model.kw")
    assert words in str(caught.value)


def test_keys_of_several_parts_are_refused(tmp_path):
    model = SVC(class_weight={("a", "b"): 2.0})
    with pytest.raises(ModelFileError, match="keys"):
        save(model, tmp_path / "model.kw")


def test_keys_that_are_numbers_come_back(tmp_path):
    weights = {0: 1.0, np.int64(3): 2.0, 1.5: 3.0}
    found = load(save(SVC(class_weight=weights), tmp_path / "model.kw"))
    assert found.class_weight == weights


# --- Damage -----------------------------------------------------------------------------------


def test_what_is_no_zip_is_refused(tmp_path):
    path = tmp_path / "model.kw"
    for data in (b"", b"not a model", b"PK\x03\x04" + bytes(100)):
        path.write_bytes(data)
        for read in (load, describe):
            with pytest.raises(ModelFileError, match=r"model\.kw: not a model file of kernelwise"):
                read(path)


def test_another_zip_is_refused(tmp_path):
    path = tmp_path / "model.kw"
    write(path, {"readme.txt": "hello"})
    with pytest.raises(ModelFileError, match=r"damaged: it has the members \['readme.txt'\]"):
        load(path)


def test_a_changed_header_is_noticed(path):
    members = members_of(path)
    header = json.loads(members["kernelwise.json"])
    header["classes"] = header["classes"][::-1]
    write(path, members | {"kernelwise.json": json.dumps(header)})
    for read in (load, describe):
        with pytest.raises(ModelFileError, match="header does not match its SHA-256 digest"):
            read(path)


def test_a_changed_model_is_noticed(path):
    members = members_of(path)
    data = bytearray(members["model.skops"])
    data[len(data) // 2] ^= 1
    write(path, members | {"model.skops": bytes(data)})
    with pytest.raises(ModelFileError, match="model does not match its SHA-256 digest"):
        load(path)


def test_a_newer_schema_is_refused(path):
    signed(path, schema=container.SCHEMA + 1, kernelwise="99.0")
    for read in (load, describe):
        with pytest.raises(ModelFileError, match=r"kernelwise '99.0' in schema 3.*Upgrade"):
            read(path)


@pytest.mark.parametrize("schema", ["1", None, -1, 0.5])
def test_a_schema_that_is_none_is_refused(path, schema):
    signed(path, schema=schema)
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)


def test_another_class_than_the_header_says_is_refused(path):
    signed(path, **{"class": "sklearn.svm._classes.SVC"})
    with pytest.raises(ModelFileError, match="its header says sklearn"):
        load(path)


# --- Sizes ------------------------------------------------------------------------------------


def test_compressed_members_are_refused(path):
    members = members_of(path)
    write(path, members | {"model.skops": bytes(10**7)}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    with pytest.raises(ModelFileError, match="compressed members"):
        load(path)


def test_compressed_members_of_the_model_are_refused(path):
    payload = skops.io.dumps(classifier("SVC"), compression=zipfile.ZIP_DEFLATED)
    signed(path, payload)
    with pytest.raises(ModelFileError, match="compressed members"):
        load(path)


def test_members_over_members_are_refused(path):
    """Many entries for the same bytes: larger than the file when all are read."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("model.skops", bytes(10**5))
        for number in range(5):
            again = copy(file.getinfo("model.skops"))
            again.filename = f"again{number}"
            file.filelist.append(again)
    path.write_bytes(buffer.getvalue())
    with pytest.raises(ModelFileError, match="larger than the file"):
        load(path)


def test_a_sparse_matrix_that_grows_is_refused(tmp_path, monkeypatch):
    X, y = table()
    path = save(SVC().fit(sp.csr_array(X), y), tmp_path / "model.kw")
    monkeypatch.setattr(container, "_MAX_SPARSE_SIZE", 1)
    monkeypatch.setattr(container, "_MAX_SPARSE_RATIO", 1)
    with pytest.raises(ModelFileError, match=r"a sparse matrix of \d+ bytes expands to"):
        load(path)


def test_a_sparse_matrix_that_points_out_of_itself_is_refused(tmp_path):
    X, y = table()
    path = save(SVC().fit(sp.csr_array(X), y), tmp_path / "model.kw")
    payload = members_of(path)["model.skops"]
    with zipfile.ZipFile(io.BytesIO(payload)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    for name in members:
        if name.endswith(".npz"):
            with np.load(io.BytesIO(members[name])) as arrays:
                parts = dict(arrays)
            parts["indices"] = parts["indices"] + 10**6
            buffer = io.BytesIO()
            np.savez(buffer, **parts)
            members[name] = buffer.getvalue()
    buffer = io.BytesIO()
    write(buffer, members)
    signed(path, buffer.getvalue())
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)


def test_a_schema_without_end_is_refused(path):
    deep = '{"a":' * 20_000 + "1" + "}" * 20_000
    signed(path, changed_schema(members_of(path)["model.skops"], lambda text: deep))
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)


def test_a_model_inside_itself_is_refused(path):
    def change(text):
        root = json.loads(text)
        root["content"]["content"]["C"] = {"__id__": root["__id__"]}
        return json.dumps(root)

    signed(path, changed_schema(members_of(path)["model.skops"], change))
    with pytest.raises(ModelFileError, match="cannot be built"):
        load(path)


def test_the_sound_file_loads(path):
    """What the tests above spoil is sound before."""
    signed(path)
    assert (load(path).predict(new_rows()) == classifier("SVC").predict(new_rows())).all()


@pytest.mark.parametrize("field", ["class", "schema", "classes", "payload_sha256", "summary"])
def test_a_header_that_lacks_a_field_is_refused_by_its_name(path, field):
    members = members_of(path)
    header = json.loads(members["kernelwise.json"])
    del header[field]
    text = json.dumps(header).encode()
    members |= {"kernelwise.json": text, "sha256": hashlib.sha256(text).hexdigest()}
    write(path, members)
    for read in (load, describe):
        with pytest.raises(ModelFileError, match=f"damaged: its header lacks '{field}'"):
            read(path)


def with_sparse(path, matrix):
    """Replace the sparse matrix in a model file, with digests that fit."""
    save(SVC().fit(sp.csr_matrix(table()[0]), table()[1]), path)
    payload = members_of(path)["model.skops"]
    with zipfile.ZipFile(io.BytesIO(payload)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    name = next(name for name in members if name.endswith(".npz"))
    forged = io.BytesIO()
    matrix(forged)
    members[name] = forged.getvalue()
    out = io.BytesIO()
    write(out, members)
    signed(path, out.getvalue())


def forged_sparse(form, shape, **arrays):
    """Write a compressed sparse matrix that claims a shape."""
    arrays = {name: np.asarray(values) for name, values in arrays.items()}
    return lambda file: np.savez_compressed(
        file, format=np.bytes_(form), shape=np.array(shape), _is_array=np.array(True), **arrays
    )


FORGED = {
    "csc": forged_sparse("csc", (10**9, 1), data=[1.0], indices=[7], indptr=[0, 1]),
    "dia": forged_sparse("dia", (10**9, 10**9), data=[[1.0]], offsets=[0]),
    "coo": forged_sparse("coo", (10**9, 10**9), data=[1.0], row=[5], col=[5]),
    "csr": forged_sparse("csr", (10**9, 2), data=[1.0], indices=[0], indptr=[0, 1]),
}


@pytest.mark.parametrize("form", FORGED)
def test_a_forged_shape_of_a_sparse_matrix_allocates_nothing(tmp_path, form):
    path = tmp_path / "model.kw"
    with_sparse(path, FORGED[form])
    tracemalloc.start()
    with suppress(ModelFileError):  # a tall CSC matrix is odd, but consistent
        load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_a_forged_shape_of_packed_coefficients_allocates_nothing(tmp_path):
    X, y = make_classification(600, 10, n_informative=6, n_classes=4, random_state=0)
    model = RelevanceSVC(large="cells", cell_size=100, n_trees=2).fit(X, y)
    path = save(model, tmp_path / "model.kw")

    def forge(schema):
        before, after = schema.split('"coef_shape"', 1)
        return (
            before + '"coef_shape"' + re.sub(r'"content": "\d+"', f'"content": "{10**10}"', after)
        )

    signed(path, changed_schema(members_of(path)["model.skops"], forge))
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_an_array_whose_shape_does_not_fit_its_bytes_is_refused(path):
    payload = members_of(path)["model.skops"]
    with zipfile.ZipFile(io.BytesIO(payload)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    name = next(name for name in members if name.endswith(".npy"))
    out = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(out, header)
    members[name] = out.getvalue() + bytes(8)
    forged = io.BytesIO()
    write(forged, members)
    signed(path, forged.getvalue())
    with pytest.raises(ModelFileError, match="an array of 8 bytes is declared as"):
        load(path)
