"""save, load and describe: the same model from a file, whatever it is made of."""

import io
import os
import re
import zipfile
from inspect import isabstract

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import skops.io
from kernelwise.app.io._class_names import OURS, public_name_of
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

import kernelwise.kernels
import kernelwise.svm
import kernelwise.transform
from kernelwise import SVC, DualObjectiveSVC, MarginRadiusSVC, RelevanceSVC
from kernelwise.app.io import ModelFileError, describe, load, save
from kernelwise.app.io._container import MIGRATIONS, SCHEMA
from kernelwise.app.io._trust import trusted_types
from kernelwise.svm.base.predictor import predictor_of

from .models import (
    CLASSIFIERS,
    COMPOSED,
    KERNELS,
    TRANSFORMERS,
    WITH_CELLS,
    classifier,
    composed,
    frame,
    new_rows,
    table,
    transformer,
    with_kernel,
)
from .test_model_file_safety import changed_schema, members_of, signed


def reloaded(model, folder):
    return load(save(model, folder / "model.kw"))


def without_places(text):
    return re.sub("0x[0-9A-F]+", "", text)


def assert_same(found, model, X):
    """Assert that two models give the same, bit for bit."""
    assert type(found) is type(model)
    for method in ("predict", "decision_function", "transform", "predict_proba"):
        if hasattr(model, method):
            assert hasattr(found, method)
            expected = getattr(model, method)(X)
            assert_array_equal(getattr(found, method)(X), expected)
            assert getattr(found, method)(X).dtype == expected.dtype


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS | WITH_CELLS)
def test_a_classifier_comes_back(name, n_classes, tmp_path):
    model = classifier(name, n_classes)
    found = reloaded(model, tmp_path)
    assert_same(found, model, new_rows())
    assert set(vars(found)) == set(vars(model))
    assert without_places(repr(found)) == without_places(repr(model))


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_comes_back(name, tmp_path):
    model = with_kernel(name)
    found = reloaded(model, tmp_path)
    assert found.kernel == model.kernel
    assert found.kernel_ is predictor_of(found).shared_kernel
    assert_same(found, model, new_rows())


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_transformer_comes_back(name, tmp_path):
    model = transformer(name)
    path = save(model, tmp_path / "model.kw")
    found = load(path)
    assert describe(path)["needs_trusted"] == []
    assert_same(found, model, np.abs(new_rows()))
    assert_array_equal(found.get_feature_names_out(), model.get_feature_names_out())


@pytest.mark.parametrize("name", COMPOSED)
def test_what_scikit_learn_makes_of_ours_comes_back(name, tmp_path):
    model, rows = composed(name)
    assert_same(reloaded(model, tmp_path), model, rows)


def test_every_class_is_in_the_lists():
    """A class that is new to the package must be tried here, and be trusted."""
    tried = {type(model) for model in (CLASSIFIERS | WITH_CELLS | TRANSFORMERS).values()}
    layers = (kernelwise.svm, kernelwise.transform)
    estimators = {
        each
        for layer in layers
        for each in (getattr(layer, name) for name in layer.__all__)
        if isinstance(each, type) and issubclass(each, BaseEstimator) and not isabstract(each)
    }
    assert estimators == tried
    assert {public_name_of(each) for each in estimators} <= OURS
    kernels = {getattr(kernelwise.kernels, name) for name in kernelwise.kernels.__all__}
    values = {each for each in kernels if issubclass(each, kernelwise.kernels.Kernel)}
    values = {each for each in values if not isabstract(each)}
    values -= {kernelwise.kernels.FunctionKernel}
    assert {public_name_of(each) for each in values} <= OURS
    assert public_name_of(kernelwise.kernels.FunctionKernel) not in OURS


def test_what_is_trusted_exists():
    """Names that lead nowhere would be a door for whoever fills the gap."""
    import importlib

    for name in trusted_types():
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


@pytest.mark.parametrize("name", ["DualObjectiveSVC", "RelevanceSVC", "MarginRadiusSVC"])
def test_what_a_fit_leaves_behind_comes_back(name, tmp_path):
    model = classifier(name)
    found = reloaded(model, tmp_path)
    for key, values in model.certificate_.items():
        assert_array_equal(found.certificate_[key], values)
    assert found.certificate_.gap is found.certificate_["gap"]
    for key, values in getattr(model, "history_", {}).items():
        assert_array_equal(found.history_[key], values)


@pytest.mark.parametrize("cls", [SVC, DualObjectiveSVC, RelevanceSVC, MarginRadiusSVC])
def test_a_warm_start_goes_on_from_the_file(cls, tmp_path):
    X, y = table(2)
    model = cls(warm_start=True).fit(X, y)
    found = reloaded(model, tmp_path)
    model.fit(X[1:], y[1:])
    found.fit(X[1:], y[1:])
    assert_array_equal(found.n_iter_, model.n_iter_)
    assert np.sum(found.n_iter_) <= np.sum(cls().fit(X[1:], y[1:]).n_iter_)
    assert_array_equal(found.decision_function(X), model.decision_function(X))


def test_kernels_that_machines_share_are_still_one(tmp_path):
    model = classifier("RelevanceSVC")
    found = reloaded(model, tmp_path)
    kernels = predictor_of(found).hinge.predictor.kernels
    assert len({id(kernel) for kernel in kernels}) == 3
    assert kernels[0] is found.kernel_[0]
    assert not kernels[0].weights.flags.writeable


def test_a_sparse_fit_comes_back(tmp_path):
    X, y = table()
    rows = sp.csr_array(X)
    model = SVC().fit(rows, y)
    found = reloaded(model, tmp_path)
    assert sp.issparse(found.support_vectors_)
    assert_same(found, model, rows)


def test_a_precomputed_kernel_comes_back(tmp_path):
    X, y = table()
    K = X @ X.T
    model = SVC(kernel="precomputed").fit(K, y)
    assert_same(reloaded(model, tmp_path), model, K)


def test_a_progress_bar_comes_back(tmp_path, capsys):
    callback = pytest.importorskip("sklearn.callback", reason="callbacks came with version 1.9")
    X, y = table()
    model = SVC().set_callbacks(callback.ProgressBar()).fit(X, y)
    assert_same(reloaded(model, tmp_path).fit(X, y), model, X)


def test_a_model_can_be_cloned_fitted_and_saved_again(tmp_path):
    X, y = table()
    first = save(classifier("SVC"), tmp_path / "first.kw")
    again = clone(load(first)).fit(X, y)
    second = save(load(first), tmp_path / "second.kw")
    assert_same(again, classifier("SVC"), X)
    assert_same(load(second), classifier("SVC"), X)


def test_what_is_not_fitted_may_be_saved(tmp_path):
    found = reloaded(SVC(C=3.0), tmp_path)
    assert found.get_params() == SVC(C=3.0).get_params()
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(found)


def test_describe_tells_what_the_file_holds(tmp_path):
    model, _ = composed("columns")
    path = save(model, tmp_path / "model.kw", summary={"score": 0.93, "note": "été"})
    header = describe(path)
    assert header["schema"] == SCHEMA
    assert header["class"] == "sklearn.pipeline.Pipeline"
    assert header["feature_names"] == frame().columns.tolist()
    assert header["classes"] == ["setosa", "versicolor", "virginica"]
    expected = {"rows": 75, "columns": 7, "score": 0.93, "note": "été"}
    assert header["summary"] == expected
    assert header["needs_trusted"] == []
    assert header["kernelwise"] == kernelwise.__version__
    assert {"scikit-learn", "numpy", "skops", "python", "payload_sha256"} <= set(header)


def test_describe_tells_the_rows_whatever_is_around_the_model(tmp_path):
    X, names = table()
    y = names == "setosa"
    around = {
        "calibration": CalibratedClassifierCV(SVC(), ensemble=False, cv=2),
        "threshold": FixedThresholdClassifier(SVC(), threshold=0.1),
        "search": GridSearchCV(make_pipeline(SVC()), {"svc__C": [1.0, 2.0]}, cv=2),
        "several": CalibratedClassifierCV(SVC(), ensemble=True, cv=2),  # none has seen all rows
    }
    path = tmp_path / "model.kw"
    rows = {}
    for name, model in around.items():
        save(make_pipeline(model).fit(X, y), path)
        rows[name] = describe(path)["summary"]["rows"]
    n = len(y)
    assert rows == {"calibration": n, "threshold": n, "search": n, "several": None}


def test_describe_of_numbers_as_classes(tmp_path):
    X, _ = table()
    y = np.where(X[:, 0] > 5.8, 7, -1)
    header = describe(save(SVC().fit(X, y), tmp_path / "model.kw"))
    assert header["classes"] == [-1, 7]
    assert header["feature_names"] is None
    assert header["summary"] == {"rows": 75, "columns": 5}


@pytest.mark.parametrize("kind", [str, os.fspath, lambda path: path], ids=["str", "text", "path"])
def test_the_path_may_be_text_or_an_object(kind, tmp_path):
    path = kind(tmp_path / "sub.folder" / "model.kw")
    os.mkdir(tmp_path / "sub.folder")
    assert os.fspath(save(classifier("SVC"), path)) == os.fspath(path)
    assert_same(load(path), classifier("SVC"), new_rows())


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = save(classifier("SVC"), tmp_path / "model.kw")
    before = path.read_bytes()

    def no_room(*args):
        raise OSError("no room")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", no_room)
    with pytest.raises(OSError, match="no room"):
        save(clone(classifier("SVC")), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.kw"]
    save(clone(classifier("SVC")), path)
    assert path.read_bytes() != before


def test_missing_files_and_folders_are_errors_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.kw")
    with pytest.raises(FileNotFoundError):
        save(SVC(), tmp_path / "nowhere" / "model.kw")


@pytest.mark.parametrize("model", [None, SVC, np.zeros(3), "model"], ids=str)
def test_what_is_not_an_estimator_is_refused(model, tmp_path):
    with pytest.raises(TypeError, match="model must be an estimator"):
        save(model, tmp_path / "model.kw")


@pytest.mark.parametrize("value", [np.nan, object(), {1, 2}], ids=["nan", "object", "set"])
def test_a_summary_is_of_numbers_and_texts(value, tmp_path):
    with pytest.raises(ModelFileError, match=r"model\.kw: summary must contain only numbers"):
        save(SVC(), tmp_path / "model.kw", summary={"score": value})


# --- Older files ------------------------------------------------------------------------------


def test_a_plain_file_of_skops_is_refused(tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(classifier("SVC"), path)
    with pytest.raises(ModelFileError, match="damaged: it has the members"):
        load(path)


# Names of classes in files of schema 1: of the modules that defined them then.
def test_a_file_names_classes_by_their_public_packages(tmp_path):
    """Else a class could not move inside its package without a new schema."""
    payload = members_of(save(classifier("RelevanceSVC"), tmp_path / "model.kw"))["model.skops"]
    with zipfile.ZipFile(io.BytesIO(payload)) as file:
        modules = set(re.findall(r'"(kernelwise\.[\w.]+)"', file.read("schema.json").decode()))
    rooms = ("kernelwise.svm.base.", "kernelwise.svm.relevance.", "kernelwise.scale.bins")
    internal = {module for module in modules if module.startswith(rooms)}
    assert modules - internal == {"kernelwise.svm", "kernelwise.kernels"}


def test_another_version_of_scikit_learn_is_told_of(tmp_path):
    """Its own estimators say from which version they are."""
    model, rows = composed("pipeline")
    path = save(model, tmp_path / "model.kw")
    payload = members_of(path)["model.skops"]
    signed(path, changed_schema(payload, lambda text: text.replace(sklearn.__version__, "1.0.2")))
    with pytest.warns(InconsistentVersionWarning, match=r"version 1\.0\.2"):
        found = load(path)
    assert_same(found, model, rows)


def test_every_schema_before_ours_has_a_migration():
    assert set(MIGRATIONS) == set(range(1, SCHEMA))
