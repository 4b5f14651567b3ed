"""MarginRadiusSVC on the paper's data: the value of a cone solver, and few solves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from kernelwise import MarginRadiusSVC
from tests.loop import loop
from tests.svm.margin_radius.oracles import paper_value, product_value

ORACLES = {"product": product_value, "paper": paper_value}


def read(data_dir, name):
    """Return the standardised columns that vary, rows of unit norm as in the paper, and codes."""
    table = pd.read_csv(data_dir / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
    classes = table["target"].astype(str)
    X = table.drop(columns="target").to_numpy(dtype=np.float64)
    X = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(classes == classes.max(), 1.0, -1.0)


@loop("kind", ["paper", "product"])
@loop("C", [0.1, 10.0, 1000.0])
@loop("name", ["bupa", "ionosphere", "sonar"])
def test_value_is_that_of_a_cone_solver(data_dir, name, C, kind):
    X, y = read(data_dir, name)
    model = MarginRadiusSVC(radius=kind, C=C, tol=1e-8).fit(X, y)
    assert model.objective_[0] == pytest.approx(ORACLES[kind](X, y, C), rel=1e-6)


def test_the_path_of_C_halves_the_solves(data_dir):
    X, y = read(data_dir, "colon")
    path = MarginRadiusSVC().C_path(X, y, [0.1, 1.0, 10.0, 100.0, 500.0, 1000.0])
    cold = [MarginRadiusSVC(C=C).fit(X, y).n_solves_ for C in path.C]
    assert path.n_solves.sum() < sum(cold) / 2


# Twice the solves of the prototype (sequential quadratic programming, or column generation).
SOLVES = [
    ("sonar", 10.0, 14),
    ("ionosphere", 1000.0, 48),
    ("musk1", 1000.0, 24),
    ("colon", 10.0, 30),
    ("leukemia", 10.0, 74),
    ("central_nervous_system", 10.0, 90),
]


@loop(("name", "C", "most"), SOLVES, ids=str)
@loop("kind", ["paper", "product"])
def test_few_solves_to_the_gap(data_dir, name, C, most, kind):
    X, y = read(data_dir, name)
    model = MarginRadiusSVC(radius=kind, C=C).fit(X, y)
    assert model.duality_gap_[0] <= 1e-4
    assert model.n_solves_ <= most
    assert np.count_nonzero(model.feature_weights_) <= len(y)
