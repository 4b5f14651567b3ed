"""Monotone transforms of a target that is a number, and the way back to its units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from ..._typing import Array

_MIN_LEVELS, _MIN_ROWS = 10, 30  # different values and rows from which a power is tried
_MIN_CHANGE = 0.25  # distance of the power from one below which it is not worth a second target
_MIN_NATS = 5.0  # gain in the log likelihood of a normal target
QUANTILES = (np.arange(25) + 0.5) / 25  # of the residuals that means are taken over
ROOM = 0.2  # how far predictions may leave the range of the target, relative to it


@dataclass(frozen=True)
class Target:
    """A target as the model learns it: itself or its Box-Cox power, of mean 0 and deviation 1."""

    power: float | None  # the power; None is the target itself
    shift: float  # subtracted before the power is taken
    centre: float  # mean and deviation after it
    scale: float
    low: float  # the range of the transformed target in training
    high: float

    @classmethod
    def of(cls, y: Array, weight: Array, power: float | None = None, shift: float = 0.0) -> Target:
        """Standardise a target, or its power."""
        z = y if power is None else _box_cox(y - shift, power)
        centre = float(np.average(z, weights=weight))
        scale = float(np.sqrt(np.average((z - centre) ** 2, weights=weight))) or 1.0
        t = (z - centre) / scale
        return cls(power, shift, centre, scale, float(t.min()), float(t.max()))

    @classmethod
    def all(cls, y: Array, weight: Array) -> list[Target]:
        """Return the target itself, and its power if that makes it more normal."""
        out, n = [cls.of(y, weight)], len(y)
        spread = float(np.quantile(y, 0.9) - np.quantile(y, 0.1))
        if len(np.unique(y)) < _MIN_LEVELS or n < _MIN_ROWS or spread <= 0:
            return out
        shift = 0.0 if y.min() > 0 else float(y.min()) - 0.1 * spread
        z = (y - shift) / np.exp(np.mean(np.log(y - shift)))

        def cost(power: float) -> float:
            return float(np.log(np.std(_box_cox(z, power)) + 1e-300))

        found = minimize_scalar(cost, bounds=(-0.5, 2.0), method="bounded")
        power = round(float(found.x), 2)
        if abs(power - 1) > _MIN_CHANGE and n * (cost(1.0) - found.fun) > _MIN_NATS:
            out.append(cls.of(y, weight, power, shift))
        return out

    def apply(self, y: Array) -> Array:
        """Return the transformed target."""
        if self.power is None:
            return (y - self.centre) / self.scale
        z = _box_cox(np.maximum(y - self.shift, 1e-12), self.power)
        return (z - self.centre) / self.scale

    def back(self, t: Array, residuals: Array) -> Array:
        """Return the mean in units of y: the average over quantiles of the residuals."""
        if self.power is None:
            return self.centre + self.scale * t
        room = ROOM * (self.high - self.low)
        shifted = t[..., None] + np.quantile(residuals, QUANTILES)
        z = self.centre + self.scale * np.clip(shifted, self.low - room, self.high + room)
        return self.shift + _inverse(z, self.power).mean(axis=-1)


def _box_cox(z: Array, power: float) -> Array:
    return np.log(z) if abs(power) < 1e-3 else (z**power - 1) / power


def _inverse(z: Array, power: float) -> Array:
    if abs(power) < 1e-3:
        return np.exp(z)
    out: Array = np.maximum(1 + power * z, 1e-12) ** (1 / power)
    return out
