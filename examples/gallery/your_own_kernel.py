"""
A kernel of your own, with learned weights
==========================================

A kernel of the weighted distance is two lines: its profile and the slope of the profile. It then
works in every estimator, and its weights can be learned.
"""

# %%
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

from kernelwise import DualObjectiveSVC
from kernelwise.app.inspection import ComparisonDisplay
from kernelwise.kernels import RBF, Matern52, SquaredDistanceKernel


@dataclass(frozen=True, eq=False, repr=False)
class Cauchy(SquaredDistanceKernel):
    """Cauchy kernel 1 / (1 + t), with heavier tails than the Gaussian."""

    def profile(self, t):
        return 1 / (1 + t)

    def slope(self, t):
        return -1 / (1 + t) ** 2


# %%
# How fast three kernels fall with the distance.
distance = np.linspace(0, 4, 100)[:, None]
_, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for kernel, colour in (
    (RBF(gamma=0.5), "#0072B2"),
    (Matern52(gamma=0.5), "#009E73"),
    (Cauchy(gamma=0.5), "#D55E00"),
):
    ax.plot(distance, kernel(distance, np.zeros((1, 1))), label=type(kernel).__name__, color=colour)
ax.set(xlabel="distance of two rows", ylabel="kernel")
ax.legend(frameon=False)

# %%
# Learn one weight per column for each kernel, on the wine table with as many columns of noise, and
# compare them on the same folds. The display widens its intervals for rows that folds share.
X, y = load_wine(return_X_y=True)
noise = np.random.default_rng(0).normal(size=X.shape)
X = StandardScaler().fit_transform(np.hstack([X, noise]))
methods = {
    type(kernel).__name__: DualObjectiveSVC(kernel=kernel)
    for kernel in (RBF(gamma=1 / 26), Matern52(gamma=1 / 26), Cauchy(gamma=1 / 26))
}
scores = {name: cross_val_score(method, X, y, cv=5) for name, method in methods.items()}
ComparisonDisplay(scores, test_ratio=1 / 4, score_name="accuracy").plot()
