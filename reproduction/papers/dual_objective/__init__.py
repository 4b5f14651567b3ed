"""Feature weights by the dual objective (WRBF).

noisy_sets: the sets of Table 1, and its printed figures
tables:     Table 1, Figure 2 and the statistics of section 5
toy:        Figure 1
steps:      the duals of Table 1 along the step size
selection:  WRBF as a feature selector
comparison: other optimisers and machines on the same sets
"""
