"""The printed figures of Tables 1 and 2 of the margin-radius paper."""

from __future__ import annotations

from typing import NamedTuple


class Table2Row(NamedTuple):
    """A row of Tables 1 and 2."""

    rows: int
    columns: int
    classes: tuple[int, int]
    std: float
    mr: float
    used: float
    verdict: str


PRINTED = {
    "ionosphere": Table2Row(351, 34, (126, 225), 11.71, 11.14, 28.3, "+"),
    "bupa": Table2Row(345, 6, (145, 200), 32.35, 32.35, 5.9, "="),
    "sonar": Table2Row(208, 60, (97, 111), 24.5, 23.0, 44.3, "+"),
    "wdbc": Table2Row(569, 32, (357, 212), 1.96, 2.50, 16.7, "-"),
    "wpbc": Table2Row(198, 34, (151, 47), 18.95, 17.37, 24.8, "+"),
    "musk1": Table2Row(476, 166, (269, 207), 13.62, 13.83, 68.1, "="),
    "colon": Table2Row(62, 2000, (40, 22), 15.00, 16.67, 2000, "="),
    "central_nervous_system": Table2Row(60, 7129, (21, 39), 38.33, 31.67, 6442, "+"),
    "leukemia": Table2Row(72, 7128, (25, 47), 1.43, 1.43, 6922, "="),
}
FURTHER = ("prostate_singh",)  # not of the paper
SETS = (*PRINTED, *FURTHER)
SHARE_USED = 68.6  # percent of the columns with a weight, over all thirteen sets, in the text
