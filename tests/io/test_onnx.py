"""to_onnx: the same labels and decision values, computed by onnxruntime."""

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

from kernelwise import (
    SVC,
    EmpiricalKernelMap,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
    RelevanceSelector,
    RelevanceSVC,
    SVCSearchCV,
)
from kernelwise.app.io import save_onnx, to_onnx
from kernelwise.kernels import RBF, Laplacian, Linear, Normalized, Precomputed
from kernelwise.svm.base.predictor import predictor_of
from kernelwise.transform import GeodesicNeighborFeatures, TopicFeatures
from tests.loop import loop

from .models import (
    CLASSIFIERS,
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
    with_nan,
)


def run(graph, feed):
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


def assert_same(model, X, feed=None, atol=1e-9, **options):
    """Assert that the graph and the model give the same."""
    dtype = options.get("dtype", "float64")
    graph = to_onnx(model, **options)
    onnx.checker.check_model(graph, full_check=True)
    out = run(graph, {"X": X.astype(dtype)} if feed is None else feed)
    probabilities = ["probabilities"] if hasattr(model, "predict_proba") else []
    assert list(out) == ["label", "decision", *probabilities]
    if probabilities:
        assert_allclose(out["probabilities"], model.predict_proba(X), rtol=atol, atol=atol)
    expected = model.decision_function(X)
    assert out["decision"].shape == expected.shape
    assert_allclose(out["decision"], expected, rtol=atol, atol=atol)
    assert_array_equal(out["label"], model.predict(X))


@loop("n_classes", [2, 3])
@loop("name", CLASSIFIERS)
def test_classifiers(name, n_classes):
    atol = 1e-5 if name.startswith("RelevanceSVC") else 1e-9  # it computes kernels in float32
    assert_same(classifier(name, n_classes), new_rows(), atol=atol)


@loop("n_classes", [2, 3])
@loop("name", KERNELS)
def test_kernels(name, n_classes):
    rows = new_rows()
    rows[0] = 0  # of norm zero
    assert_same(with_kernel(name, n_classes), rows)


@loop("name", REGRESSORS)
def test_regressors(name):
    model, rows = regressor(name), rows_of(name, new_rows()[:, 1:])
    out = run(to_onnx(model), {"X": rows})
    assert list(out) == ["prediction"]
    assert_allclose(out["prediction"], model.predict(rows), atol=1e-5)


@loop("name", DETECTORS)
def test_detectors(name):
    model = detector(name)
    assert_same(model, new_rows())
    assert_same(model, table()[0][model.support_])  # some lie on the boundary


@loop("name", TRANSFORMERS)
@loop("opset", [15, 18, None])
def test_transformers(name, opset):
    model, rows = transformer(name), new_rows()
    rows = np.abs(rows) if name == "TopicFeatures" else rows
    out = run(to_onnx(model, opset=opset), {"X": rows})
    assert list(out) == ["columns"]
    assert_allclose(out["columns"], model.transform(rows), rtol=1e-9, atol=1e-9)


@loop("normalize", [True, False])
def test_topics_of_rows_without_words(normalize):
    X, rows = np.abs(table()[0]), np.abs(new_rows())
    rows[0] = 0
    model = TopicFeatures(3, random_state=0, tol=1e-2, normalize=normalize).fit(X)
    found = run(to_onnx(model), {"X": rows})["columns"]
    assert_allclose(found, model.transform(rows), rtol=1e-9, atol=1e-9)


@loop(
    "options",
    [
        {"graph_neighbors": 5},
        {"graph_neighbors": 2, "n_neighbors": 40, "disconnected": "never"},
        {"neighbors": "paper", "disconnected": "never", "transductive": new_rows()[:30]},
    ],
)
def test_geodesic_neighbours_of_new_and_of_training_rows(options):
    X, y = table()
    model = GeodesicNeighborFeatures(**options).fit(X, y)
    rows = np.vstack([X[:20], new_rows()])
    assert_array_equal(run(to_onnx(model), {"X": rows})["columns"], model.transform(rows))


@loop(
    ("options", "words"),
    [
        ({"graph_neighbors": 1, "n_neighbors": 40}, "raise graph_neighbors until there is one"),
        ({"metric": "manhattan"}, "only Euclidean ones"),
    ],
)
def test_geodesic_neighbours_that_need_a_search_are_refused(options, words):
    model = GeodesicNeighborFeatures(**options).fit(*table())
    with pytest.raises(ValueError, match=f"GeodesicNeighborFeatures cannot be exported: .*{words}"):
        to_onnx(model)


@loop("name", ["TopicFeatures", "GeodesicNeighborFeatures"])
def test_a_pipeline_of_made_columns_has_probabilities(name):
    X, y = table()
    model = make_pipeline(clone(TRANSFORMERS[name]), SVC(calibration="loo")).fit(np.abs(X), y)
    assert_same(model, np.abs(new_rows()))


PIPELINES = {
    "scale": make_pipeline(StandardScaler(), SVC()),
    "impute": make_pipeline(SimpleImputer(), MinMaxScaler(), SVC(kernel="laplacian")),
    "median": make_pipeline(SimpleImputer(strategy="median"), MarginRadiusSVC(degree=2)),
    "products": make_pipeline(PolynomialFeatures(2), StandardScaler(), SVC()),
    "choice": make_pipeline(SelectKBest(k=2), PCA(2), SVC(decision_function_shape="ovo")),
    "ours": make_pipeline(
        StandardScaler(),
        RelevanceSelector(max_features=2),
        EmpiricalKernelMap(n_components=4),
        MarginRadiusSVC(),
    ),
    "columns": make_pipeline(
        make_column_transformer(
            (StandardScaler(), [0, 1]), (RelevanceSelector(max_features=1), [2, 3])
        ),
        RelevanceSVC(),
    ),
    "search": GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 5.0]}, cv=2),
}


@loop("dtype", ["float64", "float32"])
@loop("name", PIPELINES)
def test_pipelines(name, dtype):
    X, y = table()
    X = with_nan(X) if name in ("impute", "median") else X
    model = clone(PIPELINES[name]).fit(X, y)
    rough = dtype == "float32" or name == "columns"
    assert_same(model, X, dtype=dtype, atol=1e-5 if rough else 1e-9)


@loop("dtype", ["float64", "float32"])
def test_columns_of_numbers_and_texts(dtype):
    model, rows = composed("columns")[0], frame()
    feed = {
        name: column.to_numpy(dtype if name in "abcde" else object)[:, None]
        for name, column in rows.items()
    }
    atol = 1e-9 if dtype == "float64" else 1e-5
    assert_same(model, rows, feed=feed, example=rows[:3], dtype=dtype, atol=atol)


def test_a_frame_of_numbers_may_be_one_input_or_several():
    rows = frame()[["a", "b", "d", "e"]]
    model = SVC().fit(rows, table()[1])
    several = {name: column.to_numpy()[:, None] for name, column in rows.items()}
    assert_same(model, rows, feed=several, example=rows)
    assert_same(model, rows, feed={"X": rows.to_numpy()})


@loop(
    ("labels", "kind"),
    [
        ([3, -7, 12], np.int64),
        ([False, True, True], np.int64),
        (["ä", "b", "c d"], object),
        ([1.0, 2.0, 7.0], object),
    ],
)
def test_labels(labels, kind):
    X, y = table()
    y = np.array(labels)[np.unique(y, return_inverse=True)[1]]
    model = SVC().fit(X, y)
    label = run(to_onnx(model), {"X": X})["label"]
    assert label.dtype == kind
    assert_array_equal(label.astype(str), model.predict(X).astype(kind).astype(str))


@loop("opset", [15, 18])
@loop("name", ["RelevanceSVC", "SVC-ties", "MarginRadiusSVC-degree"])
def test_operators_of_an_older_version(name, opset):
    model = classifier(name)
    graph = to_onnx(model, opset=opset)
    versions = [each.version for each in graph.opset_import if each.domain == ""]
    assert versions[0] <= opset
    assert_array_equal(run(graph, {"X": new_rows()})["label"], model.predict(new_rows()))


def test_one_row_and_none():
    model, rows = classifier("SVC-calibrated"), new_rows()
    graph = to_onnx(model)
    assert_allclose(run(graph, {"X": rows[:1]})["decision"], model.decision_function(rows[:1]))
    assert run(graph, {"X": rows[:0]})["label"].shape == (0,)


def test_one_column():
    """Scalars beside a product of matrices, which onnxruntime would round to float32."""
    X, y = table()
    for kernel in (RBF(0.3), 0.3 * Linear(0.7), 0.7 * RBF(0.3) + 0.3 * Normalized(0.3 * RBF(0.1))):
        assert_same(SVC(kernel=kernel).fit(X[:, [2]], y), X[:, [2]], atol=1e-12)


def test_values_far_from_the_origin():
    X, y = table()
    X = X + 1e5
    assert_same(SVC(gamma=0.5).fit(X, y), X, atol=1e-5)


@loop("model", [with_kernel("laplacian"), classifier("RelevanceSVC")])
def test_no_tensor_of_rows_by_vectors_by_features(model):
    """The graph of the Laplacian kernel goes feature by feature."""
    scans = [node for node in to_onnx(model).graph.node if node.op_type == "Scan"]
    bodies = [each.g for scan in scans for each in scan.attribute if each.name == "body"]
    of_distances = [{node.op_type for node in body.node} for body in bodies]
    assert {"Sub", "Abs", "Min", "Add"} in of_distances


def test_a_kernel_of_categories():
    X, y = table()
    categorical = np.array([False, True, False, True, False])
    X = np.where(categorical, np.floor(X), X)
    model = SVC(kernel=Laplacian(0.3, categorical=categorical)).fit(X, y)
    assert_same(model, X + np.array([0.0, 1.0, 0.0, 0.0, 0.1]))


def test_a_machine_without_support_vectors():
    X, y = table(2)
    model = clone(classifier("SVC", 2)).fit(X, y)
    nothing = {"coef": np.zeros((0, 1)), "rows": X[:0], "support": np.zeros(0, dtype=np.intp)}
    predictor = predictor_of(model)
    model._predictor_ = replace(predictor, vectors=replace(predictor.vectors, **nothing))
    assert_same(model, X)


def test_a_sparse_fit():
    X, y = table()
    model = SVC().fit(sp.csr_array(X), y)
    out = run(to_onnx(model), {"X": X})
    assert_allclose(out["decision"], model.decision_function(sp.csr_array(X)), atol=1e-9)


def test_save_onnx_writes_a_file(tmp_path):
    model = classifier("SVC")
    path = save_onnx(model, tmp_path / "model.onnx")
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]
    out = run(onnx.load(path), {"X": new_rows()})
    assert_array_equal(out["label"], model.predict(new_rows()))


@loop(
    ("kernel", "words"),
    [
        ("precomputed", "rows are kernel values"),
        (Precomputed(), "rows are kernel values"),
        (lambda X, Y: X @ Y.T, "a Python function"),
    ],
)
def test_kernels_that_are_no_formula_are_refused(kernel, words):
    X, y = table()
    K = X @ X.T
    for model in (SVC(kernel=kernel).fit(K, y), EmpiricalKernelMap(kernel).fit(K)):
        with pytest.raises(ValueError, match=f"cannot be exported to ONNX: .*{words}"):
            to_onnx(model)


@loop(
    ("features", "words"),
    [(lambda X: X[:, :1], "it is a Python function"), (PCA(2), r"PCA.*it is not supported")],
)
def test_features_of_a_bias_that_are_no_formula_are_refused(features, words):
    X, y = table(2)
    model = GeneralizedBiasSVC(features, bias_penalty=0.1).fit(X, y)
    with pytest.raises(ValueError, match=words):
        to_onnx(model)


def test_a_kernel_of_the_user_is_refused():
    class Own(RBF):
        def profile(self, t):
            return 1 / (1 + t)

    X, y = table()
    with pytest.raises(ValueError, match="it is not supported"):
        to_onnx(SVC(kernel=Own()).fit(X, y))


def test_what_skl2onnx_does_not_know_is_refused():
    X, y = table()
    model = CalibratedClassifierCV(SVC(), cv=2).fit(X, y)
    with pytest.raises(ValueError, match=r"CalibratedClassifierCV cannot be .*use calibration="):
        to_onnx(model)


def test_a_search_without_a_best_estimator_is_refused():
    search = SVCSearchCV(SVC(), {"C": [1.0]}, cv=2, refit=False).fit(*table())
    with pytest.raises(NotFittedError):
        to_onnx(search)


def test_bad_arguments():
    with pytest.raises(NotFittedError):
        to_onnx(SVC())
    with pytest.raises(ValueError, match=r"dtype must be .* got 'half'"):
        to_onnx(classifier("SVC"), dtype="half")
    with pytest.raises(ValueError, match="example must be a DataFrame"):
        to_onnx(classifier("SVC"), np.zeros((3, 5)))
