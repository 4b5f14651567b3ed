"""Adapting the width of the kernel (Cristianini, Campbell and Shawe-Taylor, 1998).

tables:     Figures 1 to 3
iterations: the iterations of section 4
selection:  width and C against a grid search
"""
