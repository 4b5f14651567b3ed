"""From encoded rows to a fitted classifier: the path, the parts of its stages, their mixture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from ..._typing import Array, Index
from .cells import Squared, fit_squared
from .joint import Joint
from .levels import Family, find_families
from .losses import Key, LogLoss, LogMixture
from .machine import Choice, Machine, Machines, PairSigmoids, choose, machine_weights
from .path import Path, PathResult, deal
from .prior import Prior
from .rows import ModelColumns, Rows
from .settings import Settings

Tell = Callable[[str], Any]
_MEMORY = 2e9  # bytes that a solver of machines may use beside its kernel matrix


@dataclass(frozen=True)
class Job:
    """Rows to fit, and how."""

    rows: Rows
    groups: Index | None  # the group of each row; the rows of a group are left out together
    max_features: int | None  # the most groups of columns that may be kept
    rng: np.random.Generator  # the source of all choices
    settings: Settings
    threads: int  # threads of the fit
    tell: Tell  # told of each step
    # if the rows are a sample: solves the squared loss of all rows of the table, from this job, the
    # kept columns and a prior, with left-out decisions of the sample
    whole: Whole | None = None

    def walk(self, loss: Any) -> PathResult:
        """Walk along the path."""
        varying = np.unique(self.rows.columns.group[np.ptp(self.rows.Z, axis=0) > 0])
        if not len(varying):  # nothing varies: any column serves
            varying = np.arange(self.rows.columns.n_groups)
        return Path(
            self.rows,
            loss,
            varying,
            self.groups,
            self.rng,
            self.settings,
            self.max_features,
            self.tell,
        ).walk()

    def halves(self, labels: Index) -> list[tuple[Index, Index]]:
        """Return two halves of the rows, each beside the other."""
        fold = deal(labels, self.groups, 2, self.rng)
        first, second = (np.flatnonzero(fold == f) for f in (0, 1))
        return [(first, second), (second, first)]


Whole = Callable[[Job, "Kept", Prior], Squared]


@dataclass(frozen=True)
class Kept:
    """The rows and priors of a job without the columns that no stage keeps."""

    rows: Rows
    sources: Index  # the user's columns that are kept
    priors: dict[int, Prior]  # the priors of the stages

    @classmethod
    def of(cls, rows: Rows, finals: dict[int, Prior]) -> Kept:
        """Keep the columns of any of the stages."""
        columns, encoding = rows.columns, rows.columns.encoding
        mask = np.any([prior.v > 0 for prior in finals.values()], axis=0)
        sources = np.unique(encoding.layout.source[mask[columns.group]])
        own = encoding.columns_of(sources)
        groups = np.unique(columns.group[own])
        small = columns.part(own, encoding.part(sources))
        priors = {s: replace(p, w=p.w[groups], v=p.v[groups]) for s, p in finals.items()}
        return cls(rows.only(own, small), sources, priors)


def importances(path: PathResult, columns: ModelColumns) -> Array:
    """Return the share of each of the user's columns in the prior variance, of sum one."""
    layout = columns.encoding.layout
    out = np.zeros(layout.n_source)
    for s, prior in path.finals.items():
        shares, size = prior.shares(columns.group_size), columns.group_size
        np.add.at(out, layout.source, path.weights[s] * (shares / size)[columns.group])
    total = out.sum()
    return out / total if total > 0 else np.full(len(out), 1 / len(out))


@dataclass(frozen=True)
class Part:
    """A part of a classifier."""

    name: str  # its kind: "linear", "additive", "joint", "machine" or "cells"
    size: int  # the number of groups of columns of its stage
    model: Joint | Machine | Squared
    pairs: PairSigmoids | None = None  # for machines of several classes: from pairs to classes

    def decide(self, rows: Rows) -> Array:
        """Return decisions: one column for two classes, else one per class."""
        out = self.model.decide(rows)
        return out if self.pairs is None else self.pairs.log_odds(out)


@dataclass(frozen=True)
class ClassModel:
    """A fitted classifier on rows as the model reads them."""

    columns: ModelColumns  # the columns that are kept
    sources: Index  # the user's columns that they come from
    parts: tuple[Part, ...]
    mixture: LogMixture
    families: tuple[Family, ...]
    # where its encoded columns are among those of the estimator
    encoded: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def scores(self, rows: Rows) -> Array:
        """Return log-odds of the second of two classes, or one score per class."""
        z = self.mixture.decisions([part.decide(rows) for part in self.parts])
        for family in self.families:
            z = z + family.shift(rows.Z)
        return z


@dataclass(frozen=True)
class ClassFit:
    """A fitted classifier and how it came about."""

    model: ClassModel
    path: PathResult
    importances: Array
    held: Index
    scores: Array


def fit_classes(job: Job, loss: LogLoss) -> ClassFit:
    """Fit a classifier.

    Decisions of the folds mix the parts. If there is one split alone, parts leave out each row in
    closed form, and machines are fitted to halves.
    """
    path = job.walk(loss)
    settings, n = job.settings, len(job.rows)
    held = path.seen if path.is_crossed else np.arange(n)
    kept = Kept.of(job.rows, path.finals)
    parts: list[Part] = []
    decisions: list[Array] = []
    centre: list[float] = []
    for s, prior in kept.priors.items():
        own, own_decisions = _stage_parts(job, loss, path, kept.rows, prior, s)
        if job.whole is not None or loss.n_classes <= settings.machine_classes:
            machine, of_machine = _stage_machine(job, loss, path, kept, prior, s)
            own.append(machine)
            own_decisions.append(of_machine)
        parts += own
        decisions += own_decisions
        centre += [path.weights[s] / len(own)] * len(own)
    held_loss = loss.part(held)
    weights = np.array(centre)
    mixture = held_loss.mix(decisions, weights / weights.sum())
    z = mixture.decisions(decisions)
    families = _class_families(kept.rows.part(held), held_loss, z, settings)
    for family in families:
        z = z + family.shift(kept.rows.Z[held])
    job.tell("mixture")
    model = ClassModel(kept.rows.columns, kept.sources, tuple(parts), mixture, tuple(families))
    return ClassFit(model, path, importances(path, job.rows.columns), held, z)


def _stage_parts(
    job: Job, loss: LogLoss, path: PathResult, rows: Rows, prior: Prior, s: int
) -> tuple[list[Part], list[Array]]:
    """Fit the parts of a stage; return them, and their decisions on the held-out rows."""
    choice: list[Key] = list(path.decisions[s])
    job.tell(f"parts of {path.sizes[s]} columns")
    found = loss.final_parts(rows, prior, choice, job.rng)
    parts = [Part(kind, path.sizes[s], replace(model, left_out=None)) for kind, model in found]
    if path.is_crossed:
        return parts, [path.decisions[s][key] for key in choice]
    if job.groups is None:
        return parts, [np.asarray(model.left_out) for _, model in found]
    out: list[Array] = [np.zeros(loss.codes.shape) for _ in choice]
    for own, others in job.halves(loss.labels):
        half = loss.part(own).final_parts(rows.part(own), prior, choice, job.rng)
        for decisions, (_, model) in zip(out, half, strict=True):
            decisions[others] = model.decide(rows.part(others))
    return parts, out


def _stage_cells(
    job: Job, whole: Whole, loss: LogLoss, kept: Kept, prior: Prior
) -> tuple[Squared, Array]:
    """Fit cells to all rows of a table; return them, and left-out decisions on the sample."""
    cells = whole(job, kept, prior)
    if job.groups is None:
        return replace(cells, left_out=None), np.asarray(cells.left_out)
    decisions = np.zeros(loss.targets.shape)
    for own, others in job.halves(loss.labels):
        rows, half = kept.rows.part(own), loss.part(own)
        model = fit_squared(
            rows, half.targets, half.cost_factor, prior, job.rng, job.settings, left_out=False
        )
        decisions[others] = model.decide(kept.rows.part(others))
    return replace(cells, left_out=None), decisions


def _stage_machine(
    job: Job, loss: LogLoss, path: PathResult, kept: Kept, prior: Prior, s: int
) -> tuple[Part, Array]:
    """Fit the machine of a stage, or cells if rows are a sample; return it and its decisions."""
    rows, n, size = kept.rows, len(kept.rows), path.sizes[s]
    if job.whole is not None:
        job.tell(f"cells of {size} columns")
        cells, decisions = _stage_cells(job, job.whole, loss, kept, prior)
        return Part("cells", size, cells), decisions
    job.tell(f"machine of {size} columns")
    choice = _choose_machine(job, loss, path, s)
    u = machine_weights(rows, prior, choice.power, choice.distance)

    def solved(own: Index) -> Machine:
        half = loss.part(own)
        return Machines(
            rows.part(own), half.classes, loss.n_classes, half.cost_factor, u, _MEMORY
        ).solve(choice.C)

    machine, decisions = replace(solved(np.arange(n)), solutions=()), choice.decisions
    held = path.seen
    if not path.is_crossed:
        held = np.arange(n)
        decisions = np.zeros((n, len(machine.intercept)))
        for own, others in job.halves(loss.labels):
            decisions[others] = solved(own).decide(rows.part(others))
    if loss.n_classes == 2:
        return Part("machine", size, machine), decisions
    held_loss = loss.part(held)
    pairs = PairSigmoids.of(decisions, held_loss.classes, loss.n_classes, held_loss.cost_factor)
    return Part("machine", size, machine, pairs), pairs.log_odds(decisions)


def _choose_machine(job: Job, loss: LogLoss, path: PathResult, s: int) -> Choice:
    """Choose power, distance and C of a stage's machine on the held-out rows."""
    made: dict[tuple[int, float, float], Machines] = {}
    held_loss = loss.part(path.seen)
    total = held_loss.cost_factor.sum()

    def decide(power: float, distance: float, C: float) -> Array:
        out = []
        for f, split in enumerate(path.splits):
            if (f, power, distance) not in made:
                rows, own = job.rows.part(split.own), loss.part(split.own)
                u = machine_weights(rows, path.priors[f, s], power, distance)
                made[f, power, distance] = Machines(
                    rows, own.classes, loss.n_classes, own.cost_factor, u, _MEMORY
                )
            machine = made[f, power, distance].solve(C)
            out.append(machine.decide(job.rows.part(split.held)))
        return np.vstack(out)

    def mean_loss(parts: Sequence[Array]) -> float:
        return float(held_loss.cost_factor @ held_loss.row_losses(parts) / total)

    def as_log_odds(decisions: Array) -> Array:
        if loss.n_classes == 2:
            return decisions
        pairs = PairSigmoids.of(decisions, held_loss.classes, loss.n_classes, held_loss.cost_factor)
        return pairs.log_odds(decisions)

    others = list(path.decisions[s].values())
    return choose(decide, mean_loss, as_log_odds, others, job.settings)


def _class_families(rows: Rows, held_loss: LogLoss, z: Array, settings: Settings) -> list[Family]:
    """Find shifts of log-odds by levels."""

    def value(z: Array) -> float:
        return float(held_loss.cost_factor @ held_loss.of_decisions(z))

    def slopes(z: Array) -> tuple[Array, Array]:
        p = expit(z) if z.shape[1] == 1 else softmax(z, axis=1)
        cost_factor = held_loss.cost_factor[:, None]
        return cost_factor * (held_loss.codes - p), cost_factor * p * (1 - p)

    return find_families(rows, z, value, slopes, settings)
