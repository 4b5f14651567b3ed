"""Kernel matrices against scikit-learn and SciPy."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from ..measure import Contender, Effort, compare
from ..problems import classification, scale_gamma

_COMPARED_ROWS = 200


def _contenders(kernel: str, X: np.ndarray, gamma: float) -> dict[str, Contender]:
    from scipy.spatial.distance import cdist
    from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

    from kernelwise.kernels import RBF, Laplacian

    if kernel == "RBF":
        return {
            "kernelwise": Contender(lambda: RBF(gamma=gamma)(X)),
            "scikit-learn": Contender(lambda: rbf_kernel(X, gamma=gamma)),
        }
    return {
        "kernelwise": Contender(lambda: Laplacian(gamma=gamma)(X)),
        "scikit-learn": Contender(lambda: laplacian_kernel(X, gamma=gamma)),
        "SciPy": Contender(lambda: np.exp(-gamma * cdist(X, X, "cityblock"))),
    }


def gram(effort: Effort) -> Iterator[dict]:
    """Compute the kernel between all rows."""
    sizes = (100, 200) if effort.quick else (1000, 5000)
    kernels = (("RBF", "float32"), ("RBF", "float64"), ("Laplacian", "float64"))
    for n, p, (kernel, dtype) in product(sizes, (20, 100), kernels):
        X = classification(n, p)[0]
        gamma = scale_gamma(X) if kernel == "RBF" else 1 / p
        times, K = compare(_contenders(kernel, X.astype(dtype), gamma), effort)
        ours = K["kernelwise"][:_COMPARED_ROWS]
        for name in times:
            difference = np.abs(ours - K[name][:_COMPARED_ROWS]).max()
            times[name]["difference"] = float(f"{difference:.2g}")
        yield {"case": {"kernel": kernel, "dtype": dtype, "n": n, "p": p}, "times": times}
