"""RelevanceSVC and RelevanceSelector on tables with categories, and on groups of columns."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from kernelwise import RelevanceSelector, RelevanceSVC, bounds_of
from kernelwise.io import load, save, to_onnx
from kernelwise.kernels import Laplacian
from kernelwise.qp import SMO
from kernelwise.svm.base.recipes import CRITERIA
from kernelwise.svm.base.weight_learning import WeightProblem


def mixed(n=200, seed=0):
    """Return a table whose classes follow a number and a category, with noise of both kinds."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "shop": rng.choice(list("abcdefgh"), n),
            "day": rng.normal(size=n),
            "town": rng.choice([f"town {k}" for k in range(12)], n),
        }
    )
    y = np.where(frame["size"] + 2 * frame["shop"].isin(["a", "d", "f"]) > 0.8, "yes", "no")
    return frame, y


FRAME, Y = mixed()
MODEL = RelevanceSVC().fit(FRAME, Y)


def as_polars(frame):
    return pl.DataFrame({name: frame[name].to_list() for name in frame})


# --- One weight per column -------------------------------------------------------------------


def noise_category(seed, n=400, n_levels=30):
    """Return one signal, two numbers of noise, and a category of noise with many levels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["signal", "noise 1", "noise 2"])
    frame["city"] = rng.choice([f"city {k}" for k in range(n_levels)], n)
    return frame, (frame["signal"] + rng.normal(0, 0.7, n) > 0).to_numpy()


@pytest.mark.parametrize("seed", range(3))
def test_a_noise_category_of_many_levels_stays_below_the_signal(seed):
    frame, y = noise_category(seed)
    model = RelevanceSVC().fit(frame, y)
    signal, *_, city = model.feature_importances_
    assert city < signal / 2
    assert_array_equal(model.selected_features_, [True, False, False, False])


def test_what_matters_is_found():
    assert_array_equal(MODEL.selected_features_, [True, True, False, False])
    assert MODEL.feature_importances_.shape == MODEL.feature_weights_.shape == (4,)
    assert MODEL.feature_importances_.sum() == pytest.approx(1)
    assert MODEL.feature_weights_.mean() == pytest.approx(1)
    assert MODEL.history_["weights"].shape[1] == 4
    new, y = mixed(seed=1)
    assert MODEL.score(new, y) > 0.9


def test_a_category_of_two_levels_is_a_number():
    frame = FRAME.assign(shop=np.where(FRAME["shop"] < "d", "x", "y"))[["size", "shop", "day"]]
    codes = frame.assign(shop=(frame["shop"] == "y").astype(float)).to_numpy()
    options = {"ensemble": False, "tol": 1e-6}
    by_word, by_number = RelevanceSVC(**options).fit(frame, Y), RelevanceSVC(**options)
    by_number.fit(codes, Y)
    assert_allclose(by_word.feature_weights_, by_number.feature_weights_, rtol=1e-4)
    assert_allclose(by_word.decision_function(frame), by_number.decision_function(codes), atol=1e-3)


@pytest.mark.parametrize("standardize", [True, False])
def test_names_of_levels_and_order_of_rows_do_not_matter(standardize):
    options = {"ensemble": False, "standardize": standardize}
    expected = RelevanceSVC(**options).fit(FRAME, Y).decision_function(FRAME)
    order = np.random.default_rng(0).permutation(len(Y))
    renamed = FRAME.assign(shop=FRAME["shop"].map(lambda word: chr(ord("z") - ord(word) % 32)))
    for frame, rows in ((FRAME, order), (renamed, np.arange(len(Y)))):
        model = RelevanceSVC(**options).fit(frame.iloc[rows], Y[rows])
        assert_allclose(model.decision_function(frame), expected, atol=0.02)


def test_integer_codes_are_categories_on_demand():
    codes = FRAME.assign(shop=FRAME["shop"].map(ord), town=FRAME["town"].str[5:].astype(int))
    for given in (["shop", "town"], [1, 3], [False, True, False, True]):
        model = RelevanceSVC(categorical_features=given, ensemble=False).fit(codes, Y)
        assert_array_equal(model.columns_.layout.is_category, [False, True, False, True])
        assert_array_equal(model.selected_features_, [True, True, False, False])
    assert not RelevanceSVC().fit(codes, Y).columns_.categories


def test_the_rbf_kernel_has_no_categories():
    with pytest.raises(ValueError, match=r'kernel="rbf" reads numbers only.*kernel="laplacian"'):
        RelevanceSVC(kernel="rbf").fit(FRAME, Y)


def test_several_classes_and_weights():
    y = np.where(FRAME["day"] > 1, "maybe", Y)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    options = {"ensemble": False, "max_iter": 3}
    model = RelevanceSVC(**options).fit(FRAME, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    again = RelevanceSVC(**options).fit(FRAME.iloc[rows], y[rows])
    assert_array_equal(model.columns_.categories, again.columns_.categories)
    assert_allclose(model.decision_function(FRAME), again.decision_function(FRAME), atol=0.02)
    assert model.decision_function(FRAME).shape == (len(y), 3)


@pytest.mark.parametrize("n", [6, 30])
@pytest.mark.parametrize(
    "words",
    [lambda k: "same", lambda k: f"value {k}", lambda k: "abc"[k % 3]],
    ids=["one level", "all different", "three levels"],
)
def test_odd_categories(words, n):
    frame = pd.DataFrame({"it": [words(k) for k in range(n)], "x": np.arange(n) % 7})
    y = np.arange(n) % 2
    for columns in (["it"], ["it", "x"]):
        model = RelevanceSVC(max_iter=2).fit(frame[columns], y)
        assert np.isfinite(model.predict_proba(frame[columns])).all()


# --- Tables of all kinds ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert",
    [
        as_polars,
        lambda frame: frame.astype({"shop": "category", "town": "string"}),
        lambda frame: frame.to_numpy(),
    ],
    ids=["polars", "pandas types", "array of objects"],
)
def test_every_kind_of_table_gives_the_same_model(convert):
    table = convert(FRAME)
    model = RelevanceSVC().fit(table, Y)
    assert_array_equal(model.decision_function(table), MODEL.decision_function(FRAME))


def test_unseen_levels_and_missing_values_can_be_predicted():
    new = FRAME.iloc[:4].copy()
    new.loc[new.index[:2], "shop"] = ["never seen", None]
    new.loc[new.index[2], "size"] = np.nan
    decisions = MODEL.decision_function(new)
    assert np.isfinite(decisions).all()
    assert decisions[0] == MODEL.decision_function(new.assign(shop="another"))[0]


def test_columns_are_checked_by_name():
    assert_array_equal(MODEL.feature_names_in_, list(FRAME))
    assert MODEL.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names should match"):
        MODEL.predict(FRAME[list(FRAME)[::-1]])
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        MODEL.predict(FRAME.drop(columns="shop"))


def test_a_model_travels(tmp_path):
    expected = MODEL.decision_function(FRAME)
    for model in (
        pickle.loads(pickle.dumps(MODEL)),
        load(save(MODEL, tmp_path / "model.kw")),
    ):
        assert_array_equal(model.decision_function(FRAME), expected)
        assert model.columns_.categories == MODEL.columns_.categories


def test_pipelines_and_cross_validation():
    pipeline = make_pipeline(RelevanceSelector(), RelevanceSVC(ensemble=False, max_iter=5))
    for table in (FRAME, as_polars(FRAME)):
        assert cross_val_score(pipeline, table, Y, cv=3).mean() > 0.85
    selector = RelevanceSelector().fit(FRAME, Y)
    assert_array_equal(selector.get_feature_names_out(), ["size", "shop"])
    pd.testing.assert_frame_equal(selector.transform(FRAME), FRAME[["size", "shop"]])
    numbers = FRAME[["size", "day"]]
    of_numbers = RelevanceSelector().fit(numbers, Y)
    assert isinstance(of_numbers.transform(numbers), np.ndarray)
    assert isinstance(of_numbers.set_output(transform="pandas").transform(numbers), pd.DataFrame)


# --- Export ----------------------------------------------------------------------------------


def test_categories_of_words_have_no_graph():
    with pytest.raises(ValueError, match=r"\['shop', 'town'\] are categories of words"):
        to_onnx(MODEL)


def test_categories_of_numbers_have_a_graph():
    onnxruntime = pytest.importorskip("onnxruntime")
    X = FRAME.assign(shop=FRAME["shop"].map(ord), town=np.nan).to_numpy(dtype=float)
    X[::9, 1], X[::7, 0] = np.nan, np.nan
    model = RelevanceSVC(categorical_features=[1], max_iter=3, ensemble=False).fit(X, Y)
    new = X.copy()
    new[::5, 1] = 7.0  # unseen
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    label, decision = session.run(["label", "decision"], {"X": new})
    assert_allclose(decision, model.decision_function(new), atol=1e-9)
    assert_array_equal(label, model.predict(new))


def test_scikit_learn_has_no_categories():
    model = RelevanceSVC(ensemble=False, max_iter=2).fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"no kernel like Laplacian\(.*categorical"):
        model.to_sklearn()


def test_marks_of_gaps_in_scikit_learn():
    X = FRAME[["size", "day"]].to_numpy(copy=True)
    X[::9, 1] = np.nan
    model = RelevanceSVC(ensemble=False, kernel="rbf", max_iter=2).fit(X, Y)
    X[::4, 0] = np.nan
    exported = model.to_sklearn()
    assert_allclose(exported.decision_function(X), model.decision_function(X), atol=1e-9)


def test_bounds_of_a_machine_on_a_table():
    model = RelevanceSVC(ensemble=False, max_iter=3).fit(FRAME, Y)
    found = bounds_of(model, FRAME, Y)
    assert_allclose(found.margin, model.margin_, rtol=1e-3)
    assert 0 <= found.loo_error < 0.2


# --- Groups ----------------------------------------------------------------------------------


def one_hot(frame):
    words = pd.get_dummies(frame["shop"], dtype=float)
    return pd.concat([frame[["size", "day"]], words], axis=1)


def test_columns_of_a_group_share_one_weight():
    table = one_hot(FRAME)
    shops = list(table.columns[2:])
    model = RelevanceSVC(feature_groups=[shops], ensemble=False).fit(table, Y)
    weights = model.kernel_.weights * np.std(table.to_numpy(), axis=0)
    assert np.ptp(weights[2:]) < 1e-12 * weights.max()
    assert weights[0] > 2 * weights[1]
    assert len(model.history_["weights"][0]) == 10
    labels = ["size", "day", *["shop"] * 8]
    again = RelevanceSVC(feature_groups=labels, ensemble=False).fit(table, Y)
    assert_array_equal(again.feature_weights_, model.feature_weights_)


def test_a_warm_start_forgets_weights_of_other_groups():
    table = one_hot(FRAME)
    options = {"ensemble": False, "max_iter": 2}
    model = RelevanceSVC(warm_start=True, **options).fit(table, Y)
    model.set_params(feature_groups=[list(table.columns[2:])]).fit(table, Y)
    cold = RelevanceSVC(feature_groups=model.feature_groups, **options).fit(table, Y)
    assert_array_equal(model.feature_importances_, cold.feature_importances_)


def test_energy_weights_are_means_over_a_group():
    table = one_hot(FRAME)
    shops = list(table.columns[2:])
    model = RelevanceSVC(feature_groups=[shops], max_iter=2).fit(table, Y)
    for kernel in model.kernel_:
        power = 1 if isinstance(kernel, Laplacian) else 2
        weights = kernel.weights * np.std(table.to_numpy(), axis=0) ** power
        assert np.ptp(weights[2:]) < 1e-12 * weights.max()
    assert_array_equal(
        RelevanceSelector(feature_groups=[shops], max_iter=2).fit(table, Y).feature_importances_,
        model.feature_importances_,
    )


def test_derivatives_by_the_factor_of_a_group():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    X[:, 3] = rng.integers(0, 4, 40)
    kernel = Laplacian(weights=[0.3, 0.2, 0.5, 0.4], categorical=[False, False, False, True])
    problem = WeightProblem.of_scaled(
        kernel,
        X,
        y[:, None],
        np.ones(40),
        recipe=CRITERIA["radius_margin"],
        groups=np.array([0, 1, 0, 1]),
    )
    assert_allclose(problem.theta, [0.3, 0.2, 1.0])
    assert_allclose(problem.everywhere(np.array([0.6, 0.1, 2.0])), [0.6, 0.1, 1.0, 0.2, 2.0])
    objective = problem.objective(SMO(tol=1e-10), 1)

    def value(theta):
        return objective(problem.everywhere(theta))[0]

    theta, step = problem.theta, 1e-5
    gradient = problem.gradient(objective(problem.everywhere(theta))[1])
    for k, unit in enumerate(np.eye(3) * step):
        expected = (value(theta + unit) - value(theta - unit)) / (2 * step)
        assert gradient[k] == pytest.approx(expected, rel=1e-4)
