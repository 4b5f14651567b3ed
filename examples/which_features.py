"""Find two features among twenty that matter only in combination.

The class is the sign of x3 * x11. Each of the two alone looks like noise, so tests of one feature
at a time find neither. `RelevanceSelector` selects both for any other classifier; `RelevanceSVC`
needs no selection.

    python examples/which_features.py
"""

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from kernelwise import RelevanceSelector, RelevanceSVC


def two_that_matter_together(n=400, p=20, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, p))
    return X, X[:, 3] * X[:, 11] > 0


def main():
    X, y = two_that_matter_together()
    neighbours = KNeighborsClassifier()
    models = {
        "neighbours, all features": neighbours,
        "neighbours after SelectKBest(k=2)": make_pipeline(SelectKBest(k=2), neighbours),
        "neighbours after RelevanceSelector": make_pipeline(RelevanceSelector(), neighbours),
        "RelevanceSVC, all features": RelevanceSVC(),
    }
    print("accuracy over five folds, %; the selection is learned inside each fold\n")
    for name, model in models.items():
        print(f"  {name:36s}{100 * cross_val_score(model, X, y).mean():5.1f}")

    model = RelevanceSVC().fit(X, y)
    print("\nimportance in units of an equal share; * marks selected features\n")
    shares = model.feature_importances_ * X.shape[1]
    for k in np.argsort(-shares)[:5]:
        print(f"  x{k:<4d}{shares[k]:6.2f} {'*' if model.selected_features_[k] else ''}")


if __name__ == "__main__":
    main()
