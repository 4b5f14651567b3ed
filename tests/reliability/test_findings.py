"""Every finding of a trial by new users has a test that names it, and so has what they missed."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
N_FINDINGS = 27

# What they missed, and a test that it is there. Regression is out of scope.
MISSED = {
    "probabilities, also in ONNX": (
        "io/test_onnx.py",
        "test_a_pipeline_of_made_columns_has_probabilities",
    ),
    "rare classes": (
        "cli/test_user_findings.py",
        "test_01_balanced_classes_find_the_rare_one_and_keep_the_ranking",
    ),
    "many rows, and progress": (
        "cli/test_user_findings.py",
        "test_20_many_rows_show_steps_inside_a_fit",
    ),
    "progress in a terminal": (
        "cli/test_progress.py",
        "test_a_terminal_shows_the_steps_inside_a_fit",
    ),
    "categories with one weight": (
        "cli/test_user_findings.py",
        "test_09_a_random_category_gets_no_large_share",
    ),
    "direction of effects": (
        "report/test_user_findings.py",
        "test_27_the_page_has_curves_and_the_direction_of_effects",
    ),
    "reasons for rows": (
        "report/test_user_findings.py",
        "test_direction_and_reasons_are_there_for_a_model_file",
    ),
    "notes of predict": (
        "cli/test_user_findings.py",
        "test_11_predict_names_new_categories_and_says_nothing_of_usual_rows",
    ),
    "score of later rows": (
        "cli/test_score.py",
        "test_score_shows_metrics_calibration_and_drift",
    ),
    "leaking columns": (
        "cli/test_fit_warnings.py",
        "test_missed_a_leaking_column_is_named_before_the_work",
    ),
    "labels alike": (
        "cli/test_fit_warnings.py",
        "test_missed_labels_that_differ_by_case_or_spaces_are_named",
    ),
    "no better than guessing": (
        "cli/test_fit_warnings.py",
        "test_missed_a_model_that_guesses_is_called_so",
    ),
    "missing values": (
        "cli/test_user_findings.py",
        "test_16_missing_values_are_filled_by_default_as_the_guide_says",
    ),
    "sparse rows": (
        "svm/test_sparse_rows.py",
        "test_sparse_rows_give_the_model_of_dense_ones",
    ),
}


def test_every_finding_has_a_test_that_names_it():
    named = set()
    for path in TESTS.rglob("test_*.py"):
        found = re.findall(
            r"^def test_(?:finding_)?(\d+)_", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        named |= set(map(int, found))
    assert set(range(1, N_FINDINGS + 1)) <= named


@pytest.mark.parametrize("what", MISSED)
def test_what_users_missed_is_tested(what):
    file, name = MISSED[what]
    assert f"\ndef {name}(" in (TESTS / file).read_text(encoding="utf-8")
