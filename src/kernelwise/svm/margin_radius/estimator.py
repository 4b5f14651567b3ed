"""Sparse feature weights in explicit spaces by margin and radius (Do, Kalousis, Hilario 2009).

    min over mu, w, b, xi of  1/2 sum_k w_k^2 / mu_k + C / (2 rho(mu)) sum_i xi_i^2        (eq. 8)
    s.t.  y_i (w'x_i + b) >= 1 - xi_i,   mu >= 0,   sum mu = 1

rho(mu) = sum_k mu_k R_k^2 bounds the squared radius; R_k is half the range of column k.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from ..._parameters import Interval, Options, as_real
from ..._threads import run
from ..._typing import Array
from ...kernels import Kernel, Linear
from ...qp import Solution
from ..base.classifier import KernelClassifier
from ..base.kernel_spec import KernelSpec
from ..base.left_out import left_out_decisions
from ..base.predictor import Predictor, SupportVectors, predictor_of
from ..base.task import FitTask, Fitted, TableReader
from .ball import learn_ball
from .choice import choose_cost
from .descent import PAPER_GAP, descend
from .machine import WeightedMachine
from .problem import CentredColumns, Problem, WeightedPoint
from .solver import learn
from .space import ExplicitSpace

_KERNELS = {"linear", "poly", "rbf", "laplacian", "matern32", "matern52"}


class MarginRadiusSVC(KernelClassifier):
    """Linear support vector classification with sparse feature weights by margin and radius.

    The weights of the columns are those of the widest margin relative to the radius of the data in
    the weighted space. The problem is convex and solved to a certified duality gap; most weights
    are exactly zero. Slack is squared.

    Parameters
    ----------
    radius : {"product", "paper", "ball"}, default="product"
        The radius. "product" minimises ``1/2 |w|^2 rho + C/2 sum xi^2`` with the bound
        ``rho = sum mu_k R_k^2`` of the squared radius: it does not depend on the units of the
        columns.
        "paper" is the relaxation that the paper solves, which prefers columns of large range.
        "ball" has the exact smallest ball in place of rho; it needs the package clarabel and takes
        at most 60 columns.
    optimizer : {"sqp", "paper"}, default="sqp"
        How the weights are learned. "sqp" takes Newton steps to the relative duality gap ``tol``.
        "paper" is Algorithm 1 of the paper, gradient descent with the optimal step, corrected only
        where it cannot run; it stops at the paper's absolute duality gap of 0.01 and does not read
        ``tol``. It is slow and leaves more columns in use, goes with ``p=1`` only, and not with
        "ball".
    p : float, default=1.0
        The norm of the ball that the weights lie in, before they are scaled to sum one. 1 is the
        paper; above 1 all weights are positive and more equal; below 1 there are fewer, at a local
        minimum. "ball" takes 1 only.
    C : float or "cv", default="cv"
        The cost of squared slack, positive. The sample and class weights multiply it. "cv" chooses
        a power of ten from 0.01 to 1000 by held-out rows of five folds, along a path of costs; for
        ``radius="ball"`` with the machines of "product".
    degree : int, default=1
        The columns: 1 is the features, 2 also their squares and products. With ``kernel="poly"``
        the degree of that kernel.
    kernel : str or Kernel, default=None
        A kernel whose empirical map makes the columns: "linear", "poly", "rbf", "laplacian",
        "matern32", "matern52" or an object of `kernelwise.kernels`. None is the features.
    gamma : {"scale", "auto"} or float, default="scale"
        The inverse width of the kernel; see `SVC`.
    coef0 : float, default=0.0
        The constant of "poly".
    unit_norm : bool, default=False
        Whether each row is divided by its norm, in the space of the columns, as in the paper.
    tol : float, default=1e-4
        The relative duality gap to reach; for p < 1 the violation of the stationarity conditions.
    max_iter : int, default=1000
        Maximum number of steps.
    {class_weight}
    {calibration}
    warm_start : bool, default=False
        Whether a re-fit starts from the last weights, where the same columns vary.
    n_jobs : int, default=None
        Threads over the machines; None is one.
    verbose : bool, default=False
        Whether to print a line per step.

    Attributes
    ----------
    {machines}
    feature_weights_ : ndarray of shape (n_columns,) or (n_classes, n_columns)
        The weights mu of the unscaled columns. They sum to one, and most are exactly zero; one row
        per machine with several classes. The columns are the features unless degree or kernel
        say otherwise.
    feature_importances_ : ndarray of shape (n_features,)
        The largest contribution of a column to a decision value, ``|w_k| R_k``, scaled to sum one
        and averaged over machines; products are divided among their features. Not for kernels.
    support_features_ : ndarray of shape (n_used,)
        The columns with a weight in some machine.
    coef_ : ndarray of shape (n_machines, n_features)
        The coefficients of the features, weights included; only where the columns are features.
    column_coef_ : ndarray of shape (n_machines, n_columns)
        The coefficients of the columns.
    intercept_ : ndarray of shape (n_machines,)
        The intercepts.
    radius_ : ndarray of shape (n_machines,)
        The radius at the weights: ``sqrt(sum mu_k R_k^2)``, or that of the ball for "ball".
    margin_ : ndarray of shape (n_machines,)
        The margin ``1 / sqrt(sum w_k^2 / mu_k)`` of each machine.
    objective_ : ndarray of shape (n_machines,)
        The objective at the weights: the value of equation 8 for "paper", else
        ``1/2 |w|^2 radius^2 + C/2 sum xi^2``.
    duality_gap_ : ndarray of shape (n_machines,)
        Upper bound of the distance from the objective to its minimum, relative to the objective.
        For p < 1 the bound does not vanish.
    C_ : float
        The cost used.
    path_ : dict of ndarray or None
        The costs that ``C="cv"`` has tried: "C" and "loss", the held-out error plus the mean of
        1 / (1 + exp(5 margin)).
    n_solves_ : int
        Number of machines solved at intermediate weights, without those of the choice of C.
    n_iter_ : int
        Number of steps of the machine that took the most.
    kernel_ : Kernel or list of Kernel
        The linear kernel with the learned weights, one per machine with several classes; or the
        kernel of the empirical map.
    support_vectors_ : ndarray of shape (n_support, n_features)
        The support vectors.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        The dual coefficients times the signs.
    certificate_ : Bunch
        Arrays ``gap``, ``objective``, ``n_iter`` and ``status``, one entry per machine.
    {features}

    See Also
    --------
    DualObjectiveSVC : Feature weights inside a kernel.
    RelevanceSVC : Feature weights, width and C without tuning.

    Notes
    -----
    Several classes are one-vs-rest with the largest decision value, each machine with weights of
    its own. Constant columns get the weight zero. With the learned weights the machine is the
    L2-SVM of the kernel sum_k mu_k x_k z_k with the cost C / radius^2.

    A weight of two is the same as the row given twice, but with ``kernel``, whose components are of
    the kernel matrix, and with ``radius="ball"`` only up to about 1e-6 of the weights.

    References
    ----------
    .. [1] H. Do, A. Kalousis, M. Hilario, "Feature weighting using margin and radius based error
       bound optimization in SVMs", ECML PKDD 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelwise import MarginRadiusSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MarginRadiusSVC().fit(X, y)
    >>> bool(len(model.support_features_) < X.shape[1])
    True
    >>> bool(model.duality_gap_[0] <= 1e-4)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "radius": [Options({"product", "paper", "ball"})],
        "optimizer": [Options({"sqp", "paper"})],
        "p": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither"), Options({"cv"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "kernel": [Options(_KERNELS), Kernel, None],
        "gamma": [Options({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "unit_norm": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [Options({"balanced"}), dict, None],
        "calibration": [Options({"loo", "halves"}), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        radius: str = "product",
        optimizer: str = "sqp",
        p: float = 1.0,
        C: float | str = "cv",
        degree: int = 1,
        kernel: str | Kernel | None = None,
        gamma: Any = "scale",
        coef0: float = 0.0,
        unit_norm: bool = False,
        tol: float = 1e-4,
        max_iter: int = 1000,
        class_weight: Any = None,
        calibration: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.radius = radius
        self.optimizer = optimizer
        self.p = p
        self.C = C
        self.degree = degree
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.unit_norm = unit_norm
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.calibration = calibration
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _reader(self) -> TableReader:
        return TableReader(self)  # the columns are centred, and half ranges are of all entries

    def _check_parameters(self) -> None:
        if not KernelSpec.of(self).reads_rows:
            raise ValueError(
                f"kernel={self.kernel!r} does not take rows of numbers; use a kernel that does, or "
                "give the components of its empirical map as X."
            )
        if self.radius == "ball" and self.p != 1:
            raise ValueError(
                f"p={self.p!r} has no meaning with radius='ball', whose objective does not change "
                "with the scale of the weights; use p=1, or another radius."
            )
        if self.optimizer == "paper" and (self.p != 1 or self.radius == "ball"):
            raise ValueError(
                "optimizer='paper' is for p=1 and radius 'paper' or 'product'; got "
                f"p={self.p!r} and radius={self.radius!r}. Use optimizer='sqp'."
            )

    def _kernel(self, X: Any, sample_weight: Array) -> Kernel:
        return Linear() if self.kernel is None else super()._kernel(X, sample_weight)

    def _fit_machines(self, task: FitTask) -> Fitted:
        kernel = None if self.kernel is None else task.kernel
        task.progress.begin(task.n_machines + (self.C == "cv"))
        space = ExplicitSpace.of(task.X, kernel, self.degree, self.unit_norm)
        table = space.apply(task.X)
        columns = CentredColumns.of(table, own_units=self.radius != "paper")
        Z, starts = columns.apply(table), _starts(task, columns)
        C, path = self._cost(task, Z, columns)

        def fit_one(j: int) -> WeightedMachine:
            with task.progress.task("machine"):
                return self._fit_one(task, j, Z, columns, C, starts[j])

        machines = run(fit_one, range(task.n_machines), task.threads)
        solutions = [machine.solution for machine in machines]
        vectors = SupportVectors.of(task.X, solutions, task.members, task.classes)
        predictor = Predictor(
            vectors=SupportVectors(vectors.support, vectors.rows[:, :0], vectors.coef),
            intercept=np.array([solution.nu[0] for solution in solutions]),
            kernels=(),
            features=space.steps,
            linear=np.array([machine.coef for machine in machines]).T,
            loss="squared",
        )
        return Fitted(
            predictor,
            solutions,
            vectors=vectors,
            attributes={**self._attributes(machines), "C_": C, "path_": path},
            warnings=_warnings(solutions, self._target()),
            last=(columns.kept, [machine.start for machine in machines]),
            left_out=lambda: left_out_decisions(
                task,
                predictor.decision_values(task.X),
                lambda kept: [
                    machine.decide_without(Z, columns, task.Y[:, j] * kept, C * task.cost_factor)
                    for j, machine in enumerate(machines)
                ],
            ),
        )

    def _cost(
        self, task: FitTask, Z: Array, columns: CentredColumns
    ) -> tuple[float, dict[str, Array] | None]:
        """Return the cost, and the path along which it was chosen."""
        if not isinstance(self.C, str):
            return float(self.C), None
        with task.progress.task("cost"):
            choice = choose_cost(task, Z, columns, p=self.p, tol=self.tol, max_iter=self.max_iter)
        task.progress.line(f"C={choice.C:g}")
        return choice.C, choice.path

    def _fit_one(
        self,
        task: FitTask,
        j: int,
        Z: Array,
        columns: CentredColumns,
        C: float,
        start: Array | None,
    ) -> WeightedMachine:
        """Learn the weights of one machine."""
        y, cost = task.Y[:, j].astype(np.float64), task.cost_factor
        if self.radius == "ball":
            learned, squared_radius = learn_ball(
                Z, y, cost, C, tol=self.tol, max_iter=self.max_iter
            )
            return WeightedMachine.of(learned, columns, squared_radius, per_unit=False)
        problem = Problem(Z, columns.ridge(C), y, cost)

        def report(step: int, point: WeightedPoint) -> None:
            if task.progress.prints:
                task.progress.line(
                    f"machine {j + 1}, step {step}: gap {point.gap(self.p):.3g}, "
                    f"{np.count_nonzero(point.weights)} columns"
                )

        if self.optimizer == "paper":
            # The objective of "paper" is in the units of the columns, J that of scaled ones.
            scale = columns.unit[0] ** 2 if self.radius == "paper" and len(columns.unit) else 1.0
            learned = descend(
                problem,
                gap=PAPER_GAP * scale,
                max_iter=self.max_iter,
                start=start,
                report=report,
            )
        else:
            learned = learn(
                problem, p=self.p, tol=self.tol, max_iter=self.max_iter, start=start, report=report
            )
        squared_radius = float(learned.point.weights @ problem.ridge) * C
        return WeightedMachine.of(learned, columns, squared_radius, per_unit=self.radius == "paper")

    def _target(self) -> str:
        """Return the gap that the fit was to reach, for messages."""
        if self.optimizer == "paper":
            return f"optimizer='paper' stops at an absolute gap of {PAPER_GAP:g}"
        return f"the tolerance is tol={self.tol:g}"

    def _attributes(self, machines: Sequence[WeightedMachine]) -> dict[str, Any]:
        """Return the fitted attributes that other classifiers do not have."""
        weights = np.array([machine.weights for machine in machines])
        attributes = {
            "feature_weights_": weights[0] if len(machines) == 1 else weights,
            "support_features_": np.flatnonzero(weights.any(axis=0)),
            "column_coef_": np.array([machine.coef for machine in machines]),
            "radius_": np.array([machine.radius for machine in machines]),
            "margin_": np.array([machine.margin for machine in machines]),
            "objective_": np.array([machine.objective for machine in machines]),
            "duality_gap_": np.array([machine.solution.gap for machine in machines]),
            "n_solves_": sum(machine.n_solves for machine in machines),
            "n_iter_": max(machine.solution.n_iter for machine in machines),
            "_shares_": np.array([machine.shares for machine in machines]),
        }
        if self.kernel is None:
            kernels = [Linear(weights=own) for own in weights]
            attributes["kernel_"] = kernels[0] if len(kernels) == 1 else kernels
        return attributes

    @property
    def coef_(self) -> Array:
        """Coefficients of the features; an attribute only where these are the columns."""
        if not self._space.is_input:
            raise AttributeError(
                "coef_ is of the features; with a degree or a kernel use column_coef_."
            )
        return self.column_coef_

    @property
    def feature_importances_(self) -> Array:
        """Largest contribution of each feature to a decision value, of sum one; not for kernels."""
        if self._space.is_of_kernel:
            raise AttributeError(
                "feature_importances_ is of the features; with a kernel the columns are components."
            )
        return self._space.inputs(self._shares_.mean(axis=0))

    @property
    def _space(self) -> ExplicitSpace:
        return ExplicitSpace(predictor_of(self).features)

    def C_path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> Bunch:
        """Fit along a path of costs, from the smallest up, each from the weights before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The classes.
        Cs : array-like of shape (n_costs,)
            The costs, positive.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they multiply C.

        Returns
        -------
        path : Bunch
            Arrays with one entry per cost, in ascending order: ``C``, ``n_features`` (columns
            with a weight), ``objective`` and ``n_solves``; and the fitted ``estimators``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from kernelwise import MarginRadiusSVC
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> MarginRadiusSVC().C_path(X, y, [0.1, 1.0, 10.0]).n_features.shape
        (3,)
        """
        costs = np.sort(as_real(Cs, "Cs").ravel())
        estimators: list[MarginRadiusSVC] = []
        for C in costs:
            model = clone(self).set_params(C=float(C), warm_start=True)
            if estimators:
                model._last_fit_ = estimators[-1]._last_fit_
            estimators.append(model.fit(X, y, sample_weight=sample_weight))
        return Bunch(
            C=costs,
            n_features=np.array([len(model.support_features_) for model in estimators]),
            objective=np.array([model.objective_.sum() for model in estimators]),
            n_solves=np.array([model.n_solves_ for model in estimators]),
            estimators=estimators,
        )


def _starts(task: FitTask, columns: CentredColumns) -> Sequence[Array | None]:
    """Return where the last fit ended, if it was of the same columns and machines."""
    kept, starts = (None, []) if task.last is None else task.last
    same = kept is not None and np.array_equal(kept, columns.kept)
    return starts if same and len(starts) == task.n_machines else [None] * task.n_machines


def _warnings(solutions: Sequence[Solution], target: str) -> list[tuple[str, type[Warning]]]:
    """Return the warning about machines whose duality gap is above the tolerance."""
    short = [solution for solution in solutions if not solution.converged]
    if not short:
        return []
    worst = max(short, key=lambda solution: solution.gap)
    text = (
        f"{len(short)} of {len(solutions)} machine(s) did not converge: the largest relative "
        f"duality gap is {worst.gap:.3g} ({target}) after {worst.n_iter} "
        f"steps ({worst.status}). The model is usable but not optimal. Lower C, or raise max_iter "
        "or the tolerance."
    )
    return [(text, ConvergenceWarning)]
