"""The benchmark of FeatureDiscriminationSVC against the paper's grid search."""

from benchmarks.discrimination import Discrimination

from .helpers import assert_tables_are_rectangular, quick, results


def test_quick_run_measures_searches_and_splits(tmp_path):
    quick(tmp_path, "discrimination")
    found = Discrimination().read(tmp_path, "quick")
    assert not found.failures
    assert [row["search"] for row in found.rows[:3]] == ["fisher", "separation", "efficiency"]
    for row in found.rows[3:]:
        assert all(0.5 < value <= 1 for value in row["accuracy"].values())


def test_section_compares_with_two_stages():
    rows = [{"search": name, "search_seconds": 10.0} for name in ("a", "b", "c")]
    for split, (plain, stages) in enumerate([(0.8, 0.9), (0.9, 0.9)]):
        accuracy = {"plain": plain, "two stages": stages}
        rows.append({"split": split, "stages_seconds": 0.5, "accuracy": accuracy})
    text = Discrimination().section(results(*rows))
    assert "Two stages take 500 ms of CPU (median). The paper's search takes 30.0 s, 60.0x." in text
    assert "| plain | 85.00 ± 5.00 | -5.00 ± 5.00 |" in text
    assert_tables_are_rectangular(text)
    assert Discrimination().section(results(*rows[:3])) == "No split is measured."
