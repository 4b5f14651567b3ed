"""Every constant of RelevanceSVC and RelevanceSVR, with its unit and what it was measured to earn.

Gains are differences on tables that chose (see docs/relevance.md): "ll" is the log loss in nats,
"points" are per cent of accuracy, "RMSE" is relative. "Convention" marks a value that was not
varied.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    """The constants of the recipe; the defaults are the recipe."""

    # --- Columns
    n_bins: int = 16  # quantile bins of a number, whose steps are additive columns; convention
    n_places: int = 1000  # bins of all numbers together, so that wide tables stay small; convention
    n_levels: int = 300  # levels of all categories with an additive height; convention
    n_indicators: int = 30  # levels of a category that the Gaussian kernel tells apart; convention

    # --- Evidence
    rows: int = 500  # that learn a stage, balanced over the classes; twice as many at the end
    evaluations: int = 20  # of the evidence for the first stage; 8: -3 points among noise columns
    warm_evaluations: int = 8  # for each later stage; 20, cold: nothing, CPU x1.3
    final_evaluations: int = 6  # of the last learning; 20, cold: nothing
    spread: float = 1.0  # prior deviation of log w and log v; 0.5: ll +.002 among noise columns
    fine_noise: float = 0.003  # noise below which regression learns in float64: RMSE -8 % there
    own_noise: float = 0.02  # noise below which each target has its own variances: RMSE -30 %

    # --- Ranking and path
    ranked: int = 1000  # columns that are ranked, those that say most alone; 2,000: nothing, CPU x2
    min_path: int = 6  # columns from which columns are dropped; never: -12 points among noise
    rank_noise: float = 0.1  # held in the ranking; free: pairs among 100 columns are missed
    rank_spread: float = 3.0  # prior deviation of log w and log v there; 1: AUC -.5 on small tables
    rank_evaluations: int = 30  # of the evidence per kernel; 15: -3 points among noise columns
    narrow: float = 3.0  # first weights of the Laplacian's ranking, relative to 1 / distance
    thirds: int = 16  # columns above which stages shrink to a third, not a half: CPU x0.78
    nats: float = 4.0  # cost of dropping any column, and of shifts by levels; 8: nothing
    gate: float = 2.0  # standard errors over a constant below which nothing is dropped; convention

    # --- Parts
    scales: tuple[float, ...] = (1.0, 4.0, 16.0, 64.0)  # of the prior variance of log-odds
    squared_classes: int = 6  # classes from which parts have squared loss: CPU x0.4, nothing lost
    squared_scales: tuple[float, ...] = (0.25, 1.0, 4.0)  # of 1 / noise for these
    landmarks: int = 300  # of logistic parts above twice as many rows; 500: nothing, CPU x1.3
    sample: int = 50_000  # most rows of logistic parts, machines and a region of cells; memory

    # --- Folds
    folds: int = 3  # up to `learning` rows; 5: ll -.001, CPU x1.9
    learning: int = 2000  # rows of a fold; two folds up to twice as many, above one split
    validation: int = 3000  # rows of the one split that do not learn; 4,000: nothing

    # --- Cells
    exact_rows: int = 3000  # rows up to which the squared loss is solved exactly; convention
    shared: int = 500  # landmarks that all cells share; 800: nothing
    cell: int = 1000  # most rows of a cell; 1,500: one table -4 %, CPU x1.15
    trees: int = 2  # partitions into cells, one of a larger table than a sample; 3: nothing

    # --- Machine of classes: w^t at typical distance f, cost C; none: -10 points on ordered classes
    powers: tuple[float, ...] = (0.5, 0.0, 1.0)
    distances: tuple[float, ...] = (2.0, 0.5, 1.0, 4.0, 8.0)
    costs: tuple[float, ...] = (10.0, 1.0, 100.0)
    machine_classes: int = 50  # most classes, of 1,225 pairs; 200 would take minutes; time

    # --- Mixture
    equal: float = 30.0  # penalty on unequal weights of log-odds, in rows; convention
    equal_squared: float = 10.0  # the same for numbers

    # Prior deviations of the logs of the amplitudes, and the bounds of these.
    spreads: dict[str, float] = field(
        default_factory=lambda: {"s2": 2.0, "r2": 2.0, "rho": 1.5, "tau": 1.5, "noise": 3.0}
    )
    bounds: dict[str, tuple[float, float]] = field(
        default_factory=lambda: {
            "s2": (1e-3, 30.0),
            "r2": (1e-3, 30.0),
            "rho": (1e-4, 1e6),
            "tau": (1e-3, 30.0),
            "noise": (1e-5, 2.0),  # from 1e-4 on: RMSE +33 % on one table
        }
    )
