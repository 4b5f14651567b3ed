"""Kernel matrices and gradients by the feature weights, against scikit-learn and SciPy."""

from itertools import product

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from kernelwise.kernels import RBF, Cotangent, Laplacian

from ..measure import Contender, Effort, compare
from ..problems import classification, scale_gamma
from ..suite import Results, Row, Suite, Task
from ..text import factor, span, spread, table

_COMPARED_ROWS = 200
_KERNELS = tuple(product(("RBF", "Laplacian"), ("float32", "float64")))
_GRADIENT = "Laplacian, gradient"
_OF_GRADIENTS = (
    " The gradient is that of a criterion by the feature weights, where the derivative by the "
    "kernel has two factors; SciPy is `(S * cdist(x, x, 'cityblock')).sum()` for each column, with "
    "S given, and the difference is relative to the largest entry."
)


def _kernel_contenders(kernel: str, X: np.ndarray, gamma: float) -> dict[str, Contender]:
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
    """Return ways to compute the gradient by the weights; only SciPy's is given the kernel."""
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


class KernelMatrices(Suite):
    """Kernels between all rows, and gradients by the feature weights."""

    name = "speed-gram"
    title = "Kernel matrices"
    seconds = 6.0

    def cases(self, quick: bool) -> list[Task]:
        sizes = (100, 200) if quick else (1000, 5000)
        kernels = product(sizes, (20, 100), _KERNELS)
        gradients = product((100, 200) if quick else (500, 2000), (20, 60))
        return [
            {"kernel": kernel, "dtype": dtype, "n": n, "p": p} for n, p, (kernel, dtype) in kernels
        ] + [{"kernel": _GRADIENT, "dtype": "float32", "n": n, "p": p} for n, p in gradients]

    def measure(self, case: Task, effort: Effort) -> Row:
        kernel, p = case["kernel"], case["p"]
        X = classification(case["n"], p)[0]
        if kernel == _GRADIENT:
            contenders = _gradient_contenders(X, 1 / p)
        else:
            gamma = scale_gamma(X) if kernel == "RBF" else 1 / p
            contenders = _kernel_contenders(kernel, X.astype(case["dtype"]), gamma)
        times, found = compare(contenders, effort)
        scale = np.abs(found["SciPy"]).max() if kernel == _GRADIENT else 1.0
        ours = found["kernelwise"][:_COMPARED_ROWS]
        for name in times:
            difference = np.abs(ours - found[name][:_COMPARED_ROWS]).max() / scale
            times[name]["difference"] = float(f"{difference:.2g}")
        return {"times": times}

    def section(self, results: Results) -> str:
        cells = []
        ratios: dict[str, list[float]] = {}
        for row in results.rows:
            times = row["times"]
            learn, scipy = times.get("scikit-learn"), times.get("SciPy")
            if learn is not None:
                ratios.setdefault(f"{row['kernel']} in {row['dtype']}", []).append(learn["ratio"])
            cells.append(
                [
                    *(row[key] for key in ("kernel", "dtype")),
                    *(f"{row[key]:,}" for key in ("n", "p")),
                    spread(times["kernelwise"]),
                    "" if learn is None else factor(learn["ratio"]),
                    "" if scipy is None else factor(scipy["ratio"]),
                    f"{max(one['difference'] for one in times.values()):.1e}",
                ]
            )
        parts = ", ".join(f"{what} {span(found)} times" for what, found in ratios.items())
        gradients = any(row["kernel"] == _GRADIENT for row in results.rows)
        header = ["kernel", "type", "n", "p", "kernelwise", "scikit-learn", "SciPy", "difference"]
        return (
            f"The kernel between all rows. Speed relative to scikit-learn's functions: {parts}. "
            "SciPy is `exp(-gamma * cdist(X, X, 'cityblock'))`; the difference is the largest of "
            f"any entry.{_OF_GRADIENTS if gradients else ''}\n\n" + table(header, cells, left=2)
        )
