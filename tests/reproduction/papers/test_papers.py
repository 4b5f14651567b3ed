"""Every experiment runs, sums up and is drawn, at the smallest size."""

import numpy as np
import pytest

from benchmarks.engine import run
from reproduction.experiment import experiments
from reproduction.markdown import write_markdown
from reproduction.papers.dual_objective.noisy_sets import SETS, TABLE_1, noisy
from reproduction.sections import sections


@pytest.mark.parametrize("name", list(experiments()))
def test_smoke(name, data_dir, tmp_path):
    experiment = experiments()[name]
    outcome = run(experiment, tmp_path, scale=experiment.scale("smoke"), data_dir=data_dir)
    assert outcome.results.failures == {}
    found, _ = sections([experiment], tmp_path, "smoke")
    summary = found[0].summary
    assert summary.tables
    assert all(len(row) == len(t.columns) for t in summary.tables for row in t.rows)
    assert all(len(drawing.caption) > 20 for drawing in found[0].drawings)
    write_markdown(found, tmp_path / "p.md")
    first = outcome.results.rows[:1]  # of an interrupted run
    assert experiment.summarise(first).tables
    experiment.figures(first)


def table_1_rows(repeats, shift=0.0, seed=0):
    """Return rows as the paper's table has them, with gains that follow the dual."""
    rng = np.random.default_rng(seed)
    rows = []
    for name in SETS:
        paper = TABLE_1[name]
        for noise in SETS:
            for repeat in range(repeats if noise != name else 0):
                fall = abs(rng.normal())
                rows.append(
                    {"dataset": name, "noise": noise, "repeat": repeat, "cpu": 0.3}
                    | {"rbf_accuracy": paper.rbf + shift, "wrbf_accuracy": paper.rbf + shift + fall}
                    | {"rbf_dual": paper.rbf_dual, "wrbf_dual": paper.rbf_dual - fall}
                    | {"rbf_correct": 50, "wrbf_correct": 51, "n_test": 60}
                    | {"ordered_dual": paper.rbf_dual, "ordered_accuracy": paper.rbf}
                )
    return rows


@pytest.mark.parametrize(
    ("repeats", "shift", "verdicts"),
    [
        (5, 0.0, ["met"] * 5),
        (5, 4.0, ["missed", *["met"] * 4]),
        (4, 0.0, ["open"] * 5),
    ],
)
def test_verdicts_on_table_1(repeats, shift, verdicts):
    summary = experiments()["dual-objective-table1"].summarise(table_1_rows(repeats, shift))
    assert [check.verdict for check in summary.checks] == verdicts


def test_table_1_has_the_papers_numbers_beside_ours():
    table = experiments()["dual-objective-table1"].summarise(table_1_rows(5)).tables[0]
    iris = next(row for row in table.rows if row[0] == "iris")
    assert iris[1] == 92.1
    assert iris[4] == 89.2
    assert iris[5].mean == pytest.approx(89.2)
    assert iris[7:10] == [18000, 1800, 2.9]  # Total, ours of 30 runs, and the printed gain


def test_paper_sizes_and_counts(data_dir):
    tasks = experiments()["dual-objective-table1"].tasks(
        experiments()["dual-objective-table1"].scale()
    )
    assert len(tasks) == 4200
    for name in SETS:
        X, y = noisy(name, "iris" if name != "iris" else "glass", 0, data_dir)
        assert 600 * int(0.2 * len(y)) == TABLE_1[name].total  # the table's column "Total"
        assert X.min() >= -1
        assert X.max() <= 1
        assert not np.isnan(X).any()


def test_figure_1_has_one_support_vector_fewer(data_dir):
    experiment = experiments()["dual-objective-figure1"]
    rows = [t | experiment.run(t, 0, None) for t in experiment.tasks(experiment.scale())]
    assert [check.verdict for check in experiment.summarise(rows).checks] == ["met", "met"]
