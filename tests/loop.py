"""Many cases in one test: all of them run, and a failure names those that fail."""

import functools
import inspect

import pytest


class FailedCasesError(AssertionError):
    """Some cases of a test failed; it keeps their names and errors."""

    def __init__(self, failures, n_cases):
        self.failures = failures
        lines = [f"  {name}: {_first_line(error)}" for name, error in failures]
        super().__init__("\n".join([f"{len(failures)} of {n_cases} cases fail:", *lines]))


def loop(names, cases, ids=None):
    """Run a test for every case, with the arguments of ``pytest.mark.parametrize``, as one test."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    labelled = list(_labelled(names, cases, ids))

    def decorate(test):
        @functools.wraps(test)
        def run_all(**fixtures):
            failures = []
            for label, values in labelled:
                try:
                    test(**fixtures, **values)
                except FailedCasesError as inner:
                    failures += [(f"{label}, {name}", error) for name, error in inner.failures]
                except (Exception, pytest.fail.Exception) as error:
                    failures.append((label, error))
            if failures:
                raise FailedCasesError(failures, len(labelled)) from failures[0][1]

        signature = inspect.signature(test)
        missing = set(names) - set(signature.parameters)
        assert not missing, f"{test.__name__} has no argument {missing}"
        others = [each for name, each in signature.parameters.items() if name not in names]
        run_all.__signature__ = signature.replace(parameters=others)  # what pytest fills in
        return run_all

    return decorate


def _labelled(names, cases, ids):
    """Yield the name of each case and its arguments by name."""
    for place, case in enumerate(cases):
        label = None
        if hasattr(case, "marks"):  # pytest.param
            assert not case.marks, "a case of a loop cannot be marked"
            label, values = case.id, case.values
        else:
            values = (case,) if len(names) == 1 else tuple(case)
        if ids is not None:
            label = ids(case) if callable(ids) else list(ids)[place]
        if label is None:
            label = ", ".join(_short(value) for value in values)
        yield str(label), dict(zip(names, values, strict=True))


def _short(value):
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _first_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__
