"""What a part of the mixture offers."""

from __future__ import annotations

from typing import Protocol

from ...._typing import Array


class Part(Protocol):
    """A fitted machine, or a group of machines, whose decisions are mixed with those of others.

    Decisions have one column for two classes, positive for the second class, and else one column
    per class. Parts are frozen dataclasses of arrays and kernels, so that they can be stored.
    """

    @property
    def name(self) -> str:
        """The kind: "hinge", "kernel", "linear", "additive", "joint", "pairs" or "cells"."""

    @property
    def left_out(self) -> Array:
        """Decisions on each training row of machines that did not see it, of shape (m, k)."""

    @property
    def importances(self) -> Array:
        """Share of each encoded column, of sum one; zeros for a part without shares."""

    def decision_values(self, X: Array) -> Array:
        """Return the decisions, of shape (n, k), on new encoded rows."""

    def additive_values(self, X: Array) -> Array | None:
        """Return what single columns add to the decisions, up to a constant; None is nothing."""
