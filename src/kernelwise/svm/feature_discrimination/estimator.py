"""Feature scales from how well each feature alone separates the classes (the FDSVM method).

    min 1/2 w'Aw + C sum xi,   A = diag(exp(-eta q)) normalised

is the plain machine on A^{-1/2} x: a feature with a high measure q may have a large w for little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from ..._memory import allowance
from ..._parameters import HasMethods, Interval, Options
from ..._typing import Array
from ...discrimination.scales import MEASURES
from ...kernels import Kernel, Linear
from ...qp import SMO, Solution
from ..base.classifier import KernelClassifier
from ..base.feature_weights import no_weights, spreads, weight_shares
from ..base.kernel_spec import KernelSpec
from ..base.left_out import kernel_machines_left_out
from ..base.multiclass import ONE_VS_ONE, Multiclass
from ..base.predictor import Predictor, predictor_of
from ..base.solve import solve_one_vs_one
from ..base.task import FitTask, Fitted, TableReader
from .settings import settings_of
from .space import ScaledSpace, ScaleRule, SpaceRule

_MEASURES = set(MEASURES)
_NAMES = {"linear", "poly", "rbf", "laplacian", "matern32", "matern52"}
_POLISH = 1e5  # kernel entries worth spending on exactness, over all machines: as SVC does


class FeatureDiscriminationSVC(KernelClassifier):
    """Support vector classification with features scaled by how well they separate the classes.

    Each feature is measured alone, and one that separates the classes well costs the margin less:
    ``min 1/2 w'Aw + C sum xi`` with ``A = diag(exp(-eta q))``, normalised. With a kernel the
    features are the inputs, or the components of its empirical map.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a margin violation, positive; not read for ``eta="cv"``, which chooses it. The
        sample and class weights multiply it.
    kernel : str or Kernel, default="rbf"
        One of "linear", "poly", "rbf", "laplacian", "matern32" and "matern52", or a positive
        semi-definite object of `kernelwise.kernels`.
    space : {"components", "inputs"}, default="inputs"
        The features to measure and scale where the kernel is not linear: components of its
        empirical map, as in the paper, or the columns before the kernel. For a linear kernel the
        columns.
    importance : str, list of str, array-like of shape (n_features,), callable or None, \
default="fisher"
        The measure q: "fisher", "separation", "efficiency" or "energy", functions of
        `kernelwise.discrimination`; a function ``f(X, y)`` of the features and labels; importances
        known beforehand; None weighs nothing. A list of names leaves the choice to ``eta="cv"``.
    importance_per : {"pair", "shared"}, default="pair"
        Whether each pair of classes has its own q, or all pairs share their mean.
    eta : float or "cv", default="cv"
        How much the measures count; 0 is the plain machine. "cv" chooses eta, C, and the width of
        a kernel whose ``gamma`` is a name, by held-out rows.
    eta_units : {"data", "raw"}, default="data"
        Whether q is brought to [0, 1] first, or taken as it is, as in the paper.
    normalization : {"inverse", "trace"}, default="inverse"
        Whether the squared scales have mean one, or the trace of A is one, as in the paper: that
        multiplies C by the number of features at least, and by far more where eta is large.
    n_components : int or float, default=None
        How many components of a kernel's map are kept, or which part of the sum of the
        eigenvalues; None keeps all but those that are rounding.
    gamma : {"scale", "auto"} or float, default="scale"
        The inverse width; see `SVC`. ``eta="cv"`` keeps a number.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=0.0
        The constant of "poly".
    search : {"stages", "joint"}, default="stages"
        How ``eta="cv"`` searches. "stages": the width with C for the plain machine, then eta with
        C at that width. "joint": every width with every eta and C, as in the paper, at many times
        the cost.
    etas : array-like, default=None
        The candidates of ``eta="cv"``; None is 0, 1, 2, 4, 8 and 16.
    costs : array-like, default=None
        The candidates for C of ``eta="cv"``; None is the powers of ten from 1e-3 to 1e3.
    widths : int or array-like, default=None
        The widths of ``eta="cv"``, or how many; None is 11, from a quarter to 8 times the spread
        of the rows.
    cv : int, cross-validation generator or iterable, default=5
        The folds of ``eta="cv"``. An integer gives stratified folds in which equal rows stay
        together; generators and splits are used as in scikit-learn.
    max_rows : int, default=2000
        Most rows that are dealt out to folds. More rows are sampled, the same share of each class.
    tol : float, default=1e-3
        The tolerance of the machines, in units of the margin.
    max_iter : int, default=-1
        Most steps of the solver per machine; -1 is the default of `SVC`.
    {class_weight}
    {calibration}
    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Whether there is one decision value per pair of classes or one per class.
    cache_size : float, default=None
        Megabytes for rows of the kernel; see `SVC`.
    n_jobs : int, default=None
        Threads, over machines and folds; None is one.
    verbose : bool, default=False
        Whether to print the choice.
    random_state : int, RandomState instance or None, default=0
        Deals the rows out to folds.

    Attributes
    ----------
    {machines}
    importances_ : ndarray of shape (n_scaled,) or (n_pairs, n_scaled)
        The measures q of the features that are scaled, inputs or components; one row per pair where
        each has its own.
    feature_scales_ : ndarray of shape (n_scaled,) or (n_pairs, n_scaled)
        The factors of the features: A^{-1/2}.
    feature_weights_ : ndarray of shape (n_scaled,) or (n_pairs, n_scaled)
        The squares of the scales: the factor of a feature's term of a product or distance.
    feature_importances_ : ndarray of shape (n_features,)
        The weights times the variances of their columns, scaled to sum one; the mean over pairs.
        Not for components.
    coef_ : ndarray of shape (n_pairs, n_features)
        The weights w of the features as given, for a linear kernel.
    intercept_ : ndarray of shape (n_pairs,)
        The intercepts.
    eta_ : float
        The eta used.
    C_ : float
        The cost used.
    gamma_ : float
        The inverse width used; NaN for a linear kernel.
    measure_ : str, ndarray, callable or None
        The measure used.
    path_ : dict of ndarray or None
        The points that ``eta="cv"`` has tried, a table: "stage", "importance", "gamma", "eta", "C",
        "held_out_error", "n_iter", "n_solves" and "converged".
    n_solves_ : int
        Machines solved, with those of the choice.
    kernel_ : Kernel or list of Kernel
        The kernel of the scaled features with its weights; one per pair with several classes.
    map_ : EmpiricalMap or None
        The map from rows to components; None where the columns are scaled.
    support_vectors_ : ndarray of shape (n_support, n_features)
        The support vectors.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        The dual coefficients times the signs, in the layout of scikit-learn.
    n_iter_ : ndarray of shape (n_pairs,)
        The steps that each machine took.
    certificate_ : Bunch
        Arrays ``violation``, ``gap``, ``objective`` and ``status``, one entry per machine.
    margin_ : ndarray of shape (n_pairs,)
        The margin of each machine, in the scaled features.
    {features}

    See Also
    --------
    kernelwise.discrimination : The measures.
    RelevanceSVC : Weights that see features together.

    Notes
    -----
    Several classes are one-vs-one with a vote, as in `SVC`. Scale the columns first: the measures
    do not see the scale of a feature, the machine does.

    Among the points of ``eta="cv"`` with the same error eta = 0 wins, then the smaller eta, the
    smaller C and the larger width.

    With ``normalization="trace"`` and ``eta_units="raw"``, and "linear" for the kernel or
    "components" for the space, the machine is the paper's. The spread of the scales then has no
    limit: where they differ by more than 16 digits, no machine can be computed.

    On standardised tables the method seldom differs from the plain machine by more than noise.

    References
    ----------
    Y. Wang, S. Chen and H. Xue, "Support Vector Machine incorporated with feature discrimination",
    Expert Systems with Applications 38, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise import FeatureDiscriminationSVC
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> y = X[:, 0] + 0.5 * X[:, 1] > 0
    >>> model = FeatureDiscriminationSVC().fit(X, y)
    >>> model.feature_scales_.argmax()
    np.int64(0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [Options(_NAMES), Kernel],
        "space": [Options({"components", "inputs"})],
        "importance": [Options(_MEASURES), callable, "array-like", None],
        "importance_per": [Options({"pair", "shared"})],
        "eta": [Interval(Real, 0, None, closed="left"), Options({"cv"})],
        "eta_units": [Options({"data", "raw"})],
        "normalization": [Options({"inverse", "trace"})],
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(float, 0, 1, closed="neither"),
            None,
        ],
        "gamma": [Options({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "search": [Options({"stages", "joint"})],
        "etas": ["array-like", None],
        "costs": ["array-like", None],
        "widths": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split"]), Iterable],
        "max_rows": [Interval(Integral, 10, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "class_weight": [Options({"balanced"}), dict, None],
        "calibration": [Options({"loo", "halves"}), None],
        "decision_function_shape": [Options({"ovo", "ovr"})],
        "cache_size": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel = "rbf",
        space: str = "inputs",
        importance: Any = "fisher",
        importance_per: str = "pair",
        eta: float | str = "cv",
        eta_units: str = "data",
        normalization: str = "inverse",
        n_components: float | None = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        search: str = "stages",
        etas: Any = None,
        costs: Any = None,
        widths: Any = None,
        cv: Any = 5,
        max_rows: int = 2000,
        tol: float = 1e-3,
        max_iter: int = -1,
        class_weight: Any = None,
        calibration: str | None = None,
        decision_function_shape: str = "ovr",
        cache_size: float | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.space = space
        self.importance = importance
        self.importance_per = importance_per
        self.eta = eta
        self.eta_units = eta_units
        self.normalization = normalization
        self.n_components = n_components
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.search = search
        self.etas = etas
        self.costs = costs
        self.widths = widths
        self.cv = cv
        self.max_rows = max_rows
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.calibration = calibration
        self.decision_function_shape = decision_function_shape
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @property
    def coef_(self) -> Array:
        """Weights of the features as given, for a linear kernel: w = A^{-1/2} w~."""
        kernels = predictor_of(self).kernels if hasattr(self, "classes_") else ()
        if not kernels or self.map_ is not None or not isinstance(kernels[0], Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        vectors = predictor_of(self).vectors
        ones = np.ones(vectors.rows.shape[1])
        weights = [k.gamma * (ones if k.weights is None else k.weights) for k in kernels]  # type: ignore[attr-defined]
        coef: Array = (vectors.coef.T @ vectors.rows) * np.array(weights)
        coef.flags.writeable = False
        return coef

    @property
    def feature_importances_(self) -> Array:
        """Weights times variances of their columns, scaled to sum one; not for components."""
        if getattr(self, "map_", self) is not None:
            raise AttributeError("feature_importances_ is of a fitted model that scales columns")
        return weight_shares(self.feature_weights_, self._spread_)

    def _multiclass(self) -> Multiclass:
        return ONE_VS_ONE

    def _reader(self) -> TableReader:
        return TableReader(self)  # the measures are of dense columns

    def _check_parameters(self) -> None:
        if not KernelSpec.of(self).reads_rows:
            raise no_weights(self.kernel)

    def _kernel(self, X: Any, sample_weight: Array) -> Kernel:
        kernel = super()._kernel(X, sample_weight)
        if not kernel.is_psd:
            raise ValueError(
                f"kernel={kernel!r} is not positive semi-definite, so that it has no components; "
                "use another kernel, or coef0 of at least 0."
            )
        return kernel

    def _fit_machines(self, task: FitTask) -> Fitted:
        counts = task.sample_weight
        task.progress.begin(task.n_machines + (self.eta == "cv"))
        choice = settings_of(self, task, self._space_rule(), self._scale_rule())
        space = self._space_rule().space(choice["kernel_"], task.X, counts)
        measured, kernels = self._weigh(task, space, choice)
        solutions = self._solve(task, kernels, space.training, choice["C_"])
        predictor = Predictor.of(task, solutions, kernels=kernels, rows=space.training)
        vectors = replace(predictor.vectors, rows=task.X[predictor.vectors.support])
        path = choice["path_"]
        tried = 0 if path is None else int(path["n_solves"].sum())
        attributes = {
            **choice,
            **measured,
            "map_": space.map,
            "kernel_": kernels[0] if len(kernels) == 1 else kernels,
            "n_solves_": tried + len(solutions),
            "_spread_": spreads(Linear(), task.X, counts),
        }
        before = () if space.map is None else (space.map,)
        predictor = replace(predictor, before=before)
        return Fitted(
            predictor,
            solutions,
            vectors=vectors,
            attributes=attributes,
            left_out=partial(
                kernel_machines_left_out,
                task,
                predictor,
                solutions,
                choice["C_"],
                rows=space.training,
                tol=self.tol,
            ),
        )

    def _space_rule(self) -> SpaceRule:
        return SpaceRule(self.space, self.n_components)

    def _scale_rule(self) -> ScaleRule:
        return ScaleRule(self.importance_per == "shared", self.normalization, self.eta_units)

    def _weigh(
        self, task: FitTask, space: ScaledSpace, choice: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Kernel]]:
        """Measure the features; return the measurements and the kernel of each machine."""
        measuring, labels = self._scale_rule(), task.labels.names[task.classes]
        q = measuring.importances(
            choice["measure_"], space.training, labels, task.Y, task.sample_weight
        )
        scales = np.array([measuring.scales(each, choice["eta_"]) for each in q])
        factors = scales if len(q) > 1 else scales[0]
        made = [space.weighted(each) for each in scales]
        measured = {
            "importances_": q if len(q) > 1 else q[0],
            "feature_scales_": factors,
            "feature_weights_": factors**2,
        }
        return measured, made if len(made) > 1 else made * task.n_machines

    def _solve(
        self, task: FitTask, kernels: list[Kernel], Z: Array, C: float
    ) -> Sequence[Solution]:
        """Solve the machines with rows Z, the scaled columns or components."""
        n_machines = task.n_machines
        solver = SMO(
            tol=self.tol,
            max_iter=self.max_iter,
            memory=allowance(self.cache_size, min(task.threads, n_machines)),
            budget=_POLISH / n_machines,
        )
        return solve_one_vs_one(task, kernels, Z, C * task.cost_factor, solver)
