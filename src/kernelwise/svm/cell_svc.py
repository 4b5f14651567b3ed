"""Support vector machines in the cells of random trees: linear in the rows, at given parameters.

Random trees split the rows, in the metric of the kernel, into cells. Each cell has exact machines
of its own rows, one per class against the rest, and the decision is the mean over the trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._parameters import Interval, Options
from .._records import dataclass
from .._typing import Array, Index
from ..kernels import Kernel
from ..kernels.pairwise import PairwiseKernel
from ..scale.cells import CellSettings, HeldOut
from ..scale.forest import CellForest, CellTable, FittedTree, fit_tree, forest_of
from ..scale.sampling import uniform
from .base.calibration import Calibration
from .base.estimator import BaseLearnedSVC
from .base.left_out import LeftOutDecisions
from .base.predictor import SupportVectors
from .base.reading import TableReader
from .base.steps import RowStep
from .base.task import FitTask, Fitted
from .base.warm_start import content_keys

_KERNELS = {"rbf", "laplacian", "matern32", "matern52"}
_FOLDS = 5  # folds of the rows that are left out for the calibration
_LEFT_OUT_ROWS = 10_000  # rows that are left out for the calibration, about


@dataclass(frozen=True)
class CellPredictor:
    """Trees of cells in the form in which they predict.

    Parameters
    ----------
    forest : CellForest
        The trees.
    support : ndarray of shape (n_support,)
        The number of each row that the forest has stored.
    calibration : Calibration or None, default=None
        Turns decision values into probabilities.
    multiclass : {"ovr"}, default="ovr"
        How decisions become classes.
    """

    forest: CellForest
    support: Index
    calibration: Calibration | None = None
    multiclass: str = "ovr"
    before: ClassVar[tuple[RowStep, ...]] = ()
    gives_scores: ClassVar[bool] = False  # decision values are not calibrated yet

    def decision_values(self, X: Any, threads: int = 1) -> Array:
        """Return the mean decision of the trees, one column per machine."""
        return self.forest.decision_values(X, threads=threads)

    @property
    def n_members(self) -> int:
        """The number of machines that decide together; a cell knows only its own rows."""
        return max(2, len(self.forest.trees))

    @property
    def vectors(self) -> SupportVectors:
        """The rows that are support vectors of any cell, without coefficients."""
        rows = self.forest.stored
        return SupportVectors(self.support, rows, np.empty((len(rows), 0)))

    @property
    def intercept(self) -> Array:
        """No intercepts: each cell has its own."""
        return np.empty(0)

    def of_rows(self, rows: Index, multiclass: str) -> CellPredictor:
        """Renumber the support vectors as in the table that the user gave."""
        return replace(self, support=rows[self.support], multiclass=multiclass)


class CellSVC(BaseLearnedSVC):
    """Support vector classification of many rows, at a given kernel and C.

    Random trees split the rows into cells of at most ``cell_size`` rows. Each cell is an exact
    support vector machine of its own, and the mean over the trees decides. The time of a fit is
    proportional to the number of rows, where `SVC` takes about their square.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a margin violation, positive. The sample and class weights multiply it.
    kernel : {"rbf", "laplacian", "matern32", "matern52"} or Kernel, default="rbf"
        The kernel: a name, or an object of `kernelwise.kernels` that is a function of one weighted
        sum over the features.
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        The inverse width, as in `SVC`.
    feature_weights : array-like of shape (n_features,), default=None
        Non-negative weights of the features in a named kernel, as in `SVC`.
    cell_size : int, default=2000
        Most rows of a cell. Tables of no more rows have one cell: the exact machine.
    n_trees : int, default=3
        The number of trees whose decisions are averaged.
    tol : float, default=1e-3
        The tolerance of the optimality conditions, in units of the margin.
    class_weight : dict or "balanced", default=None
        Weights of the classes; they multiply C.
    calibration : {"loo", "halves"} or None, default=None
        How `predict_proba` is made. "loo": from decisions on rows that are left out of their
        cells, a fifth of them at a time. "halves": the same, made less extreme where two halves
        of the rows, each fitted anew, say so. None: no probabilities.
    n_jobs : int, default=None
        Threads over cells; None is one. They do not change the result.
    verbose : bool or "auto", default=False
        Whether to print one line per tree; "auto" shows on stderr how far the fit is, once it has
        taken two seconds.
    random_state : int, RandomState instance or None, default=0
        Picks the trees.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_cells_ : ndarray of shape (n_trees,)
        The number of cells of each tree.
    support_ : ndarray of shape (n_support,)
        The training rows that are support vectors of any cell.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Those rows.
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.
    fit_status_ : int
        0 when the machines of every cell converged, else 1.
    kernel_ : Kernel
        The kernel with all its parameters resolved.
    class_weight_ : ndarray of shape (n_classes,)
        The weights of the classes.
    calibration_ : Bunch
        The calibration of the probabilities, unless ``calibration=None``, as in `SVC`.
    shape_fit_ : tuple of int
        The shape of the training rows.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, where X has such names.

    See Also
    --------
    SVC : One exact machine, one-vs-one for several classes.
    RelevanceSVC : Learns kernel and C, and uses cells for large tables.

    Notes
    -----
    Several classes are one-vs-rest. Where more than ``cell_size`` rows cannot be told apart, their
    cell has ``cell_size`` of them, picked at random.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernelwise import CellSVC
    >>> X, y = make_moons(10_000, noise=0.2, random_state=0)
    >>> model = CellSVC(C=10.0, gamma=2.0, cell_size=500).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0, None, closed="right")],
        "kernel": [Options(_KERNELS), PairwiseKernel],
        "gamma": [
            Options({"scale", "auto"}),
            Interval(Real, 0, None, closed="left"),
            "array-like",
        ],
        "feature_weights": ["array-like", None],
        "cell_size": [Interval(Integral, 10, None, closed="left")],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [Options({"balanced"}), dict, None],
        "calibration": [Options({"loo", "halves"}), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose", Options({"auto"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel = "rbf",
        gamma: Any = "scale",
        feature_weights: Any = None,
        cell_size: int = 2000,
        n_trees: int = 3,
        tol: float = 1e-3,
        class_weight: Any = None,
        calibration: str | None = None,
        n_jobs: int | None = None,
        verbose: bool | str = False,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.feature_weights = feature_weights
        self.cell_size = cell_size
        self.n_trees = n_trees
        self.tol = tol
        self.class_weight = class_weight
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _reader(self) -> TableReader:
        return TableReader(self)

    def _fit_machines(self, task: FitTask) -> Fitted:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        numbers = task.labels.rows
        table = CellTable(task.X, task.Y.astype(np.float64), task.cost_factor, numbers)
        held_out = None
        if self.calibration is not None:
            # By contents, so that copies of a row are left out with it; no tree has this seed.
            place = uniform(content_keys(task.X), seed + self.n_trees)
            fold = (_FOLDS * place).astype(np.intp)
            fold[place >= _LEFT_OUT_ROWS / len(numbers)] = -1
            held_out = HeldOut(fold, np.ones(len(fold)))
        trees = self._fit_trees(task, table, held_out, seed)
        forest, left_out = forest_of(table, trees, threads=task.threads, held_out=held_out)
        support = np.unique(np.concatenate([tree.cells.rows for tree in trees]))
        n_short = sum(int(np.count_nonzero(~tree.converged)) for tree in forest.trees)
        predictor: Any = CellPredictor(forest, support)
        known = None
        if held_out is not None and left_out is not None:
            known = partial(LeftOutDecisions, held_out.rows, left_out)
        return Fitted(
            predictor,
            (),
            attributes={
                "n_cells_": np.array([tree.tree.n_leaves for tree in forest.trees]),
                "fit_status_": int(n_short > 0),
                "_training_table_": None,
            },
            warnings=_warnings(n_short, forest),
            left_out=known,
        )

    def _fit_trees(
        self, task: FitTask, table: CellTable, held_out: HeldOut | None, seed: int
    ) -> list[FittedTree]:
        """Fit one tree after the other; one is enough where it has a single cell."""
        n_trees = self.n_trees if len(table.price) > self.cell_size else 1
        settings = CellSettings(task.kernel, self.C, loss="hinge", tol=self.tol)
        task.progress.begin(n_trees)
        trees = []
        for number in range(n_trees):
            with task.progress.task(f"tree {number + 1}"):
                fitted = fit_tree(
                    table,
                    settings,
                    seed + number,
                    self.cell_size,
                    threads=task.threads,
                    held_out=held_out,
                )
            trees.append(fitted)
            n_cells, n_rows = len(fitted.cells.intercepts), len(fitted.cells.rows)
            task.progress.line(f"tree {number + 1}: {n_cells} cells, {n_rows} support vectors")
        return trees

    def to_sklearn(self) -> Any:
        """Refuse the export: scikit-learn has no object for cells.

        Returns
        -------
        model : Pipeline
            Never; a ``ValueError`` says what to do.
        """
        raise ValueError(
            "scikit-learn has no object for trees of cells; save the model to a file, or export an "
            "SVC of fewer rows."
        )


def _warnings(n_short: int, forest: CellForest) -> Sequence[tuple[str, type[Warning]]]:
    """Return the warning about cells that did not converge, where there are any."""
    if not n_short:
        return ()
    n_cells = sum(tree.tree.n_leaves for tree in forest.trees)
    text = (
        f"{n_short} of {n_cells} cells did not converge. The model is usable but not optimal. "
        "Scale the columns, for instance with StandardScaler, lower C, or raise tol."
    )
    return ((text, ConvergenceWarning),)
