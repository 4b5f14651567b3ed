"""Sets, conditions, splits and names of the comparison."""

SETS = (
    "breast_cancer_wisconsin", "ecoli", "glass", "ionosphere", "iris", "pima", "voting", "sonar",
    "wdbc", "wpbc", "bupa", "hepatitis", "horse_colic", "biomed", "musk1", "colon", "wine",
    "digits",
)  # fmt: skip
QUICK_SETS = ("fisher_iris", "wine")  # come with scikit-learn, so no folder is needed
NOISIEST = ("sonar", "ionosphere", "glass", "wdbc", "ecoli")  # also with four times the columns
NOISE = {"clean": 0, "doubled": 1, "x4": 4}  # noise columns per real one
SIGNS = {"sign(x1 x2)": (2, 20), "sign(x1 x2 x3)": (3, 10)}  # factors, and inputs in all
SIGNS_CONDITION = "signs"
# Choices are made on the splits of one group, and only those of the other are reported.
SEEDS = {"choose": tuple(range(12)), "report": tuple(range(100, 110))}
FEWEST_ROWS = 5  # rows that a class needs to be in both the training and the test part

GRID, SINGLE, ENSEMBLE = "grid", "relevance_single", "relevance"
FOREST, BOOSTING, PLAIN = "forest", "boosting", "SVC"
FORMS = {SINGLE: "single", ENSEMBLE: "ensemble"}  # forms of RelevanceSVC
# The same without probabilities, which are timed only: they predict the same classes.
UNCALIBRATED = {SINGLE: "relevance_single_uncalibrated", ENSEMBLE: "relevance_uncalibrated"}


def cases(sets: tuple[str, ...] = SETS) -> list[tuple[str, str]]:
    """Return sets and conditions, the clean ones first."""
    found = [(name, condition) for condition in ("clean", "doubled") for name in sets]
    found += [(name, "x4") for name in NOISIEST if name in sets]
    return found + [(name, SIGNS_CONDITION) for name in SIGNS]
