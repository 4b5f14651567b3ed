"""What a search refuses, tells and prints, and how little it solves."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelwise.svm.base.grams as grams_module
from kernelwise import SVC
from kernelwise.kernels import RBF, Polynomial
from kernelwise.qp import SMO
from kernelwise.svm import SVCSearchCV
from kernelwise.svm.base.predictor import Predictor
from tests.svm.base.test_progress import TaskCounter
from tests.svm.problems import data
from tests.svm.search.test_search import GRID, assert_same, both, subset


def count_calls(monkeypatch, owner, name):
    calls = []
    original = getattr(owner, name)

    def counting(*args, **kwargs):
        calls.append(args)
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, counting)
    return calls


def test_larger_c_cost_nothing_once_no_coefficient_is_at_its_bound(monkeypatch):
    X, y = data("wine")
    solves = count_calls(monkeypatch, SMO, "solve")
    few = SVCSearchCV(SVC(gamma=1.0), {"C": [0.1, 10.0]}, cv=2, refit=False).fit(X, y)
    n_few = len(solves)
    assert n_few == 2 * 2 * 3  # folds, costs, pairs of classes
    solves.clear()
    many = SVCSearchCV(SVC(gamma=1.0), {"C": [0.1, 10.0, 20.0, 100.0, 1e6]}, cv=2, refit=False).fit(
        X, y
    )
    assert len(solves) == n_few
    for search in (few, many):
        assert (
            search.cv_results_["mean_test_score"][1:] == few.cv_results_["mean_test_score"][1]
        ).all()


def test_solutions_at_their_bounds_are_solved_again(monkeypatch):
    X, y = data("noisy")
    solves = count_calls(monkeypatch, SMO, "solve")
    SVCSearchCV(SVC(gamma=0.01), {"C": [0.1, 1.0, 2.0]}, cv=2, refit=False).fit(X, y)
    assert len(solves) == 6


def test_one_matrix_of_distances_serves_all_widths_and_one_kernel_all_folds(monkeypatch):
    X, y = data("cancer")
    families = count_calls(monkeypatch, grams_module, "KernelFamily")
    made = count_calls(monkeypatch, grams_module.Grams, "_make")
    grid = [
        {"kernel": ["rbf", "matern32"], "gamma": [0.01, 0.1, 1.0], "C": [1.0, 2.0]},
        {"kernel": ["poly"], "gamma": [0.1], "degree": [2, 3]},
    ]
    SVCSearchCV(SVC(), grid, cv=4, refit=False).fit(X, y)
    assert len(families) == 2  # squared distances and dot products
    assert len(made) == 8
    made.clear()
    SVCSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=4, refit=False).fit(X, y)
    assert len(made) == 4  # a variance a fold, a kernel a fold


@pytest.mark.parametrize("scoring", [None, "accuracy", "f1_macro", ["accuracy", "f1_macro"]])
def test_scorers_cost_no_kernel(scoring, monkeypatch):
    X, y = subset("iris")
    how = {"scoring": scoring, "refit": False, "return_train_score": True}
    plain = SVCSearchCV(SVC(), GRID, **how).fit(X, y).cv_results_
    name = "decision_values"
    monkeypatch.setattr(Predictor, name, lambda *args: pytest.fail("a kernel was evaluated"))
    again = SVCSearchCV(SVC(), GRID, **how).fit(X, y).cv_results_
    for key in plain:
        if "_test_" in key or "_train_" in key:
            assert_array_equal(plain[key], again[key])


def test_the_accuracy_needs_no_model(monkeypatch):
    X, y = subset("iris")
    monkeypatch.setattr(Predictor, "of", lambda *args: pytest.fail("a model was put together"))
    for scoring in (None, "accuracy"):
        SVCSearchCV(SVC(), GRID, scoring=scoring, refit=False, return_train_score=True).fit(X, y)


def test_kernels_are_forgotten_after_their_last_fold(monkeypatch):
    X, y = subset("iris")
    alive = []
    made = count_calls(monkeypatch, grams_module.Grams, "_make")
    original = SMO.solve

    def solve(self, qp, **how):
        alive.append(sum(map(len, made[0][0]._made.values())))
        return original(self, qp, **how)

    monkeypatch.setattr(SMO, "solve", solve)
    SVCSearchCV(SVC(), {"gamma": [0.01, 0.1, 1.0, 10.0]}, cv=2, refit=False).fit(X, y)
    assert len(made) == 4
    assert max(alive) == 1


class TestErrors:
    def test_a_fold_of_one_class_gets_the_error_score(self):
        X, y = subset("imbalanced")
        train = np.arange(100)
        cv = [(train[y[train] == 0], np.arange(100, 150)), (train, np.arange(100, 150))]
        with pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 6"):
            ours = SVCSearchCV(SVC(), {"C": [0.1, 1.0, 2.0]}, cv=cv, error_score=-1.0).fit(X, y)
        assert_array_equal(ours.cv_results_["split0_test_score"], -1.0)
        assert (ours.cv_results_["split1_test_score"] > 0.5).all()
        with pytest.raises(ValueError, match="greater than one"):
            SVCSearchCV(SVC(), {"C": [1.0]}, cv=cv, error_score="raise").fit(X, y)

    @pytest.mark.parametrize("scoring", [["accuracy", "f1"], lambda m, X, y: {"accuracy": 1.0}])
    def test_candidates_that_are_not_valid_get_the_error_score(self, scoring):
        X, y = subset("imbalanced")
        grid = {"C": [1.0, -1.0], "gamma": [0.1, "wide"]}
        with (
            pytest.warns(FitFailedWarning, match="9 fits failed out of a total of 12"),
            pytest.warns(UserWarning, match="non-finite"),
        ):
            ours, theirs = both(
                X, y, grid, cv=3, scoring=scoring, refit="accuracy", return_train_score=True
            )
        assert_same(ours, theirs)
        assert ours.best_index_ == 0
        with pytest.raises(ValueError, match="'C' parameter of SVC"):
            SVCSearchCV(SVC(), {"C": [-1.0, 1.0]}, error_score="raise").fit(X, y)

    def test_an_error_in_a_solve_gets_the_error_score(self):
        X, y = subset("imbalanced")
        X = X * 1e120
        grid = {"kernel": [RBF(gamma=1e-250), Polynomial(degree=3)], "C": [1.0, 2.0]}
        with (
            pytest.warns(FitFailedWarning, match="6 fits failed out of a total of 12"),
            pytest.warns(UserWarning, match="non-finite"),
        ):
            ours = SVCSearchCV(SVC(), grid, cv=3).fit(X, y)
        assert_array_equal(np.isfinite(ours.cv_results_["mean_test_score"]), [1, 0, 1, 0])

    def test_where_no_fit_can_succeed_the_error_itself_is_raised(self):
        X, y = subset("imbalanced")
        with pytest.raises(ValueError, match=r"^Input X contains NaN"):
            SVCSearchCV(SVC(), GRID).fit(np.where(X > 2, np.nan, X), y)
        with pytest.raises(ValueError, match=r"^The number of classes has to be greater than one"):
            SVCSearchCV(SVC(), GRID, cv=KFold(3)).fit(X, np.ones(len(y)))
        with pytest.raises(ValueError, match="'C' parameter of SVC"):
            SVCSearchCV(SVC(), {"C": [0.0, -1.0]}).fit(X, y)

    def test_errors_of_a_scorer(self):
        X, y = subset("imbalanced")

        def broken(model, X, y):
            raise ZeroDivisionError("no score")

        with (
            pytest.warns(UserWarning, match="Scoring failed"),
            pytest.warns(UserWarning, match="non-finite"),
        ):
            SVCSearchCV(SVC(), {"C": [1.0]}, scoring=broken, refit=False).fit(X, y)
        with pytest.raises(ZeroDivisionError, match="no score"):
            SVCSearchCV(SVC(), {"C": [1.0]}, scoring=broken, error_score="raise").fit(X, y)

    @pytest.mark.parametrize(
        "estimator", [LogisticRegression(), make_pipeline(StandardScaler(), SVC()), SVC, "svc"]
    )
    def test_another_estimator_is_refused(self, estimator):
        with pytest.raises(TypeError, match=r"estimator must be a kernelwise.SVC.*GridSearchCV"):
            SVCSearchCV(estimator, {"C": [1.0]}).fit(*subset("iris"))

    @pytest.mark.parametrize(
        ("grid", "match"),
        [
            ({"C": [1.0], "gama": [0.1]}, r"param_grid names \['gama'\]"),
            ({"svc__C": [1.0]}, r"param_grid names \['svc__C'\]"),
            ({"kernel__gamma": [1.0]}, "cannot be set: kernel='rbf' has no parameters"),
            ({"kernel": [RBF()], "kernel__width": [1.0]}, "cannot be set: RBF has no parameter"),
            ({"C": []}, "non-empty"),
            ([], "param_grid or cv is empty"),
        ],
    )
    def test_names_that_svc_does_not_have_are_refused_before_any_work(
        self, grid, match, monkeypatch
    ):
        monkeypatch.setattr(SMO, "solve", lambda *args: pytest.fail("worked"))
        with pytest.raises(ValueError, match=match):
            SVCSearchCV(SVC(), grid).fit(*subset("iris"))

    @pytest.mark.parametrize(
        "params", [{"cv": "five"}, {"refit": 3}, {"error_score": "nan"}, {"param_grid": 3}]
    )
    def test_bad_arguments_are_refused(self, params):
        with pytest.raises(ValueError, match=f"'{next(iter(params))}' parameter of SVCSearchCV"):
            SVCSearchCV(**params).fit(*subset("iris"))

    def test_y_is_required(self):
        with pytest.raises(ValueError, match="requires y"):
            SVCSearchCV().fit(subset("iris")[0])


def test_solves_that_do_not_converge_are_told_of_once():
    X, y = data("noisy")
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.01, 0.05]}
    for svc in (SVC(max_iter=20), SVC(max_iter=20, cache_size=0.001)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            SVCSearchCV(svc, grid, refit=False).fit(X, y)
        messages = [str(w.message) for w in caught if w.category is ConvergenceWarning]
        assert len(messages) == 1
        assert messages[0].startswith("30 of 30 solves did not converge: the largest KKT violation")


def test_verbose_prints_what_scikit_learn_prints(capsys):
    X, y = subset("imbalanced")
    for verbose in (1, 2, 3, 10):
        params = {"cv": 2, "verbose": verbose, "refit": False}
        for scoring in (None, ["accuracy", "f1"]):
            for train in (False, True):
                more = {"scoring": scoring, "return_train_score": train}
                SVCSearchCV(SVC(), {"C": [1.0, 2.0]}, **params, **more).fit(X, y)
                ours = capsys.readouterr().out.splitlines()
                GridSearchCV(SVC(), {"C": [1.0, 2.0]}, **params, **more).fit(X, y)
                theirs = capsys.readouterr().out.splitlines()
                theirs = [line for line in theirs if "START" not in line]
                assert ours[0] == theirs[0]
                assert sorted(map(without_time, ours)) == sorted(map(without_time, theirs))


def without_time(line):
    return line.partition(" total time=")[0].replace(".....", "")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_callbacks_see_a_task_a_kernel_and_fold(n_jobs):
    counter = TaskCounter()
    search = SVCSearchCV(SVC(), GRID, cv=2, n_jobs=n_jobs).set_callbacks(counter)
    search.fit(*subset("imbalanced"))
    names = [name for name, _ in counter.begun]
    assert sorted(counter.begun) == sorted(counter.ended)
    assert names[:2] == ["fit", "search"]
    assert names[-1] == "refit-with-best-params"
    assert names.count("kernel-split-evaluation") == 3 * 2
    assert counter.set_up == counter.torn_down == 1


def test_our_own_callback_sees_the_solves():
    seen = []
    SVCSearchCV(SVC(callback=seen.append), {"C": [1.0]}, cv=2, refit=False).fit(*subset("iris"))
    assert {progress.machine for progress in seen} == {0, 1, 2}
