"""save, load and describe: the same model from a file, whatever it is made of."""

import os
import pickle
import re
import zipfile
from importlib import import_module
from inspect import isabstract

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
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
from kernelwise.app.io import ModelFileError, _container, describe, load, save
from kernelwise.app.io._container import SCHEMA
from kernelwise.app.io._kinds import OURS, kind_of
from kernelwise.app.io._trust import trusted_types
from kernelwise.svm.base.predictor import predictor_of
from tests.loop import loop

from .forging import change_model, members_of, nodes, schema_of
from .models import (
    CLASSIFIERS,
    COMPOSED,
    DETECTORS,
    KERNELS,
    REGRESSORS,
    TRANSFORMERS,
    classifier,
    composed,
    detector,
    frame,
    new_rows,
    regressor,
    rows_of,
    table,
    transformer,
    with_kernel,
)

METHODS = ("predict", "decision_function", "predict_proba", "predict_set", "predict_interval")
PACKAGES = {"svm", "transform", "kernels", "tabular", "criteria", "qp", "part"}


def assert_comes_back(model, X, folder):
    """Assert that a model from a file gives the same, bit for bit, and return it."""
    path = save(model, folder / "model.kw")
    found = load(path)
    assert type(found) is type(model)
    assert set(vars(found)) == set(vars(model))
    assert repr(found) == repr(model) or "0x" in repr(model)
    assert describe(path)["needs_trusted"] == []
    for method in (*METHODS, "transform"):
        assert hasattr(found, method) == hasattr(model, method)
        if hasattr(model, method):
            expected, own = getattr(model, method)(X), getattr(found, method)(X)
            assert_array_equal(own, expected)
            assert np.asarray(own).dtype == np.asarray(expected).dtype
    modules = {node["__module__"] for node in nodes(schema_of(path))}
    ours = {module for module in modules if module.startswith("kernelwise")}
    assert ours <= {f"kernelwise.{package}" for package in PACKAGES}
    return found


@loop("n_classes", [2, 3])
@loop("name", CLASSIFIERS)
def test_classifiers_come_back(name, n_classes, tmp_path):
    model = classifier(name, n_classes)
    found = assert_comes_back(model, new_rows(), tmp_path)
    for key, values in getattr(model, "certificate_", {}).items():
        assert_array_equal(found.certificate_[key], values)
    for key, values in (getattr(model, "history_", None) or {}).items():
        assert_array_equal(found.history_[key], values)


@loop("name", REGRESSORS)
def test_regressors_come_back(name, tmp_path):
    model = regressor(name)
    found = assert_comes_back(model, rows_of(name, new_rows()[:, 1:]), tmp_path)
    if hasattr(model, "loo_predictions_"):
        assert_array_equal(found.loo_predictions_, model.loo_predictions_)


@loop("name", DETECTORS)
def test_detectors_come_back(name, tmp_path):
    assert_comes_back(detector(name), new_rows(), tmp_path)


@loop("name", KERNELS)
def test_kernels_come_back(name, tmp_path):
    model = with_kernel(name)
    found = assert_comes_back(model, new_rows(), tmp_path)
    assert found.kernel == model.kernel
    assert found.kernel_ is predictor_of(found).shared_kernel


@loop("name", TRANSFORMERS)
def test_transformers_come_back(name, tmp_path):
    found = assert_comes_back(transformer(name), np.abs(new_rows()), tmp_path)
    names = transformer(name).get_feature_names_out()
    assert_array_equal(found.get_feature_names_out(), names)


@loop("name", COMPOSED)
def test_what_scikit_learn_makes_of_ours_comes_back(name, tmp_path):
    model, rows = composed(name)
    assert_comes_back(model, rows, tmp_path)


def test_words_gaps_and_targets_come_back(tmp_path):
    rows, y = frame(), table()[1]
    assert_comes_back(RelevanceSVC().fit(rows, y), rows, tmp_path)
    several = rows[["a", "b"]].to_numpy()
    model = kernelwise.RelevanceSVR().fit(rows.drop(columns=["a", "b"]), several)
    assert_comes_back(model, rows.drop(columns=["a", "b"]), tmp_path)


@loop("form", [sp.csr_array, sp.csr_matrix])
def test_a_sparse_fit_comes_back(form, tmp_path):
    X, y = table()
    found = assert_comes_back(SVC().fit(form(X), y), form(X), tmp_path)
    assert sp.issparse(found.support_vectors_)


def test_a_precomputed_kernel_comes_back(tmp_path):
    X, y = table()
    K = X @ X.T
    assert_comes_back(SVC(kernel="precomputed").fit(K, y), K, tmp_path)


def test_a_progress_bar_comes_back(tmp_path, capsys):
    callback = pytest.importorskip("sklearn.callback", reason="callbacks came with version 1.9")
    X, y = table()
    model = SVC().set_callbacks(callback.ProgressBar()).fit(X, y)
    found = assert_comes_back(model, X, tmp_path)
    assert_array_equal(found.fit(X, y).predict(X), model.predict(X))


@loop("cls", [SVC, DualObjectiveSVC, MarginRadiusSVC])
def test_a_warm_start_goes_on_from_the_file(cls, tmp_path):
    X, y = table(2)
    model = cls(warm_start=True).fit(X, y)
    found = load(save(model, tmp_path / "model.kw"))
    model.fit(X[1:], y[1:])
    found.fit(X[1:], y[1:])
    assert_array_equal(found.n_iter_, model.n_iter_)
    assert np.sum(found.n_iter_) <= np.sum(cls().fit(X[1:], y[1:]).n_iter_)
    assert_array_equal(found.decision_function(X), model.decision_function(X))


def test_a_loaded_model_can_be_cloned_fitted_and_saved_again(tmp_path):
    for name in ("SVC", "RelevanceSVC"):
        model, X = classifier(name), table()[0]
        first = load(save(model, tmp_path / "model.kw"))
        assert_comes_back(first, X, tmp_path)
        again = clone(first).fit(*table())
        assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_what_is_not_fitted_may_be_saved(tmp_path):
    found = load(save(SVC(C=3.0), tmp_path / "model.kw"))
    assert found.get_params() == SVC(C=3.0).get_params()
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(found)


# --- Kinds ------------------------------------------------------------------------------------


def test_every_class_is_in_the_lists():
    """A class that is new to the package must be tried here, and have a kind."""
    tried = {
        type(model) for model in (CLASSIFIERS | REGRESSORS | DETECTORS | TRANSFORMERS).values()
    }
    layers = (kernelwise.svm, kernelwise.transform)
    public = [getattr(layer, name) for layer in layers for name in layer.__all__]
    classes = [each for each in public if isinstance(each, type) and not isabstract(each)]
    estimators = {each for each in classes if issubclass(each, BaseEstimator)}
    assert estimators == tried
    kernels = {getattr(kernelwise.kernels, name) for name in kernelwise.kernels.__all__}
    values = {each for each in kernels if issubclass(each, kernelwise.kernels.Kernel)}
    values = {each for each in values if not isabstract(each)}
    values -= {kernelwise.kernels.FunctionKernel}  # it wraps a function
    for each in estimators | values:
        place = f"{each.__module__}.{each.__name__}"
        assert place in OURS
        assert kind_of(each) != place
        assert getattr(import_module(kind_of(each).rpartition(".")[0]), each.__name__) is each
    assert kind_of(kernelwise.kernels.FunctionKernel) not in OURS


def test_what_is_trusted_exists():
    """Names that lead nowhere would be a door for whoever fills the gap."""
    for name in trusted_types():
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute), name


def test_finding_20_one_list_has_all_types_of_a_model():
    sio = pytest.importorskip("skops.io")
    untrusted = set(sio.get_untrusted_types(data=sio.dumps(classifier("RelevanceSVC"))))
    assert untrusted
    assert untrusted <= set(trusted_types())


def test_code_may_move(tmp_path, monkeypatch):
    """A file names kinds, so that only their registry knows where classes are."""
    model = classifier("RelevanceSVC")
    path = save(model, tmp_path / "model.kw")
    prior = kernelwise.svm.relevance.prior.Prior
    monkeypatch.setattr(prior, "__module__", "kernelwise.somewhere.else")
    monkeypatch.delattr(kernelwise.svm.relevance.prior, "Prior")
    with pytest.raises(ModelFileError, match="Prior"):
        load(path)
    monkeypatch.setattr(kernelwise.svm.relevance.rows, "Prior", prior, raising=False)
    place = ("kernelwise.svm.relevance.rows", "Prior")
    monkeypatch.setitem(kernelwise.app.io._kinds._PLACES, ("kernelwise.part", "Prior"), place)
    monkeypatch.setattr(kernelwise.app.io._trust, "OURS", OURS | {".".join(place)})
    kernelwise.app.io._trust.trusted_names.cache_clear()
    found = load(path)
    kernelwise.app.io._trust.trusted_names.cache_clear()
    assert_array_equal(found.decision_function(new_rows()), model.decision_function(new_rows()))


# --- Size -------------------------------------------------------------------------------------


def test_dropped_columns_are_dropped(tmp_path):
    """A model grows by two numbers per column that it does not read."""
    rng = np.random.default_rng(0)
    X, sizes = rng.normal(size=(80, 1500)), []
    y = X[:, 0] + X[:, 1] > 0
    for width in (10, 1500):
        model = RelevanceSVC(max_features=2).fit(X[:, :width], y)
        assert len(model.columns_.names) == 2
        path = save(model, tmp_path / "model.kw")
        sizes.append((path.stat().st_size, len(pickle.dumps(model))))
    (file, pickled), (wide_file, wide_pickled) = sizes
    assert wide_pickled < pickled + 1500 * 10
    assert wide_file < file + 1500 * 10


def test_what_is_nearly_all_zeros_is_not_compressed(tmp_path, monkeypatch):
    """Else it would expand too much to be loaded."""
    model = GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2).fit(*table())
    small = save(model, tmp_path / "model.kw").stat().st_size
    monkeypatch.setattr(_container, "_MAX_SIZE", 1)
    monkeypatch.setattr(_container, "_MAX_RATIO", 2)
    path = save(model, tmp_path / "model.kw")
    assert path.stat().st_size > 2 * small
    assert_array_equal(load(path).predict(table()[0]), model.predict(table()[0]))


# --- Headers ----------------------------------------------------------------------------------


def test_describe_tells_what_the_file_holds(tmp_path):
    model, _ = composed("columns")
    path = save(model, tmp_path / "model.kw", summary={"score": 0.93, "note": "été"})
    header = describe(path)
    assert header["schema"] == SCHEMA == 1
    assert header["class"] == "sklearn.pipeline.Pipeline"
    assert header["feature_names"] == frame().columns.tolist()
    assert header["classes"] == ["setosa", "versicolor", "virginica"]
    expected = {"rows": 75, "columns": 7, "score": 0.93, "note": "été"}
    assert header["summary"] == expected
    assert header["kernelwise"] == kernelwise.__version__
    assert {"scikit-learn", "numpy", "skops", "python", "payload_sha256"} <= set(header)


def test_describe_tells_the_rows_whatever_is_around_the_model(tmp_path):
    X, names = table()
    y = names == "setosa"
    around = {
        "calibration": CalibratedClassifierCV(SVC(), ensemble=False, cv=2),
        "threshold": FixedThresholdClassifier(SVC(), threshold=0.1),
        "search": GridSearchCV(make_pipeline(SVC()), {"svc__C": [1.0, 2.0]}, cv=2),
        "relevance": RelevanceSVC(),
        "several": CalibratedClassifierCV(SVC(), ensemble=True, cv=2),  # none has seen all rows
    }
    path = tmp_path / "model.kw"
    rows = {}
    for name, model in around.items():
        save(make_pipeline(model).fit(X, y), path)
        rows[name] = describe(path)["summary"]["rows"]
    n = len(y)
    known = dict.fromkeys(["calibration", "threshold", "search", "relevance"], n)
    assert rows == known | {"several": None}


def test_describe_of_numbers_as_classes(tmp_path):
    X, _ = table()
    y = np.where(X[:, 0] > 5.8, 7, -1)
    header = describe(save(SVC().fit(X, y), tmp_path / "model.kw"))
    assert header["classes"] == [-1, 7]
    assert header["feature_names"] is None
    assert header["summary"] == {"rows": 75, "columns": 5}


def test_another_version_of_scikit_learn_is_told_of(tmp_path):
    """Its own estimators say from which version they are."""
    model, rows = composed("pipeline")
    path = save(model, tmp_path / "model.kw")
    text = re.compile(re.escape(sklearn.__version__))

    def older(root):
        for node in nodes(root):
            if isinstance(node.get("content"), str):
                node["content"] = text.sub("1.0.2", node["content"])
        return root

    change_model(path, older)
    with pytest.warns(InconsistentVersionWarning, match=r"version 1\.0\.2"):
        found = load(path)
    assert_array_equal(found.predict(rows), model.predict(rows))


# --- Paths ------------------------------------------------------------------------------------


def test_the_path_may_be_text_or_an_object(tmp_path):
    os.mkdir(tmp_path / "sub.folder")
    path = tmp_path / "sub.folder" / "model.kw"
    for given in (str(path), path):
        assert save(classifier("SVC"), given) == path
        assert_array_equal(load(given).predict(new_rows()), classifier("SVC").predict(new_rows()))


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
    assert set(members_of(path)) == {"kernelwise.json", "sha256", "model.skops"}


def test_missing_files_and_folders_are_errors_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.kw")
    with pytest.raises(FileNotFoundError):
        save(SVC(), tmp_path / "nowhere" / "model.kw")


@loop("model", [None, SVC, np.zeros(3), "model"])
def test_what_is_not_an_estimator_is_refused(model, tmp_path):
    with pytest.raises(TypeError, match="model must be an estimator"):
        save(model, tmp_path / "model.kw")


@loop("value", [np.nan, object(), {1, 2}])
def test_a_summary_is_of_numbers_and_texts(value, tmp_path):
    with pytest.raises(ModelFileError, match=r"model\.kw: summary must contain only numbers"):
        save(SVC(), tmp_path / "model.kw", summary={"score": value})
