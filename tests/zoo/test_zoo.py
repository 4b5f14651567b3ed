"""A part of the zoo in every run of the tests; ``make zoo`` checks all of it."""

import pytest

from .checks import check
from .problems import N_PROBLEMS, TABLES, problem

EVERY = 19  # prime to the number of kinds, so that each kind comes up
NUMBERS = range(0, N_PROBLEMS, EVERY)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.filterwarnings("ignore")  # the checks look at warnings themselves
def test_what_must_hold_for_every_problem(number):
    outcome = check(problem(number))
    assert not outcome.failures, f"{problem(number)}: {outcome.failures}"


def test_the_part_has_every_kind_of_table():
    assert {problem(number).kind for number in NUMBERS} == set(TABLES)
