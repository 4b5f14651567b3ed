"""Methods for many rows, whose sums over rows can be added up block by block."""
