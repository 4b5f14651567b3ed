"""The printed figures of Tables 1 and 2 of the margin-radius paper."""

from __future__ import annotations

from typing import NamedTuple


class Table2Row(NamedTuple):
    """A row of Tables 1 and 2, as printed."""

    rows: int
    columns: int
    classes: tuple[int, int]
    std: float
    mr: float
    used: float
    percent: float  # of the columns with a weight
    verdict: str


PRINTED = {
    "ionosphere": Table2Row(351, 34, (126, 225), 11.71, 11.14, 28.3, 83.23, "+"),
    "bupa": Table2Row(345, 6, (145, 200), 32.35, 32.35, 5.9, 98.33, "="),
    "sonar": Table2Row(208, 60, (97, 111), 24.5, 23.0, 44.3, 73.88, "+"),
    "wdbc": Table2Row(569, 32, (357, 212), 1.96, 2.50, 16.7, 52.18, "-"),
    "wpbc": Table2Row(198, 34, (151, 47), 18.95, 17.37, 24.8, 72.94, "+"),
    "musk1": Table2Row(476, 166, (269, 207), 13.62, 13.83, 68.1, 41.02, "="),
    "colon": Table2Row(62, 2000, (40, 22), 15.00, 16.67, 2000, 100.0, "="),
    "central_nervous_system": Table2Row(60, 7129, (21, 39), 38.33, 31.67, 6442, 90.36, "+"),
    "femalevsmale": Table2Row(134, 1524, (67, 67), 13.08, 11.54, 1524, 100.0, "+"),
    "leukemia": Table2Row(72, 7128, (25, 47), 1.43, 1.43, 6922, 97.10, "="),
    "stroke": Table2Row(208, 171, (101, 107), 28.00, 26.00, 76.8, 44.91, "+"),
    "ovarian": Table2Row(253, 385, (62, 91), 4.80, 3.60, 53.2, 13.81, "+"),
    "prostate": Table2Row(322, 390, (253, 69), 18.44, 20.00, 93.07, 23.86, "-"),
}
ABSENT = ("femalevsmale", "stroke", "ovarian", "prostate")  # without a public copy
KNOWN = tuple(name for name in PRINTED if name not in ABSENT)
FURTHER = ("prostate_singh",)  # not of the paper
SETS = (*KNOWN, *FURTHER)
SHARE_USED = 68.6  # percent of the columns with a weight, over all thirteen sets, in the text
# The mean of the printed figures over the sets that are at hand.
PRINTED_SHARE = sum(PRINTED[name].percent for name in KNOWN) / len(KNOWN)
