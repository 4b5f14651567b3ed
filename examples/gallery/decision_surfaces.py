"""
Decision surfaces with and without learned widths
=================================================

Two columns decide, two do not. A plain ``SVC`` measures distances over all four; ``RelevanceSVC``
learns that two of them do not count. We draw a slice through the other two.
"""

# %%
# Two moons in two columns, and two columns of noise.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from kernelwise import RelevanceSVC
from kernelwise.app.inspection import DecisionSurfaceDisplay

rng = np.random.default_rng(0)
moons, y = make_moons(300, noise=0.2, random_state=0)
X = pd.DataFrame(moons, columns=["length", "width"])
X["noise 1"], X["noise 2"] = rng.normal(size=(2, len(X)))
model = RelevanceSVC(ensemble=False, kernel="rbf", calibration=None).fit(X, y)
print(pd.Series(model.feature_importances_, X.columns).round(2))

# %%
# ``baseline="svc"`` draws the machine with one width for all columns next to it. Rings are support
# vectors.
DecisionSurfaceDisplay.from_estimator(model, X, y, baseline="svc")

# %%
# scikit-learn's own display works too, here for the probabilities of the whole mixture.
mixture = RelevanceSVC().fit(moons, y)
_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
DecisionBoundaryDisplay.from_estimator(
    mixture, moons, response_method="predict_proba", cmap="RdBu_r", alpha=0.7, ax=ax
)
ax.scatter(*moons.T, c=y, cmap="RdBu_r", edgecolor="black", s=18)
ax.set(title="Probability of the second moon")
