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
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..._memory import allowance
from ..._parameters import Interval, Options
from ..._threads import single_blas
from ..._typing import Array
from ...kernels import Kernel
from ...outer import Step
from ...qp import SMO, Solution
from ..base.column_scaling import Scaling
from ..base.estimator import BaseLearnedSVC, InputRules
from ..base.predictor import Predictor
from ..base.steps import MeanFill
from ..base.task import FitTask, Fitted
from ..paths.rows import TrainingRows
from .attributes import count_solves, path_attributes, weight_attributes
from .machines import solve_everywhere, width_path
from .members import (
    FACTORS,
    KERNELS,
    kernel_names,
    learn_kernels,
    members_of_sources,
    unscaled,
    weight_sources,
)


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
        How NaN is treated: as an error, or replaced by the mean of the column in training.
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
        The weight of each feature in the kernel, times the spread of its column: its contribution
        to a distance. The mean is one over the columns that vary; the mean over the machines of an
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
        "member", "factor" (of gamma), "C", "loo_error", "score" (the lowest is selected; NaN marks
        points that were skipped because they could no longer win), "n_iter", "seconds", "solved"
        and "converged". After weights were learned the error is far too low; it is for choosing,
        not for reporting.
    history_ : dict of ndarray
        The evaluations of the bound: "kernel", "value", "C", "n_iter", "seconds" and "weights".
    n_solves_ : int
        The machines and enclosing balls that were solved.
    n_iter_ : int
        The evaluations of the bound.
    means_ : ndarray of shape (n_features,) or None
        The values that replace NaN, for ``missing="impute"``.
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
        Arrays ``violation``, ``gap``, ``objective`` and ``status``, one entry per machine.
    class_weight_ : ndarray of shape (n_classes,)
        The weights of the classes.
    radius_margin_bound_ : ndarray of shape (n_machines,)
        With ``ensemble=False``, ``R^2 / gamma^2`` of each machine: the squared radius of its
        training rows over the square of their least margin; infinite where it does not separate
        them. Computed when first read, from the training rows, which are not saved with a model.
    slack_bound_ : ndarray of shape (n_machines,)
        With ``ensemble=False``, ``(R^2 + |xi|^2) / gamma^2`` with ``gamma = 1 / |w|`` and the slack
        xi of the training rows; computed like ``radius_margin_bound_``.
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

    def _kernel_names(self) -> list[str]:
        return kernel_names(self.kernel, self.ensemble)

    def _fit_machines(self, task: FitTask) -> Fitted:
        imputer = MeanFill.of(task.X, task.sample_weight) if self.missing == "impute" else None
        X = task.X if imputer is None else imputer.apply(task.X)
        random_state, names = check_random_state(self.random_state), self._kernel_names()
        threads, progress = task.threads, task.progress
        n_members = 3 if self.ensemble else 1
        progress.begin(len(names) * self.max_iter + n_members * (len(FACTORS) + 1))
        solver = SMO(tol=self.tol, memory=allowance(self.cache_size, threads), budget=0.0)
        with single_blas():
            table = TrainingRows.of(task, X)  # equal rows become one row, their weights summed
            scaling = Scaling.of(table.X, table.sample_weight, self.standardize)
            rows = table.scaled(scaling)
            path_rows = rows.sample(self.path_rows, random_state)
            weight_rows = path_rows.sample(self.weight_rows, random_state)
            # 1. Weights: v = argmin log(R^2 ||w||^2) over weights and C, for each kernel.
            learned = learn_kernels(
                names,
                weight_rows,
                solver,
                max_evaluations=self.max_iter,
                random_state=random_state,
                last=_last_weights(task.last, scaling),
                threads=threads,
                progress=progress,
            )
            # 2. Members: shrunk half-way to equal weights; by the energy distance; as learned.
            sources = weight_sources(learned, weight_rows)
            members = members_of_sources(sources, learned)
            # 3. Width and C of each member: the lowest span estimate of the leave-one-out error.
            paths = {
                name: width_path(name, kernel, path_rows, self.tol, threads, progress)
                for name, kernel in members.items()
            }
            # 4. The machines on all rows; those of the path, where the path had all rows.
            solutions = [
                path.solutions
                if path_rows is rows
                else solve_everywhere(path, path_rows, rows, solver, threads, progress)
                for path in paths.values()
            ]
        kernels = [unscaled(path.kernel, scaling) for path in paths.values()]
        n_solves = 0 if path_rows is rows else task.n_machines * len(paths)
        attributes = weight_attributes(learned, sources, scaling)
        attributes |= path_attributes(paths, kernels, scaling, self.ensemble)
        attributes |= {
            "means_": None if imputer is None else imputer.means,
            "n_solves_": n_solves + count_solves(learned, paths, task.n_machines),
        }
        last = {name: each.theta for name, each in learned.items()}
        return Fitted(
            _predictor(task, X, solutions, kernels, table, imputer),
            [solution for own in solutions for solution in own],
            attributes=attributes,
            last=(scaling.columns, last) if self.warm_start else None,
        )


def _last_weights(last: Any, scaling: Scaling) -> dict[str, Array] | None:
    """Return the parameters that the last fit learned; None where other columns varied."""
    columns, thetas = (np.empty(0), None) if last is None else last
    return thetas if np.array_equal(columns, scaling.columns) else None


def _predictor(
    task: FitTask,
    X: Array,
    solutions: Sequence[Sequence[Solution]],
    kernels: Sequence[Kernel],
    table: TrainingRows,
    imputer: MeanFill | None,
) -> Predictor:
    """Return the mean of the members, each with its kernel."""
    flat = [solution for own in solutions for solution in own]
    predictor = Predictor.of(
        task,
        flat,
        kernels=[kernel for kernel, own in zip(kernels, solutions, strict=True) for _ in own],
        members=[table.first] * len(flat),
        rows=X,
    )
    return replace(
        predictor,
        before=() if imputer is None else (imputer,),
        n_members=len(kernels),
        merged=len(table) < len(task.classes),
    )
