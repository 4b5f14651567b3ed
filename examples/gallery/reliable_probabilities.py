"""
Probabilities that can be believed
==================================

Of the rows that get a probability of 80 %, about 80 % should belong to the class. We draw this for
``RelevanceSVC`` and for scikit-learn's gradient boosting, on rows that neither has seen.
"""

# %%
# A quarter of the labels of this table are wrong, so that no model can be certain.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from kernelwise import RelevanceSVC

X, y = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(0)
y = np.where(rng.random(len(y)) < 0.25, 1 - y, y)

# %%
# Each row is predicted by a model that was fitted without it.
models = {
    "RelevanceSVC()": RelevanceSVC(),
    "HistGradientBoostingClassifier()": HistGradientBoostingClassifier(random_state=0),
}
probability = {
    name: cross_val_predict(model, X, y, cv=3, method="predict_proba")[:, 1]
    for name, model in models.items()
}
share = y.mean()
print(f"guessing the share of the class: log loss {log_loss(y, np.full(len(y), share)):.3f}")
for name, p in probability.items():
    print(f"{name}: log loss {log_loss(y, p):.3f}")

# %%
# A curve on the diagonal means that the probabilities are frequencies. Below it at the right and
# above it at the left, a model is too sure of itself.
_, (ax, below) = plt.subplots(
    2, 1, figsize=(6, 6), height_ratios=(3, 1), sharex=True, layout="constrained"
)
for (name, p), colour in zip(probability.items(), ("#0072B2", "#D55E00"), strict=True):
    CalibrationDisplay.from_predictions(y, p, n_bins=8, name=name, ax=ax, color=colour)
    below.hist(p, bins=np.linspace(0, 1, 26), histtype="step", color=colour)
ax.set(xlabel="", ylabel="share of the class among these rows", title="Reliability")
below.set(xlabel="probability", ylabel="rows")
