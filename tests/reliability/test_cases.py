"""Where each defect that a stress test found is tested, and tests of those without others.

The stress test attacked the first version with 1,637 solver problems, 700 odd data sets, 3,416
wrong calls, 460 damaged files and 42 kills. ``make zoo`` and ``make chaos`` repeat it.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernelwise.outer import LBFGS, minimize

TESTS = Path(__file__).resolve().parents[1]

# The defect, and the tests that it stays mended.
CASES = {
    "A1: certificates of a rounded kernel": (
        "svm/test_many_classes.py::test_digits_far_from_the_origin_are_solved_for_the_true_kernel",
        "svm/test_many_classes.py::test_a_large_cost_is_solved_for_the_true_kernel",
        "svm/test_many_classes.py::test_a_kernel_beyond_float32_does_not_overflow",
        "zoo/test_zoo.py::test_what_must_hold_for_every_problem",
    ),
    "A2: many small classes are slow": (
        "svm/test_many_classes.py::test_fifty_classes_equal_scikit_learn_s",
        "svm/test_many_classes.py::test_fifty_classes_are_no_slower_than_scikit_learn_s",
    ),
    "A3: a solve that cannot progress takes half a minute": (
        "svm/test_many_classes.py::test_a_hopeless_column_is_given_up_within_seconds",
    ),
    "B1: leaking warnings": ("svm/test_no_leaking_warnings.py::test_no_runtime_warning",),
    "B2: rounding decides on degenerate data": (
        "svm/paths/test_ties.py::test_the_simplest_of_equal_points_is_selected",
        "svm/paths/test_ties.py::test_the_order_of_rows_does_not_choose_the_width",
        "svm/paths/test_ties.py::test_the_order_of_columns_does_not_choose_the_machine",
        "svm/test_check_estimator.py::expected_failures",
        "reliability/test_cases.py::test_b2_a_function_that_overflows_names_a_remedy",
    ),
    "C1: arguments of low-level functions": (
        "criteria/test_bad_arguments.py::test_a_bad_matrix_is_named",
        "criteria/test_bad_arguments.py::test_a_bad_vector_is_named",
        "criteria/test_bad_arguments.py::test_tolerance_of_the_radius",
        "qp/test_bad_arguments.py::test_tolerance",
        "kernels/test_bad_input.py::test_complex_rows_are_refused",
        "tabular/test_labels.py::test_an_array_is_no_table",
        "tabular/test_labels.py::test_two_columns_of_the_target_s_name",
        "transform/test_scaler.py::test_text_as_sample_weights_is_named",
        "svm/generalized_bias/test_construction.py::test_a_slice_beyond_the_columns_is_refused",
        "chaos/test_chaos.py::test_nothing_breaks",
    ),
    "D1: a fork during a fit hangs the child": (
        "test_fork.py::test_a_child_fits_while_a_thread_of_its_parent_holds",
        "test_threads.py::test_ctrl_c_at_the_entry_leaves_no_lock_taken",
    ),
    "D2: an interrupted fit mixes two models": (
        "svm/base/test_atomic_fit.py::test_an_interrupted_first_fit_leaves_the_estimator_unfitted",
        "svm/base/test_atomic_fit.py::test_an_interrupted_second_fit_keeps_the_first_model",
        "svm/base/test_atomic_fit.py::test_a_transformer_or_search_that_fails_late_keeps_the_first_model",
        "svm/base/test_atomic_fit.py::test_two_threads_end_with_one_of_the_two_models",
    ),
    "D3: no fit without a folder to write to": ("test_read_only.py::test_a_fit_writes_nothing",),
    "E1: files that exhaust memory": (
        "io/test_model_file_safety.py::test_a_forged_shape_of_a_sparse_matrix_allocates_nothing",
        "io/test_model_file_safety.py::test_an_array_whose_shape_does_not_fit_its_bytes_is_refused",
        "io/test_model_file_safety.py::test_a_header_that_lacks_a_field_is_refused_by_its_name",
    ),
    "G1: memory of RelevanceSVC(cache_size=200)": (
        "reliability/test_cases.py::test_g1_a_small_cache_bounds_the_growth_of_memory",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_is_tested(case):
    for place in CASES[case]:
        file, _, name = place.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in names, place


def test_b2_a_function_that_overflows_names_a_remedy():
    with pytest.raises(ValueError, match="scale what it depends on"):
        minimize(lambda theta: (np.inf, theta), [1.0], method=LBFGS())


GROWTH = """
import json, resource
import numpy as np
from kernelwise import RelevanceSVC

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

X = np.random.default_rng(0).normal(size=(20000, 10))
y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0).astype(int)
RelevanceSVC(cache_size=200).fit(X[:300], y[:300])
before = peak()
RelevanceSVC(cache_size=200).fit(X, y)
print(json.dumps(peak() - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_g1_a_small_cache_bounds_the_growth_of_memory():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", GROWTH],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert json.loads(done.stdout) < 250  # megabytes: the cache and copies of the table
