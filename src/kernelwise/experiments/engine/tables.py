"""Tables, checks, remarks and drawings of an experiment, as plain data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scipy.stats import sem

from ..._checks import as_real

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Spread:
    """A mean and its standard error.

    Parameters
    ----------
    mean : float
        The mean.
    error : float or None
        Its standard error; None where there is a single value.
    """

    mean: float
    error: float | None = None

    @classmethod
    def of(cls, values: Any) -> Spread | None:
        """Return mean and standard error of some values, None if there are none.

        Parameters
        ----------
        values : array-like
            Numbers.

        Returns
        -------
        spread : Spread or None
            The error is None for a single value.
        """
        values = as_real(values, "values")
        if values.ndim != 1:
            raise ValueError(f"values must be one number per repeat; got shape {values.shape}.")
        if values.size == 0:
            return None
        error = float(sem(values)) if values.size > 1 else None
        return cls(float(values.mean()), error)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
        Its heading.
    digits : int
        Decimals of its numbers.
    group : str
        A heading above it, which neighbours may share.
    signed : bool
        Whether positive numbers get a plus sign.
    """

    name: str
    digits: int = 2
    group: str = ""
    signed: bool = False

    @property
    def heading(self) -> str:
        """Group and name in one line."""
        return f"{self.group} {self.name}".strip()


Cell = str | float | int | Spread | None


@dataclass(frozen=True)
class Table:
    """A table.

    Parameters
    ----------
    title : str
        One line.
    columns : sequence of Column
        The first names the row.
    rows : sequence of sequences
        Cells: str, number, `Spread`, or None where there is nothing.
    note : str
        A sentence below.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


def compared(group: str, digits: int = 2) -> list[Column]:
    """Return the three columns of a comparison: paper, ours and difference.

    Parameters
    ----------
    group : str
        What is compared.
    digits : int, default=2
        Decimals.

    Returns
    -------
    columns : list of Column
        For the cells of `against`.
    """
    return [
        Column("paper", digits, group),
        Column("ours", digits, group),
        Column("diff.", digits, group, signed=True),
    ]


def against(paper: float | None, values: Any) -> list[Cell]:
    """Return the cells of a comparison: printed value, measured values, and difference.

    Parameters
    ----------
    paper : float or None
        The paper's figure, None where it prints none.
    values : array-like
        Measured values, one per repeat.

    Returns
    -------
    cells : list
        The paper's figure, a `Spread` and ours minus the paper's.

    Examples
    --------
    >>> from kernelwise.experiments import against
    >>> against(70.0, [71.0, 73.0])
    [70.0, Spread(mean=72.0, error=1.0), 2.0]
    """
    if paper is not None and abs(paper) > sys.float_info.max:  # a whole number may be
        raise ValueError("paper must be a number that float64 can represent.")
    ours = Spread.of(values)
    return [paper, ours, None if ours is None or paper is None else ours.mean - paper]


Part = tuple[Column | Sequence[Column], Callable[..., Any]]


def tabulate(
    title: str,
    heading: str,
    items: Mapping[str, Any] | Iterable[str],
    parts: Iterable[Part],
    note: str = "",
) -> Table:
    """Make a table whose columns stand beside the functions that give their cells.

    Parameters
    ----------
    title : str
        Of the table.
    heading : str
        Of the first column, which names the items.
    items : mapping or iterable of str
        One for each row of the table.
    parts : iterable of tuple
        A column with the function that makes its cell from an item, or from key and value of a
        mapping; or several columns with the function that makes a list of their cells.
    note : str, default=""
        Of the table.

    Returns
    -------
    table : Table
        The table.

    Examples
    --------
    >>> from kernelwise.experiments.engine.tables import Column, tabulate
    >>> tabulate("Sizes", "set", ["iris", "glass"], [(Column("letters"), len)]).rows
    [['iris', 4], ['glass', 5]]
    """
    columns, rows = [Column(heading)], [[item] for item in items]
    for own, make in parts:
        columns += own if isinstance(own, Sequence) else [own]
        for row in rows:
            found = make(row[0], items[row[0]]) if isinstance(items, Mapping) else make(row[0])
            row += found if isinstance(found, list | tuple) else [found]
    return Table(title, columns, rows, note)


_RELATIONS = {
    ">": lambda value, limit: value > limit,
    "<": lambda value, limit: value < limit,
    ">=": lambda value, limit: value >= limit,
    "<=": lambda value, limit: value <= limit,
}


@dataclass(frozen=True)
class Check:
    """A target and whether it is met.

    Parameters
    ----------
    name : str
        The quantity.
    value : float or None
        Measured value, None if there is too little for a verdict.
    relation : {">", "<", ">=", "<="}
        Required relation to the limit.
    limit : float
        The target.
    digits : int
        Decimals to show.
    """

    name: str
    value: float | None
    relation: str
    limit: float
    digits: int = 2

    @property
    def verdict(self) -> str:
        """One of "met", "missed" and "open"."""
        if self.value is None:
            return "open"
        return "met" if _RELATIONS[self.relation](self.value, self.limit) else "missed"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and whether it holds under each reading of its protocol.

    Parameters
    ----------
    text : str
        The claim, in our words.
    paper : str
        The figure that the paper prints for it, or what it says.
    ours : mapping of str to str
        Our figure by reading; the name is empty where there is one reading.
    holds : mapping of str to bool
        Whether it holds, by reading.
    """

    text: str
    paper: str
    ours: Mapping[str, str]
    holds: Mapping[str, bool]

    @classmethod
    def judged(
        cls,
        text: str,
        paper: str,
        found: Mapping[str, Any],
        shown: Callable[[Any], str],
        holds: Callable[[Any], Any],
    ) -> Claim:
        """Return a claim whose figure of each reading is shown and judged by functions of it.

        Parameters
        ----------
        text : str
            The claim.
        paper : str
            The figure of the paper.
        found : mapping
            Our figure by reading.
        shown : callable
            Makes the text of a figure.
        holds : callable
            Returns whether the claim holds for a figure.

        Returns
        -------
        claim : Claim
            The claim with its verdict.
        """
        ours = {name: shown(value) for name, value in found.items()}
        return cls(text, paper, ours, {name: bool(holds(each)) for name, each in found.items()})

    @property
    def verdict(self) -> str:
        """The verdict over all readings."""
        kept = [reading for reading, holds in self.holds.items() if holds]
        if len(kept) == len(self.holds):
            return "holds"
        return f"holds under {', '.join(kept)}" if kept else "does not hold"

    @property
    def measured(self) -> str:
        """Our figures, each with its reading."""
        return "; ".join(f"{name}: {text}" if name else text for name, text in self.ours.items())


@dataclass(frozen=True)
class Summary:
    """Tables, checks and remarks of an experiment.

    Parameters
    ----------
    tables : sequence of Table
        In order.
    checks : sequence of Check
        The targets.
    remarks : sequence of str
        A sentence or two on each difference from the paper, with the numbers that were measured.
    claims : sequence of Claim
        The claims of the paper that the experiment can judge.
    """

    tables: Sequence[Table] = ()
    checks: Sequence[Check] = ()
    remarks: Sequence[str] = ()
    claims: Sequence[Claim] = ()


@dataclass(frozen=True)
class Drawing:
    """A figure.

    Parameters
    ----------
    name : str
        For the file name: "scatter".
    caption : str
        One or two sentences on the content; also the alternative text of the picture.
    figure : matplotlib.figure.Figure
        Made by ``matplotlib.figure.Figure(...)``, without pyplot.
    """

    name: str
    caption: str
    figure: Figure = field(repr=False)
