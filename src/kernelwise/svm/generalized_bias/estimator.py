"""A support vector machine whose bias is a combination of features (Li, Leung and Lee 2007).

    min 1/2 b'Kb - y'b   s.t.   min(0, y C) <= b <= max(0, y C),   F'b = 0

    f(x) = sum_i b_i k(x_i, x) + sum_p lambda_p phi_p(x)

F has the features phi_p of the training rows, the constant among them; lambda is the multiplier of
F'b = 0. The kernel's part is regularised, the features' part is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from ..._memory import allowance
from ..._parameters import HasMethods, Interval, Options
from ..._threads import run
from ..._typing import Array, Codes, Flags
from ...kernels import FunctionKernel, Kernel, Precomputed
from ...qp import SMO, Progress, SeveralEqualities
from ..base.classifier import KernelClassifier
from ..base.grams import Grams
from ..base.held_out import held_out_loss, lowest
from ..base.kernel_spec import KERNEL_NAMES, KernelSpec
from ..base.left_out import LeftOutDecisions, left_out_decisions
from ..base.multiclass import SCHEMES, Multiclass
from ..base.predictor import Predictor
from ..base.progress import FitProgress
from ..base.steps import apply_all
from ..base.task import FitTask, Fitted, TableReader
from .features import is_columns
from .input import BiasColumns, BiasFeatures
from .machine import BiasMachine, doubts, matrices, trouble

# Ridges on the features to choose from; of equal losses the first, the simplest, wins.
PENALTIES = (np.inf, 100.0, 10.0, 1.0, 0.1)
_POLISH = 1e5  # kernel values spent on exactness, over all machines
_MEMORY = 4000  # default megabytes for kernel matrices


class GeneralizedBiasSVC(KernelClassifier):
    """Support vector classification with features in place of the constant bias.

    A support vector machine regularises its kernel part and leaves the constant free. This one
    leaves a combination of features free: ``f(x) = kernel part + sum_p lambda_p phi_p(x)``. The
    features encode prior knowledge (a trend, groups, a risk score); the kernel models what they
    miss. It is the machine of [1]_, which is the semiparametric machine of [2]_.

    Parameters
    ----------
    bias_features : list, mask, slice, transformer, callable or None, default=None
        The features. Columns of X by name or number, as a list, a mask or a slice; a transformer,
        which is fitted to the training rows; or a function that takes X and returns an array of
        shape (n_samples, n_bias_features). Transformers and functions get X as an array of numbers.
        None leaves the constant alone.
    C : float, default=1.0
        The cost of a margin violation, positive. The sample and class weights multiply it.
    regularization : float, default=None
        The paper's parameter gamma, the weight of the squared norm of the kernel part beside the
        mean slack. Where it is given, each machine of m rows has ``C = 1 / (2 regularization m)``,
        and C is not read.
    kernel : str, callable or Kernel, default="rbf"
        As in `SVC`. Where there are features, or no intercept, it must be positive semi-definite;
        "precomputed" takes no features.
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        The inverse width, as in `SVC`, for the columns that the kernel reads.
    coef0 : float, default=0.0
        The constant of "poly".
    feature_weights : array-like of shape (n_features,), default=None
        Weights of the columns that the kernel reads, as in `SVC`.
    fit_intercept : bool, default=True
        Whether the constant is one of the features.
    bias_penalty : float or "cv", default="cv"
        The ridge rho on the coefficients of the features, ``rho/2 |lambda|^2``. 0 is the paper's
        machine; above it the machine is the `SVC` with the kernel ``k + phi'phi / rho``. The
        constant is never penalised. "cv" chooses 0.1, 1, 10, 100 or infinity, without features, by
        the decisions on rows that are left out in turn; 0 for ``solver="paper"``.
    solver : {"auto", "paper"}, default="auto"
        How a machine is solved. "auto" solves the dual with one equality per feature. "paper" is
        the construction of [1]_: a kernel that vanishes at as many rows as there are features, a
        quadratic program for the kernel part and a linear program for the features; virtual samples
        where there are no such rows. It gives the same machine, more slowly, and takes no
        ``bias_penalty``.
    exclude_bias_from_kernel : bool, default=False
        Whether to hide from the kernel the columns that ``bias_features`` lists.
    cross_fit : {"auto"} or bool, default="auto"
        Whether a training row's features come from a transformer that was fitted without the row's
        fold, so that they do not know its label. "auto": where the transformer needs labels; others
        are fitted without them. False fits with labels to all rows. A transformer with an attribute
        ``out_of_fold = True`` takes care of that in its own ``fit_transform``.
    cv : int or splitter, default=5
        The folds of the cross-fitting, each row held out once; an integer gives stratified folds.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes ("ovo"), or one per class against all others ("ovr").
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        With "ovo" machines, whether decision values come per pair of classes or per class.
    tol : float, default=1e-3
        The tolerance of the optimality conditions, in units of the margin.
    cache_size : float, default=None
        Megabytes for kernel matrices: with features the matrix of a machine's rows is stored. None
        is 4000; without features as in `SVC`.
    {class_weight}
    {calibration}
    warm_start : bool, default=False
        Whether a re-fit starts from the last solution, for rows that are still there.
    n_jobs : int, default=None
        Threads, for the kernel and over the machines; None is one.
    verbose : bool, default=False
        Whether to print one line per machine.
    callback : callable, default=None
        Called during a fit with a `kernelwise.qp.Progress`.

    Attributes
    ----------
    {machines}
    C_ : ndarray of shape (n_machines,)
        The cost of a margin violation in each machine.
    bias_coef_ : ndarray of shape (n_machines, n_bias_features)
        The coefficients of the features. Where features are linearly dependent on the rows of a
        machine, some coefficients are zero.
    intercept_ : ndarray of shape (n_machines,)
        The coefficient of the constant; zeros without one.
    bias_penalty_ : float
        The ridge used; zero without features, infinite where they are left out.
    bias_feature_names_out_ : ndarray of shape (n_bias_features,)
        The names of the features.
    bias_transformer_ : object or None
        The fitted transformer.
    kernel_share_ : ndarray of shape (n_machines,)
        Share of the decision that the kernel carries: ``var(k) / (var(k) + var(p))``, with the
        weighted variances of the kernel part k(x) and of the features' part p(x) over the
        machine's training rows. 0: the features decide alone; 1: the kernel does.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_kernel_features)
        The support vectors, in the columns that the kernel reads.
    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_support)
        The dual coefficients times the signs, in the layout of scikit-learn; one row per
        machine with "ovr" machines.
    n_iter_ : ndarray of shape (n_machines,)
        Number of solver steps of each machine.
    certificate_ : Bunch
        Arrays ``violation``, ``gap``, ``objective`` and ``status``, one entry per machine, as
        in `SVC`. The status "degenerate" marks features whose coefficients are unbounded.
    margin_ : ndarray of shape (n_machines,)
        ``1 / |w|``, with w the regularised part.
    kernel_ : Kernel
        The kernel with all its parameters resolved.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the columns, where X has such names.

    See Also
    --------
    SVC : The machine with the constant alone.
    kernelwise.transform.GeodesicNeighborFeatures : Features by neighbours on a manifold.
    kernelwise.transform.TopicFeatures : Features by topics.

    Notes
    -----
    Replacing the features by others of the same span does not change the machine, unless they are
    penalised. If the features separate the rows with a margin, the kernel part is zero.

    References
    ----------
    .. [1] W. Li, K.-S. Leung and K.-H. Lee, "Generalizing the bias term of support vector
       machines", IJCAI 2007.
    .. [2] A. J. Smola, T. T. Friess and B. Schölkopf, "Semiparametric support vector and linear
       programming machines", NIPS 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import GeneralizedBiasSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] + np.sin(3 * X[:, 1]) > 0
    >>> model = GeneralizedBiasSVC([0], exclude_bias_from_kernel=True).fit(X, y)
    >>> model.predict([[9.0, 0.0], [-9.0, 0.0]])  # a kernel alone knows nothing out there
    array([ True, False])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bias_features": [
            "array-like", str, Integral, slice, callable, HasMethods(["fit", "transform"]), None,
        ],
        "C": [Interval(Real, 0, None, closed="right")],
        "regularization": [Interval(Real, 0, None, closed="neither"), None],
        "kernel": [Options(KERNEL_NAMES), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [
            Options({"scale", "auto"}),
            Interval(Real, 0, None, closed="left"),
            "array-like",
        ],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "feature_weights": ["array-like", None],
        "fit_intercept": ["boolean"],
        "bias_penalty": [Interval(Real, 0, None, closed="left"), Options({"cv"})],
        "solver": [Options({"auto", "paper"})],
        "exclude_bias_from_kernel": ["boolean"],
        "cross_fit": [Options({"auto"}), "boolean"],
        "cv": ["cv_object"],
        "multi_class": [Options({"ovo", "ovr"})],
        "decision_function_shape": [Options({"ovo", "ovr"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither"), None],
        "class_weight": [Options({"balanced"}), dict, None],
        "calibration": [Options({"loo", "halves"}), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "callback": [callable, None],
    }  # fmt: skip

    def __init__(
        self,
        bias_features: Any = None,
        *,
        C: float = 1.0,
        regularization: float | None = None,
        kernel: str | Callable[..., Any] | Kernel = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        feature_weights: Any = None,
        fit_intercept: bool = True,
        bias_penalty: float | str = "cv",
        solver: str = "auto",
        exclude_bias_from_kernel: bool = False,
        cross_fit: bool | str = "auto",
        cv: Any = 5,
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: Any = None,
        calibration: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.bias_features = bias_features
        self.C = C
        self.regularization = regularization
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.feature_weights = feature_weights
        self.fit_intercept = fit_intercept
        self.bias_penalty = bias_penalty
        self.solver = solver
        self.exclude_bias_from_kernel = exclude_bias_from_kernel
        self.cross_fit = cross_fit
        self.cv = cv
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.calibration = calibration
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _multiclass(self) -> Multiclass:
        return SCHEMES[self.multi_class]

    def _reader(self) -> TableReader:
        sparse = KernelSpec.of(self).accepts_sparse
        if sparse and hasattr(self.bias_features, "__sklearn_tags__"):
            sparse = bool(get_tags(self.bias_features).input_tags.sparse)
        return TableReader(self, sparse=sparse)

    def _check_parameters(self) -> None:
        given = self.bias_features
        if isinstance(given, type):
            raise ValueError(f"bias_features must be an object, not a class: {given.__name__}().")
        if given is not None and KernelSpec.of(self).is_precomputed:
            raise ValueError(
                "kernel='precomputed' goes with bias_features=None: X then has kernel values and "
                "no features. Give the rows, and the kernel by name, object or function."
            )
        if self.exclude_bias_from_kernel and not is_columns(given):
            raise ValueError(
                "exclude_bias_from_kernel=True needs bias_features that list columns of X; got "
                f"{given!r}. feature_weights of zero keep any column out of a named kernel."
            )
        if self._stores_matrices() and np.isinf(self.C) and self.regularization is None:
            raise ValueError(
                "C=inf goes with bias_features=None, fit_intercept=True and solver='auto' only: "
                "the solver for features needs a finite C."
            )
        if self.solver == "paper" and self.bias_penalty not in (0, "cv"):
            raise ValueError(
                f"solver='paper' has no penalty on the features; got bias_penalty="
                f"{self.bias_penalty!r}. Use solver='auto'."
            )

    def _columns(self, X: Any) -> BiasColumns:
        """Return the columns of the training rows X that the bias and the kernel read."""
        names = getattr(X, "columns", None)  # a user's kernel may read a data frame as it is
        names = getattr(self, "feature_names_in_", names)
        return BiasColumns.of(X, self.bias_features, names, self.exclude_bias_from_kernel)

    def _stores_matrices(self) -> bool:
        """Return whether the machines differ from those of `SVC`, and store kernel matrices."""
        other_bias = self.bias_features is not None or not self.fit_intercept
        return other_bias or self.solver == "paper"

    def _costs(self, sizes: Sequence[int]) -> Array:
        """Return the C of each machine, by its number of rows."""
        if self.regularization is None:
            return np.full(len(sizes), float(self.C))
        return 1 / (2 * self.regularization * np.asarray(sizes, dtype=np.float64))

    def _kernel(self, X: Any, sample_weight: Array) -> Kernel:
        kernel = super()._kernel(apply_all(self._columns(X).before_kernel, X), sample_weight)
        given = isinstance(kernel, FunctionKernel | Precomputed)  # their matrix is checked instead
        if self._stores_matrices() and not kernel.is_psd and not given:
            raise ValueError(
                f"kernel={kernel!r} is not positive semi-definite, so that the machine with "
                "features in its bias, or without one, has no unique solution; use another kernel."
            )
        return kernel

    def _fit_machines(self, task: FitTask) -> Fitted:
        columns, y = self._columns(task.X), task.labels.names[task.classes]
        features = BiasFeatures.of(
            task.X,
            y,
            self.bias_features,
            columns,
            task.feature_names,
            cross_fit=self.cross_fit,
            cv=self.cv,
        )
        rows = apply_all(columns.before_kernel, task.X)
        chooses = self.bias_penalty == "cv" and features.training.shape[1] > 0
        task.progress.begin(task.n_machines + (chooses and self.solver != "paper"))
        warm = task.warm()
        penalty = self._penalty(task, rows, features.training)
        F = features.training[:, : 0 if np.isinf(penalty) else None]
        starts = warm.starts(task.members)
        machines = self._solve(task, rows, F, task.Y, starts, penalty)
        solutions = [machine.solution for machine in machines]
        coef = np.zeros((len(machines), features.training.shape[1]))
        coef[:, : F.shape[1]] = [machine.coef for machine in machines]
        predictor = replace(
            Predictor.of(task, solutions, rows=rows),
            intercept=np.array([machine.intercept for machine in machines]),
            before=columns.before_kernel,
            features=features.steps,
            linear=coef.T if coef.size else None,
        )
        attributes = {
            "C_": self._costs([len(own) for own in task.members]),
            "bias_coef_": coef,
            "bias_penalty_": penalty,
            "bias_feature_names_out_": features.names,
            "bias_transformer_": features.transformer,
            "kernel_share_": np.array([machine.kernel_share for machine in machines]),
        }
        found = [(text, ConvergenceWarning) for text in trouble(machines, self.tol)]
        found += [(text, UserWarning) for text in doubts(machines)]
        return Fitted(
            predictor,
            solutions,
            attributes=attributes,
            warnings=found,
            last=warm.ended(solutions, task.members),
            left_out=lambda: self._left_out_of_fit(
                task, rows, features.training, predictor, penalty
            ),
        )

    def _penalty(self, task: FitTask, rows: Any, F: Array) -> float:
        """Return the ridge on the features, as it is given or chosen."""
        if not isinstance(self.bias_penalty, str):
            return float(self.bias_penalty)
        if F.shape[1] == 0 or self.solver == "paper":
            return 0.0
        outside, losses = np.zeros((len(F), task.n_machines)), []
        with task.progress.task("penalty"):
            for penalty in PENALTIES:
                found = self._left_out(task, rows, F, outside, penalty)
                weight = task.sample_weight[found.rows]
                losses.append(held_out_loss(task.Y[found.rows], found.decisions, weight))
        chosen = PENALTIES[lowest(losses)]
        task.progress.line(f"bias_penalty={chosen:g}")
        return chosen

    def _left_out_of_fit(
        self, task: FitTask, rows: Any, F: Array, predictor: Predictor, penalty: float
    ) -> LeftOutDecisions:
        """Return decisions on left-out rows, and those of the fit for rows outside a machine."""
        outside = predictor.decision_values(task.X)
        if predictor.linear is not None:  # features of training rows may be cross-fitted
            outside += (F - apply_all(predictor.features, task.X)) @ predictor.linear
        return self._left_out(task, rows, F, outside, penalty)

    def _left_out(
        self, task: FitTask, rows: Any, F: Array, outside: Array, penalty: float
    ) -> LeftOutDecisions:
        """Solve the machines again without some rows; features stay as they are."""
        own, silent = task.members, replace(task, progress=FitProgress(self))
        F = F[:, : 0 if np.isinf(penalty) else None]

        def decide(kept: Flags) -> list[Array]:
            codes = task.Y * kept[:, None]
            machines = self._solve(silent, rows, F, codes, [None] * len(own), penalty)
            return [
                machine.solution.gradient
                + codes[own[j], j]
                + F[own[j]] @ machine.coef
                + machine.intercept
                for j, machine in enumerate(machines)
            ]

        return left_out_decisions(task, outside, decide)

    def _solve(
        self,
        task: FitTask,
        rows: Any,
        F: Array,
        Y: Codes,
        starts: Sequence[Array | None],
        penalty: float,
    ) -> list[BiasMachine]:
        """Solve the machine of each column of the code matrix Y, with the features F."""
        members, factor, n_machines = task.members, task.cost_factor, task.n_machines
        costs = self._costs([len(own) for own in members])
        smo = SMO(
            tol=self.tol,
            memory=allowance(self.cache_size, min(task.threads, n_machines)),
            budget=_POLISH / n_machines,
        )
        megabytes = _MEMORY if self.cache_size is None else self.cache_size
        several = SeveralEqualities(self.tol, 1e6 * megabytes)
        if F.shape[1] == 0 and self.fit_intercept and self.solver == "auto":
            grams = Grams.of_members(rows, list(map(len, members)), smo, task.threads)
        else:
            grams = matrices(task.kernel, rows, members, several.memory, task.threads)
        grams.prepare(task.kernel, float(costs.max() * factor.max()))

        def fit_one(j: int) -> BiasMachine:
            own, report = members[j], task.progress.of_machine(j, n_machines)
            with task.progress.task("machine"):
                machine = BiasMachine.solve(
                    grams.c_svc(task.kernel, own, Y[:, j], costs[j] * factor),
                    F[own],
                    factor[own],
                    constant=self.fit_intercept,
                    penalty=penalty,
                    solvers=(replace(smo, callback=report), replace(several, callback=report)),
                    start=starts[j],
                    constructed=self.solver == "paper",
                )
            solution = machine.solution
            task.progress.line(
                f"machine {j + 1}: {solution.status}, {solution.n_iter} steps, KKT violation "
                f"{solution.violation:.2g}, share of the kernel {machine.kernel_share:.2f}"
            )
            return machine

        return run(fit_one, range(n_machines), task.threads)
