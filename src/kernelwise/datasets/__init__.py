"""Data sets of the papers by name, noise columns, and synthetic problems with a known answer."""

from .dataset import Dataset
from .loading import DatasetInfo, list_datasets, load_dataset, where
from .noise import make_noisy
from .toys import make_mirror_symmetry, make_sign_product, make_two_gaussians

__all__ = [
    "Dataset",
    "DatasetInfo",
    "list_datasets",
    "load_dataset",
    "make_mirror_symmetry",
    "make_noisy",
    "make_sign_product",
    "make_two_gaussians",
    "where",
]
