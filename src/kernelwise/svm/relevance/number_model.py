"""From encoded rows to a fitted model of a target that is a number, and its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._typing import Array, Index
from .fitting import Job, Kept
from .intervals import LocalDeviation, ends, quantiles
from .levels import Family, find_families
from .losses import Several, SquaredLoss
from .path import PathResult
from .prior import Prior
from .rows import ModelColumns, Rows
from .settings import Settings
from .target import Target

_N_QUANTILES = 201  # of left-out residuals that a model keeps for the way back from a power
_MIN_ROWS = 50  # from which left-out rows decide whether a model is better than the mean


@dataclass(frozen=True)
class NumberModel:
    """A fitted model of one target."""

    columns: ModelColumns  # the columns that are kept
    parts: tuple[tuple[int, Several], ...]  # the number of columns of each stage, and its model
    # the transforms of the target, in the order of a model's decisions
    transforms: tuple[Target, ...]
    residuals: tuple[Array, ...]  # quantiles of the left-out residuals of each part and transform
    weights: Array  # the weight of each part and transform
    families: tuple[Family, ...]  # shifts by levels, in units of the target
    # where its encoded columns are among those of the estimator
    encoded: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def predict(self, rows: Rows) -> Array:
        """Return predictions in units of the target."""
        out, k = np.zeros(len(rows)), len(self.transforms)
        for p, (_, model) in enumerate(self.parts):
            own = self.weights[p * k : (p + 1) * k]
            if not own.any():
                continue
            D = model.decide(rows)
            for j, t in enumerate(self.transforms):
                out += own[j] * t.back(D[:, j], self.residuals[p * k + j])
        for family in self.families:
            out += family.shift(rows.Z)[:, 0]
        return out


@dataclass(frozen=True)
class NumberFit:
    """A fitted model of one target, and how it came about."""

    model: NumberModel
    rows: Rows
    sources: Index
    path: PathResult
    left_out: Array


def fit_number(job: Job, loss: SquaredLoss) -> NumberFit:
    """Fit a model of one target.

    Predictions of the folds mix the stages. If there is one split alone, or one stage, each row is
    left out in closed form.
    """
    path = job.walk(loss)
    kept = Kept.of(job.rows, path.finals)
    rows = kept.rows
    parts, decisions, residuals, centre = [], [], [], []
    for s, prior in kept.priors.items():
        job.tell(f"model of {path.sizes[s]} columns")
        if job.whole is not None:
            model = Several((job.whole(job, kept, prior),))
        else:
            model = loss.fit(rows, prior, job.rng, threads=job.threads)
        known = _left_out(job, loss, path, rows, prior, model)
        residuals += list((loss.targets - known).T)
        if path.is_crossed:
            (D,) = path.decisions[s].values()
            known = np.empty(known.shape)
            known[path.seen] = D
        parts.append((path.sizes[s], model.bare()))
        decisions.append(known)
        k = len(loss.transforms)
        centre += [path.weights[s] / k] * k
    predictions = loss.predictions(decisions, residuals)
    weights = loss.weights(predictions, np.array(centre) / sum(centre))
    left_out = weights @ predictions
    families = _families(rows, loss, left_out, job.settings)
    for family in families:
        left_out = left_out + family.shift(rows.Z)[:, 0]
    shares = np.linspace(0, 1, _N_QUANTILES)
    number = NumberModel(
        rows.columns,
        tuple(parts),
        loss.transforms,
        tuple(np.quantile(r, shares) for r in residuals),
        weights,
        tuple(families),
    )
    return NumberFit(number, rows, kept.sources, path, left_out)


def _left_out(
    job: Job, loss: SquaredLoss, path: PathResult, rows: Rows, prior: Prior, model: Several
) -> Array:
    """Return left-out decisions; those of halves if whole groups are left out."""
    out = model.left_out
    if job.groups is None or path.is_crossed:
        return out
    out = np.empty(out.shape)
    for own, others in job.halves(loss.labels):
        half = loss.part(own).fit(rows.part(own), prior, job.rng, left_out=False)
        out[others] = half.decide(rows.part(others))
    return out


def _families(
    rows: Rows, loss: SquaredLoss, predictions: Array, settings: Settings
) -> list[Family]:
    """Find shifts of predictions by levels."""
    variance = max(float(np.average((loss.y - predictions) ** 2, weights=loss.cost_factor)), 1e-300)
    cost_factor = loss.cost_factor[:, None]

    def value(z: Array) -> float:
        return float(loss.cost_factor @ (loss.y - z[:, 0]) ** 2) / (2 * variance)

    def slopes(z: Array) -> tuple[Array, Array]:
        return cost_factor * (loss.y[:, None] - z), cost_factor

    return find_families(rows, predictions[:, None], value, slopes, settings)


@dataclass(frozen=True)
class NumberEnsemble:
    """The mean of several models of one target, and what left-out rows say of its errors."""

    members: tuple[NumberModel, ...]
    deviation: LocalDeviation  # the local deviation of residuals
    ratios: Array  # (n,): left-out residuals over their deviations, ascending
    # smallest prediction and end: zero for a target that was never negative, else -inf
    floor: float
    # what the mean of the members is multiplied by, and what is added to it then
    slope: float
    shift: float

    def predict(self, E: Array) -> Array:
        """Return predictions of encoded rows."""
        return np.maximum(self._means(E), self.floor)

    def interval(self, E: Array, confidence_level: float) -> Array:
        """Return the ends of intervals, of shape (n, 2)."""
        return self._spread(E, ends(self.ratios, confidence_level))

    def quantiles(self, E: Array, q: Array) -> Array:
        """Return quantiles, of shape (n, n_quantiles)."""
        return self._spread(E, quantiles(self.ratios, q))

    def with_deviation(self, E: Array) -> Array:
        """Return predictions and the standard deviations of their errors, of shape (n, 2)."""
        f, scale = self._located(E)
        deviation = scale * np.sqrt(np.mean(self.ratios**2))
        return np.column_stack([np.maximum(f, self.floor), deviation])

    def _spread(self, E: Array, ratios: Array) -> Array:
        """Return predictions plus ratios times deviations, of shape (n, n_ratios)."""
        f, scale = self._located(E)
        return np.maximum(f[:, None] + scale[:, None] * ratios, self.floor)

    def _located(self, E: Array) -> tuple[Array, Array]:
        f = self._means(E)
        return f, self.deviation(self._rows(self.members[0], E), f)

    def _means(self, E: Array) -> Array:
        """Return predictions that may lie below the floor."""
        found = [member.predict(self._rows(member, E)) for member in self.members]
        means: Array = self.slope * np.mean(found, axis=0) + self.shift
        return means

    @staticmethod
    def _rows(member: NumberModel, E: Array) -> Rows:
        return member.columns.rows(E[:, member.encoded])


def ensemble_of(
    fits: Sequence[NumberFit], encoded: Sequence[Any], y: Array, floor: float
) -> tuple[NumberEnsemble, Array]:
    """Return members as one model, and its left-out predictions of the training rows."""
    known, rows = np.mean([fit.left_out for fit in fits], axis=0), fits[0].rows
    slope, shift = _pull(known, y, rows.weight)
    known = slope * known + shift
    deviation, own = LocalDeviation.of(rows, known, y)
    members = tuple(replace(fit.model, encoded=at) for fit, at in zip(fits, encoded, strict=True))
    ratios = np.sort((y - known) / own)
    ensemble = NumberEnsemble(members, deviation, ratios, floor, slope, shift)
    return ensemble, np.maximum(known, floor)


def _pull(left_out: Array, y: Array, weight: Array) -> tuple[float, float]:
    """Return the slope and shift by which predictions go to the mean of the target.

    They stay as they are if they are better than the mean of the other rows on left-out rows;
    else, as outliers of a heavy-tailed target can have it, least squares choose the slope.
    """
    if len(y) < _MIN_ROWS:
        return 1.0, 0.0
    total, sums = weight.sum(), weight @ y
    others = (sums - weight * y) / np.maximum(total - weight, 1e-300)
    lead, wanted = left_out - others, y - others
    slope = float(weight @ (lead * wanted)) / max(float(weight @ lead**2), 1e-300)
    if slope > 0.5:  # exactly if the squared error is smaller than that of the mean
        return 1.0, 0.0
    slope = max(slope, 0.0)
    return slope, (1 - slope) * float(sums / total)
