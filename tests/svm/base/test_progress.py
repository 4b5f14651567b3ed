"""What a fit tells: callbacks on the way, printed lines, and a certificate at the end."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise import SVC
from kernelwise.kernels import RBF
from kernelwise.qp import Progress
from tests.svm.problems import data, kkt_violation, pair_coefficients


class TaskCounter:
    """A callback of scikit-learn that counts what it is told."""

    def __init__(self):
        pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks since 1.9")
        self.begun, self.ended, self.set_up, self.torn_down = [], [], 0, 0

    def setup(self, estimator, context):
        self.set_up += 1

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context, **kwargs):
        self.begun.append((context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.ended.append((context.task_name, context.task_id))


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(("name", "n_machines"), [("cancer", 1), ("iris", 3), ("eight blobs", 28)])
def test_scikit_learn_callbacks_see_a_task_a_machine(name, n_machines, n_jobs):
    counter = TaskCounter()
    SVC(n_jobs=n_jobs).set_callbacks(counter).fit(*data(name))
    expected = [("fit", 0), *(("machine", machine) for machine in range(n_machines))]
    assert sorted(counter.begun) == sorted(counter.ended) == expected
    assert counter.begun[0] == counter.ended[-1] == ("fit", 0)
    assert counter.set_up == counter.torn_down == 1


def test_scikit_learn_callbacks_are_torn_down_when_a_fit_fails():
    counter = TaskCounter()
    model = SVC(kernel=lambda A, B: A @ B.T * np.nan).set_callbacks(counter)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(*data("iris"))
    assert counter.set_up == counter.torn_down == 1


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_our_callback_sees_the_violation_fall_below_the_tolerance(n_jobs):
    X, y = data("eight blobs")
    seen = []
    model = SVC(callback=seen.append, n_jobs=n_jobs).fit(X, y)
    assert all(isinstance(progress, Progress) for progress in seen)
    assert {progress.n_machines for progress in seen} == {28}
    assert {progress.machine for progress in seen} == set(range(28))
    for machine in range(28):
        own = [progress for progress in seen if progress.machine == machine]
        assert own[-1].violation <= model.tol
        assert_array_equal(np.diff([p.n_iter for p in own]) >= 0, True)
        assert_array_equal(np.diff([p.objective for p in own]) <= 1e-9, True)


def test_our_callback_sees_a_long_fit_on_its_way():
    X, y = data("noisy")
    seen = []
    SVC(kernel="linear", C=100.0, callback=seen.append).fit(X, y)
    assert len(seen) > 1
    assert seen[-1].violation < seen[0].violation
    assert seen[-1].objective < seen[0].objective
    assert seen[-1].violation <= 1e-3


def test_an_error_in_our_callback_ends_the_fit():
    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SVC(callback=stop).fit(*data("moons"))


def test_verbose_prints_a_line_a_machine(capsys):
    SVC(verbose=True).fit(*data("iris"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all("converged" in line and "KKT violation" in line for line in lines)
    SVC().fit(*data("iris"))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("name", ["cancer", "moons", "imbalanced"])
def test_the_certificate_can_be_recomputed(name, C, tol):
    X, y = data(name)
    model = SVC(C=C, gamma=0.1, tol=tol).fit(X, y)
    K, signs, certificate = RBF(0.1)(X), np.where(y == 1, 1.0, -1.0), model.certificate_
    (beta,) = pair_coefficients(model, y)
    violation = kkt_violation(K, signs, beta, model.intercept_[0], C)
    assert certificate.violation[0] <= tol
    assert violation <= 1.01 * tol
    assert violation == pytest.approx(certificate.violation[0], rel=0.01, abs=1e-2 * tol)
    dual = 0.5 * beta @ K @ beta - np.abs(beta).sum()
    assert dual == pytest.approx(certificate.objective[0], rel=1e-6)
    slack = np.maximum(0, 1 - signs * model.decision_function(X))
    primal = 0.5 * beta @ K @ beta + C * slack.sum()
    assert primal + dual == pytest.approx(certificate.gap[0], rel=0.05, abs=1e-6 * primal)
    assert -1e-9 * primal <= primal + dual


def test_the_certificate_has_an_entry_a_machine():
    model = SVC().fit(*data("eight blobs"))
    for name in ("gap", "violation", "objective", "n_iter", "status"):
        assert getattr(model.certificate_, name).shape == (28,), name
    assert set(model.certificate_.status) == {"converged"}
    assert (model.certificate_.violation <= model.tol).all()


@pytest.mark.parametrize("kernel", ["sigmoid", "precomputed"])
def test_there_is_no_gap_for_kernels_not_known_to_be_definite(kernel):
    X, y = data("iris")
    X = X @ X.T if kernel == "precomputed" else X
    model = SVC(kernel=kernel).fit(X, y)
    assert np.isnan(model.certificate_.gap).all()
    assert (model.certificate_.violation <= model.tol).all()
