"""Limits of cells, apart from their code: a fit of a small table does not import that."""

SWITCH = 20_000  # rows above which large="auto" takes cells
CELL_SIZE = 2000  # most rows of a cell
N_TREES = 3
