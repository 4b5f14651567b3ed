"""
Sets of classes that contain the true one
=========================================

Instead of one class, ``predict_set`` returns all classes that a row may have at a confidence level.
Unclear rows get several. We compare the level with the share of held-out rows whose set contains
the true digit.
"""

# %%
# Noise on the pictures makes the task hard; 600 digits are for training, the others for testing.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from kernelwise import SVC

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
X = X + rng.normal(scale=5, size=X.shape)
order = rng.permutation(len(X))
train, test = order[:600], order[600:]
model = SVC(calibration="halves").fit(X[train], y[train])
print(f"accuracy on held-out rows: {model.score(X[test], y[test]):.1%}")

# %%
# For levels from 50 to 99 %: how many sets contain the true class, and how large they are.
levels = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
coverage, sizes = [], []
for level in levels:
    sets = model.predict_set(X[test], confidence_level=level)
    coverage.append(sets[np.arange(len(test)), y[test]].mean())
    sizes.append(sets.sum(axis=1).mean())

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot([0.5, 1], [0.5, 1], linestyle=":", color="gray", label="as promised")
left.plot(levels, coverage, marker="o", color="#0072B2", label="measured")
left.set(xlabel="confidence level", ylabel="sets that contain the true class", title="Coverage")
left.legend(frameon=False)
right.plot(levels, sizes, marker="o", color="#D55E00")
right.set(xlabel="confidence level", ylabel="classes per set", title="Size of the sets")

# %%
# Digits for which two classes are left.
sets = model.predict_set(X[test], confidence_level=0.9)
unclear = np.flatnonzero(sets.sum(axis=1) == 2)[:6]
_, axes = plt.subplots(1, len(unclear), figsize=(9, 1.9), layout="constrained")
for ax, row in zip(axes, unclear, strict=True):
    ax.imshow(X[test[row]].reshape(8, 8), cmap="gray_r")
    digits = " or ".join(str(digit) for digit in model.classes_[sets[row]])
    ax.set_title(f"{digits}\ntrue: {y[test[row]]}", fontsize=9)
    ax.set_axis_off()
