"""A walk along one parameter, or over a grid of two, each solve warm from a neighbour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stop:
    """One point of a path.

    Parameters
    ----------
    row : Any
        The first parameter.
    column : Any
        The second parameter; None where there is one only.
    result : Any
        What the solve returned.
    solved : bool
        False where the result of the point before was known to stay what it is.
    """

    row: Any
    column: Any
    result: Any
    solved: bool


def path(
    solve: Callable[[Any, Any, Any], Any],
    rows: Sequence[Any],
    columns: Sequence[Any] = (None,),
    *,
    settled: Callable[[Any, Any], bool] | None = None,
    start: Any = None,
) -> Iterator[Stop]:
    """Walk row by row; within a row each column starts from the one before.

    The first column of a row starts from the first column of the row before.

    Parameters
    ----------
    solve : callable
        ``solve(row, column, start)`` returns a result; ``start`` is the result of a neighbour, or
        what `path` was given as ``start``.
    rows : sequence
        Values of the first parameter, for instance widths of a kernel.
    columns : sequence, default=(None,)
        Values of the second, for instance C in ascending order.
    settled : callable, default=None
        ``settled(result, column)`` tells whether the result stays what it is for all later
        columns: a machine with max alpha < C does not change when C grows. Those are not solved.
    start : Any, default=None
        Where the first solve starts.

    Yields
    ------
    stop : Stop
        The points in the order of the walk.

    Examples
    --------
    >>> from kernelwise.outer import path
    >>> def solve(width, C, start):
    ...     return min(C, 3.0)
    >>> stops = path(solve, ["wide"], [1.0, 5.0, 9.0], settled=lambda result, C: result < C)
    >>> [(stop.column, stop.result, stop.solved) for stop in stops]
    [(1.0, 1.0, True), (5.0, 3.0, True), (9.0, 3.0, False)]
    """
    first = start
    for row in rows:
        result, free = first, False
        for number, column in enumerate(columns):
            if not free:
                result = solve(row, column, result)
            yield Stop(row, column, result, solved=not free)
            if number == 0:
                first = result
            free = free or (settled is not None and settled(result, column))
