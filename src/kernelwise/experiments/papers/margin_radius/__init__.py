"""Margin and radius (MR-SVM; Do, Kalousis and Hilario, 2009).

tables:      Tables 1 and 2
elimination: recursive feature elimination
machines:    the machines, tuned by inner folds
"""
