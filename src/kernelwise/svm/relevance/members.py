"""The members of a RelevanceSVC: kernels whose feature weights come from different sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._records import dataclass
from ..._typing import Array, Index
from ...discrimination import log_relevance
from ...discrimination.energy_distance import energy_ratios
from ...kernels import RBF, Laplacian
from ...kernels.family import typical_gamma
from ...kernels.pairwise import PairwiseKernel
from ...qp import SMO
from ..base.column_scaling import Scaling, with_mean_one
from ..base.progress import FitProgress
from ..base.recipes import CRITERIA
from ..base.weight_learning import LearnedWeights, WeightProblem, learn_weights
from ..paths.rows import TrainingRows
from .columns import ColumnLayout

KERNELS: dict[str, type[PairwiseKernel]] = {"laplacian": Laplacian, "rbf": RBF}
OTHER_KERNEL = {"laplacian": "rbf", "rbf": "laplacian"}
FACTORS = (0.3, 1.0, 3.0)  # multiples of gamma, wide kernels first, so most others are skipped
COSTS = (0.1, 1.0, 10.0, 100.0)
TINY = 80  # distinct rows up to which the third member has equal weights, not learned ones
_LEAST_EXCESS = 0.3  # excess of the energy distance over chance below which features are alike
_STEPS_PER_ROW, _FEWEST_STEPS = 1000, 100_000  # a machine that takes more is left where it is


@dataclass(frozen=True)
class UsedColumns:
    """The columns that vary, on one scale: what they are, and where they come from.

    Parameters
    ----------
    scaling : Scaling
        Which columns are used, and their scale.
    layout : ColumnLayout
        What all encoded columns are.
    """

    scaling: Scaling
    layout: ColumnLayout

    @classmethod
    def of(cls, rows: TrainingRows, layout: ColumnLayout, standardize: bool) -> UsedColumns:
        """Measure the encoded columns of training rows."""
        scaling = Scaling.of(rows.X, rows.sample_weight, standardize, layout.is_category)
        return cls(scaling, layout)

    @cached_property
    def groups(self) -> Index | None:
        """The group of each used column; None where no columns share a weight."""
        own = self.layout.group[self.scaling.columns]
        return own if len(np.unique(own)) < len(own) else None

    def kernel(self, name: str, weights: Array) -> PairwiseKernel:
        """Return a kernel of the used columns."""
        category = self.scaling.is_category
        if category.any():
            return Laplacian(weights=weights, categorical=category)
        return KERNELS[name](weights=weights)

    def comparable(self, kernel: Any, weights: Array | None = None) -> Array:
        """Return what each of the user's columns adds to a distance, with mean one over those used.

        What comes from one column counts together: its values and the marks of its gaps. Weights in
        place of the kernel's may have several rows.
        """
        sums = self.layout.to_source(self.scaling.comparable(kernel, weights))
        return with_mean_one(sums, len(np.unique(self.layout.source[self.scaling.columns])))


def kernel_names(kernel: str, ensemble: bool, n_rows: int, layout: ColumnLayout) -> list[str]:
    """Return the names of the kernels whose weights are learned from so many distinct rows.

    Categories need the Laplacian.
    """
    if not layout.has_categories:
        return [kernel, OTHER_KERNEL[kernel]] if ensemble and n_rows > TINY else [kernel]
    if kernel != "laplacian":
        raise ValueError(
            f'kernel="{kernel}" reads numbers only, and X has categories; use '
            'kernel="laplacian", or categorical_features=None for codes that are numbers.'
        )
    return [kernel]


def learn_kernels(
    names: Sequence[str],
    rows: TrainingRows,
    columns: UsedColumns,
    solver: SMO,
    *,
    max_evaluations: int,
    random_state: Any,
    last: Mapping[str, Array] | None = None,
    threads: int = 1,
    progress: FitProgress | None = None,
) -> dict[str, LearnedWeights]:
    """Minimise log(R^2 ||w||^2) over weights and C, from equal weights, for each kernel.

    Class weights play no part: they make the bound that of the few rows that they favour.

    Parameters
    ----------
    names : sequence of str
        The names of the kernels.
    rows : TrainingRows
        The rows, on one scale.
    columns : UsedColumns
        What their columns are.
    solver : SMO
        The solver of the machines and of the ball.
    max_evaluations : int
        Most evaluations of the bound for each kernel.
    random_state : RandomState
        Picks rows for a first width.
    last : mapping of str to ndarray, default=None
        Where the learning of a kernel starts, in place of equal weights.
    threads : int, default=1
        Threads over the machines.
    progress : FitProgress, default=None
        Told of each evaluation; it may end the learning.

    Returns
    -------
    learned : dict of LearnedWeights
        The kernels, by name; weights are on scaled columns, with gamma in them.
    """
    steps = max(_FEWEST_STEPS, _STEPS_PER_ROW * len(rows))
    solver, recipe = replace(solver, max_iter=steps, budget=0.0), CRITERIA["radius_margin"]
    learned = {}
    for name in names:
        problem = WeightProblem.of_scaled(
            equal_weights(name, rows.X, random_state, columns),
            rows.X,
            rows.Y,
            rows.sample_weight,
            recipe=recipe,
            start=columns.scaling.start,
            groups=columns.groups,
        )
        start = (last or {}).get(name)
        fits = start is not None and len(start) == problem.n_parameters  # groups may have changed
        learned[name] = learn_weights(
            problem,
            solver,
            start=start if fits else None,
            max_evaluations=max_evaluations,
            threads=threads,
            name=f"{name}: step",
            progress=progress,
        )
    return learned


def weight_sources(
    learned: Mapping[str, LearnedWeights], rows: TrainingRows, columns: UsedColumns, ensemble: bool
) -> dict[str, PairwiseKernel]:
    """Return the kernels of all sources of weights, before anything is shrunk.

    The first kernel that was learned comes first; in an ensemble the kernel with weights by the
    energy distance follows, and the other one that was learned, where there is one.
    """
    first, *others = learned.values()
    sources = {"shrunk": first.kernel}
    if ensemble:
        equal = first.problem.kernel
        ratio = energy_ratio(rows.X, rows.classes, rows.sample_weight, equal.categorical)
        sources["energy"] = energy_weights(equal, ratio, columns.groups)
    if others:
        sources["learned"] = others[0].kernel
    return sources


def members_of_sources(
    sources: Mapping[str, PairwiseKernel],
    learned: Mapping[str, LearnedWeights],
    rows: TrainingRows,
    columns: UsedColumns,
    random_state: Any,
) -> dict[str, PairwiseKernel]:
    """Return the kernels of the members: the first source is shrunk half-way to equal weights.

    An ensemble without a second learned kernel gets that kernel with equal weights, unless there
    are categories, which it cannot read.
    """
    name, first = next(iter(learned.items()))
    members = {**sources, "shrunk": geometric_mean(first.problem.kernel, sources["shrunk"])}
    is_complete = "energy" not in sources or "learned" in sources
    if not is_complete and not columns.layout.has_categories:
        members["equal"] = equal_weights(OTHER_KERNEL[name], rows.X, random_state)
    return members


def with_weights(kernel: PairwiseKernel, weights: Array) -> PairwiseKernel:
    """Return the kernel with other weights."""
    out: Any = kernel.with_params(weights=weights)
    return out


def equal_weights(
    name: str, X: Array, random_state: Any, columns: UsedColumns | None = None
) -> PairwiseKernel:
    """Return the kernel at which typical rows are one unit apart; gamma is in the weights."""
    start = np.ones(X.shape[1]) if columns is None else columns.scaling.start
    kernel = KERNELS[name](weights=start) if columns is None else columns.kernel(name, start)
    gamma = typical_gamma(kernel, X, random_state)
    return with_weights(kernel, gamma * start)


def geometric_mean(first: PairwiseKernel, second: PairwiseKernel) -> PairwiseKernel:
    """Return the kernel half-way between two: the geometric mean of their weights."""
    return with_weights(first, np.sqrt(np.asarray(first.weights) * np.asarray(second.weights)))


def energy_weights(
    equal: PairwiseKernel, ratio: Array, group: Index | None = None
) -> PairwiseKernel:
    """Raise the weights of features along which the classes are far apart; groups have one."""
    power = 0.5 if isinstance(equal, Laplacian) else 1.0  # reads differences, or their squares
    factors = energy_relevance(ratio, _LEAST_EXCESS, group) ** power
    return with_weights(equal, np.asarray(equal.weights) * factors)


def energy_ratio(X: Array, classes: Index, count: Array, categorical: Any = None) -> Array:
    """Return the energy distance of the classes along each feature, relative to chance."""
    count = count * max(1.0, 2 / count.sum())  # two rows at least
    if not np.bincount(classes).all():  # some rows may lack a class
        classes = np.unique(classes, return_inverse=True)[1]
    category = np.zeros(X.shape[1], dtype=bool) if categorical is None else categorical
    return energy_ratios(np.asarray(X, dtype=np.float64), classes, count, category)


def energy_relevance(ratio: Array, least: float, group: Index | None = None) -> Array:
    """Return the relevance of each feature, of mean one.

    It is in proportion to the energy distance of the classes along the feature minus its level by
    chance, or to the mean of that over a group of features.

    Parameters
    ----------
    ratio : ndarray of shape (d,)
        The energy distance along each feature, relative to chance.
    least : float
        The least excess over chance.
    group : ndarray of shape (d,), default=None
        The group of each feature; None where none belong together.

    Returns
    -------
    relevance : ndarray of shape (d,)
        The relevance.
    """
    logs = log_relevance(ratio if group is None else group_means(ratio, group), least)
    return np.exp(logs)


def group_means(values: Array, group: Index) -> Array:
    """Return for each feature the mean over the features of its group."""
    place = np.unique(group, return_inverse=True)[1]
    means: Array = (np.bincount(place, weights=values) / np.bincount(place))[place]
    return means


def shares_of(sources: Mapping[str, PairwiseKernel], columns: UsedColumns) -> Array:
    """Return how much each of the user's columns adds to a distance; an equal share is one."""
    shares: Array = np.mean([columns.comparable(kernel) for kernel in sources.values()], axis=0)
    return shares


def has_equal_share(shares: Array) -> Any:
    """Return which features have at least an equal share, up to rounding."""
    return shares > 1 - 1e-9


def unscaled(kernel: PairwiseKernel, scaling: Scaling) -> PairwiseKernel:
    """Return the kernel for columns as they come, its comparable weights of mean one."""
    size = float(np.mean(scaling.in_terms(kernel))) or 1.0
    even = with_weights(kernel, np.asarray(kernel.weights) / size)
    out: Any = scaling.unscaled(even.with_params(gamma=kernel.gamma * size))
    return out
