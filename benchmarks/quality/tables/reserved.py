"""Tables that are kept for an independent test: the benchmarks refuse to read them."""

from benchmarks.engine import ExperimentError

# Names in lower case, whatever package a table comes in.
_NAMES = frozenset(
    {
        "australian", "balance", "bands", "car", "contraceptive", "crx", "german", "hayes-roth",
        "heart", "mammographic", "monk-2", "movement_libras", "ring", "saheart", "segment",
        "spambase", "splice", "tae", "tic-tac-toe", "twonorm", "vehicle", "vowel", "kyphosis",
        "cars93", "penguins", "fgl", "pbc", "hdma", "flchain", "crohn", "chile", "forbes2000",
        "bundesliga", "movies", "diamonds", "caravan", "default", "khan", "quarrels",
        "seattle-weather", "seattle_weather", "bfi", "mpg", "flights", "balance-scale", "cmc",
        "credit-approval", "credit-g", "eucalyptus", "pc1", "pc3", "pc4", "kc2",
        "banknote-authentication", "blood-transfusion", "ilpd", "qsar-biodeg", "cylinder-bands",
        "dresses-sales", "miceprotein", "steel-plates-fault",
        "climate-model-simulation-crashes",
        "anneal", "maternal_health_risk", "website_phishing", "churn",
        "polish_companies_bankruptcy",
        "taiwanese_bankruptcy", "heloc", "jm1", "credit_card_clients_default", "bank-marketing",
        "diabetes130us", "hiva_agnostic", "sdss17", "airfoil_self_noise", "wine_quality",
        "concrete_compressive_strength", "houses", "california_housing", "superconductivity",
        "duke_forest", "possum", "airquality", "birthwt", "cpus", "meats", "nbasal", "hitters",
        "mlb1", "clothing", "evals", "bdims", "biomass", "car_prices", "dietox", "sacramento",
        "ricefarms", "gestation", "gapminder", "nlschools", "gpa2", "airfare", "rainibk", "hsb82",
        "tenmilerace", "storms", "nlswork",
    }
)  # fmt: skip
# The same rows under another name.
_COPIES = frozenset(
    {
        "coil2000", "ticdata", "germancredit", "statlog_heart", "hmda", "loanapp", "pbcseq",
        "spam", "dna", "palmerpenguins", "epi.bfi",
    }
)  # fmt: skip
_BEGINNINGS = ("car-", "segment", "vehicle", "vowel", "mfeat-", "analcatdata_", "khan")


def is_reserved(name: str) -> bool:
    """Return whether a table belongs to the independent test, by its name alone."""
    package, _, short = name.lower().rpartition("/")
    if package == "pmlb":
        number = short.partition("_")[0]
        return number.isdigit() and int(number) % 2 == 0
    return short in _NAMES | _COPIES or short.startswith(_BEGINNINGS)


def check(name: str) -> None:
    """Fail if a table is reserved."""
    if is_reserved(name):
        raise ExperimentError(f"{name} is kept for an independent test and is not read here")
