"""The walk over one parameter or two: its order, its starts, and what it does not solve."""

import inspect

import pytest

from kernelwise.outer import Stop, path


class Recorder:
    """A solve that returns its own point and keeps what it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, row, column, start):
        self.calls.append((row, column, start))
        return row, column


def test_order_is_row_by_row():
    stops = list(path(Recorder(), ["a", "b"], [1, 2, 3]))
    assert [(stop.row, stop.column) for stop in stops] == [
        *(("a", 1), ("a", 2), ("a", 3)),
        *(("b", 1), ("b", 2), ("b", 3)),
    ]
    assert all(stop.result == (stop.row, stop.column) for stop in stops)
    assert all(stop.solved for stop in stops)


def test_each_solve_starts_from_its_neighbour():
    solve = Recorder()
    list(path(solve, ["a", "b", "c"], [1, 2], start="given"))
    starts = [start for _, _, start in solve.calls]
    assert starts == ["given", ("a", 1), ("a", 1), ("b", 1), ("b", 1), ("c", 1)]


def test_first_solve_is_cold_by_default():
    solve = Recorder()
    list(path(solve, ["a"], [1]))
    assert solve.calls == [("a", 1, None)]


def test_one_parameter():
    solve = Recorder()
    stops = list(path(solve, [0.1, 0.2, 0.4]))
    assert solve.calls == [(0.1, None, None), (0.2, None, (0.1, None)), (0.4, None, (0.2, None))]
    assert [stop.row for stop in stops] == [0.1, 0.2, 0.4]
    assert [stop.column for stop in stops] == [None] * 3


def test_settled_results_are_not_solved_again():
    solve = Recorder()
    stops = list(path(solve, ["a"], [1, 2, 3, 4], settled=lambda result, column: column == 2))
    assert [column for _, column, _ in solve.calls] == [1, 2]
    assert [stop.solved for stop in stops] == [True, True, False, False]
    assert [stop.result for stop in stops] == [("a", 1), ("a", 2), ("a", 2), ("a", 2)]
    assert [stop.column for stop in stops] == [1, 2, 3, 4]


def test_a_row_is_settled_on_its_own():
    solve = Recorder()
    stops = list(path(solve, ["a", "b"], [1, 2, 3], settled=lambda result, _: result == ("a", 1)))
    assert [(row, column) for row, column, _ in solve.calls] == [
        ("a", 1),
        ("b", 1),
        ("b", 2),
        ("b", 3),
    ]
    # The next row starts from the first column, which was solved.
    assert solve.calls[1][2] == ("a", 1)
    assert [stop.solved for stop in stops] == [True, False, False, True, True, True]


def test_the_next_row_starts_from_the_first_column_also_after_a_skip():
    solve = Recorder()
    list(path(solve, ["a", "b"], [1, 2, 3], settled=lambda result, column: column == 2))
    assert [start for _, _, start in solve.calls] == [None, ("a", 1), ("a", 1), ("b", 1)]


def test_settled_is_asked_with_the_result_and_its_column():
    asked = []

    def settled(result, column):
        asked.append((result, column))
        return column == 2

    list(path(Recorder(), ["a"], [1, 2, 3, 4], settled=settled))
    assert asked == [(("a", 1), 1), (("a", 2), 2)]


def test_points_are_solved_when_asked_for():
    solve = Recorder()
    walk = path(solve, ["a", "b"], [1, 2])
    assert inspect.isgenerator(walk)
    assert solve.calls == []
    next(walk)
    assert len(solve.calls) == 1
    next(walk)
    assert len(solve.calls) == 2


@pytest.mark.parametrize(("rows", "columns"), [([], [1, 2]), (["a"], [])])
def test_nothing_to_walk(rows, columns):
    solve = Recorder()
    assert list(path(solve, rows, columns)) == []
    assert solve.calls == []


def test_errors_of_a_solve_are_not_swallowed():
    def solve(row, column, start):
        raise RuntimeError("no solution")

    with pytest.raises(RuntimeError, match="no solution"):
        list(path(solve, ["a"]))


def test_stop_is_a_value():
    assert Stop("a", 1, None, True) == Stop("a", 1, None, solved=True)
    with pytest.raises(AttributeError):
        Stop("a", 1, None, True).row = "b"
