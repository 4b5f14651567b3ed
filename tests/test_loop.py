"""A test over many cases runs all of them and names those that fail."""

import inspect

import pytest

from tests.loop import FailedCasesError, loop


def test_all_cases_run_and_those_that_fail_are_named():
    seen = []

    @loop("a", [1, 2])
    @loop(("b", "c"), [pytest.param(3, 4, id="first"), (5, 6)])
    def odd_sum(a, b, c, fixture):
        seen.append((a, b, c, fixture))
        if b == 5:
            pytest.fail(f"{a} fails")

    assert list(inspect.signature(odd_sum).parameters) == ["fixture"]
    with pytest.raises(FailedCasesError, match="2 of 2 cases fail") as caught:
        odd_sum(fixture=0)
    assert seen == [(1, 3, 4, 0), (1, 5, 6, 0), (2, 3, 4, 0), (2, 5, 6, 0)]
    assert "1, 5, 6: Failed: 1 fails" in str(caught.value)
    assert "first" not in str(caught.value)


def test_ids_are_names_and_a_test_without_failures_passes():
    @loop("x", [1, 0], ids=["one", "zero"])
    def inverse(x):
        assert 1 / x

    with pytest.raises(FailedCasesError, match="zero: ZeroDivisionError"):
        inverse()
    loop("x", [1, 2], ids=lambda x: f"x = {x}")(inspect.unwrap(inverse))()


def test_a_name_that_is_no_argument_is_an_error():
    with pytest.raises(AssertionError, match="no argument"):
        loop("y", [1])(lambda x: None)
