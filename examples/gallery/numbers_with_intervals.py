"""
A number with its interval
==========================

`RelevanceSVR` predicts a number. Its intervals are learned from left-out residuals: on new rows of
the same kind, nine of ten hold the number. Here the target is the progression of diabetes, beside
ten columns of noise.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import train_test_split

from kernelwise import RelevanceSVR
from kernelwise.app.inspection import ImportanceDisplay, held_out_importance

X, y = load_diabetes(return_X_y=True, as_frame=True)
noise = np.random.default_rng(0).normal(size=(len(X), 10))
X = pd.concat([X, pd.DataFrame(noise, columns=[f"noise {k}" for k in range(1, 11)])], axis=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)

# %%
# Fit, predict, and compare with boosting and with guessing the mean.
model = RelevanceSVR(random_state=0, verbose=False).fit(X_train, y_train)
predicted = model.predict(X_test)
boosting = HistGradientBoostingRegressor(random_state=0).fit(X_train, y_train)
for name, values in (
    ("RelevanceSVR()", predicted),
    ("gradient boosting", boosting.predict(X_test)),
    ("the mean", np.full(len(y_test), y_train.mean())),
):
    print(f"{name:18s} root mean squared error {root_mean_squared_error(y_test, values):.1f}")

# %%
# The intervals, sorted by the prediction; orange points are outside.
low, high = model.predict_interval(X_test, confidence_level=0.9)
inside = (low <= y_test) & (y_test <= high)
print(f"{100 * inside.mean():.0f} % of the held-out rows are inside their 90 % interval")

order = np.argsort(predicted)
_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
places = np.arange(len(order))
ax.fill_between(places, low[order], high[order], alpha=0.2, color="#0072B2", label="90 % interval")
ax.plot(places, predicted[order], color="#0072B2", label="prediction")
colours = np.where(inside.to_numpy()[order], "#0072B2", "#D55E00")
ax.scatter(places, y_test.to_numpy()[order], s=8, c=colours, label="observed")
ax.set(xlabel="held-out rows, by prediction", ylabel="progression")
ax.legend(frameon=False)

# %%
# What the columns are worth: the growth of the error when each is shuffled in held-out rows.
ImportanceDisplay(held_out_importance(model, X_test, y_test, cv="prefit")).plot(max_features=12)
