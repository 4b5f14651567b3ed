"""What a fit starts from, as the user's table is read, and what it ends with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from ..._sklearn import check_sample_weight, class_weights, naming_the_remedy, validate_fit
from ..._typing import Array, Codes, Index
from ...kernels import FunctionKernel, Kernel
from ...qp import Solution
from .kernel_spec import KernelSpec
from .multiclass import ONE_VS_REST, Multiclass, members_of
from .predictor import Predictor, SupportVectors, take
from .progress import FitProgress
from .warm_start import Pair, WarmStart, distinct_keys


class Targets:
    """What machines are fitted to, on the rows that count: those of positive sample weight."""

    rows: Index  # (n,), the rows of the given table that count
    sample_weight: Array  # (n,)
    classes: Index  # (n,), the number of each row's class, zeros where there are none
    first_is: int = 1  # the code that the first side of a machine's name has
    scheme: str = "none"  # how the machines decide between several classes
    Y: Any  # (n, n_machines), what each machine is fitted to
    per_row: ClassVar[tuple[str, ...]]  # the attributes with one entry per row

    @property
    def cost_factor(self) -> Array:
        """The factor of C for each row."""
        return self.sample_weight

    @property
    def n_machines(self) -> int:
        """The number of machines."""
        n_machines: int = self.Y.shape[1]
        return n_machines

    @property
    def machine_names(self) -> list[Pair]:
        """What tells machines apart across fits."""
        return [(j, "target") for j in range(self.n_machines)]

    @property
    def members(self) -> list[Index]:
        """The rows of each machine."""
        return [np.arange(len(self.rows))] * self.n_machines

    def in_order(self, order: Index) -> Self:
        """Return the same rows in another order."""
        own = {name: getattr(self, name)[order] for name in self.per_row}
        return replace(self, **own)  # type: ignore[type-var]


@dataclass(frozen=True)
class Numbers(Targets):
    """The numbers of the rows that count, one column for each machine."""

    per_row = "rows", "values", "sample_weight"
    rows: Index
    values: Array  # (n, n_machines)
    sample_weight: Array

    @classmethod
    def of(cls, y: Any, sample_weight: Any) -> Numbers:
        """Check numbers of shape (n,) or (n, n_machines) and weights."""
        try:
            values: Array = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise ValueError(f"y must be numbers; for classes fit an SVC: {error}") from error
        if values.size == 0:
            raise ValueError(f"y must have at least one target; got shape {values.shape}.")
        rows, weights = rows_that_count(sample_weight, len(values))
        values = values[:, None] if values.ndim == 1 else values
        return cls(rows, values if len(rows) == len(values) else values[rows], weights)

    @property
    def Y(self) -> Array:
        """The numbers."""
        return self.values

    @cached_property
    def classes(self) -> Index:  # type: ignore[override]
        """Zeros: the rows are of one class."""
        return np.zeros(len(self.rows), dtype=np.intp)


@dataclass(frozen=True)
class Labels(Targets):
    """The classes of the rows that count, and how several classes become machines of two."""

    per_row = "rows", "classes", "sample_weight"
    names: Array  # (n_classes,)
    rows: Index
    classes: Index
    sample_weight: Array
    class_weight: Array  # (n_classes,), the weights of the classes
    multiclass: Multiclass = ONE_VS_REST

    @classmethod
    def of(
        cls, y: Any, sample_weight: Any, class_weight: Any, multiclass: Multiclass = ONE_VS_REST
    ) -> Labels:
        """Check labels and weights; rows of weight zero count as absent."""
        # scikit-learn's check takes 0.2 ms, a sixth of a fit of 1000 rows.
        y = y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y, warn=True)
        rows, weights = rows_that_count(sample_weight, len(y))
        y = y if len(rows) == len(y) else y[rows]
        try:
            if y.dtype.kind not in "biuSU":  # those are classes whatever their values
                check_classification_targets(y)
            names, classes = _numbered(y)
        except TypeError as error:
            raise TypeError("y mixes labels of several types; make them all strings.") from error
        if len(names) < 2:
            raise ValueError(
                "The number of classes has to be greater than one; got "
                f"{len(names)} class among the samples of positive weight."
            )
        of_class = _class_weights(class_weight, names, y, weights)
        return cls(names, rows, classes, weights, of_class, multiclass)

    @cached_property
    def cost_factor(self) -> Array:
        """The factor of C for each row: sample weight times class weight."""
        return self.sample_weight * self.class_weight[self.classes]

    @cached_property
    def Y(self) -> Codes:
        """The code matrix: -1, +1, and 0 for rows outside the machine."""
        return self.multiclass.codes(self.classes, len(self.names))

    @property
    def n_machines(self) -> int:
        """The number of machines."""
        return self.multiclass.n_machines(len(self.names))

    @property
    def machine_names(self) -> list[Pair]:
        """The classes on the two sides of each machine."""
        return self.multiclass.machine_names(self.names)

    @property
    def first_is(self) -> int:  # type: ignore[override]
        """The code that the first class of a machine's name has."""
        return self.multiclass.sign_of_first(len(self.names))

    @property
    def scheme(self) -> str:  # type: ignore[override]
        """How the machines decide between several classes."""
        return self.multiclass.name

    @cached_property
    def members(self) -> list[Index]:
        """The rows of each machine."""
        if self.n_machines == 1:  # two classes: no code is zero
            return [np.arange(len(self.classes))]
        return members_of(self.Y)

    def by_class(self) -> Labels:
        """Return the rows class by class, where there are more than two classes.

        The rows of a one-vs-one machine then lie close together in memory.
        """
        if len(self.names) == 2:
            return self
        numbers = self.classes.astype(np.uint16) if len(self.names) < 2**16 else self.classes
        return self.in_order(np.argsort(numbers, kind="stable"))  # short numbers take a third


def _numbered(y: Array) -> tuple[Array, Index]:
    """Return the classes in order, and the number of each row's class, as `numpy.unique` does."""
    least = int(y.min()) if y.dtype.kind == "i" and len(y) else 0
    if y.dtype.kind != "i" or len(y) == 0 or int(y.max()) - least > len(y):
        names, classes = np.unique(y, return_inverse=True)
        return names, classes
    places = y.astype(np.intp)  # whole numbers close together need no sorting
    if least != 0:
        places -= least
    present = np.bincount(places).astype(bool)
    if present.all():
        return np.arange(least, least + len(present), dtype=y.dtype), places
    names = (np.flatnonzero(present) + least).astype(y.dtype)
    return names, (np.cumsum(present) - 1)[places]


def rows_that_count(sample_weight: Any, n_rows: int) -> tuple[Index, Array]:
    """Return the rows of positive weight, and their weights; negative ones count as zero."""
    if sample_weight is None:
        return np.arange(n_rows), np.ones(n_rows)
    weights = np.maximum(check_sample_weight(sample_weight, n_rows), 0)
    rows = np.flatnonzero(weights)
    if not len(rows):
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return rows, weights if len(rows) == n_rows else weights[rows]


def group_numbers(groups: Any, n_rows: int, rows: Index) -> Index:
    """Check the groups of all rows, and number the groups of ``rows`` from zero."""
    groups = column_or_1d(groups, warn=True)
    if len(groups) != n_rows:
        raise ValueError(f"groups must have {n_rows} entries, one per row; got {len(groups)}.")
    names, numbers = np.unique(groups[rows], return_inverse=True)
    if len(names) < 2:
        raise ValueError("groups must have at least two different values; got one.")
    out: Index = numbers
    return out


def _class_weights(class_weight: Any, names: Array, y: Array, sample_weight: Array) -> Array:
    """Return the weight of each class; "balanced" counts the sample weights."""
    if class_weight is None:
        return np.ones(len(names))
    try:
        weights = class_weights(class_weight, names, y, sample_weight)
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError("class_weight must give a number for each class.") from error
    if not (weights > 0).all():
        raise ValueError("class_weight must be positive for every class.")
    return weights


@dataclass(frozen=True)
class FitTask:
    """Everything that a method needs to fit its machines.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)
        The rows that count, class by class where there are more than two classes.
    targets : Targets
        What they are fitted to, and their weights: the `Labels` of a classifier, `Numbers` else.
    kernel : Kernel
        The kernel that the parameters describe.
    progress : FitProgress
        Where the fit reports to.
    threads : int
        Threads that the fit may use.
    given : tuple
        The checked arguments of ``fit``: X, y and sample_weight, in the user's order.
    feature_names : ndarray of shape (d,) or None, default=None
        The names of the columns.
    warm_start : bool, default=False
        Whether the next fit starts from the end of this one.
    last : object, default=None
        What the last fit returned as `Fitted.last`, where this one starts warm.
    """

    X: Any
    targets: Targets
    kernel: Kernel
    progress: FitProgress
    threads: int
    given: tuple[Any, Any, Any]
    feature_names: Any = None
    warm_start: bool = False
    last: Any = None

    @property
    def labels(self) -> Labels:
        """The classes of the rows, in a classifier."""
        assert isinstance(self.targets, Labels)
        return self.targets

    @property
    def classes(self) -> Index:
        """The number of each row's class; zeros where there are no classes."""
        return self.targets.classes

    @property
    def sample_weight(self) -> Array:
        """The sample weight of each row."""
        return self.targets.sample_weight

    @property
    def cost_factor(self) -> Array:
        """The factor of C for each row."""
        return self.targets.cost_factor

    @property
    def Y(self) -> Any:
        """What each machine is fitted to: the code matrix of a classifier, numbers else."""
        return self.targets.Y

    @property
    def n_machines(self) -> int:
        """The number of machines."""
        return self.targets.n_machines

    @property
    def members(self) -> list[Index]:
        """The rows of each machine."""
        return self.targets.members

    def warm(self) -> WarmStart:
        """Find where the machines start, by the contents of the rows.

        Returns
        -------
        warm : WarmStart
            The starts, and the memory of where the machines end.
        """
        keys = None
        if self.warm_start and isinstance(self.kernel, FunctionKernel):
            keys = np.arange(self.X.shape[0], dtype=np.uint64)
        elif self.warm_start:
            keys = distinct_keys(self.X)
        names, sign = self.targets.machine_names, self.targets.first_is
        return WarmStart(keys, self.Y, names, sign, self.last)


@dataclass(frozen=True)
class Fitted:
    """Everything that a method returns.

    Parameters
    ----------
    predictor : Predictor
        The machines, as they predict.
    solutions : sequence of Solution
        The solved problems, whose certificates are reported.
    vectors : SupportVectors, default=None
        The support vectors to report; None for those of the predictor.
    attributes : mapping, default={}
        Fitted attributes of this method; they replace the ones that all classifiers have.
    warnings : sequence of tuple, default=None
        Texts and categories of warnings; None for the usual one about machines that did not
        converge.
    last : object, default=None
        Where the next fit starts, if it starts warm.
    left_out : callable, default=None
        Returns the decision values of rows by machines without them, as `LeftOutDecisions`. The
        base class makes probabilities of them, where the user asks for any. None for a method that
        calibrates its decisions itself, or cannot.
    """

    predictor: Predictor
    solutions: Sequence[Solution]
    vectors: SupportVectors | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[tuple[str, type[Warning]]] | None = None
    last: Any = None
    left_out: Callable[[], Any] | None = None


@dataclass(frozen=True)
class TableReader:
    """Reads tables of numbers, or whatever the kernel of a user takes."""

    model: Any  # the estimator, on which the number and the names of the columns are recorded
    sparse: bool = False  # whether sparse matrices are accepted

    def check(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Check a training table and its targets; record the number and names of the columns."""
        spec = KernelSpec(self.model.kernel)
        if spec.is_function:  # a user's kernel may be of texts or graphs: X stays as it is
            check_consistent_length(X, y)
            X = X if hasattr(X, "shape") else np.asarray(X)
        else:
            X, y = validate_fit(self.model, X, y, **self._checks(), **self.model._target_checks)
            if spec.is_precomputed and X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x"
                    f"{X.shape[1]} matrix."
                )
        if y is None and not get_tags(self.model).target_tags.required:
            y = np.ones(X.shape[0])  # all rows are of one class
        return X, y

    def new_rows(self, X: Any) -> Any:
        """Check rows to predict, and bring them into the form of the training rows."""
        is_function = KernelSpec(self.model.kernel).is_function
        if is_function:
            X = X if hasattr(X, "shape") else np.asarray(X)
        else:
            with naming_the_remedy():
                X = validate_data(self.model, X, reset=False, **self._checks())
        trained_sparse = sp.issparse(self.model.support_vectors_)
        if sp.issparse(X) and not trained_sparse and not is_function:
            raise ValueError(
                f"cannot use sparse input in {type(self.model).__name__!r} trained on dense data; "
                "convert it with X.toarray()"
            )
        return sp.csr_array(X) if trained_sparse and not sp.issparse(X) else X

    def take(self, X: Any, rows: Index) -> Any:
        """Return some rows of a table, and their columns where X holds kernel values."""
        if len(rows) == X.shape[0] and (rows[1:] > rows[:-1]).all():
            return X
        is_precomputed = KernelSpec(self.model.kernel).is_precomputed
        return X[np.ix_(rows, rows)] if is_precomputed else take(X, rows)

    def _checks(self) -> dict[str, Any]:
        """Return the arguments of scikit-learn's validation."""
        return {
            "dtype": np.float64,
            "order": "C",
            "accept_sparse": "csr" if self.sparse else False,
            "accept_large_sparse": False,
            "ensure_all_finite": True,
        }
