"""Plot the scores of several methods on the same splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..._parameters import check_kind
from ..._typing import Array
from ..evaluation.results import corrected_interval
from .style import PALETTE, bare, ink, panels, short


@dataclass(eq=False, repr=False)
class ComparisonDisplay:
    """Plot of the scores of methods on the same splits, and of their paired differences.

    On the left, a line joins the scores of each split. On the right are the differences from the
    reference, their mean and its 95 % interval: green where a method is better, orange-red where it
    is worse, blue where the interval includes zero. There is no interval where all splits have the
    same difference other than zero.

    Parameters
    ----------
    scores : dict of str to ndarray of shape (n_splits,)
        The scores of each method, one per split, in the same order of the splits.
    reference : str, default=None
        The method that the others are compared with; None is the first.
    test_ratio : float, default=0.0
        Number of test rows over that of training rows of a split. The training rows of different
        splits overlap, which makes plain intervals too narrow; this widens them as proposed by
        Nadeau and Bengio [1]_. 0 is for independent splits.
    score_name : str, default="score"
        The name of the score.
    lower_is_better : bool, default=False
        Whether the scores are losses.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the scores.
    axes_ : ndarray of matplotlib.axes.Axes of shape (2,)
        The axes of the scores and of the differences.
    figure_ : matplotlib.figure.Figure
        The figure.
    joins_ : list of matplotlib.lines.Line2D
        One line per split.
    means_ : matplotlib.collections.PathCollection
        The mean of each method.
    intervals_ : dict of str to tuple of float
        Mean difference and the ends of its interval, for each method except the reference; NaN
        where there is no interval.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52,
       2003.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from kernelwise.app.inspection import ComparisonDisplay
    >>> results = {"SVC": [0.90, 0.92, 0.88], "RelevanceSVC": [0.93, 0.94, 0.91]}
    >>> display = ComparisonDisplay(results).plot()
    >>> round(display.intervals_["RelevanceSVC"][0], 3)
    0.027
    """

    scores: dict[str, Any]
    _: KW_ONLY
    reference: str | None = None
    test_ratio: float = 0.0
    score_name: str = "score"
    lower_is_better: bool = False

    def plot(self, ax: Any = None) -> ComparisonDisplay:
        """Plot the comparison.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or pair of them, default=None
            Axes to draw on; a single one is divided, None makes a figure.

        Returns
        -------
        self : object
            The display.
        """
        table = self._table()
        names = list(self.scores)
        n = len(names)
        self.figure_, self.axes_ = panels(
            ax, 2, size=(8.4, 1.5 + 0.42 * n), width_ratios=[1.15, 1.0]
        )
        self.ax_ = self.axes_[0]
        self._draw_scores(table)
        self._draw_differences(table, names)
        for axes in self.axes_:
            axes.set_ylim(n - 0.5, -0.5)
            axes.tick_params(axis="y", length=0)
            bare(axes)
        self.axes_[0].set_yticks(np.arange(n), [short(name, 32) for name in names])
        self.axes_[1].set_yticks(np.arange(n), [""] * n)
        return self

    def _table(self) -> Array:
        """Return the scores, one row per method."""
        check_kind(self.scores, "scores", Mapping)
        lengths = {name: len(own) for name, own in self.scores.items()}
        if len(lengths) < 2 or len(set(lengths.values())) > 1 or min(lengths.values()) < 2:
            raise ValueError(
                "scores must have at least two methods with the same number of splits, at least "
                f"two; got {lengths}."
            )
        if self.reference is not None and self.reference not in self.scores:
            raise ValueError(f"reference={self.reference!r} is not one of {list(self.scores)}.")
        table = np.array([np.asarray(own, dtype=np.float64) for own in self.scores.values()])
        if not np.isfinite(table).all():
            raise ValueError("scores must be finite; leave out the splits that failed.")
        return table

    def _draw_scores(self, table: Array) -> None:
        ax, places = self.ax_, np.arange(len(table))
        self.joins_ = []
        for split in table.T:
            (line,) = ax.plot(split, places, "-o", color=ink(), alpha=0.4, lw=0.7, ms=3.5, mew=0)
            self.joins_.append(line)
        self.means_ = ax.scatter(table.mean(axis=1), places, s=48, color=PALETTE[0], zorder=3)
        ax.set_xlabel(f"{self.score_name}: {table.shape[1]} splits and mean")

    def _draw_differences(self, table: Array, names: list[str]) -> None:
        ax = self.axes_[1]
        reference = self.reference or names[0]
        base = table[names.index(reference)]
        ax.axvline(0, color=ink(), linewidth=0.9, linestyle="--")
        self.intervals_ = {}
        for place, (name, own) in enumerate(zip(names, table, strict=True)):
            if name == reference:
                ax.annotate(
                    "reference",
                    (0, place),
                    xytext=(5, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize="small",
                    fontstyle="italic",
                )
                continue
            differences = own - base
            mean, _, half = corrected_interval(differences, self.test_ratio)
            low, high = mean - half, mean + half
            self.intervals_[name] = (mean, low, high)
            above, below = PALETTE[1:3] if self.lower_is_better else PALETTE[2:0:-1]
            colour = above if low > 0 else below if high < 0 else PALETTE[0]
            line = np.full(len(differences), place)
            ax.plot(differences, line, "o", color=ink(), alpha=0.5, ms=3.5, mew=0)
            ax.plot([low, high], [place, place], color=colour, lw=2.6, solid_capstyle="round")
            ax.plot([mean], [place], "o", color=colour, ms=7)
        ax.set_xlabel(f"difference from {short(reference, 24)}, 95 % interval")
