"""From encoded rows to a fitted model of a target that is a number, and its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._typing import Array, Index
from .fitting import Job, Kept
from .intervals import LocalDeviation, ends
from .levels import Family, find_families
from .losses import Several, SquaredLoss
from .path import PathResult
from .prior import Prior
from .rows import ModelColumns, Rows
from .settings import Settings
from .target import Target

_N_QUANTILES = 201  # of left-out residuals that a model keeps for the way back from a power


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
    """The mean of several models of one target, and its intervals."""

    members: tuple[NumberModel, ...]
    deviation: LocalDeviation  # the local deviation of residuals
    ratios: Array  # (n,): left-out residuals over their deviations, ascending
    # smallest end of an interval: zero for a target that was never negative, else -inf
    floor: float

    def predict(self, E: Array) -> Array:
        """Return predictions of encoded rows."""
        found = [member.predict(self._rows(member, E)) for member in self.members]
        mean: Array = np.mean(found, axis=0)
        return mean

    def interval(self, E: Array, confidence_level: float) -> Array:
        """Return the ends of intervals, of shape (n, 2)."""
        f = self.predict(E)
        scale = self.deviation(self._rows(self.members[0], E), f)
        low, high = ends(self.ratios, confidence_level)
        return np.maximum(np.column_stack([f + scale * low, f + scale * high]), self.floor)

    @staticmethod
    def _rows(member: NumberModel, E: Array) -> Rows:
        return member.columns.rows(E[:, member.encoded])


def left_out_of(fits: Sequence[NumberFit]) -> Array:
    """Return the mean left-out predictions of several members."""
    mean: Array = np.mean([fit.left_out for fit in fits], axis=0)
    return mean


def ensemble_of(fits: Sequence[NumberFit], encoded: Sequence[Any], y: Array) -> NumberEnsemble:
    """Return members as one model, with the local deviation of its left-out residuals."""
    left_out = left_out_of(fits)
    deviation, own = LocalDeviation.of(fits[0].rows, left_out, y)
    members = tuple(replace(fit.model, encoded=at) for fit, at in zip(fits, encoded, strict=True))
    floor = 0.0 if float(y.min()) >= 0 else -np.inf
    return NumberEnsemble(members, deviation, np.sort((y - left_out) / own), floor)
