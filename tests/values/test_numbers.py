"""Numbers as people write them are read as what they mean, and nothing else is a number."""

import numpy as np
import pandas as pd

from kernelwise.app.tabular.column_values import as_numbers
from kernelwise.values.numbers import decimal_sign, parse

from ..loop import loop

WRITTEN = {
    "$1,234.50": 1234.5,
    "12,345,678": 12345678.0,
    "-$5": -5.0,
    "(1,234.5)": -1234.5,
    "4.5 %": 4.5,
    "1'000": 1000.0,
    "CHF 12": 12.0,
    "1\u00a0234 €": 1234.0,
    "\u22123": -3.0,
    ".5": 0.5,
    "1e5": 1e5,
}
NO_NUMBERS = (
    *("2024-01-02", "31.12.2024", "12 kg", "192.168.1.1", "1,23,456", "0,123", "3/4", "2-3"),
    *("$", "(5", "--5", "a", "1.2.3"),
)


@loop("text", list(WRITTEN))
def test_numbers_are_parsed(text):
    assert parse([text], ".").tolist() == [WRITTEN[text]]
    swapped = text.translate(str.maketrans(",.", ".,"))
    assert parse([swapped], ",").tolist() == [WRITTEN[text]]


@loop("text", NO_NUMBERS)
def test_other_text_is_not_a_number(text):
    assert np.isnan(parse([text], ".")).all()


@loop(
    ("texts", "sign"),
    [
        (["1,234", "999"], "."),
        (["1,234", "0,5"], ","),
        (["1.234,5", "1.234"], ","),
        (["1,234.5", "1.5"], "."),
        (["12", "13"], "."),
    ],
    ids=["thousands", "decimals", "both", "english", "whole"],
)
def test_the_decimal_sign_is_that_of_the_column(texts, sign):
    assert decimal_sign(texts) == sign


def test_learned_decimal_sign_decides_where_both_are_possible():
    series = pd.Series(["1,234", "2.345"], dtype=object)
    assert as_numbers(series.iloc[:1]).tolist() == [1234.0]
    assert as_numbers(series.iloc[:1], ",").tolist() == [1.234]
    assert as_numbers(series.iloc[1:], ",").tolist() == [2345.0]
    assert as_numbers(pd.Series(["12.5", "7"]), ",").tolist() == [12.5, 7.0]
