"""Generalised bias (SVM-GB; Li, Leung and Lee, 2007).

tables:     Figure 1, rotated objects
stability:  Figure 2, fixed kernels and costs
newsgroups: Figure 3, topics in the bias
images:     the images and their neighbours
machines:   the machines, tuned by inner folds
"""
