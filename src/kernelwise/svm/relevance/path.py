"""The path: columns are ranked once per fold, dropped stage by stage, and scored on held-out rows.

    for each fold:  order = rank(own rows)
                    for size in p, p/2 or p/3, ..., 2:  learn the prior, fit the parts, decide
    weight of a stage ~ exp(-(loss on held-out rows + 4 nats if any column is dropped) / 2)

The two best stages are learned once more from all rows, from the mean of the folds' priors; their
columns are the best of the mean of the folds' shares. Of more than 1,000 columns each fold ranks
those alone that say most on their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import chi2

from ..._typing import Array, Index
from .evidence import learn
from .losses import Key, LogLoss, SquaredLoss
from .pairs import pair_shares
from .prior import Prior, between, equal_prior, mean_prior
from .rows import Rows
from .settings import Settings

Loss = LogLoss | SquaredLoss
_MIN_SHARE = 0.1  # weight of a mixed stage, relative to the best
_FAR = 6.0  # nats, and twice the standard error, by which a stage is dropped after the first fold


def rank(rows: Rows, T: Array, kept: Index, rng: np.random.Generator, settings: Settings) -> Array:
    """Return the share of each group: the mean of those in two kernels and in additive effects.

    Amplitudes and noise are held, so that the weights have to explain the targets. Shares in pairs
    that act only together are added where such pairs stand out.
    """
    equal = equal_prior(rows, kept, rng)
    equal = replace(equal, v=equal.v * 0.1, noise=settings.rank_noise, tau=0.0)
    starts = (
        replace(equal, w=equal.w * settings.narrow, s2=1.0, r2=0.0),
        replace(equal, s2=0.0, r2=1.0),
    )
    L, Q = (
        learn(
            rows,
            T,
            start,
            start,
            settings.rank_evaluations,
            replace(settings, spread=settings.rank_spread),
            hold=("s2", "noise", "r2", "rho"),
        )
        for start in starts
    )
    own = [weights * rows.columns.group_size for weights in (L.w, L.v, Q.w**2)]
    shares: Array = sum(weights / weights.sum() for weights in own) / 3
    columns = np.argsort(-shares[rows.columns.group], kind="stable")
    pairs = pair_shares(rows, T, columns[np.isin(rows.columns.group[columns], kept)])
    return shares if pairs is None else (3 * shares + pairs) / 4


def screen(rows: Rows, T: Array, kept: Index, settings: Settings) -> Index:
    """Return the groups of columns that say most on their own, as many as may be ranked.

    A number is asked for a slope and a curve, by the correlations of its score and of the square of
    it with the targets; a category for the means of its levels.
    """
    if len(kept) <= settings.ranked:
        return kept
    columns, n, K = rows.columns, len(rows), T.shape[1]
    total, freedom = np.zeros(rows.Z.shape[1]), np.full(rows.Z.shape[1], 2 * K)
    for power in (rows.Z, rows.Z**2):
        centred = power - power.mean(axis=0)
        squares = np.einsum("ij,ij->j", centred, centred)
        total += ((T.T.astype(np.float32) @ centred) ** 2).sum(axis=0) / np.maximum(squares, 1e-9)
    for j in np.flatnonzero(columns.is_category):
        places = rows.places[:, j]
        counts = np.bincount(places)
        sums = np.array([np.bincount(places, t) for t in T.T])
        total[j] = (sums**2 / np.maximum(counts, 1)).sum()
        freedom[j] = K * max(np.count_nonzero(counts) - 1, 1)
    evidence = np.full(columns.n_groups, -np.inf)
    np.maximum.at(evidence, columns.group, -chi2.logsf(np.minimum(total, n * K), freedom))
    best = np.argsort(-evidence[kept], kind="stable")[: settings.ranked]
    return np.sort(kept[best])


def stage_sizes(n_groups: int, settings: Settings) -> list[int]:
    """Return the numbers of columns along the path."""
    sizes = [n_groups]
    if n_groups < settings.min_path:
        return sizes
    while sizes[-1] > 2:
        factor = 1 / 3 if sizes[-1] > settings.thirds else 1 / 2
        sizes.append(max(2, min(sizes[-1] - 1, int(np.ceil(factor * sizes[-1])))))
    return sizes


def deal(labels: Index, groups: Index | None, n_folds: int, rng: np.random.Generator) -> Index:
    """Return a fold for each row: about equal shares of each label, and groups held together."""
    n = len(labels)
    if groups is not None:
        _, number, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        order = rng.permutation(len(sizes))
        order = order[np.argsort(-sizes[order], kind="stable")]
        fold_of, load = np.empty(len(sizes), dtype=np.intp), np.zeros(n_folds)
        for group in order:
            fold_of[group] = int(load.argmin())
            load[fold_of[group]] += sizes[group]
        return fold_of[number]
    order = rng.permutation(n)
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % n_folds
    return fold


def best_two(weights: Array) -> Array:
    """Return weights less the third largest or a tenth of the largest: no stage ends abruptly."""
    ordered = np.sort(weights)[::-1]
    floor = max(_MIN_SHARE * ordered[0], ordered[2] if len(ordered) > 2 else 0.0)
    out: Array = np.maximum(weights - floor, 0.0)
    if not out.any():  # several that are equally good: the one with most columns
        out[int(np.argmax(weights))] = 1.0
    return out


@dataclass(frozen=True)
class Split:
    """Rows that learn, and rows that score what they learned."""

    own: Index
    held: Index


def splits(
    labels: Index, groups: Index | None, rng: np.random.Generator, settings: Settings
) -> list[Split]:
    """Return three folds of small tables, two of larger ones, and one split of the largest."""
    n = len(labels)
    if n <= 2 * settings.learning:
        fold = deal(labels, groups, settings.folds if n <= settings.learning else 2, rng)
        found = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]
        return [Split(own, held) for own, held in found]
    fold = deal(labels, groups, -(-n // settings.learning), rng)
    others = np.flatnonzero(fold != 0)
    return [
        Split(np.flatnonzero(fold == 0), np.sort(rng.permutation(others)[: settings.validation]))
    ]


@dataclass
class PathResult:
    """What the path found."""

    sizes: list[int]  # the number of columns of each stage
    # (n_stages,): the mean held-out loss of each stage; NaN for one that was given up
    losses: Array
    weights: Array  # (n_stages,): the weight of each stage
    splits: list[Split]
    seen: Index  # the held-out rows of all folds
    priors: dict[tuple[int, int], Prior]  # what each fold learned
    # the decisions of the chosen parts on the rows of `seen`
    decisions: dict[int, dict[Key, Array]]
    # the priors of the mixed stages, learned from all rows
    finals: dict[int, Prior] = field(default_factory=dict)

    @property
    def is_crossed(self) -> bool:
        """Whether there are decisions of folds on all rows."""
        return len(self.splits) > 1


class Path:
    """Walks along the path for one table."""

    def __init__(
        self,
        rows: Rows,
        loss: Loss,
        varying: Index,  # the groups of columns that vary
        groups: Index | None,  # the group of each row; rows of a group are held out together
        rng: np.random.Generator,  # deals folds and picks rows
        settings: Settings,
        max_features: int | None = None,  # the most groups of columns that may be kept
        done: Callable[[str], Any] | None = None,  # told of each step
    ) -> None:
        self._rows, self._loss, self._varying = rows, loss, varying
        self._groups, self._rng, self._settings = groups, rng, settings
        self._done = done or (lambda text: None)
        sizes = stage_sizes(min(len(varying), settings.ranked), settings)
        self._most = len(varying) if max_features is None else min(max_features, len(varying))
        if max_features is not None and max_features < sizes[0]:
            sizes = sorted({s for s in sizes if s < max_features} | {max_features}, reverse=True)
        self._sizes = sizes

    # --- Steps of a fold ------------------------------------------------------------------

    def _shares(self, rows: Rows, loss: Loss) -> Array:
        """Rank the columns on some of the rows."""
        if len(self._sizes) == 1 and self._sizes[0] == len(self._varying):
            return np.ones(rows.columns.n_groups)
        some = loss.learning_rows(self._settings.rows, self._rng)
        own, T = rows.part(some), loss.targets[some]
        shares = rank(
            own, T, screen(own, T, self._varying, self._settings), self._rng, self._settings
        )
        return shares

    def _best(self, shares: Array, size: int) -> Index:
        order = np.argsort(-shares[self._varying], kind="stable")
        return np.sort(self._varying[order[:size]])

    def _learn(self, rows: Rows, loss: Loss, kept: Index, last: Prior | None) -> Prior:
        """Learn the prior of some columns, from that of more columns if there is one."""
        some = loss.learning_rows(self._settings.rows, self._rng)
        own, T, settings = rows.part(some), loss.targets[some], self._settings
        equal = equal_prior(own, kept, self._rng)
        if last is None:
            return learn(own, T, equal, equal, settings.evaluations, settings, fine=loss.fine)
        start = between(last, equal)
        return learn(own, T, start, equal, settings.warm_evaluations, settings, fine=loss.fine)

    # --- The walk -------------------------------------------------------------------------

    def walk(self) -> PathResult:
        """Walk in every fold, weight the stages, and learn the best ones from all rows."""
        if self._needs_no_choice():
            return self._single()
        found = splits(self._loss.labels, self._groups, self._rng, self._settings)
        alive = np.ones(len(self._sizes), dtype=bool)
        held: dict[int, dict[Key, list[Array]]] = {s: {} for s in range(len(self._sizes))}
        priors: dict[tuple[int, int], Prior] = {}
        shares = []
        for f, split in enumerate(found):
            rows, loss = self._rows.part(split.own), self._loss.part(split.own)
            if f == 0 or alive[1:].any():
                shares.append(self._shares(rows, loss))
                self._done(f"fold {f + 1} of {len(found)}: columns ranked")
            self._walk_fold(f, split, shares[-1], alive, priors, held)
        seen = np.concatenate([split.held for split in found])
        result = self._weigh(alive, priors, held, found, seen)
        drops = np.flatnonzero(result.weights).max() > 0 or self._sizes[0] < len(self._varying)
        if drops and not result.is_crossed:  # the mean of several rankings errs less than one
            shares.append(self._shares(self._rows, self._loss))
            self._done("columns ranked again")
        order = np.mean(shares, axis=0)
        for s in np.flatnonzero(result.weights).tolist():
            kept = self._best(order, self._sizes[s])
            own = [priors[f, s] for f in range(len(found))]
            result.finals[s] = self._final(kept, own)
            self._done(f"{self._sizes[s]} columns learned")
        return result

    def _needs_no_choice(self) -> bool:
        """Return whether there is one stage, and left-out decisions do what folds would do."""
        is_enough = len(self._rows) > self._settings.rows and self._groups is None
        return len(self._sizes) == 1 and is_enough and isinstance(self._loss, SquaredLoss)

    def _single(self) -> PathResult:
        kept, none = self._varying[: self._sizes[0]], np.zeros(0, dtype=np.intp)
        first = self._learn(self._rows, self._loss, kept, None)
        nan, one = np.full(1, np.nan), np.ones(1)
        final = self._final(kept, [first])
        return PathResult(self._sizes, nan, one, [], none, {}, {}, {0: final})

    def _walk_fold(
        self,
        f: int,
        split: Split,
        shares: Array,
        alive: Any,
        priors: dict[tuple[int, int], Prior],
        held: dict[int, dict[Key, list[Array]]],
    ) -> None:
        """Learn and score the stages of one fold; the first fold gives up those far behind."""
        rows, loss = self._rows.part(split.own), self._loss.part(split.own)
        others, held_loss = self._rows.part(split.held), self._loss.part(split.held)
        last: Prior | None = None
        tried: dict[int, Array] = {}
        for s in np.flatnonzero(alive).tolist():
            last = priors[f, s] = self._learn(rows, loss, self._best(shares, self._sizes[s]), last)
            for key, part in loss.held_parts(rows, last, self._rng):
                held[s].setdefault(key, []).append(part.decide(others))
            self._done(f"fold {f + 1}: {self._sizes[s]} columns")
            if f > 0 or len(self._sizes) == 1:
                continue
            tried[s] = held_loss.choose({key: own[0] for key, own in held[s].items()})[1]
            bad = self._far_behind(held_loss, tried)
            if len(bad) > 2 and bad[-2:].all():
                alive[s + 1 :] = False
                break
        if tried:
            alive[list(tried)] = ~self._far_behind(held_loss, tried)
            alive[0] = True

    def _far_behind(self, held_loss: Loss, tried: dict[int, Array]) -> Any:
        """Return which of some stages are clearly worse than the best of them."""
        L = np.array(list(tried.values()))
        worse = (L - L[L.sum(axis=1).argmin()]) / held_loss.nats(L)
        error = np.sqrt(L.shape[1]) * worse.std(axis=1)
        return worse.sum(axis=1) > np.maximum(_FAR, 2 * error)

    def _weigh(
        self,
        alive: Any,
        priors: dict[tuple[int, int], Prior],
        held: dict[int, dict[Key, list[Array]]],
        found: list[Split],
        seen: Index,
    ) -> PathResult:
        """Weight the stages by their losses on held-out rows."""
        held_loss, settings = self._loss.part(seen), self._settings
        decisions: dict[int, dict[Key, Array]] = {}
        L = np.full((len(self._sizes), len(seen)), np.inf)
        for s in np.flatnonzero(alive).tolist():
            both = {key: np.vstack(own) for key, own in held[s].items()}
            chosen, L[s] = held_loss.choose(both)
            decisions[s] = {key: both[key] for key in chosen}
        cost_factor = held_loss.cost_factor / held_loss.cost_factor.mean()
        total = (L * cost_factor)[alive].sum(axis=1) / held_loss.nats(L[alive])
        total += settings.nats * (np.flatnonzero(alive) > 0)
        weights = np.zeros(len(self._sizes))
        weights[alive] = np.exp(-(total - total.min()) / 2)
        gain = held_loss.base - L[int(np.argmax(weights))]
        if gain.mean() < settings.gate * gain.std() / np.sqrt(len(gain)):
            weights = (np.arange(len(weights)) == 0).astype(float)
        keeps_all = isinstance(self._loss, SquaredLoss) and len(self._rows) > settings.exact_rows
        if keeps_all:  # few rows learned what cells of many rows decide: the mixture chooses
            best = int(np.argmax(weights))
            weights[np.arange(len(weights)) != best] = 0
            weights[0] = max(weights[0], _MIN_SHARE * weights.max())
        else:
            weights = np.array(best_two(weights))
        losses = np.array([np.average(own, weights=cost_factor) for own in L])
        losses[~alive] = np.nan
        return PathResult(
            self._sizes, losses, weights / weights.sum(), found, seen, priors, decisions
        )

    def _final(self, kept: Index, folds: list[Prior]) -> Prior:
        """Learn the prior of some columns from all rows, from the mean of the folds."""
        settings = self._settings
        some = self._loss.learning_rows(2 * settings.rows, self._rng)
        rows, T = self._rows.part(some), self._loss.targets[some]
        start, centre = mean_prior(folds, kept), equal_prior(rows, kept, self._rng)
        return learn(
            rows, T, start, centre, settings.final_evaluations, settings, fine=self._loss.fine
        )
