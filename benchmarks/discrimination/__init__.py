"""``FeatureDiscriminationSVC(eta="cv")`` against the paper's grid search."""

from .suite import Discrimination as Discrimination
