"""Names that both measuring and rendering know."""

# The seven sets of the dual-objective paper, and those of two classes among them.
PROTOCOL = (
    "breast_cancer_wisconsin", "ecoli", "glass", "ionosphere", "iris", "pima", "voting",
)  # fmt: skip
TWO_CLASSES = ("breast_cancer_wisconsin", "ionosphere", "pima", "voting")
GRID = "GridSearchCV"
FAST_GRID = "SVCSearchCV"  # the same scores in less time
