"""
Find the real columns among noise
=================================

The wine table has 13 columns. We add 39 columns of random numbers, fit ``RelevanceSVC()`` as it is,
and look at the importances that it learns. A grid-searched ``SVC`` sees the same rows.
"""

# %%
# Real columns in front, noise behind.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC, RelevanceSVC, SVCSearchCV
from kernelwise.app.inspection import FeatureWeightsDisplay, PathDisplay

wine = load_wine()
n_real = len(wine.feature_names)
noise = np.random.default_rng(0).normal(size=(len(wine.data), 3 * n_real))
X = np.hstack([wine.data, noise])
names = [*wine.feature_names, *(f"noise {k + 1}" for k in range(noise.shape[1]))]
X_train, X_test, y_train, y_test = train_test_split(
    X, wine.target, train_size=0.5, stratify=wine.target, random_state=0
)

# %%
# There is nothing to tune and nothing to scale for ``RelevanceSVC``. The grid search tries 35
# combinations of C and width on standardised columns.
model = RelevanceSVC().fit(X_train, y_train)
grid = {"C": [0.1, 1, 10, 100, 1000], "gamma": np.logspace(-4, -1, 7)}
search = make_pipeline(StandardScaler(), SVCSearchCV(SVC(), grid)).fit(X_train, y_train)
print(f"RelevanceSVC():    {model.score(X_test, y_test):.1%} of held-out rows correct")
print(f"SVC, grid search:  {search.score(X_test, y_test):.1%}")

# %%
# The bars are shares of the prior variance: how much the model may use a column.
colours = ["#0072B2"] * n_real + ["#E69F00"] * noise.shape[1]
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
FeatureWeightsDisplay(model.feature_importances_, feature_names=names).plot(
    ax, max_features=18, color=colours
)
ax.set_title("Real columns (blue) and noise (orange)")

noise_share = model.feature_importances_[n_real:].sum()
print(f"the {noise.shape[1]} noise columns have {noise_share:.0%} of the importance")

# %%
# Columns are dropped if held-out rows are decided better without them. The path has the loss of
# each number of columns; rings are the numbers that the model mixes.
PathDisplay.from_estimator(model)
