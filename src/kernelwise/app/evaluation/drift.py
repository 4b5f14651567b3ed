"""Whether the columns of a table are distributed as in the training table of a model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._typing import Array
from ..tabular.encoder import table_encoder
from ..tabular.errors import TableError
from ..tabular.profile import LevelProfile, NumberProfile, as_levels, column_profile
from .results import holm

_MIN_EXPECTED = 5.0  # expected rows of a level, below which levels are counted together


@dataclass(frozen=True)
class Drift:
    """How much the distribution of a column differs from that in training.

    Parameters
    ----------
    column : str
        The column.
    test : str
        "Kolmogorov-Smirnov" for numbers and dates, "chi-square" for words.
    distance : float
        The largest difference of the two distribution functions, or half of the sum of the
        differences of the shares of words: 0 is no difference, 1 the largest.
    missing, missing_before : float
        Share of missing values, in this table and in training.
    p_value : float
        Chance of such a difference without any drift. Numbers with gaps have two tests, on their
        values and on the gaps; the smaller p-value is doubled. NaN where nothing can be tested.
    adjusted : float
        The p-value, corrected for the number of columns by Holm (1979).
    """

    column: str
    test: str
    distance: float
    missing: float
    missing_before: float
    p_value: float
    adjusted: float = float("nan")


def drift_from_training(model: Any, frame: Any) -> list[Drift]:
    """Test each column of a table for drift against the training table of a model.

    Parameters
    ----------
    model : sklearn.pipeline.Pipeline
        A fitted pipeline that starts with a `TableEncoder`.
    frame : pandas.DataFrame
        The table.

    Returns
    -------
    drift : list of Drift
        One entry per column that the model uses, the clearest drift first.

    Notes
    -----
    A model keeps up to 65 points of a distribution function. At these points the difference of
    the functions is exact, between them unknown, so the test of numbers finds a little less than
    one with the training rows at hand.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernelwise.app.evaluation import drift_from_training, fit_table
    >>> from kernelwise.app.tabular import check_target
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    >>> frame["kind"] = np.where(frame["a"] > 0, "large", "small")
    >>> model = fit_table(frame, check_target(frame, "kind"), "svc")
    >>> for drift in drift_from_training(model, frame.assign(b=frame["b"] + 1)):
    ...     print(drift.column, drift.test, round(drift.distance, 2), drift.adjusted < 0.05)
    b Kolmogorov-Smirnov 0.39 True
    a Kolmogorov-Smirnov 0.0 False
    """
    encoder = table_encoder(model)
    if encoder is None:
        raise TableError("the model does not read tables; give a pipeline with a TableEncoder.")
    encoder.require_columns(frame)
    profile = encoder.profile_
    found = []
    for name in encoder.kinds_:
        own, values = column_profile(profile, name), encoder.read_column(frame, name)
        if isinstance(own, LevelProfile):
            found.append(_word_drift(name, values, own, profile["n_rows"]))
        else:
            found.append(_number_drift(name, values, own, profile["n_rows"]))
    tested = [each for each in found if each.p_value == each.p_value]
    adjusted = holm(np.array([each.p_value for each in tested]))
    corrected = [replace(each, adjusted=float(p)) for each, p in zip(tested, adjusted, strict=True)]
    untested = [each for each in found if each.p_value != each.p_value]
    return sorted(corrected, key=lambda each: (each.adjusted, -each.distance)) + untested


def _number_drift(name: str, values: Array, own: NumberProfile, n_train: int) -> Drift:
    from scipy.stats import kstwo

    present = np.sort(values[~np.isnan(values)])
    missing = 1 - len(present) / len(values)
    p_values, distance = [], float("nan")
    n_before = round((1 - own.missing) * n_train)
    if len(present):
        shares = np.searchsorted(present, own.points, side="right") / len(present)
        below = np.searchsorted(present, own.low, side="left") / len(present)
        distance = float(max(np.abs(shares - own.at_most).max(), below))
        size = max(1, round(len(present) * n_before / (len(present) + n_before)))
        p_values.append(float(kstwo.sf(distance, size)))
    if missing or own.missing:
        gaps = np.array(
            [
                [n_train - n_before, n_before],
                [len(values) - len(present), len(present)],
            ]
        )
        p_values.append(_chi_square(gaps))
    p_value = min(1.0, len(p_values) * min(p_values)) if p_values else float("nan")
    return Drift(name, "Kolmogorov-Smirnov", distance, missing, own.missing, p_value)


def _word_drift(name: str, words: Any, own: LevelProfile, n_train: int) -> Drift:
    missing = float(np.mean(words == ""))
    drift = Drift(name, "chi-square", float("nan"), missing, own.missing, float("nan"))
    if not len(own.levels):  # too many to be kept
        return drift
    before = Counter(dict(zip(own.levels.tolist(), own.counts.tolist(), strict=True)))
    before[""] = n_train - before.total()
    now = Counter(as_levels(words).tolist())
    names = sorted({*before, *now})
    table = np.array([[each[level] for level in names] for each in (before, now)])
    shares = table / table.sum(axis=1, keepdims=True)
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    return replace(drift, distance=distance, p_value=_chi_square(table))


def _chi_square(table: Any) -> float:
    """Return the p-value of a table of counts of two samples; levels that are rare are merged."""
    from scipy.stats import chi2_contingency, fisher_exact

    part = table.sum(axis=1).min() / table.sum()
    rare = part * table.sum(axis=0) < _MIN_EXPECTED
    merged = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    merged = merged[:, merged.sum(axis=0) > 0]
    if merged.shape[1] < 2:
        return 1.0
    if merged.shape[1] == 2 and part * merged.sum(axis=0).min() < _MIN_EXPECTED:
        return float(fisher_exact(merged).pvalue)
    return float(chi2_contingency(merged, correction=False).pvalue)
