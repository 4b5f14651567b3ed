"""Parts of different kinds, mixed by their leave-one-out decisions (our own method).

    hinge    mean of three SVMs: weights by the radius-margin bound, width and C by the span
    kernel   ridge machine on the normal scores of the columns, balanced over the classes
    linear   ridge machine on the columns and their normal scores, balanced over the classes
    additive ridge logistic regression on steps of numbers and levels of categories
    z_j      = a_j f_j + b_j               sigmoid on the leave-one-out decisions of part j
    decision = sum_j w_j z_j               log-odds; w >= 0 of sum one and of the least log loss

Two halves of the rows, which decide each other's rows, cap how sure the log-odds may be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..._memory import allowance
from ..._parameters import Interval, Options
from ..._sklearn import checked_fit
from ..._typing import Array, Index
from ...kernels import Kernel
from ...outer import Step
from ...qp import SMO
from ..base.calibration import Calibration, Sigmoid, calibrate_log_odds, calibrate_margins
from ..base.conformal import ConformalHalf, class_scores
from ..base.estimator import BaseLearnedSVC
from ..base.predictor import Predictor
from ..base.probability import summary
from ..base.reading import TableReader
from ..base.task import FitTask, Fitted
from ..paths.rows import TrainingRows
from .attributes import (
    cell_attributes,
    conformal_halves,
    count_solves,
    larger_attributes,
    part_attributes,
    path_attributes,
    rows_used,
    weight_attributes,
)
from .column_options import ColumnOptions
from .columns import ColumnLayout
from .explaining import KnownRows
from .large_table import EncodedTable
from .limits import CELL_SIZE, N_TREES
from .members import FACTORS, KERNELS, kernel_names
from .mixing import (
    Half,
    LargerMixture,
    MixedParts,
    SmallMixture,
    decisions_of_halves,
    fit_halves,
    fit_larger,
    fit_mixed,
    gets_larger_parts,
)
from .parts.hinge import HingeSettings
from .parts.rows import PartRows, copy_weight
from .reader import ColumnReader


class RelevanceSVC(BaseLearnedSVC):
    """Classification without tuning, which learns which features matter.

    Feature weights, kernel width and C come from the training rows alone, in one call: no grid, no
    validation set, no scaling beforehand. Support vector machines, a ridge machine and a linear
    machine are mixed by their leave-one-out decisions, which gives probabilities as well.

    Parameters
    ----------
    ensemble : bool, default=True
        Whether several parts are mixed: a hinge part of three machines with different sources of
        weights, a kernel part and a linear part. False is one support vector machine with one
        vector of weights, in about half the time.
    kernel : {"laplacian", "rbf"}, default="laplacian"
        The kernel; the third machine of the hinge part has the other one.
    standardize : bool, default=True
        Whether the columns are brought to one scale first. False starts from equal weights of the
        columns as they are.
    missing : {"impute", "error"}, default="impute"
        How missing values are treated. "impute" replaces numbers by the median of the column in
        training, and marks the gaps in a column of their own if there are at least 10 of them;
        missing categories are a level. Infinite values are always an error.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Which columns are categories, by their types, a mask, numbers or names. By types they are
        the columns of words of a table, and those of a type for categories. None means none. A
        category has one weight, whatever the number of its levels; all new levels count as one
        level, and a column whose levels have one training row each is left out.
    feature_groups : array-like, default=None
        Columns that share one weight: lists of names or numbers, or one label per column. For
        instance columns that encode one thing, spectra, or the genes of a pathway.
    max_iter : int, default=15
        Most evaluations of the radius-margin bound for each kernel.
    weight_rows : int, default=1000
        Most rows from which weights are learned, picked at random, each class its part.
    path_rows : int, default=2000
        Most rows on which width and C are chosen. The machines are fitted to all rows.
    tol : float, default=1e-3
        The tolerance of the machines, in units of the margin.
    class_weight : dict or "balanced", default=None
        Weights of the classes. They multiply C, and count in what chooses width, C and the
        mixture; they do not change the feature weights. `decision_function` and `predict` decide
        the weighted problem, `predict_proba` keeps the true shares of the classes.
    calibration : {"halves", "loo"} or None, default="halves"
        How probabilities are calibrated. "loo" uses leave-one-out decisions, at no cost, but is
        too sure where there is little to learn. "halves" also fits two halves of the rows, and
        caps by their decisions how sure the probabilities may be. With None there is no
        `predict_proba`, and the decisions of the mixture are not capped.
    large : {"auto", "exact", "cells"}, default="auto"
        How large tables are fitted. "cells" splits the rows into cells by random trees, each cell
        with exact machines of its own, in time proportional to the rows; "exact" solves machines
        on all rows, in time about proportional to their square. "auto" takes cells above 20,000
        rows, unless ``ensemble``, ``kernel`` or ``standardize`` are not the default.
    cell_size : int, default=2000
        Most rows of a cell.
    n_trees : int, default=3
        The number of trees whose decisions are averaged.
    checkpoint : path-like, default=None
        A folder in which a fit with cells keeps its finished trees. A fit that was killed and is
        started again with the same table and parameters takes them from there, and gives the same
        model. Trees of anything else are left alone, with a warning.
    max_time : float, default=None
        Seconds after which a fit with cells stops with the trees it has, and warns. What comes
        before the first tree, on some 50,000 rows, is not cut short.
    cache_size : float, default=None
        Megabytes for the kernel; None is a quarter of the machine's memory, at most 2000.
    warm_start : bool, default=False
        Whether a re-fit starts from the last learned weights, where the same columns vary.
    n_jobs : int, default=None
        Threads, for the kernel and over the machines or cells; None is one. They do not change
        the result of cells.
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
    parts_ : list of str
        The parts that are mixed: "hinge", "kernel" and "linear", and "additive" where there are
        more than twice as many rows as columns; from 1,000 different rows on, or 500 where a
        column is a category, "joint", or "pairs" where very many levels, or a category and another
        column together, say more, "hinge" where it pays, and "kernel" and "linear" below 1,500; for
        large tables "cells", and "joint", or "pairs" where a column is a category, whichever pay;
        "hinge" alone for ``ensemble=False``.
    mixture_weights_ : ndarray of shape (n_parts,)
        The weight of each part in the log-odds; they sum to one.
    part_importances_ : ndarray of shape (n_parts, n_features)
        The share of each feature in each part; a row sums to one.
    calibration_ : Bunch
        What turned decisions into log-odds, unless ``calibration=None``: ``slope``, ``intercept``,
        ``temperature`` and ``offsets``, ``capped`` (whether the halves made them less extreme),
        ``n_rows`` (left-out rows) and ``mode``.
    feature_weights_ : ndarray of shape (n_features,)
        The weight of each feature in the learned kernels of the hinge part, times the spread of
        its column: its contribution to a distance. The mean is one over the columns that vary;
        the mean over the members.
    feature_importances_ : ndarray of shape (n_features,)
        The weights of the hinge part as they were learned, before they are shrunk towards equal
        ones, times the spread of their columns; they sum to one.
    selected_features_ : ndarray of shape (n_features,)
        Which features have at least an equal share of that importance. A cut through a ranking,
        not a test: without any relevant feature some are selected all the same.
    C_ : float or ndarray of shape (3,)
        The chosen cost of each member of the hinge part.
    gamma_ : float or ndarray of shape (3,)
        The chosen inverse width of each member, at weights of mean one.
    kernel_ : Kernel or list of Kernel
        The kernel of each member, for columns as they come.
    members_ : list of str
        The members of the hinge part, by the source of their weights: "shrunk" (learned, shrunk
        towards equal ones), "energy" and "learned", or "equal" in place of "learned" where there
        are at most 80 different rows.
    path_ : dict of ndarray
        The points at which width and C were tried, for ``pandas.DataFrame(model.path_)``:
        "member", "factor" (of gamma), "C", "loo_error", "score" (the lowest is selected; NaN marks
        points that were skipped because they could no longer win), "n_iter", "seconds", "solved"
        and "converged". After weights were learned the error is far too low; it is for choosing,
        not for reporting.
    history_ : dict of ndarray
        The evaluations of the bound: "kernel", "value", "C", "n_iter", "seconds" and "weights". For
        larger tables those of the evidence: "kernel" and "value"; `path_` is then empty, and
        ``members_`` is "evidence", or "cells" for each tree, which ``kernel_``, ``C_`` and
        ``gamma_`` then describe.
    rows_used_ : dict of str to int
        The number of different rows that each step used, such as "weights", "width and C" and
        "the machines".
    n_solves_ : int
        The machines and enclosing balls that were solved.
    n_iter_ : int
        The evaluations of the bound.
    columns_ : ColumnEncoding
        How the columns of X become numbers and codes: ``columns_.medians`` replace missing
        numbers, ``columns_.categories`` hold the levels.
    margin_ : ndarray of shape (n_machines,)
        The margin 1 / ||w|| of each machine of the hinge part, member by member.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    support_ : ndarray of shape (n_support,)
        The training rows that are support vectors of any machine of the hinge part, by class; none
        where there is no such part.
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
    `decision_function` gives the log-odds of two classes, or scores whose softmax are the
    probabilities of several; `predict` is its sign or the largest score. Without calibration, a
    single machine gives its decision values.

    Several classes are one-vs-rest with weights shared by all. Constant columns get the weight
    zero. Rows of equal content count as one row with the sum of their weights, so that a weight of
    two is the same as the row given twice, and the order of the rows does not matter. Leaving out
    a row leaves out its copies; where fewer than half of the rows are different, one copy. Where
    there are more than ``path_rows`` different rows, the kernel part, the linear part and the
    mixture are fitted to those on which width and C are chosen.

    The order of the columns changes sums by rounding. Scores that are equal but for rounding choose
    the smaller C, then the wider kernel; but the descent to the weights may end elsewhere where
    many weights are as good, as with columns that are copies of each other or classes that no
    column tells apart. There the order of the columns can change weights and decisions.

    Large tables are read block by block: neither a memory map nor a table of float32 is copied
    whole to float64. About 50,000 rows, picked by their numbers in the table, choose the weights,
    width, C and the mixture; medians, too, are those of so many rows. Equal rows are not merged, so
    that there the order of the rows matters.

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
        "categorical_features": [Options({"from_dtype"}), "array-like", None],
        "feature_groups": ["array-like", None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "weight_rows": [Interval(Integral, 10, None, closed="left")],
        "path_rows": [Interval(Integral, 10, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [Options({"balanced"}), dict, None],
        "calibration": [Options({"halves", "loo"}), None],
        "large": [Options({"auto", "cells", "exact"})],
        "cell_size": [Interval(Integral, 10, None, closed="left")],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "checkpoint": [str, PathLike, None],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
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
        missing: str = "impute",
        categorical_features: Any = "from_dtype",
        feature_groups: Any = None,
        max_iter: int = 15,
        weight_rows: int = 1000,
        path_rows: int = 2000,
        tol: float = 1e-3,
        class_weight: Any = None,
        calibration: str | None = "halves",
        large: str = "auto",
        cell_size: int = CELL_SIZE,
        n_trees: int = N_TREES,
        checkpoint: str | PathLike[str] | None = None,
        max_time: float | None = None,
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
        self.categorical_features = categorical_features
        self.feature_groups = feature_groups
        self.max_iter = max_iter
        self.weight_rows = weight_rows
        self.path_rows = path_rows
        self.tol = tol
        self.class_weight = class_weight
        self.calibration = calibration
        self.large = large
        self.cell_size = cell_size
        self.n_trees = n_trees
        self.checkpoint = checkpoint
        self.max_time = max_time
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    def _reader(self) -> TableReader:
        options, by_blocks = ColumnOptions.of(self), self.large != "exact" and self._is_plain
        orders = self._is_plain and self.large != "cells"
        return ColumnReader(
            self, nan=options.fills, options=options, by_blocks=by_blocks, orders=orders
        )

    @property
    def _is_plain(self) -> bool:
        """Whether large tables get parts of their own."""
        return bool(self.ensemble and self.standardize and self.kernel == "laplacian")

    def _kernel(self, X: Any, sample_weight: Array) -> Kernel:
        return KERNELS[self.kernel]()

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> RelevanceSVC:
        """Fit the parts and their mixture.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The training rows: numbers and categories, with gaps.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they multiply C. Rows of weight zero count as absent.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows that belong together, such as the visits of one patient. Everything
            that selects or calibrates leaves out whole groups, so that no row is judged by a
            machine that knows others of its group.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        fitted: RelevanceSVC = self._fit(X, y, sample_weight, groups)
        return fitted

    def _fit_machines(self, task: FitTask) -> Fitted:
        layout, n_classes = self.columns_.layout, len(task.labels.names)
        random_state, progress = check_random_state(self.random_state), task.progress
        if isinstance(task.X, EncodedTable):
            numbers = task.labels.rows
            return self._fit_large(task, PartRows.of_task(task), numbers, numbers, random_state)
        # Equal rows become one row, their weights summed.
        table = TrainingRows.of(task, groups=task.groups)
        settings = self._settings(table, task.threads)
        rows = PartRows.of(table, layout, n_classes, settings.copy_weight)
        if self.large == "cells":
            own, given = np.arange(len(rows)), task.labels.rows[table.first]
            return self._fit_large(task, rows, own, given, random_state)
        if gets_larger_parts(rows, settings):
            return self._fit_larger(task, table, rows, settings, random_state)
        progress.begin(_n_tasks(settings, len(table), layout, self.calibration == "halves"))
        mixed = fit_mixed(
            table,
            layout,
            n_classes,
            settings,
            random_state,
            last=task.last,
            progress=progress,
        )
        halves = None
        if self.calibration == "halves":
            with progress.task("halves"):
                some = table.part(mixed.machines.path_rows)
                halves = fit_halves(some, layout, n_classes, settings, random_state, mixed)
        calibration = self._calibrated(mixed, halves)
        machines = mixed.machines
        n_solves = 0 if machines.is_of_path else task.n_machines * len(machines.paths)
        attributes = weight_attributes(machines.learned, machines.sources, machines.columns)
        attributes |= path_attributes(
            machines.paths, machines.kernels, machines.columns, self.ensemble
        )
        attributes |= part_attributes(mixed, layout)
        attributes |= {
            "n_solves_": n_solves + count_solves(machines.learned, machines.paths, task.n_machines),
            "_halves_": conformal_halves(halves, mixed.rows, self.columns_),
            "_background_": KnownRows.sample(table, task.labels.rows),
            "rows_used_": rows_used(mixed, len(table), self.weight_rows),
        }
        if calibration is not None:
            mode, n_rows = str(self.calibration), len(mixed.rows)
            attributes["calibration_"] = summary(calibration, mode, n_rows)
        last = {name: each.theta for name, each in machines.learned.items()}
        return Fitted(
            self._predictor(task, mixed, calibration),
            machines.flat_solutions,
            attributes=attributes,
            last=(machines.scaling.columns, last) if self.warm_start else None,
        )

    def _fit_larger(
        self,
        task: FitTask,
        table: TrainingRows,
        rows: PartRows,
        settings: HingeSettings,
        random_state: Any,
    ) -> Fitted:
        """Fit the parts of tables with thousands of rows or with categories.

        Their leave-one-out decisions are on so many rows that no halves have to cap them.
        """
        task.progress.begin(None)
        mixed = fit_larger(rows, settings, random_state, task.progress)
        predictor, attributes = self._described(mixed, rows.X)
        attributes["_background_"] = KnownRows.sample(table, task.labels.rows)
        attributes["rows_used_"] = rows_used(mixed, len(rows), self.weight_rows)
        hinge = predictor.hinge
        if hinge is not None:  # number its support vectors as in the table of the task
            vectors = hinge.predictor.vectors
            vectors = replace(vectors, support=table.first[vectors.support])
            own = replace(hinge, predictor=replace(hinge.predictor, vectors=vectors))
            parts = tuple(own if part is hinge else part for part in predictor.parts)
            predictor = replace(predictor, parts=parts)
        return Fitted(predictor, mixed.solutions, attributes=attributes)

    def _fit_large(
        self, task: FitTask, rows: PartRows, numbers: Index, given: Index, random_state: Any
    ) -> Fitted:
        """Fit the parts of large tables; ``given`` has the row of the user's table of each row."""
        if not self._is_plain:
            raise ValueError(
                'large="cells" needs ensemble=True, kernel="laplacian" and standardize=True.'
            )
        # Imported here: small tables do not wait for modules that only these need.
        from .large import fit_large, large_warnings

        task.progress.begin(None)
        options = self._cell_options(task)
        mixed = fit_large(rows, numbers, options, random_state, task.progress)
        predictor, attributes = self._described(mixed, mixed.some.X)
        if mixed.cells is not None:
            attributes |= cell_attributes(mixed.cells)
        warnings = large_warnings(mixed, options, self.checkpoint)
        some = mixed.some
        attributes |= {
            "_background_": KnownRows.draw(some.X, some.classes, some.count, given[mixed.chosen]),
            "_training_table_": None,  # which would keep the user's table
            "rows_used_": rows_used(mixed, options.n_rows(len(rows)), self.weight_rows),
        }
        return Fitted(predictor, (), attributes=attributes, warnings=warnings)

    def _cell_options(self, task: FitTask) -> Any:
        """Return how cells are fitted."""
        from ...scale.checkpoint import TreeFolder
        from .large import time_is_up
        from .parts.cells import CellOptions

        return CellOptions(
            self.cell_size,
            self.n_trees,
            threads=task.threads,
            stops=time_is_up(self.max_time),
            store=None if self.checkpoint is None else TreeFolder(self.checkpoint),
        )

    def _described(self, mixed: LargerMixture, X: Array) -> tuple[Any, dict[str, Any]]:
        """Return a calibrated mixture as it predicts rows of the user, and its attributes."""
        rows = mixed.rows
        attributes = larger_attributes(mixed, X) | part_attributes(mixed, rows.layout)
        calibration = self._calibrated(mixed, None)
        predictor: Any = replace(
            mixed.predictor(), before=(self.columns_,), calibration=calibration
        )
        if calibration is not None:
            attributes["calibration_"] = summary(calibration, str(self.calibration), len(rows))
        if self.calibration == "halves":
            scores = class_scores(mixed.left_out, None)
            whole = ConformalHalf.of(predictor, scores, rows.classes, rows.count)
            attributes["_halves_"] = (whole, whole)
        return predictor, attributes

    def _settings(self, table: TrainingRows, threads: int) -> HingeSettings:
        """Return the settings of the machines."""
        memory = allowance(self.cache_size, threads)
        return HingeSettings(
            kernel=self.kernel,
            ensemble=self.ensemble,
            standardize=self.standardize,
            max_iter=self.max_iter,
            weight_rows=self.weight_rows,
            path_rows=self.path_rows,
            copy_weight=copy_weight(table.sample_weight),
            solver=SMO(tol=self.tol, memory=memory, budget=0.0),
            threads=threads,
        )

    def _calibrated(self, mixed: MixedParts, halves: Sequence[Half] | None) -> Calibration | None:
        """Return what turns decisions into log-odds; None where that is not asked for."""
        if self.calibration is None:
            return None
        classes, weight = mixed.rows.classes, mixed.rows.price
        crossed = None if halves is None else decisions_of_halves(halves, mixed.mixture)
        if not self.ensemble:
            return calibrate_margins(mixed.left_out, classes, weight, crossed)
        if crossed is None:
            k = mixed.left_out.shape[1]
            return Calibration(Sigmoid(np.ones(k), np.zeros(k)))
        return calibrate_log_odds(crossed, classes, weight)

    def _predictor(
        self,
        task: FitTask,
        mixed: SmallMixture,
        calibration: Calibration | None,
    ) -> Any:
        """Return the mixture, or a single machine, as it predicts rows of the user."""
        machines = mixed.machines
        flat, table = machines.flat_solutions, machines.table
        predictor = Predictor.of(
            task, flat, kernels=machines.flat_kernels, members=[table.first] * len(flat)
        )
        predictor = replace(
            predictor,
            n_members=len(machines.kernels),
            merged=len(table) < len(task.classes),
        )
        before = (self.columns_,)
        if not self.ensemble:
            return replace(predictor, before=before, calibration=calibration)
        mixture = mixed.predictor()
        hinge = replace(mixture.hinge, predictor=predictor)
        return replace(
            mixture, parts=(hinge, *mixture.parts[1:]), calibration=calibration, before=before
        )


def _n_tasks(settings: HingeSettings, n_rows: int, layout: ColumnLayout, halves: bool) -> int:
    """Return the number of tasks that a fit reports, at most."""
    names = kernel_names(settings.kernel, settings.ensemble, n_rows, layout)
    n_members = 3 if settings.ensemble else 1
    return len(names) * settings.max_iter + n_members * (len(FACTORS) + 1) + halves
