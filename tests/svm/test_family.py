"""SVR, NuSVR, NuSVC and OneClassSVM: scikit-learn's answers, and what goes beyond them."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as reference
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import kernelwise
from kernelwise import SVC, SVR, NuSVC, NuSVR, OneClassSVM, bounds_of
from tests.loop import loop

TOL = 1e-8
REGRESSORS = [SVR(C=3.0, epsilon=0.2), NuSVR(C=3.0, nu=0.3)]
DETECTOR = OneClassSVM(nu=0.3)
# Not a whole number of errors per class: then scikit-learn's C is one of many.
EVERY = [*REGRESSORS, NuSVC(nu=0.21), DETECTOR]
KERNELS = [
    {"gamma": 0.1},
    {"gamma": "auto"},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.1},
    {"kernel": "sigmoid", "gamma": 0.01},
]


def numbers():
    X, y = load_diabetes(return_X_y=True)
    return scale(X)[:120], scale(y)[:120]


def classes():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:120, :8], y[:120]


def table(model):
    return classes() if isinstance(model, NuSVC) else numbers()


def plain(model):
    """Return scikit-learn's estimator of the same name, with the same parameters.

    Its steps become very slow at tolerances below 1e-6.
    """
    own = getattr(reference, type(model).__name__)
    known = set(own().get_params()) - {"probability"}
    given = {name: value for name, value in model.get_params().items() if name in known}
    given |= {"cache_size": 200, "tol": max(1e-6, model.tol), "max_iter": 300_000}
    return own(**given)


def tight(model, **params):
    return clone(model).set_params(tol=TOL, **params)


def answers(model, X):
    """Return the numbers that a model predicts, or its decision values."""
    return model.predict(X) if is_regressor(model) else model.decision_function(X)


def both(model, weight=None, **params):
    """Return our fit, scikit-learn's, and the rows."""
    X, y = table(model)
    ours = tight(model, **params)
    return ours.fit(X, y, sample_weight=weight), plain(ours).fit(X, y, sample_weight=weight), X


# --- The same as scikit-learn ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@loop("params", KERNELS)
@loop("model", EVERY)
def test_answers_are_those_of_scikit_learn(model, params):
    ours, theirs, X = both(model, **params)
    assert_allclose(answers(ours, X), answers(theirs, X), rtol=1e-4, atol=1e-4)
    assert ours.certificate_.violation.max() <= TOL


@loop("model", EVERY)
def test_weights_of_rows_are_those_of_scikit_learn(model):
    weight = np.random.default_rng(0).uniform(0.2, 3.0, len(table(model)[0]))
    ours, theirs, X = both(model, weight, gamma=0.1)
    assert_allclose(answers(ours, X), answers(theirs, X), rtol=1e-5, atol=1e-5)


@loop("model", EVERY)
def test_attributes_have_the_layout_of_scikit_learn(model):
    ours, theirs, X = both(model, gamma=0.1)
    assert_array_equal(ours.support_, theirs.support_)
    assert_allclose(ours.support_vectors_, theirs.support_vectors_)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-3, atol=1e-4)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-4)
    assert_array_equal(ours.n_support_, theirs.n_support_)
    for name in ("support_", "n_support_", "dual_coef_", "intercept_", "support_vectors_"):
        assert getattr(ours, name).dtype == getattr(theirs, name).dtype
    assert type(ours.n_iter_) is type(theirs.n_iter_)
    assert (ours.fit_status_, ours.shape_fit_) == (0, theirs.shape_fit_)
    if isinstance(model, OneClassSVM):
        assert_allclose(ours.offset_, theirs.offset_, rtol=1e-6)
        assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-6)


def test_default_fits_are_close_to_those_of_scikit_learn():
    """At the default tolerance both are within it of the same function."""
    for model in EVERY:
        X, y = table(model)
        ours, theirs = clone(model).fit(X, y), plain(model).fit(X, y)
        assert_allclose(answers(ours, X), answers(theirs, X), atol=0.05)


@loop("name", ["SVR", "NuSVR", "NuSVC", "OneClassSVM"])
def test_parameters_and_defaults_are_those_of_scikit_learn(name):
    ours = getattr(kernelwise, name)().get_params()
    theirs = getattr(reference, name)().get_params()
    assert set(theirs) <= set(ours)
    changed = {key for key in theirs if ours[key] != theirs[key]}
    assert changed <= {"cache_size"}


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@loop("model", EVERY)
def test_linear_machines_have_coefficients(model):
    ours, theirs, X = both(model, kernel="linear")
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-4)
    assert_allclose(answers(ours, X), X @ ours.coef_[0] + ours.intercept_, atol=1e-9)
    with pytest.raises(ValueError, match="read-only"):
        ours.coef_[0, 0] = 1.0
    assert not hasattr(clone(model).fit(*table(model)), "coef_")


@loop("model", EVERY)
def test_wrong_calls_are_refused(model):
    X, y = table(model)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    fitted = clone(model).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        fitted.predict(X[:, :-1])
    with pytest.raises(ValueError, match="zero or negative weights"):
        clone(model).fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="square matrix"):
        clone(model).set_params(kernel="precomputed").fit(X, y)
    for name, value in (("nu", 0.0), ("nu", 1.1), ("C", 0.0), ("epsilon", -0.1), ("tol", 0.0)):
        if name in model.get_params():
            with pytest.raises(ValueError, match=name):
                clone(model).set_params(**{name: value}).fit(X, y)
    if not isinstance(model, OneClassSVM):
        with pytest.raises(ValueError, match=r"NaN|contain"):
            clone(model).fit(X, np.where(np.arange(len(y)) == 3, np.nan, y))
    if is_regressor(model):
        with pytest.raises(ValueError, match=r"y must be numbers; for classes fit an SVC"):
            clone(model).fit(X, np.where(y > 0, "up", "down"))
    method = "predict_interval" if is_regressor(model) else "predict_proba"
    with pytest.raises(AttributeError, match=method) as found:
        getattr(fitted, method)
    assert "fit with calibration='loo'" in str(found.value.__cause__)


# --- Rows and kernels of all kinds ----------------------------------------------------------------


@loop("model", EVERY)
def test_sparse_rows_kernel_values_and_functions_give_the_same(model):
    X, y = table(model)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = tight(model, gamma=0.1).fit(X, y)
    sparse = tight(model, gamma=0.1).fit(sp.csr_array(X), y)
    assert sp.issparse(sparse.dual_coef_)
    assert sp.issparse(sparse.support_vectors_)
    assert_allclose(answers(sparse, sp.csr_array(X)), answers(dense, X), atol=1e-6)
    K = rbf_kernel(X, gamma=0.1)
    given = tight(model, kernel="precomputed").fit(K, y)
    assert_allclose(answers(given, K), answers(dense, X), atol=1e-6)
    named = tight(model, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.1)).fit(X, y)
    assert_allclose(answers(named, X), answers(dense, X), atol=1e-6)
    scores = cross_val_score(given, K, y, scoring=lambda *_: 1.0)  # scikit-learn splits columns
    assert len(scores) == 5


@loop("model", EVERY)
def test_a_vector_gamma_and_weights_are_widths_per_feature(model):
    X, y = table(model)
    widths = np.linspace(0.01, 0.2, X.shape[1])
    by_gamma = tight(model, gamma=widths).fit(X, y)
    by_weights = tight(model, gamma=1.0, feature_weights=widths).fit(X, y)
    scaled = tight(model, gamma=1.0).fit(X * np.sqrt(widths), y)
    expected = answers(scaled, X * np.sqrt(widths))
    assert_allclose(answers(by_gamma, X), expected, atol=1e-6)
    assert_allclose(answers(by_weights, X), expected, atol=1e-6)


@loop("model", EVERY)
def test_weights_are_repetitions_and_zero_is_absence(model):
    X, y = table(model)
    X, y = X[-120:], y[-120:]
    count = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = tight(model, gamma=0.1).fit(X, y, sample_weight=count)
    repeated = tight(model, gamma=0.1).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    assert_allclose(answers(weighted, X), answers(repeated, X), atol=1e-6)
    assert count[weighted.support_].min() > 0


# --- What a fit reports ---------------------------------------------------------------------------


@loop("model", EVERY)
def test_a_fit_that_ends_early_warns_of_it(model):
    X, y = table(model)
    with pytest.warns(ConvergenceWarning, match="largest KKT violation") as found:
        early = clone(model).set_params(max_iter=2).fit(X, y)
    assert found[0].filename == __file__
    assert early.fit_status_ == 1
    assert early.certificate_.violation.max() > early.tol


@loop("model", [REGRESSORS[0], DETECTOR])
def test_the_certificate_is_that_of_the_problem(model):
    X, y = table(model)
    fitted = clone(model).set_params(gamma=0.1).fit(X, y)
    beta = np.zeros(len(y))
    beta[fitted.support_] = fitted.dual_coef_[0]
    K = rbf_kernel(X, gamma=0.1)
    objective = 0.5 * beta @ K @ beta
    if isinstance(model, SVR):
        objective += model.epsilon * np.abs(beta).sum() - y @ beta
    assert_allclose(fitted.certificate_.objective, objective, rtol=1e-9)
    best = tight(model, gamma=0.1).fit(X, y).certificate_.objective
    assert fitted.certificate_.objective - best <= fitted.certificate_.gap + 1e-9


@loop("model", [REGRESSORS[0], DETECTOR])
def test_a_warm_start_from_its_own_solution_takes_no_steps(model):
    X, y = table(model)
    warm = tight(model, warm_start=True).fit(X, y)
    first = answers(warm, X)
    assert warm.fit(X, y).n_iter_ == 0
    assert_allclose(answers(warm, X), first, atol=1e-9)
    order = np.random.default_rng(0).permutation(len(y))[:-10]
    warm.fit(X[order], y[order])
    assert_allclose(answers(warm, X), answers(tight(model).fit(X[order], y[order]), X), atol=1e-6)


def test_callbacks_and_lines_report_the_machines(capsys):
    X, y = numbers()
    seen = []
    SVR(callback=lambda event: seen.append(event) or False, verbose=True).fit(X, np.c_[y, -y])
    assert seen
    assert seen[-1].violation <= 1e-3
    assert capsys.readouterr().out.count("[kernelwise.SVR] machine") == 2


# --- Several targets ------------------------------------------------------------------------------


@loop("model", REGRESSORS)
def test_several_targets_are_machines_of_their_own(model):
    X, y = numbers()
    Y = np.column_stack([y, X[:, 0] ** 2, np.abs(y)])
    several = tight(model, calibration="loo").fit(X, Y)
    threaded = tight(model, n_jobs=2).fit(X, Y)
    assert several.dual_coef_.shape == (3, len(several.support_))
    assert several.predict(X).shape == several.loo_predictions_.shape == Y.shape
    assert_array_equal(threaded.predict(X), several.predict(X))
    for j, target in enumerate(Y.T):
        alone = tight(model, calibration="loo").fit(X, target)
        assert_allclose(several.predict(X)[:, j], alone.predict(X), atol=1e-6)
        ends = zip(several.predict_interval(X), alone.predict_interval(X), strict=True)
        for together, own in ends:
            assert_allclose(together[:, j], own, atol=1e-4)
    assert clone(model).fit(X, y[:, None]).predict(X).shape == (len(y), 1)
    with pytest.raises(ValueError, match="dim 3"):
        clone(model).set_params(kernel=rbf_kernel).fit(X, Y[:, :, None])


# --- Intervals ------------------------------------------------------------------------------------


@loop("model", REGRESSORS)
def test_intervals_have_new_targets_as_often_as_they_say(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2400, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=2400)
    fitted = clone(model).set_params(calibration="loo", gamma=0.5).fit(X[:400], y[:400])
    for level in (0.5, 0.9):
        low, high = fitted.predict_interval(X[400:], confidence_level=level)
        deviation = np.sqrt(level * (1 - level) * (1 / 400 + 1 / 2000))
        covered = ((low <= y[400:]) & (y[400:] <= high)).mean()
        assert_allclose(covered, level, atol=3 * deviation)
    with pytest.raises(ValueError, match="confidence_level must be between"):
        fitted.predict_interval(X, confidence_level=1.0)


@loop("model", REGRESSORS)
def test_left_out_predictions_are_those_of_machines_without_the_rows(model):
    X, y = numbers()
    fitted = tight(model, gamma=0.1, calibration="loo").fit(X, y)
    assert fitted.calibration_.n_rows == len(y)
    epsilon = model.epsilon if isinstance(model, SVR) else fitted.epsilon_[0]
    again = SVR(C=3.0, epsilon=epsilon, gamma=0.1, tol=TOL)
    from kernelwise.svm.base.left_out import deal_task

    fold = deal_task(fitted._task(X, y, None, None), 5)[0]
    kept = np.setdiff1d(np.arange(len(y)), fold)
    expected = again.fit(X[kept], y[kept]).predict(X[fold])
    assert_allclose(fitted.loo_predictions_[fold], expected, atol=1e-6)


def test_intervals_need_a_fit_with_calibration():
    X, y = numbers()
    fitted = SVR().fit(X, y).set_params(calibration="loo")
    with pytest.raises(NotFittedError, match="without calibration"):
        fitted.predict_interval(X)
    with pytest.raises(ValueError, match="two different rows"):
        SVR(calibration="loo").fit(X[:1], y[:1])


# --- The nu forms ---------------------------------------------------------------------------------


def test_a_nu_machine_is_the_machine_of_the_parameter_that_it_finds():
    X, y = numbers()
    found = NuSVR(nu=0.4, C=2.0, tol=TOL).fit(X, y)
    same = SVR(epsilon=found.epsilon_[0], C=2.0, tol=TOL).fit(X, y)
    assert_allclose(found.predict(X), same.predict(X), atol=1e-6)
    X, y = load_iris(return_X_y=True)
    found = NuSVC(nu=0.3, tol=TOL).fit(X, y)
    for j, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = (y == a) | (y == b)
        gamma = found.kernel_.gamma
        same = SVC(C=found.C_[j], gamma=gamma, tol=TOL).fit(X[rows], y[rows])
        values = NuSVC(nu=0.3, tol=TOL, decision_function_shape="ovo").fit(X, y)
        assert_allclose(
            -values.decision_function(X)[:, j], same.decision_function(X), rtol=1e-5, atol=1e-5
        )
        assert_allclose(found.margin_[j], same.margin_[0], rtol=1e-5)


@loop("nu", [0.05, 0.3, 0.7])
def test_nu_bounds_the_shares_of_errors_and_of_support_vectors(nu):
    X, y = numbers()
    slack = 2 / len(y)
    outside = OneClassSVM(nu=nu, tol=1e-6).fit(X)
    assert (outside.predict(X) < 0).mean() <= nu + slack
    assert len(outside.support_) / len(X) >= nu - slack
    beyond = NuSVR(nu=nu, tol=1e-6).fit(X, y)
    errors = np.abs(beyond.predict(X) - y) > beyond.epsilon_[0] + 1e-6
    assert errors.mean() <= nu + slack
    assert len(beyond.support_) / len(X) >= nu - slack


def test_an_infeasible_nu_is_refused_with_the_largest_feasible_one():
    X, y = load_iris(return_X_y=True)
    X, y = X[:110], y[:110]  # 50, 50 and 10 rows
    with pytest.raises(ValueError, match=r"specified nu is infeasible.* at most 0\.333333"):
        NuSVC(nu=0.34).fit(X, y)
    assert NuSVC(nu=0.333).fit(X, y).fit_status_ == 0
    assert NuSVC(nu=0.8, class_weight="balanced").fit(X, y).fit_status_ == 0


def test_classes_of_nu_svc_are_decided_and_calibrated_as_those_of_svc():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = NuSVC(nu=0.2).fit(X, names)
    theirs = reference.NuSVC(nu=0.2).fit(X, names)
    assert (model.predict(X) == theirs.predict(X)).mean() > 0.98
    assert model.decision_function(X).shape == theirs.decision_function(X).shape == (150, 3)
    calibrated = NuSVC(nu=0.2, calibration="loo").fit(X, names)
    probabilities = calibrated.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(calibrated.predict(X), calibrated.classes_[probabilities.argmax(axis=1)])
    assert NuSVC(nu=0.2, calibration="halves").fit(X, names).predict_set(X).any(axis=1).mean() > 0.9
    with pytest.warns(FutureWarning, match="NuSVC\\(calibration"):
        NuSVC(nu=0.2, probability=True).fit(X, names)


# --- One class ------------------------------------------------------------------------------------


def test_probabilities_of_one_class_are_p_values():
    rng = np.random.default_rng(0)
    model = OneClassSVM(nu=0.2, gamma=0.3, calibration="loo").fit(rng.normal(size=(500, 2)))
    found = model.predict_proba(rng.normal(size=(4000, 2)))
    assert_allclose(found.sum(axis=1), 1)
    for level in (0.05, 0.2, 0.5):
        assert_allclose((found[:, 1] <= level).mean(), level, atol=0.05)
    far = model.predict_proba([[9.0, 9.0], [0.0, 0.0]])[:, 1]
    assert far[0] <= 1 / 501 + 1e-12
    assert far[1] > 0.1


def test_rows_on_the_boundary_are_inside():
    X, _ = numbers()
    model = OneClassSVM(nu=0.1, tol=TOL).fit(X)
    free = np.abs(model.dual_coef_[0] - 0.5) < 0.4999
    assert_array_equal(model.decision_function(X[model.support_])[free], 0.0)
    assert_array_equal(model.fit_predict(X), np.where(model.decision_function(X) >= 0, 1, -1))


def test_scikit_learns_tools_take_the_machines():
    X, y = numbers()
    display = DecisionBoundaryDisplay.from_estimator(
        OneClassSVM(nu=0.1).fit(X[:, :2]), X[:, :2], response_method="decision_function"
    )
    assert display.response.shape == (100, 100)
    grid = GridSearchCV(make_pipeline(StandardScaler(), SVR()), {"svr__C": [0.1, 1.0]}, cv=3)
    assert grid.fit(X, y).best_score_ > 0.1
    with config_context(enable_metadata_routing=True):
        asked = SVR(C=1.0).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        weight = np.linspace(0.1, 1.0, len(y))
        search = GridSearchCV(asked, {"C": [1.0]}, cv=3).fit(X, y, sample_weight=weight)
    assert_allclose(search.predict(X), SVR(C=1.0).fit(X, y, weight).predict(X))
    for model in EVERY:
        fitted = clone(model).fit(*table(model))
        again = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(again.predict(table(model)[0]), fitted.predict(table(model)[0]))


# --- Bounds ---------------------------------------------------------------------------------------


@loop("model", [*REGRESSORS, DETECTOR])
def test_bounds_are_those_of_scikit_learns_machines(model):
    ours, theirs, X = both(model, gamma=0.1)
    y = numbers()[1]
    found, expected = bounds_of(ours, X, y), bounds_of(theirs, X, y)
    assert set(found) == set(expected)
    assert_allclose(found.radius, expected.radius)
    assert_allclose(found.margin, expected.margin, rtol=1e-4)
    assert_allclose(found.loo_error, expected.loo_error, rtol=1e-3)


def test_the_span_predicts_a_row_as_a_fit_without_it():
    X, y = numbers()
    X, y = X[:60], y[:60]
    model = SVR(C=1.0, epsilon=0.1, gamma=0.1, tol=TOL)
    found = bounds_of(model.fit(X, y), X, y).loo_predictions[:, 0]
    refits = [
        clone(model).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[i : i + 1])[0]
        for i in range(len(y))
    ]
    own = np.abs(model.predict(X) - refits).mean()
    assert np.abs(found - refits).mean() < 0.4 * own
    with pytest.raises(ValueError, match="must be the 1 targets"):
        bounds_of(model, X, np.c_[y, y])
