"""A fit of RelevanceSVC whose rows stay on a cluster; the client has samples of them.

    pass 1    classes and their weights; the rows from which the encoding is learned
    pass 2    levels of categories; the rows from which everything but the cells is learned
    client    weights, joint part, width and cost of the cells
    pass 3    the rows on which the first levels of the trees are grown
    pass 4    per tree: the rows of each partition go to their regions, whose cells are fitted

Samples are picked by the numbers of the rows in the whole table, so that the partitions do not
change the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..scale.sampling import sample_rows
from ..svm.base.task import FitTask, Fitted, Labels
from ..svm.relevance.column_options import ColumnOptions
from ..svm.relevance.columns import CategoryCodes, ColumnEncoding
from ..svm.relevance.estimator import RelevanceSVC
from ..svm.relevance.large import time_is_up
from ..svm.relevance.large_table import ENCODING_ROWS, ENCODING_SEED, EncodedTable
from ..svm.relevance.limits import SWITCH
from ..svm.relevance.parts.cell_rows import sample_share
from ..svm.relevance.parts.cells import CellOptions
from ..svm.relevance.reader import ColumnReader
from .cluster import Cluster
from .partitions import Rows
from .tasks import Tally, draw, levels_and_draw, tally_and_draw
from .trees import TreesOnCluster, pull_enough


class SampleReader(ColumnReader):
    """Reads a sample whose labels and encoding are known."""

    def training_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Labels]:
        """Return the sample, encoded as the rows of the whole table are."""
        labels, encoding, *_ = self.model._known
        self.model.columns_ = encoding
        return EncodedTable(X, np.arange(len(labels.rows)), encoding), labels


class SampleFit(RelevanceSVC):
    """Fits a RelevanceSVC to a sample, and its cells to rows that are elsewhere.

    Its rows are those that `RelevanceSVC` would pick from the whole table.
    """

    _known: tuple[Labels, ColumnEncoding, TreesOnCluster, Any]

    def _reader(self) -> SampleReader:
        return SampleReader(self)

    def _fit_machines(self, task: FitTask) -> Fitted:
        progress, groups = self._known[2].cluster.progress, self._known[3]
        return super()._fit_machines(replace(task, progress=progress, groups=groups))

    def _cell_options(self, task: FitTask) -> CellOptions:
        trees = self._known[2]
        return replace(super()._cell_options(task), elsewhere=trees, stops=trees.stops)


def fit_on_cluster(model: RelevanceSVC, cluster: Cluster, region_rows: int) -> None:
    """Fit a RelevanceSVC to the partitions of a cluster.

    Parameters
    ----------
    model : RelevanceSVC
        The model, whose attributes are set; its ``random_state`` is an integer.
    cluster : Cluster
        The partitions.
    region_rows : int
        The largest number of rows of a region, about.
    """
    stops = time_is_up(model.max_time)
    tally, few = _first_pass(cluster)
    names = _column_names(few.X)
    shape = (sum(each.n_rows for each in cluster.partitions), len(names))
    if shape[0] <= SWITCH:  # the sample has them all
        model.fit(few.X, few.y, few.weight, few.groups)
        model.shape_fit_ = shape
        return
    encoding = ColumnEncoding.of(few.X, names, few.weight, ColumnOptions.of(model))
    seed = int(np.random.RandomState(model.random_state).randint(2**31 - 1)) + model.n_trees
    layout = encoding.layout
    share = sample_share(tally.n_rows, len(layout.source), has_categories=layout.has_categories)
    encoding, some = _second_pass(cluster, encoding, tally, seed, share)
    class_weight = _class_weights(model.class_weight, tally)
    classes = np.searchsorted(tally.names, some.y)
    labels = Labels(tally.names, some.numbers, classes, some.weight, class_weight)
    rows = tally.n_rows, encoding, tally.names, class_weight, tally.groups
    trees = TreesOnCluster(cluster, *rows, region_rows, stops)
    fitted = SampleFit(**model.get_params(deep=False))
    # The groups of the sample are numbered among those of all rows.
    groups = None if tally.groups is None else np.searchsorted(tally.groups, some.groups)
    fitted._known = labels, encoding, trees, groups
    fitted._fit(some.X, some.y, None)
    del fitted._known
    model.__dict__ = fitted.__dict__
    model.shape_fit_ = shape


def _first_pass(cluster: Cluster) -> tuple[Tally, Rows]:
    """Return the sums of all partitions, and the rows of the least keys, by ascending number."""

    def pull(share: float) -> list[tuple[Tally, Rows]]:
        return cluster.over_partitions(
            "classes", partial(tally_and_draw, seed=ENCODING_SEED, share=share)
        )

    def is_enough(found: list[tuple[Tally, Rows]]) -> bool:
        n_rows = sum(tally.n_rows for tally, _ in found)
        return sum(len(rows.y) for _, rows in found) >= min(n_rows, ENCODING_ROWS)

    n_given = sum(each.n_rows for each in cluster.partitions)
    found = pull_enough(pull, is_enough, min(ENCODING_ROWS, n_given), n_given)
    tally = Tally.sum([tally for tally, _ in found])
    if len(tally.names) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; got "
            f"{len(tally.names)} class among the samples of positive weight."
        )
    if tally.groups is not None and len(tally.groups) < 2:
        raise ValueError("groups must have at least two different values; got one.")
    rows = Rows.joined([rows for _, rows in found])
    return tally, rows.part(np.sort(sample_rows(rows.numbers, ENCODING_ROWS, ENCODING_SEED)))


def _second_pass(
    cluster: Cluster, encoding: ColumnEncoding, tally: Tally, seed: int, share: float
) -> tuple[ColumnEncoding, Rows]:
    """Return the encoding with the levels of all rows, and a sample of the rows."""
    if tally.n_rows <= ENCODING_ROWS or not encoding.categories:
        found = cluster.over_partitions("sample", partial(draw, seed=seed, share=share))
        return encoding, Rows.joined(found)
    both = cluster.over_partitions(
        "sample", partial(levels_and_draw, seed=seed, share=share), encoding
    )
    scale = min(1.0, float(tally.weights.sum()) / tally.n_rows)
    learned = []
    for place, own in enumerate(encoding.categories):
        total: dict[Any, float] = {}
        for levels, _ in both:
            for level, weight in levels[place].items():
                total[level] = total.get(level, 0.0) + weight / scale
        learned.append(CategoryCodes.of_counts(own.column, total))
    return replace(encoding, categories=tuple(learned)), Rows.joined([rows for _, rows in both])


def _class_weights(class_weight: Any, tally: Tally) -> Any:
    """Return the weight of each class, as `Labels` has it, from sums."""
    one_each = Labels.of(tally.names, tally.weights, class_weight)
    return one_each.class_weight


def _column_names(X: Any) -> Sequence[str]:
    columns = getattr(X, "columns", None)
    if columns is None:
        return [f"x{j}" for j in range(X.shape[1])]
    return [str(name) for name in columns]
