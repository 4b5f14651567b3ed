"""Data sets of the papers by name, noise columns, and synthetic problems with a known answer."""

from .dataset import Dataset
from .loading import load_dataset
from .noise import make_noisy
from .toys import make_mirror_symmetry, make_sign_product, make_two_gaussians

__all__ = [
    "Dataset",
    "load_dataset",
    "make_mirror_symmetry",
    "make_noisy",
    "make_sign_product",
    "make_two_gaussians",
]
