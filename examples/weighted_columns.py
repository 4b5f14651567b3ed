"""Weight the columns in front of a model by how well each separates the classes.

The weighting of the feature-discrimination SVM suits any model that penalises coefficients. Here it
precedes a linear SVM and a least-squares classifier, without and with added columns of noise.

    python examples/weighted_columns.py
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from kernelwise import FeatureDiscriminationScaler

MODELS = {
    "linear SVM": LinearSVC(C=0.1, random_state=0),
    "least squares": RidgeClassifier(alpha=10.0),
}
WEIGHTINGS = {
    "plain": None,
    "fisher": "fisher",
    "separation": "separation",
    "efficiency": "efficiency",
}
SPLITS = 20


def tables(seed=0):
    X, y = load_breast_cancer(return_X_y=True)
    noise = np.random.default_rng(seed).normal(size=(len(X), 300))
    return {"30 columns": (X, y), "30 columns and 300 of noise": (np.hstack([X, noise]), y)}


def main():
    splits = StratifiedShuffleSplit(SPLITS, train_size=100, random_state=0)
    print(f"accuracy after training on 100 rows, mean of {SPLITS} splits, %")
    for title, (X, y) in tables().items():
        print(f"\n  {title:30s}" + "".join(f"{name:>12s}" for name in WEIGHTINGS))
        for name, model in MODELS.items():
            scores = []
            for importance in WEIGHTINGS.values():
                scaler = FeatureDiscriminationScaler(importance, eta=4.0)
                weighted = make_pipeline(StandardScaler(), scaler, model)
                scores.append(100 * cross_val_score(weighted, X, y, cv=splits).mean())
            print(f"  {name:30s}" + "".join(f"{score:12.1f}" for score in scores))


if __name__ == "__main__":
    main()
