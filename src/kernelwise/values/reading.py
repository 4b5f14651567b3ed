"""How one column of a user's table is read: as it is, or as a number, a date, text or an id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .dates import date_format, date_parts, have_times, read_dates
from .ids import ID_SHARE, MIN_ID_ROWS, is_numbering
from .numbers import MIN_SHARE, PLAIN, decimal_sign, read_numbers, share_of_numbers
from .text import Text, is_text

AS_IS, NUMBER, DATE, TEXT, ID = "as it is", "number", "date", "text", "id"


@dataclass(frozen=True)
class Reading:
    """What a column is read as, with what was learned of it from training rows."""

    kind: str = AS_IS
    format: str = "ISO8601"  # of dates that are words
    decimal: str = "."  # the decimal sign of numbers that are words
    first: float = 0.0  # the first day of dates, in days since 1970
    timed: bool = False  # whether dates have a time of day
    text: Text | None = None

    @classmethod
    def of_words(cls, words: Any) -> Reading:
        """Learn what words are; those that are levels of a category, or plain numbers, stay."""
        present = words[words != ""]
        if not len(present) or all(map(PLAIN.fullmatch, present)):
            return cls()
        if share_of_numbers(words, read_numbers(words))[0] >= MIN_SHARE:
            return cls(NUMBER, decimal=decimal_sign(words))
        n_different = len(set(present))
        if n_different > 1 and (format := date_format(words)) is not None:
            return cls.of_days(read_dates(words, format), format)
        if is_text(words):
            return cls(TEXT, text=Text.of(words))
        if len(present) >= MIN_ID_ROWS and n_different > ID_SHARE * len(present):
            return cls(ID)
        return cls()

    @classmethod
    def of_days(cls, days: Array, format: str = "ISO8601") -> Reading:
        """Learn the first date, and whether there are times; gaps alone stay as they are."""
        if np.isnan(days).all():
            return cls()
        return cls(DATE, format, first=float(np.nanmin(days)), timed=have_times(days))

    @classmethod
    def of_numbers(cls, name: str, numbers: Array) -> Reading:
        """Return whether whole numbers name the rows, or stay as they are."""
        return cls(ID) if is_numbering(name, numbers[~np.isnan(numbers)]) else cls()

    @property
    def n_parts(self) -> int:
        """The number of columns that the column becomes."""
        sizes = {DATE: 4 + self.timed, ID: 0, TEXT: 0 if self.text is None else self.text.size}
        return sizes.get(self.kind, 1)

    @property
    def shares_weight(self) -> bool:
        """Whether these columns have one weight."""
        return self.kind != DATE

    def of_dates(self, days: Array) -> list[Array]:
        """Return the parts of dates."""
        return list(date_parts(days, self.first, timed=self.timed).values())

    def of_texts(self, words: Any) -> list[Array]:
        """Return numbers that are words, or the directions of text."""
        if self.text is None:
            return [read_numbers(words, self.decimal)]
        return list(self.text.apply(words).T)

    def __str__(self) -> str:
        if self.kind == DATE:
            hour = ", hour" if self.timed else ""
            return f"date: year, month, day of week{hour}, days since the first"
        if self.kind == TEXT:
            return f"text: {self.n_parts} numbers with one weight"
        return "id: not used" if self.kind == ID else self.kind
