"""What single columns add to the decisions of a part: the same for all rows, and all of that."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelwise.svm.relevance.parts.additive import fit_additive
from kernelwise.svm.relevance.parts.crossed import cross_columns
from kernelwise.svm.relevance.parts.indicators import fit_on_numbers
from kernelwise.svm.relevance.parts.larger import begin_joint
from kernelwise.svm.relevance.parts.linear import fit_linear
from kernelwise.svm.relevance.parts.pairs import begin_pairs
from kernelwise.svm.relevance.parts.ridge import fit_ridge

from .mixed_tables import mixed_rows
from .test_crossed import answers
from .test_pairs import tables


def linear(rows):
    return fit_on_numbers(rows, lambda own: fit_linear(own, np.random.RandomState(0)))[0]


def joint(rows):
    return begin_joint(rows, np.random.RandomState(0))[1]()


def crossed(rows):
    return cross_columns(rows, joint(rows))


def pairs(rows):
    return begin_pairs(rows, np.random.RandomState(0))[1]()


PARTS = {
    "additive": (fit_additive, mixed_rows(400, 3)),
    "linear": (linear, mixed_rows(400)),
    "joint": (joint, mixed_rows(600, 3)),
    "crossed": (crossed, answers(3500)),
    "pairs": (pairs, tables(3000)),
}


@pytest.fixture(scope="module", params=PARTS)
def fitted(request):
    fit, rows = PARTS[request.param]
    return request.param, fit(rows), rows


def test_a_column_changes_every_row_alike(fitted):
    _, part, rows = fitted
    X = rows.X[:50]
    plain = part.additive_values(X)
    for column in range(X.shape[1]):
        for value in rows.X[50:53, column]:
            changed = X.copy()
            changed[:, column] = value
            of_value = part.additive_values(changed) - plain
            own, first = np.unique(X[:, column], return_index=True)
            expected = dict(zip(own.tolist(), of_value[first], strict=True))
            assert_allclose(of_value, [expected[x] for x in X[:, column].tolist()], atol=1e-9)


def test_the_rest_is_what_columns_do_together(fitted):
    name, part, rows = fitted
    rest = part.decision_values(rows.X) - part.additive_values(rows.X)
    if name in ("additive", "linear"):
        assert_allclose(rest, 0, atol=1e-12)
    elif name == "joint":
        together = part.landmarks.values(rows.X) @ part.kernel_coefficients
        assert_allclose(rest, together, atol=1e-4)  # columns of a regression are in float32
    else:
        assert rest.std() > 0.1


def test_a_kernel_adds_nothing_by_single_columns():
    rows = mixed_rows(200)
    (part,) = fit_on_numbers(
        rows, lambda own: fit_ridge(own, "laplacian", 1.0, np.random.RandomState(0))
    )
    assert part.additive_values(rows.X) is None
