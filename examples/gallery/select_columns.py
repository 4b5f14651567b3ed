"""
Select columns, with an error rate or for another model
=======================================================

Five ways to select columns of one table whose truth we know: 5 columns decide, 25 are noise.
"""

# %%
# The classes depend on the first five columns, and on two of them only in combination.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from kernelwise import DualObjectiveSVC, RelevanceSelector

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 30))
decision = X[:, 0] + X[:, 1] - X[:, 2] + 2 * X[:, 3] * X[:, 4]
y = (decision + rng.normal(size=len(X)) > 0).astype(int)
truth = np.arange(30) < 5

# %%
# ``RelevanceSelector`` drops columns if held-out rows are decided better without them. With
# ``test="fdr"`` it keeps those that a test finds, and bounds the expected share of false columns by
# ``alpha``; ``test="fwer"`` bounds the probability of any false one. scikit-learn's selectors work
# with every estimator that has importances.
selectors = {
    "SelectKBest(f_classif, k=5)": SelectKBest(f_classif, k=5),
    "SelectFromModel(DualObjectiveSVC())": SelectFromModel(DualObjectiveSVC()),
    "RelevanceSelector()": RelevanceSelector(),
    'RelevanceSelector(test="fdr")': RelevanceSelector(test="fdr", alpha=0.1),
    'RelevanceSelector(test="fwer")': RelevanceSelector(test="fwer", alpha=0.1),
}
kept = {name: selector.fit(X, y).get_support() for name, selector in selectors.items()}

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.imshow(np.array(list(kept.values())) * (1 + truth), cmap="Blues", aspect="auto", vmax=2.5)
ax.axvline(4.5, color="#D55E00", linewidth=2)
ax.set_yticks(range(len(kept)), list(kept))
ax.set(xlabel="column: the five at the left decide", title="Kept columns")
for name, mask in kept.items():
    print(f"{name:36s} finds {mask[truth].sum()} of 5, and keeps {mask[~truth].sum()} of noise")

# %%
# Single columns say nothing about a product, so a filter misses columns 3 and 4.
#
# Select inside a pipeline, so that each fold makes its own selection.
boosting = HistGradientBoostingClassifier(random_state=0)
selected = make_pipeline(RelevanceSelector(), boosting)
print(f"boosting on all columns:      {cross_val_score(boosting, X, y, cv=3).mean():.1%}")
print(f"boosting on selected columns: {cross_val_score(selected, X, y, cv=3).mean():.1%}")
