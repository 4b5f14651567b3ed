"""The machine of most tests here: linear, with a given eta, and components as in the paper."""

from kernelwise import FeatureDiscriminationSVC


def machine(**given):
    """Return an estimator whose eta is 1 and whose kernel is linear unless they are given."""
    plain = {"kernel": "linear", "space": "components", "eta": 1.0}
    return FeatureDiscriminationSVC(**plain | given)
