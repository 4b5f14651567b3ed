"""Constraints on parameters: what each allows, and that errors say what is wrong."""

from fractions import Fraction
from inspect import Parameter, signature
from numbers import Integral, Real

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.model_selection import KFold

import kernelwise
from kernelwise import SVC
from kernelwise._parameters import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    check_parameters,
    check_values,
    checked_arguments,
)
from tests.loop import loop

SPLITS = [([0], [1])]


def estimator_with(*constraints):
    return type("Estimator", (), {"_parameter_constraints": {"p": list(constraints)}})


def is_allowed(constraint, value):
    try:
        check_values(estimator_with(constraint), {"p": value})
    except InvalidParameterError:
        return False
    return True


ALLOWED = [
    (Interval(Real, 0, 1, closed="left"), [0, 0.5, np.float32(0.5), Fraction(1, 2)]),
    (Interval(Real, 0, 1, closed="right"), [1, 1e-300]),
    (Interval(Real, 0, 1, closed="both"), [0, 1]),
    (Interval(Real, 0, None, closed="right"), [np.inf, 3]),
    (Interval(Real, None, None, closed="neither"), [-1e300, 0]),
    (Interval(Integral, -1, None, closed="left"), [-1, np.int64(4), 10**30]),
    (Interval(float, 0, 1, closed="neither"), [0.5, np.float64(0.5)]),
    (Options({"a", "b"}), ["a", "b", np.str_("a")]),
    (HasMethods(["fit", "score"]), [SVC()]),
    ("array-like", [[1], (), np.ones(2), np.array(1.0), range(3)]),
    ("boolean", [True, np.False_]),
    ("column", [[1, 2], ("a", "b"), np.ones(2), pd.Series(["a"])]),
    ("cv_object", [None, 2, KFold(), SPLITS, iter(SPLITS)]),
    ("n_jobs", [None, 1, -1, np.int64(4)]),
    ("random_state", [None, 0, np.int64(3), 2**32 - 1, np.random.RandomState(0)]),
    ("sparse matrix", [sp.csr_array(np.eye(2)), sp.csr_matrix(np.eye(2))]),
    ("table", [[[1, 2], [3, 4]], np.ones((2, 1)), pd.DataFrame({"a": ["x"]}), ((1,), (2,))]),
    ("verbose", [0, 3, True]),
    (callable, [len, SVC]),
    (dict, [{}]),
    (None, [None]),
]
REFUSED = [
    (Interval(Real, 0, 1, closed="left"), [1, -1, np.nan, "0.5", None, [0.5], 0.5j]),
    (Interval(Real, 0, 1, closed="right"), [0, 1.1]),
    (Interval(Real, 0, 1, closed="neither"), [0, 1]),
    (Interval(Real, None, None, closed="neither"), [np.inf, -np.inf, np.nan]),
    (Interval(Integral, -1, None, closed="left"), [-2, 1.0]),
    (Interval(float, 0, 1, closed="neither"), [1, 0, 1.0]),
    (Options({"a", "b"}), ["c", b"a", None, ["a"]]),
    (HasMethods(["fit", "predict", "fly"]), [SVC()]),
    ("array-like", ["text", 1.0, None, sp.csr_array(np.eye(2))]),
    ("boolean", [1, "True", None]),
    ("column", ["text", b"text", None, 3, np.ones((2, 1)), [[1], [2]], {"a": 1}, range(3)]),
    ("cv_object", [1, 2.0, "split", b"split", SVC()]),
    ("n_jobs", [0, 10**18, -(10**18), 1.0, "all"]),
    ("random_state", [-1, 2**32, 0.5, "0"]),
    ("sparse matrix", [np.eye(2)]),
    ("table", [np.ones(2), np.ones((2, 2, 2)), np.ones((2, 2)) * 1j, [[1, 2], [3]], [1, 2], []]),
    ("table", [None, "text", 3, {"a": [1]}, pd.Series([1]), ["ab", "cd"], range(3)]),
    ("verbose", [-1, 0.5, "yes"]),
    (callable, [3]),
    (dict, [[]]),
    (None, [0, False]),
]


@loop(("constraint", "values"), ALLOWED, ids=lambda each: str(each)[:40])
def test_values_that_are_allowed(constraint, values):
    assert [value for value in values if not is_allowed(constraint, value)] == []


@loop(("constraint", "values"), REFUSED, ids=lambda each: str(each)[:40])
def test_values_that_are_refused(constraint, values):
    assert [value for value in values if is_allowed(constraint, value)] == []


@loop(
    ("constraints", "expected"),
    [
        ([Interval(Real, 0, None, closed="right")], "a float in the range (0.0, inf]"),
        ([Interval(Integral, -1, None, closed="left")], "an int in the range [-1, inf)"),
        ([dict, None], "an instance of 'dict' or None"),
        (
            [Options({"scale", "auto"}), Interval(float, 0, 1, closed="both"), "array-like"],
            "a str among {'auto', 'scale'}, a float in the range [0.0, 1.0] or an array-like",
        ),
        (["boolean", Options({"deprecated"}, is_hidden=True)], "a bool"),
        (
            [HasMethods(["fit", "transform"]), dict, callable],
            "an object implementing 'fit' and 'transform', an instance of 'dict' or a callable",
        ),
        (["verbose"], "an int in the range [0, inf) or a bool"),
    ],
)
def test_the_error_names_what_is_allowed(constraints, expected):
    with pytest.raises(InvalidParameterError) as caught:
        check_values(estimator_with(*constraints), {"p": -2.5})
    message = f"The 'p' parameter of Estimator must be {expected}. Got -2.5 instead."
    assert str(caught.value) == message


def test_the_error_is_one_of_values_and_of_types():
    """As scikit-learn's is, so that code that catches either keeps working."""
    for kind in (ValueError, TypeError):
        with pytest.raises(kind, match="'C' parameter of SVC must be a float"):
            SVC(C="large").fit([[0.0], [1.0]], [0, 1])


def test_values_without_a_constraint_are_not_checked():
    check_values(estimator_with(None), {"q": 3})


def test_a_change_after_a_check_is_seen():
    model = SVC()
    check_parameters(model)
    model.gamma = -1.0
    with pytest.raises(InvalidParameterError, match="gamma"):
        check_parameters(model)


ESTIMATORS = [
    each
    for name in kernelwise.__all__
    if hasattr(each := getattr(kernelwise, name), "_parameter_constraints")
]


@loop("cls", ESTIMATORS)
def test_defaults_are_allowed_as_a_check_skips_them(cls):
    defaults = {name: each.default for name, each in signature(cls).parameters.items()}
    given = {name: value for name, value in defaults.items() if value is not Parameter.empty}
    assert given
    assert set(cls._parameter_constraints) <= set(defaults)
    check_values(cls, given)


def test_the_default_of_one_parameter_is_refused_for_another():
    model = SVC(kernel=SVC().gamma, C=SVC().max_iter)
    with pytest.raises(InvalidParameterError, match=r"'C' parameter .* Got -1 instead"):
        check_parameters(model)
    with pytest.raises(InvalidParameterError, match=r"'kernel' parameter .* Got 'scale' instead"):
        check_parameters(model.set_params(C=1.0))


def test_scikit_learn_may_be_told_to_skip_the_check():
    with sklearn.config_context(skip_parameter_validation=True):
        SVC(verbose="loud").fit([[0.0], [1.0]], [0, 1])


@checked_arguments(rows=["table"], n=[Interval(Integral, 1, None, closed="left")])
def total(rows, *, n=1):
    """Return the sum of the rows, n times."""
    return n * float(np.sum(rows))


def test_arguments_of_a_function_are_checked_by_name_and_by_place():
    assert total([[1, 2]], n=2) == 6
    with pytest.raises(InvalidParameterError, match="'rows' parameter of total must be a table"):
        total("rows")
    with pytest.raises(InvalidParameterError, match=r"'n' parameter of total .* Got 0 instead"):
        total(rows=[[1]], n=0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        total([[1]], m=1)
    assert total.__doc__.startswith("Return the sum")


def test_constraints_of_arguments_that_a_function_lacks_are_refused():
    with pytest.raises(TypeError, match=r"total has no arguments \['column'\]"):
        checked_arguments(column=[None])(total)


def test_a_wrong_value_is_shown_in_one_short_line():
    with pytest.raises(InvalidParameterError, match=r"Got ndarray of shape \(3,\) instead"):
        total(np.ones(3))
    with pytest.raises(InvalidParameterError) as caught:
        total("long " * 1000)
    assert len(str(caught.value)) < 400
