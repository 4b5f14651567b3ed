"""
Rare classes and the choice of a threshold
==========================================

One row in thirteen is positive. Plain accuracy is useless here: a model that never says "yes" is
right in 92 % of the rows. There are two remedies. ``class_weight="balanced"`` makes both classes
count alike, and a threshold on the probability can be tuned for any aim.
"""

# %%
# Benign tumours of the breast cancer table and a few malignant ones, on five of its columns.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import (
    balanced_accuracy_score,
    fbeta_score,
    make_scorer,
    precision_recall_curve,
)
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

from kernelwise import RelevanceSVC

data = load_breast_cancer()
rng = np.random.default_rng(0)
malignant = np.flatnonzero(data.target == 0)
rows = np.append(np.flatnonzero(data.target == 1), rng.choice(malignant, 30, replace=False))
X = data.data[rows][:, [0, 1, 4, 8, 9]]  # radius, texture, smoothness, symmetry, fractal dimension
y = (data.target[rows] == 0).astype(int)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, test_size=0.5, random_state=0)
print(f"{y.mean():.1%} of the rows are positive")

# %%
# F2 counts recall more than precision: missing a tumour is worse than a false alarm.
f2 = make_scorer(fbeta_score, beta=2)
models = {
    "plain": RelevanceSVC(),
    "balanced": RelevanceSVC(class_weight="balanced"),
    "threshold tuned for F2": TunedThresholdClassifierCV(RelevanceSVC(), scoring=f2, cv=3),
}
for name, model in models.items():
    predicted = model.fit(X_train, y_train).predict(X_test)
    found = predicted[y_test == 1].mean()
    print(
        f"{name:24s} recall {found:4.0%}   false alarms {predicted[y_test == 0].mean():5.1%}   "
        f"balanced accuracy {balanced_accuracy_score(y_test, predicted):.2f}   "
        f"F2 {fbeta_score(y_test, predicted, beta=2):.2f}"
    )

# %%
# All three rank the rows in much the same way; they differ in where they draw the line.
_, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
probability = models["plain"].predict_proba(X_test)[:, 1]
precision, recall, _ = precision_recall_curve(y_test, probability)
ax.step(recall, precision, where="post", color="gray", label="all thresholds of the plain model")
looks = zip(("#0072B2", "#D55E00", "#009E73"), (8, 13, 8), strict=True)
for (name, model), (colour, size) in zip(models.items(), looks, strict=True):
    predicted = model.predict(X_test)
    found, right = predicted[y_test == 1].mean(), y_test[predicted == 1].mean()
    ax.plot(found, right, "o", color=colour, label=name, markersize=size)
ax.set(xlabel="recall", ylabel="precision", title="Where each model draws the line")
ax.legend(frameon=False)
