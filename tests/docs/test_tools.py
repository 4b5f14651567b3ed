"""The tools that count what the documents promise."""

import numpy as np

from kernelwise import SVC
from tools.sizes import SOURCE, Size, public_names, size_of
from tools.walks import imports, is_upward, walk

MODULE = '''"""A module.

With two lines of text.
"""

# A comment.
import os  # is code


def f(x):
    """Return x."""
    text = """no docstring,
    two lines"""
    return x, text
'''


def test_sizes_tell_code_from_docstrings_and_comments():
    assert size_of(MODULE) == Size(modules=1, code=5, docstrings=5)


def test_public_names_are_listed_once_with_their_packages():
    names = public_names(SOURCE)
    assert names["SVC"] == ["kernelwise", "kernelwise.svm"]
    assert "kernels" not in names
    assert "__version__" not in names


def test_upward_is_a_folder_above_but_not_the_root():
    assert is_upward("svm/relevance/columns/bins", "svm/relevance/rows")
    assert not is_upward("svm/relevance/rows", "svm/relevance/columns/bins")
    assert not is_upward("svm/relevance/rows", "svm/base/steps")
    assert not is_upward("svm/relevance/rows", "_threads")
    assert imports("svm/svc", "svm/base/classifier")
    assert not imports("svm/base/classifier", "svm/svc")


def test_a_walk_sees_the_solver_behind_a_fit():
    X = np.random.default_rng(0).normal(size=(60, 3))
    found = walk(lambda: SVC().fit(X, X[:, 0] > 0))
    assert {"svm/svc", "svm/base/estimator", "qp/smo"} <= set(found.modules)
    assert ("svm/base/estimator", "svm/svc") in found.upward  # a method that SVC overrides
