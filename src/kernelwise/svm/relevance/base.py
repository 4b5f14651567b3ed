"""What RelevanceSVC and RelevanceSVR share: tables in, fitted attributes, new rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._parameters import Interval, Options
from ..._sklearn import CallbackSupportMixin
from ..._threads import n_threads, run
from ..._typing import Array, Index
from ..base.notebook import WeightsReprMixin
from ..base.progress import FitProgress
from .columns.encoding import ColumnEncoding
from .columns.options import ColumnOptions
from .columns.table_input import check_table, column_names
from .fitting import Job, importances
from .path import PathResult
from .rows import ModelColumns, Rows
from .settings import Settings
from .table import Table, Whole

_BLOCK = 65_536  # rows that are decided at a time


class BaseRelevance(WeightsReprMixin, CallbackSupportMixin, BaseEstimator):
    """Base of the two estimators: parameters, columns, and the fit of several members."""

    _settings: ClassVar[Settings] = Settings()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categorical_features": [Options({"from_dtype"}), "array-like", None],
        "columns": [Options({"auto", "as is"})],
        "feature_groups": ["array-like", None],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "effort": [Interval(Integral, 1, None, closed="left")],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose", Options({"auto"})],
        "random_state": ["random_state"],
    }
    categorical_features: Any
    columns: str
    feature_groups: Any
    max_features: int | None
    effort: int
    max_time: float | None
    n_jobs: int | None
    random_state: Any
    columns_: ColumnEncoding
    n_features_in_: int

    # --- Fit ------------------------------------------------------------------------------

    def _read(self, table: Table, some: Index, weight: Array) -> Rows:
        """Learn how the columns of a table are read, from some of its rows; return these."""
        few = table.take(some)
        options = ColumnOptions.of(self)
        encoding = ColumnEncoding.of(few, column_names(self), weight, options)
        if encoding.categories and len(some) < np.count_nonzero(table.weight):
            encoding = encoding.with_categories(table.codes(encoding))
        E = encoding.apply(few)
        return ModelColumns.of(encoding, E, weight, self._settings).rows(E, weight)

    def _job(
        self,
        rows: Rows,
        groups: Index | None,
        progress: FitProgress,
        seed: Any,
        whole: Whole | None,
    ) -> Job:
        def tell(text: str) -> None:
            progress.line(text)
            with progress.task(text):
                pass

        threads = n_threads(self.n_jobs)
        rng = np.random.default_rng(seed)
        return Job(rows, groups, self.max_features, rng, self._settings, threads, tell, whole)

    def _members(self, fit: Callable[[Any], Any]) -> list[Any]:
        """Fit as many members as ``effort`` asks for and ``max_time`` allows, at least one."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        start, found = perf_counter(), []
        for child in np.random.SeedSequence(int(seed)).spawn(self.effort):
            found.append(fit(child))
            spent = perf_counter() - start
            if self.max_time is not None and spent * (1 + 1 / len(found)) > self.max_time:
                break
        return found

    # --- Predict --------------------------------------------------------------------------

    def _encoded(self, X: Any) -> Array:
        """Check new rows, and encode the columns that the model reads."""
        check_is_fitted(self)
        X = check_table(self, X, self.columns_.names)
        return self.columns_.apply(X)

    def _by_blocks(self, E: Array, decide: Callable[[Array], Array]) -> Array:
        """Decide encoded rows block by block."""
        starts = range(0, max(len(E), 1), _BLOCK)
        blocks = run(lambda a: decide(E[a : a + _BLOCK]), starts, n_threads(self.n_jobs))
        return np.concatenate(blocks)

    # --- scikit-learn's interface ---------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def path_table(paths: Sequence[PathResult]) -> dict[str, Array]:
    """Return the stages of all members as columns of a table."""
    return {
        "member": np.repeat(np.arange(len(paths)), [len(path.sizes) for path in paths]),
        "n_features": np.concatenate([path.sizes for path in paths]),
        "loss": np.concatenate([path.losses for path in paths]),
        "weight": np.concatenate([path.weights for path in paths]),
    }


def column_attributes(columns: ModelColumns, fits: Sequence[Any], sources: Index) -> dict[str, Any]:
    """Return the attributes that describe the columns.

    ``sources`` are the user's columns that any member reads.
    """
    shares = np.mean([importances(fit.path, columns) for fit in fits], axis=0)
    selected = np.zeros(columns.encoding.layout.n_source, dtype=bool)
    selected[sources] = True
    return {
        "feature_importances_": shares,
        "selected_features_": selected,
        "path_": path_table([fit.path for fit in fits]),
    }
