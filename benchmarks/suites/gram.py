"""Kernel matrices, and the gradient of a criterion by weights, against scikit-learn and SciPy."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from ..measure import Contender, Effort, compare
from ..problems import classification, scale_gamma

_COMPARED_ROWS = 200
_KERNELS = (
    ("RBF", "float32"),
    ("RBF", "float64"),
    ("Laplacian", "float32"),
    ("Laplacian", "float64"),
)


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


def _gradient_contenders(X: np.ndarray, gamma: float) -> dict[str, Contender]:
    """Return ways to the gradient by the weights, for what a machine and a ball leave: two factors.

    The plain way is given the kernel; ours makes it.
    """
    from scipy.spatial.distance import cdist

    from kernelwise.kernels import Cotangent, Laplacian

    rng = np.random.default_rng(0)
    factors, scale = rng.normal(size=(len(X), 2)), np.array([-1.0, -2.0])
    kernel = Laplacian(gamma=gamma, weights=np.ones(X.shape[1]))
    cotangent = Cotangent(factors, scale, diagonal=rng.normal(size=len(X)))
    S = -gamma * kernel(X) * ((factors * scale) @ factors.T)

    def plain() -> np.ndarray:
        columns = (x[:, None] for x in X.T)
        return np.array([(S * cdist(x, x, "cityblock")).sum() for x in columns])

    return {
        "kernelwise": Contender(lambda: kernel.vjp(X, cotangent, dtype=np.float32)["weights"]),
        "SciPy": Contender(plain),
    }


def gram(effort: Effort) -> Iterator[dict]:
    """Compute the kernel between all rows, and the gradient by the weights of the features."""
    sizes = (100, 200) if effort.quick else (1000, 5000)
    for n, p, (kernel, dtype) in product(sizes, (20, 100), _KERNELS):
        X = classification(n, p)[0]
        gamma = scale_gamma(X) if kernel == "RBF" else 1 / p
        times, K = compare(_contenders(kernel, X.astype(dtype), gamma), effort)
        ours = K["kernelwise"][:_COMPARED_ROWS]
        for name in times:
            difference = np.abs(ours - K[name][:_COMPARED_ROWS]).max()
            times[name]["difference"] = float(f"{difference:.2g}")
        yield {"case": {"kernel": kernel, "dtype": dtype, "n": n, "p": p}, "times": times}
    yield from _gradients(effort)


def _gradients(effort: Effort) -> Iterator[dict]:
    sizes = (100, 200) if effort.quick else (500, 2000)
    for n, p in product(sizes, (20, 60)):
        times, found = compare(_gradient_contenders(classification(n, p)[0], 1 / p), effort)
        largest = np.abs(found["SciPy"]).max()
        for name in times:
            difference = np.abs(found["kernelwise"] - found[name]).max() / largest
            times[name]["difference"] = float(f"{difference:.2g}")
        case = {"kernel": "Laplacian, gradient", "dtype": "float32", "n": n, "p": p}
        yield {"case": case, "times": times}
