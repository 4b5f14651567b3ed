"""Margin and radius (MR-SVM; Do, Kalousis and Hilario, 2009).

tables:      the experiment of Tables 1 and 2
summary:     its tables
printed:     the figures of the paper
elimination: recursive feature elimination
machines:    the machines, tuned by inner folds
"""
