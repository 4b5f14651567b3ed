"""
Decision surfaces with and without learned weights
==================================================

Two columns decide, two do not. A plain ``SVC`` measures distances over all four; ``RelevanceSVC``
learns that two of them do not count. We draw a slice through the first two.
"""

# %%
# Two moons in two columns, and two columns of noise.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_moons

from kernelwise import SVC, RelevanceSVC

rng = np.random.default_rng(0)
moons, y = make_moons(300, noise=0.2, random_state=0)
X = pd.DataFrame(moons, columns=["length", "width"])
X["noise 1"], X["noise 2"] = rng.normal(size=(2, len(X)))
models = {
    "SVC()": SVC(calibration="loo").fit(X, y),
    "RelevanceSVC()": RelevanceSVC().fit(X, y),
}
print(pd.Series(models["RelevanceSVC()"].feature_importances_, X.columns).round(2))

# %%
# Both noise columns have the value one in the slice, as some rows have. It should not matter.
length, width = np.meshgrid(np.linspace(-1.6, 2.6, 60), np.linspace(-1.2, 1.7, 60))
grid = pd.DataFrame({"length": length.ravel(), "width": width.ravel(), "noise 1": 1, "noise 2": 1})
_, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    probability = model.predict_proba(grid)[:, 1].reshape(length.shape)
    ax.contourf(length, width, probability, levels=20, cmap="RdBu_r", vmin=0, vmax=1, alpha=0.8)
    ax.contour(length, width, probability, levels=[0.5], colors="black", linewidths=1)
    ax.scatter(X["length"], X["width"], c=y, cmap="RdBu_r", edgecolor="black", s=18)
    ax.set(title=f"{name}: probability of the second moon", xlabel="length")
axes[0].set_ylabel("width")
