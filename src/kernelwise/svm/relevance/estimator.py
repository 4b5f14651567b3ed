"""Feature weights, width and C from the training rows alone (our own method).

    v    = argmin log(R^2 ||w||^2)        radius-margin bound of the L2-SVM; L-BFGS on log v, log C
    v    = sqrt(v * v_equal)              shrunk half-way towards equal weights
    f, C = argmin error + smooth error    of each row left out, by the span of the support vectors
    K    = exp(-f sum_k v_k |x_k - z_k|)

An ensemble averages three machines whose weights come from different sources: the energy distance
of the classes along each feature alone, the bound with the Laplacian kernel (the machine above),
and the bound with the RBF kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..._memory import allowance
from ..._parameters import Interval, Options
from ..._threads import n_threads, single_blas
from ..._typing import Array, Index
from ...criteria import DualObjective, Objective
from ...kernels import Kernel
from ...kernels.pairwise import PairwiseKernel
from ...outer import Step
from ...qp import SMO, Solution
from ..base.column_scaling import Scaling
from ..base.estimator import BaseLearnedSVC, InputRules
from ..base.predictor import Predictor
from ..base.progress import FitProgress
from ..base.steps import MeanFill
from ..base.task import FitTask, Fitted
from ..paths.kernel_grid import DistinctRows
from .steps import (
    FACTORS,
    KERNELS,
    Chosen,
    Learned,
    Rows,
    Teacher,
    choose,
    learn,
    normalised,
    with_an_equal_share,
)
from .tables import columns_of, history


class RelevanceSVC(BaseLearnedSVC):
    """Support vector classification without tuning, which learns which features matter.

    Feature weights, kernel width and C come from the training rows alone, in one call: no grid, no
    validation set, no scaling beforehand.

    Parameters
    ----------
    ensemble : bool, default=True
        Whether three machines with different sources of weights decide together. False is one
        machine, in about half the time.
    kernel : {"laplacian", "rbf"}, default="laplacian"
        The kernel; the third machine of an ensemble has the other one.
    standardize : bool, default=True
        Whether the columns are brought to one scale first. False starts from equal weights of the
        columns as they are.
    missing : {"error", "impute"}, default="error"
        What happens to NaN: an error, or the mean of the column over the training rows.
    max_iter : int, default=15
        Most evaluations of the radius-margin bound for each kernel.
    weight_rows : int, default=1000
        Most rows from which weights are learned, picked at random, each class its part.
    path_rows : int, default=2000
        Most rows on which width and C are chosen. The machines are fitted to all rows.
    tol : float, default=1e-3
        The tolerance of the machines, in units of the margin.
    class_weight : dict or "balanced", default=None
        Weights of the classes; they multiply C.
    cache_size : float, default=None
        Megabytes for the kernel; None is a quarter of the machine's memory, at most 2000.
    warm_start : bool, default=False
        Whether a re-fit starts from the last learned weights, where the same columns vary.
    n_jobs : int, default=None
        Threads, for the kernel and over the machines; None is one.
    verbose : bool or "auto", default="auto"
        Whether to print a line per step. "auto" shows the running step on stderr once the fit has
        taken two seconds.
    callback : callable, default=None
        Called with a `kernelwise.outer.Step` after each evaluation of the bound; returning True
        ends the learning, and the best weights so far are used.
    random_state : int, RandomState instance or None, default=0
        Picks rows where there are too many.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (n_features,)
        The weight of each feature in the kernel, times the spread of its column: what it adds to a
        distance. The mean is one over the columns that vary; the mean over the machines of an
        ensemble.
    feature_importances_ : ndarray of shape (n_features,)
        The weights as they were learned, before they are shrunk towards equal ones, times the
        spread of their columns; they sum to one.
    selected_features_ : ndarray of shape (n_features,)
        Which features have at least an equal share of the importance. A cut through a ranking, not
        a test: without any relevant feature some are selected all the same.
    C_ : float or ndarray of shape (3,)
        The chosen cost of each machine.
    gamma_ : float or ndarray of shape (3,)
        The chosen inverse width of each machine, at weights of mean one.
    kernel_ : Kernel or list of Kernel
        The kernel of each machine, for columns as they come.
    members_ : list of str
        Where the weights of each machine come from: "shrunk" (learned, shrunk towards equal ones),
        "energy" and "learned".
    path_ : dict of ndarray
        The points at which width and C were tried, for ``pandas.DataFrame(model.path_)``:
        "member", "factor" (of gamma), "C", "loo_error", "score" (the least wins; NaN where it
        cannot), "n_iter", "seconds", "solved" and "converged". After weights were learned the
        error is far too low; it is for choosing, not for reporting.
    history_ : dict of ndarray
        The evaluations of the bound: "kernel", "value", "C", "n_iter", "seconds" and "weights".
    n_solves_ : int
        The machines and enclosing balls that were solved.
    n_iter_ : int
        The evaluations of the bound.
    means_ : ndarray of shape (n_features,) or None
        What takes the place of NaN, for ``missing="impute"``.
    margin_ : ndarray of shape (n_machines,)
        The margin 1 / ||w|| of each machine, member by member.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    support_ : ndarray of shape (n_support,)
        The training rows that are support vectors of any machine, by class.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Those rows.
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        The dual coefficients times the signs, member by member.
    intercept_ : ndarray of shape (n_machines,)
        The intercepts, member by member.
    fit_status_ : int
        0 when every machine converged, else 1.
    certificate_ : Bunch
        Arrays ``violation``, ``gap``, ``objective`` and ``status``, one entry a machine.
    class_weight_ : ndarray of shape (n_classes,)
        The weights of the classes.
    shape_fit_ : tuple of int
        The shape of the training rows.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, where X has such names.

    See Also
    --------
    RelevanceSelector : Keeps the columns that this method finds relevant.
    DualObjectiveSVC : Learns weights by one criterion of choice.
    AdaptiveKernelSVC : Learns one width and C.

    Notes
    -----
    Several classes are one-vs-rest with weights shared by all; the largest mean decision value
    wins. Constant columns get the weight zero. Rows of equal content count as one row with the sum
    of their weights, so that a weight of two is the same as the row given twice, and the order of
    the rows does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from kernelwise import RelevanceSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> X = np.hstack([X, np.random.default_rng(0).normal(size=(150, 16))])
    >>> model = RelevanceSVC().fit(X, y)
    >>> np.flatnonzero(model.selected_features_)
    array([0, 2, 3])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "ensemble": ["boolean"],
        "kernel": [Options(set(KERNELS))],
        "standardize": ["boolean"],
        "missing": [Options({"error", "impute"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "weight_rows": [Interval(Integral, 10, None, closed="left")],
        "path_rows": [Interval(Integral, 10, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [Options({"balanced"}), dict, None],
        "cache_size": [Interval(Real, 0, None, closed="neither"), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose", Options({"auto"})],
        "callback": [callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        ensemble: bool = True,
        kernel: str = "laplacian",
        standardize: bool = True,
        missing: str = "error",
        max_iter: int = 15,
        weight_rows: int = 1000,
        path_rows: int = 2000,
        tol: float = 1e-3,
        class_weight: Any = None,
        cache_size: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool | str = "auto",
        callback: Callable[[Step], Any] | None = None,
        random_state: Any = 0,
    ) -> None:
        self.ensemble = ensemble
        self.kernel = kernel
        self.standardize = standardize
        self.missing = missing
        self.max_iter = max_iter
        self.weight_rows = weight_rows
        self.path_rows = path_rows
        self.tol = tol
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    def _input_rules(self) -> InputRules:
        return InputRules(nan=self.missing == "impute")

    def _kernel(self, X: Any, sample_weight: Array) -> Kernel:
        return KERNELS[self.kernel]()

    def _fit_machines(self, task: FitTask) -> Fitted:
        Y, classes, counts = task.Y, task.classes, task.sample_weight
        imputer = MeanFill.of(task.X, counts) if self.missing == "impute" else None
        X = task.X if imputer is None else imputer.apply(task.X)
        random_state = check_random_state(self.random_state)
        kinds = DistinctRows.of(task.kernel, X, classes, counts)
        scaling = Scaling.of(X[kinds.first], kinds.counts, self.standardize)
        on_path = kinds.at_most(self.path_rows, classes, random_state)
        taught = on_path.at_most(self.weight_rows, classes, random_state)
        class_weight = task.labels.class_weight
        of = partial(Rows.of, X, Y, classes, scaling=scaling, class_weight=class_weight)
        rows = of(kinds=on_path)
        n_kernels, n_members = (2, 3) if self.ensemble else (1, 1)
        task.progress.begin(n_kernels * self.max_iter + n_members * (len(FACTORS) + 1))
        with single_blas():
            few = rows if taught is on_path else of(kinds=taught)
            learned = self._learn(task, few, scaling, random_state)
            chosen = [
                self._choose(rows, name, kernel, task.progress)
                for name, kernel in learned.members.items()
            ]
            solutions: Any = [each.machines for each in chosen]
            if on_path is not kinds:
                place = kinds.kind[on_path.first]
                solutions = self._solve_everywhere(of(kinds=kinds), chosen, place, task.progress)
        attributes = self._learned_attributes(learned, scaling)
        attributes |= self._chosen_attributes(learned, chosen, scaling)
        if on_path is not kinds:
            attributes["n_solves_"] += sum(len(own) for own in solutions)
        attributes["means_"] = None if imputer is None else imputer.means
        flat = [solution for own in solutions for solution in own]
        kernels = attributes["kernel_"] if self.ensemble else [attributes["kernel_"]]
        of_machines = [k for k, own in zip(kernels, solutions, strict=True) for _ in own]
        predictor = Predictor.of(
            task, flat, kernels=of_machines, members=[kinds.first] * len(flat), rows=X
        )
        predictor = replace(
            predictor,
            before=() if imputer is None else (imputer,),
            n_members=len(chosen),
            merged=len(kinds.first) < len(X),
        )
        thetas = {name: minimum.theta for name, minimum in learned.minima.items()}
        last = (scaling.columns, thetas) if self.warm_start else None
        return Fitted(predictor, flat, attributes=attributes, last=last)

    def _learn(self, task: FitTask, rows: Rows, scaling: Scaling, random_state: Any) -> Learned:
        """Learn the weights of each member."""
        columns, last = (np.empty(0), None) if task.last is None else task.last
        if not np.array_equal(columns, scaling.columns):
            last = None
        watch = partial(_Watched, task.progress)
        teacher = Teacher(self._solver(), self.max_iter, task.threads, task.progress.stops, watch)
        return learn(self.kernel, self.ensemble, rows, teacher, random_state, last)

    def _choose(
        self, rows: Rows, name: str, kernel: PairwiseKernel, progress: FitProgress
    ) -> Chosen:
        """Choose the width and C of a member."""

        def reported(work: Callable[[], Any]) -> Any:
            with progress.task(f"{name}: width"):
                points = work()
            best = min(points, key=lambda point: point.order)
            score = "cannot win" if np.isnan(best.score) else f"best score {best.score:.4g}"
            progress.line(f"{name}: factor {best.value:g}, {score}")
            return points

        return choose(kernel, rows, self._solver(), n_threads(self.n_jobs), reported)

    def _solve_everywhere(
        self, rows: Rows, chosen: list[Chosen], place: Index, progress: FitProgress
    ) -> list[Sequence[Solution]]:
        """Solve the machines of each member on all rows; the path had those at ``place``."""
        solutions: list[Sequence[Solution]] = []
        for each in chosen:
            starts = np.zeros((len(each.machines), len(rows.X)))
            starts[:, place] = [machine.beta for machine in each.machines]
            objective = DualObjective(C=each.C, threads=n_threads(self.n_jobs))
            with progress.task("machines"):
                found = objective.machines(
                    each.kernel,
                    rows.X,
                    rows.Y,
                    weights=rows.price,
                    solver=self._solver(),
                    start=list(starts),
                )
            solutions.append(found)
        return solutions

    def _solver(self) -> SMO:
        memory = allowance(self.cache_size, n_threads(self.n_jobs))
        return SMO(tol=self.tol, memory=memory, budget=0.0)

    def _learned_attributes(self, learned: Learned, scaling: Scaling) -> dict[str, Any]:
        """Return what was learned, and how."""
        shares, table = learned.shares(scaling), history(learned.minima, scaling)
        return {
            "feature_importances_": shares / shares.sum(),
            "selected_features_": with_an_equal_share(shares),
            "history_": table,
            "n_iter_": len(table["value"]),
        }

    def _chosen_attributes(
        self, learned: Learned, chosen: list[Chosen], scaling: Scaling
    ) -> dict[str, Any]:
        """Return what was chosen for each member."""
        names = list(learned.members)
        kernels = [normalised(each.kernel, scaling) for each in chosen]
        costs, gammas = [each.C for each in chosen], [kernel.gamma for kernel in kernels]
        weights = [scaling.comparable(each.kernel) for each in chosen]
        points = ((name, p) for name, each in zip(names, chosen, strict=True) for p in each.points)
        n_evaluations = sum(len(minimum.history) for minimum in learned.minima.values())
        on_the_way = n_evaluations * (len(chosen[0].machines) + 1)  # and the ball
        return {
            "members_": names,
            "kernel_": kernels if self.ensemble else kernels[0],
            "C_": np.array(costs) if self.ensemble else costs[0],
            "gamma_": np.array(gammas) if self.ensemble else gammas[0],
            "feature_weights_": np.mean(weights, axis=0),
            "path_": columns_of(points),
            "n_solves_": on_the_way + sum(each.n_solves for each in chosen),
        }


class _Watched:
    """An objective, each evaluation of which is a reported task."""

    def __init__(self, progress: FitProgress, name: str, objective: Objective) -> None:
        self._progress, self._name, self._objective = progress, name, objective

    @property
    def n_iter(self) -> int:
        """Steps of the inner solver in the last evaluation."""
        return self._objective.n_iter

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Evaluate value and gradient."""
        with self._progress.task(f"{self._name}: step"):
            value, gradient = self._objective(theta)
        self._progress.line(f"{self._name}: step {self._objective.n_solves}, bound {value:.6g}")
        return value, gradient
