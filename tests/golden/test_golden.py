"""Some golden fits come out as stored, and the comparison sees when one does not.

The fits are those that rounding does not move: they agree to 1e-9 on every processor.
"""

from pathlib import Path

import numpy as np
import pytest

from .cases import CASES
from .compare import compare
from .record import Result, read, run

RESULTS = read(Path(__file__).parent / "results")

CHEAP = [
    "SVC/rbf/wine",
    "SVC/laplacian/digits",
    "SVC/object-sum/iris",
    "SVC/tol=1e-09/duplicates",
    "SVC/sparse-weighted/sparse3",
    "SVC/precomputed-weighted/precomputed",
    "SVC/function/moons",
    "SVC/warm-C/noisy",
    "SVC/also/names",
    "AdaptiveKernelSVC/span/separable",
    "AdaptiveKernelSVC/sample_weight/names",
    "AdaptiveKernelSVC/cv-weighted/noisy",
    "AdaptiveKernelSVC/hard/tiny3",
    "DualObjectiveSVC/rbf/noisy",
    "DualObjectiveSVC/radius_margin/wine",
    "DualObjectiveSVC/tables/wide",
    "MarginRadiusSVC/product/wine",
    "MarginRadiusSVC/p=1.5/noisy",
    "FeatureDiscriminationSVC/rbf-components/moons",
    "FeatureDiscriminationSVC/cv/wine",
    "GeneralizedBiasSVC/columns/wine",
    "GeneralizedBiasSVC/cross_fit/noisy",
    "RelevanceSVC/default/wine",
    "RelevanceSVC/impute-True/missing3",
    "RelevanceSVC/sample_weight/names",
    "SVCSearchCV/grid/wine",
    "SVCSearchCV/kernels/noisy",
    "RelevanceSelector/default/wine_raw",
    "EmpiricalKernelMap/rbf/wine",
    "FeatureDiscriminationScaler/energy/wine",
    "TableEncoder/frame/frame",
]


def test_every_case_is_stored():
    assert RESULTS.keys() == CASES.keys()


@pytest.mark.parametrize("name", CHEAP)
def test_a_fit_comes_out_as_stored(name):
    found = compare(RESULTS[name], run(name))
    assert found.verdict != "WORSE", found


def changed(name, **arrays):
    old = RESULTS[name]
    return Result(old.arrays | arrays, old.facts)


def test_the_comparison_sees_other_decision_values():
    old = RESULTS["SVC/rbf/wine"]
    decisions = old.arrays["decisions"]
    objective = old.arrays["certificate_objective"]

    def verdict(**arrays):
        return compare(old, changed("SVC/rbf/wine", **arrays)).verdict

    assert verdict() == "identical"
    assert verdict(decisions=decisions * (1 + 1e-11)) == "agrees"
    other = decisions * (1 + 1e-7)
    assert verdict(decisions=other, certificate_objective=objective - 1e-3) == "no worse"
    assert verdict(decisions=other, certificate_objective=objective + 1e-3) == "WORSE"
    assert verdict(decisions=other, certificate_violation=np.full(3, 1e-2)) == "WORSE"
    assert verdict(decisions=decisions[1:], certificate_objective=objective + 1e-3) == "WORSE"


def test_the_comparison_sees_another_choice():
    old = RESULTS["SVCSearchCV/grid/wine"]
    selected = old.facts["selected"] | {"best_index_": -1}
    found = compare(old, Result(old.arrays, old.facts | {"selected": selected}))
    assert found.verdict == "WORSE"
    assert not found.same_selection
    assert any(note.startswith("best_index_") for note in found.notes)
