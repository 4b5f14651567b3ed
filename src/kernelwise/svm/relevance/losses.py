"""The losses: what the parts fit, how decisions of held-out rows are mixed, and what they cost.

log       codes of the classes; parts are logistic, or squared from 6 classes on
squared   the target itself and its Box-Cox power, mixed in the units of the user
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_softmax

from ..._typing import Array, Index
from ...calibration.sigmoids import fit_sigmoid
from ...calibration.softmax import fit_temperature
from .cells import Squared, fit_squared
from .evidence import learn
from .joint import Joint, fit_joint
from .prior import Prior
from .rows import Rows
from .settings import Settings
from .simplex import log_weights, squared_weights
from .target import Target

KINDS = ("linear", "additive", "joint")
_TEMPERATURE_VARIANCE = 0.5  # prior variance of the factor of several classes' log-odds
Key = tuple[str, float]  # kind of a part and its scale


@dataclass(frozen=True)
class LogMixture:
    """Log-odds of classes as a weighted sum of those of the parts."""

    weights: Array  # (n_parts,): the weights, of sum one
    # (n_parts, k): what the decisions of each part are multiplied by, its weight included
    slopes: Array
    offset: Array  # (k,): added to the sum

    def decisions(self, parts: Sequence[Array]) -> Array:
        """Return log-odds of the second of two classes, or one score per class."""
        out = np.tile(self.offset, (len(parts[0]), 1))
        for decisions, slope in zip(parts, self.slopes, strict=True):
            out += decisions * slope
        return out


@dataclass(frozen=True)
class LogLoss:
    """The log loss of classes."""

    classes: Index  # (n,): the number of each row's class
    n_classes: int  # the number of classes
    cost_factor: Array  # (n,): the weight of each row's loss: sample weight times class weight
    settings: Settings
    fine = False  # evidence in float32: classes are never without noise

    @cached_property
    def codes(self) -> Array:
        """Codes 0 and 1 of shape (n, k): one column for two classes, else one per class."""
        positive = np.arange(self.n_classes) if self.n_classes > 2 else np.ones(1)
        return (self.classes[:, None] == positive).astype(np.float64)

    @cached_property
    def targets(self) -> Array:
        """The codes, of mean zero and deviation one, for the evidence."""
        share = self.cost_factor / self.cost_factor.sum()
        return standardised(self.codes, share @ self.codes)

    @property
    def labels(self) -> Index:
        """What folds are balanced over."""
        return self.classes

    @property
    def is_squared(self) -> bool:
        """Whether the parts fit the codes by squared loss."""
        return self.n_classes >= self.settings.squared_classes

    @cached_property
    def base(self) -> Array:
        """The loss of each row under the shares of the classes."""
        share = np.bincount(self.classes, self.cost_factor, self.n_classes) / self.cost_factor.sum()
        out: Array = -np.log(share)[self.classes]
        return out

    def nats(self, losses: Array) -> float:
        """Return how many units of the loss are a nat."""
        return 1.0

    def part(self, rows: Index) -> LogLoss:
        """Return the loss of some rows."""
        return LogLoss(self.classes[rows], self.n_classes, self.cost_factor[rows], self.settings)

    def learning_rows(self, size: int, rng: np.random.Generator) -> Index:
        """Return rows to learn from, of each class the same number as far as they go."""
        n = len(self.classes)
        if n <= size:
            return np.arange(n)
        counts = np.bincount(self.classes, minlength=self.n_classes)
        left, chosen = size, []
        for i, c in enumerate(np.argsort(counts, kind="stable")):
            quota = min(int(counts[c]), left // (self.n_classes - i))
            left -= quota
            chosen.append(rng.permutation(np.flatnonzero(self.classes == c))[:quota])
        return np.sort(np.concatenate(chosen))

    def held_parts(
        self, rows: Rows, prior: Prior, rng: np.random.Generator
    ) -> Iterator[tuple[Key, Joint]]:
        """Fit every kind of part at every scale, without left-out decisions."""
        for kind in KINDS:
            yield from ((kind_scale(kind, m), m) for m in self._fit(rows, prior, kind, rng, False))

    def _fit(
        self, rows: Rows, prior: Prior, kind: str, rng: Any, left_out: bool, scale: Any = None
    ) -> list[Joint]:
        settings = self.settings
        loss, targets = ("squared", self.targets) if self.is_squared else ("log", self.codes)
        scales = settings.squared_scales if self.is_squared else settings.scales
        own = prior.of_kind(kind)
        scales = scales if scale is None else (scale,)
        return fit_joint(
            rows, targets, self.cost_factor, own, loss, scales, rng, settings, left_out=left_out
        )

    def final_parts(
        self, rows: Rows, prior: Prior, choice: Sequence[Key], rng: np.random.Generator
    ) -> list[tuple[str, Joint]]:
        """Fit the chosen parts to all rows, with left-out decisions."""
        return [(k, self._fit(rows, prior, k, rng, True, c)[0]) for k, c in choice]

    def choose(self, decisions: dict[Key, Array]) -> tuple[list[Key], Array]:
        """Return the best scale of each kind, and the loss of each row by their mixture."""
        best = []
        for kind in KINDS:
            keys = [key for key in decisions if key[0] == kind]
            losses = [float(self.cost_factor @ self.row_losses([decisions[key]])) for key in keys]
            best.append(keys[int(np.argmin(losses))])
        return best, self.row_losses([decisions[key] for key in best])

    def mix(self, parts: Sequence[Array], centre: Array | None = None) -> LogMixture:
        """Mix parts: a sigmoid per part and class, weights of least log loss, a temperature.

        Weights are pulled to a centre, which is equal weights unless given.
        """
        F = np.array(parts)
        J, n, k = F.shape
        columns = F.transpose(1, 0, 2).reshape(n, J * k)
        positive = self.codes > 0
        sigmoid = fit_sigmoid(columns, np.tile(positive, J), self.cost_factor)
        slope, intercept = sigmoid.slope.reshape(J, k), sigmoid.intercept.reshape(J, k)
        weights: Array = np.ones(1)
        if J > 1:
            Z = (slope[:, None, :] * F + intercept[:, None, :]).reshape(J, -1)
            signs, cost_factor = (
                np.where(positive, 1.0, -1.0).ravel(),
                np.repeat(self.cost_factor, k),
            )
            to = np.full(J, 1 / J) if centre is None else centre
            weights = log_weights(Z, signs, cost_factor, to, self.settings.equal)
        mixture = LogMixture(weights, weights[:, None] * slope, weights @ intercept)
        if k == 1:
            return mixture
        t = fit_temperature(
            mixture.decisions(parts),
            self.classes,
            self.cost_factor,
            prior_variance=_TEMPERATURE_VARIANCE,
        )
        return LogMixture(weights, t * mixture.slopes, t * mixture.offset)

    def row_losses(self, parts: Sequence[Array]) -> Array:
        """Return the loss of each row by the mixture of parts."""
        return self.of_decisions(self.mix(parts).decisions(parts))

    def of_decisions(self, z: Array) -> Array:
        """Return the loss of each row by log-odds or scores."""
        out: Array = -log_probabilities(z)[np.arange(len(z)), self.classes]
        return out


def standardised(codes: Array, mean: Array) -> Array:
    """Return codes of given means with mean zero and deviation one."""
    out: Array = (codes - mean) / np.sqrt(np.maximum(mean * (1 - mean), 1e-300))
    return out


def kind_scale(kind: str, part: Joint) -> Key:
    """Return the key of a part."""
    return kind, part.scale


def log_probabilities(z: Array) -> Array:
    """Return log probabilities of the classes from log-odds or scores."""
    out: Array = log_softmax(np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z, axis=1)
    return out


@dataclass(frozen=True)
class Several:
    """Models whose decisions stand side by side."""

    models: tuple[Squared, ...]

    def decide(self, rows: Rows) -> Array:
        """Return the decisions on rows."""
        return np.hstack([model.decide(rows) for model in self.models])

    @property
    def left_out(self) -> Array:
        """Decisions on the training rows without each of them."""
        return np.hstack([np.asarray(model.left_out) for model in self.models])

    def bare(self) -> Several:
        """Return the models without left-out decisions."""
        return Several(tuple(replace(model, left_out=None) for model in self.models))


@dataclass(frozen=True)
class SquaredLoss:
    """The squared error of one target in the units of the user."""

    y: Array  # (n,): the target
    transforms: tuple[Target, ...]
    cost_factor: Array  # (n,): the sample weights
    settings: Settings
    fine = True  # evidence in float64 where there is hardly any noise

    @cached_property
    def targets(self) -> Array:
        """The transformed targets, of shape (n, n_targets)."""
        return np.column_stack([t.apply(self.y) for t in self.transforms])

    @property
    def labels(self) -> Index:
        """What folds are balanced over: nothing."""
        return np.zeros(len(self.y), dtype=np.intp)

    @cached_property
    def base(self) -> Array:
        """The loss of each row by the mean."""
        out: Array = (self.y - np.average(self.y, weights=self.cost_factor)) ** 2
        return out

    def nats(self, losses: Array) -> float:
        """Return how many units of the loss are a nat, from the losses of each stage's rows."""
        return max(2 * float(losses.mean(axis=1).min()), 1e-300)

    def part(self, rows: Index) -> SquaredLoss:
        """Return the loss of some rows."""
        return SquaredLoss(self.y[rows], self.transforms, self.cost_factor[rows], self.settings)

    def learning_rows(self, size: int, rng: np.random.Generator) -> Index:
        """Return random rows to learn from."""
        return np.sort(rng.permutation(len(self.y))[:size])

    def held_parts(
        self, rows: Rows, prior: Prior, rng: np.random.Generator
    ) -> Iterator[tuple[Key, Several]]:
        """Fit the model, without left-out decisions."""
        yield ("joint", 1.0), self.fit(rows, prior, rng, left_out=False)

    def fit(
        self,
        rows: Rows,
        prior: Prior,
        rng: np.random.Generator,
        *,
        left_out: bool = True,
        threads: int = 1,
    ) -> Several:
        """Fit the model to all rows.

        Where there is hardly any noise, each transform has variances and amplitudes of its own.
        """
        settings, T = self.settings, self.targets
        if T.shape[1] == 1 or len(rows) > settings.learning or prior.noise >= settings.own_noise:
            return Several(
                (
                    fit_squared(
                        rows,
                        T,
                        self.cost_factor,
                        prior,
                        rng,
                        settings,
                        left_out=left_out,
                        threads=threads,
                    ),
                )
            )
        some = self.learning_rows(settings.rows, rng)
        models = []
        for j in range(T.shape[1]):
            t = T[:, [j]]
            own = learn(
                rows.part(some),
                t[some],
                prior,
                prior,
                settings.warm_evaluations,
                settings,
                hold=("w",),
                fine=True,
            )
            models.append(
                fit_squared(rows, t, self.cost_factor, own, rng, settings, left_out=left_out)
            )
        return Several(tuple(models))

    def choose(self, decisions: dict[Key, Array]) -> tuple[list[Key], Array]:
        """Return the key of the model, and the squared error of each row."""
        (key,) = decisions
        columns = self.predictions([decisions[key]])
        return [key], (self.y - self.weights(columns, None) @ columns) ** 2

    def predictions(
        self, decisions: Sequence[Array], residuals: Sequence[Array] | None = None
    ) -> Array:
        """Return predictions in units of y, one row per part and transform.

        The residuals, over which means are taken, are those of these decisions unless given.
        """
        out: list[Array] = []
        for D in decisions:
            for j, t in enumerate(self.transforms):
                own = self.targets[:, j] - D[:, j] if residuals is None else residuals[len(out)]
                out.append(t.back(D[:, j], own))
        return np.array(out)

    def weights(self, predictions: Array, centre: Array | None) -> Array:
        """Return the weights of predictions, pulled to a centre, or to equal ones."""
        J = len(predictions)
        to = np.full(J, 1 / J) if centre is None else centre
        if J == 1:
            return np.ones(1)
        return squared_weights(
            self.y - predictions, self.cost_factor, to, self.settings.equal_squared
        )
