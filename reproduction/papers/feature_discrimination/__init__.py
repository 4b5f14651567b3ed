"""Feature discrimination (FDSVM; Wang, Chen and Xue, 2011).

tables:   the experiment of Table 5
summary:  its tables
toy:      Tables 2 to 4, Figures 1 and 2
figure3:  Figure 3
search:   the full search against the search in two stages
machines: splits, grids and choices that the experiments share
printed:  the numbers of Table 5
"""
