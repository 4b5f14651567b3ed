"""Methods for many rows: sums that add up block by block, and trees of cells."""
