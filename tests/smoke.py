"""Fit and predict with whatever kernelwise is installed: what every wheel must be able to do."""

from sklearn.datasets import load_iris

import kernelwise

kernelwise.show_versions()
X, y = load_iris(return_X_y=True)
for model in (kernelwise.SVC(), kernelwise.RelevanceSVC()):
    accuracy = model.fit(X, y).score(X, y)
    print(f"{type(model).__name__:14s} accuracy {accuracy:.3f} on iris")
    assert accuracy > 0.9
