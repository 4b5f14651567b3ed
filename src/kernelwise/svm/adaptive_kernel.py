"""A kernel width and C chosen on the way, without a validation set (the adaptive kernel).

for sigma from narrow to wide, for C ascending:
    solve, warm from the machine before
    score it by its own training rows: the span estimate of the leave-one-out error,
    or the bound R^2 sum(alpha) / m of Cristianini, Campbell and Shawe-Taylor (1998)
the best point is solved once more, to the end
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from .._memory import allowance
from .._parameters import Interval, Options
from .._typing import Array
from ..kernels import RBF, Kernel
from ..qp import Solution
from .base.classifier import KernelClassifier
from .base.estimator import certificate_of, convergence_warnings
from .base.grams import Grams
from .base.kernel_spec import KERNEL_NAMES
from .base.left_out import kernel_machines_left_out
from .base.predictor import Predictor
from .base.solve import solve_machines
from .base.task import FitTask, Fitted
from .paths.kernel_grid import KernelGrid, cost_grid, n_kernels
from .paths.path import Path, PathPoint
from .paths.rows import TrainingRows
from .paths.selection import bound_and_margin, selection_criterion
from .paths.solvers import PathSolvers
from .paths.walk import walk

_FEWEST_ROWS = 500  # rows on which a path is walked however small the memory


class AdaptiveKernelSVC(KernelClassifier):
    """Support vector classification that chooses its kernel width and C as it learns.

    Machines are solved along a path over widths and costs, each starting from the one before. The
    training rows alone select one of them: by the span estimate of the leave-one-out error, or by
    the radius-margin bound of the paper.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        One of "linear", "poly", "rbf", "sigmoid", "precomputed", "laplacian", "matern32" and
        "matern52", a function ``k(X, Y)``, or an object of `kernelwise.kernels`.
    parameter : str, default="gamma"
        The parameter of the kernel that is walked, by its name in ``kernel.get_params()``, for
        instance "degree" of "poly" or "left__gamma" of a sum. None walks C alone.
    values : array-like of shape (n_values,), default=None
        Its values. None is the widths, which only a "gamma" has.
    widths : int or array-like of shape (n_widths,), default=None
        Widths sigma of the kernel, ``gamma = 1 / (2 sigma^2)`` (``1 / sigma`` for "laplacian").
        A number is as many from a quarter to eight times the spread of the rows, the root of the
        sum of the columns' variances; None is 11.
    C : float or array-like of shape (n_costs,), default=None
        The costs of a margin violation; infinite is a hard margin. The sample and class weights
        multiply them. None is 0.1, 1, 10, 100 and 1000, and a hard margin for the criteria
        "bound" and "radius" and for ``solver="adatron"``.
    criterion : {"span", "bound", "radius", "radius_margin", "cv", "validation"}, default="span"
        Criterion by which the width and C are selected. "span": the leave-one-out error, estimated
        by the span of the support vectors. "bound": R^2 sum(alpha) / n_samples with R^2 the largest
        k(x, x), one for most kernels; "radius": the same with the radius of the smallest ball
        around the rows. "radius_margin": the bound of soft margins, with the slack xi of the rows,
        ``(R^2 |w|^2 + |xi|^2) / n_samples`` with that ball. "cv" and "validation": the error on
        held-out rows.
    solver : {"smo", "adatron"}, default="smo"
        The solver of the machines; "adatron" is the paper's Kernel-Adatron, which sweeps the rows
        in the order of the table.
    stop : {"tol", "margin"}, default="tol"
        Where a machine of "adatron" is finished. "tol": at the optimality conditions. "margin": as
        in the paper, when the functional margin ``1/2 (min z+ - max z-)``, of the decision values z
        of both classes, reaches ``1 - tol``. That is sooner, and not always near the optimum; it is
        for machines without a bias.
    bias : bool, default=None
        Whether the machines have an intercept; None is True for "smo", which needs one, and False
        for "adatron", as in the paper.
    eta : float, default=1.0
        The step of the Adatron, times k(x, x) below 2.
    n_folds : int, default=5
        The number of folds of ``criterion="cv"``; they are stratified.
    validation_fraction : float, default=0.2
        The part of the rows that ``criterion="validation"`` holds out.
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        The inverse width of a named kernel where another parameter is walked.
    degree : int, default=3
        The degree of "poly" where another parameter is walked.
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid" where another parameter is walked.
    tol : float, default=1e-3
        The tolerance of the machines, in units of the margin.
    max_iter : int, default=-1
        Most steps of SMO, or sweeps of the Adatron, per machine. -1 is 10,000 sweeps, or 1000
        steps per row on the path (100,000 at least), 200 per row for a hard margin (10,000 at
        least).
    max_rows : int, default=4000
        Most different rows on which the path is walked, picked at random with the same part of
        each class. The chosen machine is fitted to all rows in any case.
    {class_weight}
    {calibration}
    cache_size : float, default=None
        Megabytes for the kernel; None is a quarter of the machine's memory, at most 2000.
    warm_start : bool, default=False
        Whether a re-fit starts from the last solution.
    n_jobs : int, default=None
        Threads, for the kernel, over machines and folds, and over points; None is one. It does not
        change the result.
    verbose : bool, default=False
        Whether to print a line per width.
    callback : callable, default=None
        Called with a `kernelwise.svm.paths.path.PathPoint` after each point; returning True ends
        the walk after this width.
    random_state : int, RandomState instance or None, default=0
        Picks the folds, the held-out rows, and the rows of a path where there are too many.

    Attributes
    ----------
    {machines}
    sigma_ : float
        The chosen width; for RBF kernels only.
    gamma_ : float
        The chosen inverse width, for kernels that have one.
    C_ : float
        The chosen cost.
    kernel_ : Kernel
        The chosen kernel.
    best_index_ : int
        The chosen point of the path.
    path_ : dict of ndarray
        The path as columns, for ``pandas.DataFrame(model.path_)``: "sigma" and the walked
        parameter, "C", "bound" (R^2 sum(alpha) / n_samples, summed over machines, or the bound of
        soft margins for "radius_margin"), "radius",
        "margin", "functional_margin" (``1/2 (min z+ - max z-)``, one for a hard margin that is
        solved), "loo_error", "held_out_error", "score" (the lowest is selected), "n_iter",
        "seconds", "solved" (False where a smaller C had the same machines) and "converged". NaN
        marks numbers that the criterion does not need.
    bound_ : float
        R^2 sum(alpha) / n_samples of the chosen machines. A bound for a hard margin only.
    radius_ : float
        R of the chosen point.
    margin_ : ndarray of shape (n_machines,)
        The margin 1 / ||w|| of each chosen machine.
    loo_error_ : float
        The estimated leave-one-out error of the chosen point; NaN unless ``criterion="span"``.
    held_out_error_ : float
        The error on held-out rows; NaN unless ``criterion`` is "cv" or "validation".
    n_solves_ : int
        The machines that were solved.
    n_path_rows_ : int
        The different rows on which the path was walked.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support vectors; empty for a precomputed kernel.
    dual_coef_ : {ndarray, sparse matrix} of shape (n_machines, n_support)
        The dual coefficients times the signs.
    intercept_ : ndarray of shape (n_machines,)
        The intercepts.
    n_iter_ : ndarray of shape (n_machines,)
        The steps (sweeps of the Adatron) that each machine took, over the path and the last solve.
    certificate_ : Bunch
        Arrays ``violation``, ``gap``, ``objective`` and ``status``, one entry per machine.
    {features}

    See Also
    --------
    SVC : The same machine with a given width and C.
    DualObjectiveSVC : Learns a weight for each feature.

    Notes
    -----
    The score of "span", "cv" and "validation" is the error plus the mean of
    1 / (1 + exp(5 margin)), which breaks ties; scores that are equal but for rounding go to the
    smaller C, then to the smaller gamma (the larger width). Several classes are one-vs-rest with
    one width and C for all; their error is that of the largest decision value, a margin half the
    lead of the own class.

    Sample weights count copies: leaving a row out takes one copy away, so that a weight of two is
    the same as the row given twice. Neither the order of the rows nor ``n_jobs`` changes what is
    chosen, but for ``solver="adatron"``: its sweeps depend on the order, and so does the point at
    which they stop.

    ``R^2 sum(alpha) / n_samples`` bounds the error of a hard margin. With a finite C it falls with
    C and bounds nothing, so "bound" and "radius" take a hard margin unless C is given. Where
    classes overlap, or equal rows have different classes, a hard margin does not exist: such points
    end at ``max_iter``, are left out of the choice, and a ``ConvergenceWarning`` says how many.

    Scale the columns first: one width serves them all.

    References
    ----------
    N. Cristianini, C. Campbell and J. Shawe-Taylor, "Dynamically adapting kernels in support vector
    machines", NIPS 1998. V. Vapnik and O. Chapelle, "Bounds on error expectation for support vector
    machines", Neural Computation 12, 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelwise.svm import AdaptiveKernelSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), AdaptiveKernelSVC()).fit(X, y)
    >>> svc = model[-1]
    >>> len(svc.path_["score"]), round(svc.loo_error_, 2)
    (55, 0.02)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [Options(KERNEL_NAMES), callable],
        "parameter": [str, None],
        "values": ["array-like", None],
        "widths": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "C": [Interval(Real, 0, None, closed="right"), "array-like", None],
        "criterion": [Options({"span", "bound", "radius", "radius_margin", "cv", "validation"})],
        "solver": [Options({"smo", "adatron"})],
        "stop": [Options({"tol", "margin"})],
        "bias": ["boolean", None],
        "eta": [Interval(Real, 0, None, closed="neither")],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "gamma": [
            Options({"scale", "auto"}),
            Interval(Real, 0, None, closed="left"),
            "array-like",
        ],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "max_rows": [Interval(Integral, 10, None, closed="left")],
        "class_weight": [Options({"balanced"}), dict, None],
        "calibration": [Options({"loo", "halves"}), None],
        "cache_size": [Interval(Real, 0, None, closed="neither"), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "callback": [callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] | Kernel = "rbf",
        parameter: str | None = "gamma",
        values: Any = None,
        widths: Any = None,
        C: Any = None,
        criterion: str = "span",
        solver: str = "smo",
        stop: str = "tol",
        bias: bool | None = None,
        eta: float = 1.0,
        n_folds: int = 5,
        validation_fraction: float = 0.2,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        max_rows: int = 4000,
        class_weight: Any = None,
        calibration: str | None = None,
        cache_size: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callable[[PathPoint], Any] | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.parameter = parameter
        self.values = values
        self.widths = widths
        self.C = C
        self.criterion = criterion
        self.solver = solver
        self.stop = stop
        self.bias = bias
        self.eta = eta
        self.n_folds = n_folds
        self.validation_fraction = validation_fraction
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.max_rows = max_rows
        self.class_weight = class_weight
        self.calibration = calibration
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    @property
    def gamma_(self) -> float:
        """Chosen inverse width, for kernels that have one."""
        gamma = getattr(getattr(self, "kernel_", None), "gamma", None)
        if gamma is None:
            raise AttributeError("gamma_ is only available for a fitted kernel that has a gamma")
        return float(gamma)

    @property
    def sigma_(self) -> float:
        """Chosen width, for RBF kernels."""
        kernel = getattr(self, "kernel_", None)
        if not isinstance(kernel, RBF):
            raise AttributeError("sigma_ is only available for a fitted RBF kernel")
        return float((2 * kernel.gamma) ** -0.5) if kernel.gamma > 0 else float("inf")

    def _fit_machines(self, task: FitTask) -> Fitted:
        random_state, warm = check_random_state(self.random_state), task.warm()
        task.progress.begin(1 + n_kernels(self.parameter, self.values, self.widths))
        solvers = PathSolvers(
            self.solver, tol=self.tol, eta=self.eta, max_iter=self.max_iter, stop=self.stop
        )
        # The Adatron sweeps "FOR i = 1 TO m": in the order of the table, copies included.
        rows = TrainingRows.of(task, merge=self.solver != "adatron")
        rows = rows.sample(self._most_rows(), random_state)
        grid = KernelGrid.of(
            task.kernel, rows, self.parameter, values=self.values, widths=self.widths
        )
        criterion = selection_criterion(
            self.criterion,
            rows,
            bias=self._has_bias(),
            n_folds=self.n_folds,
            validation_fraction=self.validation_fraction,
            random_state=random_state,
        )
        # for sigma from narrow to wide, for C ascending:
        #     solve, starting from the machine before; score the machines by their own rows
        path = walk(
            grid,
            cost_grid(self.C, hard=self._is_hard_by_default()),
            rows,
            criterion,
            solvers,
            start=criterion.starts(warm.starts(task.members)),
            threads=task.threads,
            callback=task.progress.stops,
            progress=task.progress,
        )
        # the best point is solved once more, on all rows and to the end
        with task.progress.task("machines"):
            solutions = self._solve_chosen(task, path, path.starts(rows), solvers)
        predictor = Predictor.of(task, solutions, kernels=[path.kernel] * len(solutions))
        return Fitted(
            predictor,
            solutions,
            attributes=_attributes(path, len(rows), solutions, task),
            warnings=[
                *path.warnings(),
                *convergence_warnings(certificate_of(solutions), self.tol),
            ],
            last=warm.ended(solutions, task.members),
            left_out=partial(
                kernel_machines_left_out,
                task,
                predictor,
                solutions,
                path.best.C,
                tol=self.tol,
                bias=self._has_bias(),
            ),
        )

    def _solve_chosen(
        self, task: FitTask, path: Path, starts: list[Array], solvers: PathSolvers
    ) -> list[Solution]:
        """Solve the machines of the best point on all rows."""
        n, k, C = len(task.classes), task.n_machines, path.best.C
        is_adatron = self.solver == "adatron"
        grams = Grams(
            task.X,
            tol=self.tol,
            memory=allowance(self.cache_size),
            threads=task.threads,
            n_machines=k,
            share=k > 1 or n <= self.max_rows or is_adatron,
            precise=True,
        )
        if is_adatron and not grams.is_stored(path.kernel):
            raise ValueError(
                f"solver='adatron' stores the kernel matrix of all {n} rows, which takes "
                f"{8e-6 * n * n:.0f} MB; raise cache_size, or use solver='smo'."
            )
        memory = allowance(self.cache_size, min(task.threads, k))
        solver = solvers.final(n, C, n_machines=k, memory=memory)
        costs, bias = C * task.cost_factor, self._has_bias()
        return solve_machines(path.kernel, grams, task.Y, costs, solver, start=starts, bias=bias)

    def _is_hard_by_default(self) -> bool:
        return self.solver == "adatron" or self.criterion in ("bound", "radius")

    def _has_bias(self) -> bool:
        if self.stop == "margin" and (self.solver == "smo" or self.bias):
            raise ValueError(
                "stop='margin' is for solver='adatron' without a bias, as in the paper; got "
                f"solver={self.solver!r}, bias={self.bias!r}."
            )
        if self.bias is None:
            return self.solver == "smo"
        if self.solver == "smo" and not self.bias:
            raise ValueError("solver='smo' needs a bias; use solver='adatron' for bias=False.")
        return self.bias

    def _most_rows(self) -> int:
        """Return how many rows a path may have: two matrices of float64 must fit."""
        fit = int((allowance(self.cache_size) / 16) ** 0.5)
        return min(self.max_rows, max(fit, _FEWEST_ROWS))


def _attributes(
    path: Path, n_rows: int, solutions: Sequence[Solution], task: FitTask
) -> dict[str, Any]:
    """Return the path, the chosen point and its machines as attributes."""
    best, k = path.best, len(solutions)
    found = bound_and_margin(solutions, task.Y, best.radius, float(task.sample_weight.sum()))
    steps = np.array([solution.n_iter for solution in solutions])
    steps += path.n_iter.reshape(-1, k).sum(axis=0)  # over folds, where there are any
    return {
        "kernel_": path.kernel,
        "C_": best.C,
        "best_index_": path.best_index,
        "path_": path.table(),
        "radius_": best.radius,
        "bound_": found["bound"],
        "loo_error_": best.loo_error,
        "held_out_error_": best.held_out_error,
        "n_solves_": path.n_solves + k,
        "n_iter_": steps.astype(np.int32),
        "n_path_rows_": n_rows,
    }
