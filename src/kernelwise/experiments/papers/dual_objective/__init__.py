"""Feature weights by the dual objective (WRBF).

tables:     Table 1, Figure 2 and the statistics of section 5
toy:        Figure 1
comparison: other optimisers and machines on the same sets
"""
