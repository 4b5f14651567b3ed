"""Names of contenders that several suites have in common."""

GRID = "GridSearchCV"
FAST_GRID = "SVCSearchCV"  # the same scores in less time
