"""Dates are read as pandas reads them, without pandas."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from kernelwise.values.dates import DATE_FORMATS, date_format, date_parts, have_times, read_dates

TIMES = pd.Series(pd.date_range("1931-03-05 06:07", periods=90, freq="413D7h11min"))


def test_formats_are_those_of_pandas():
    for format in DATE_FORMATS:
        pattern = "%Y-%m-%dT%H:%M:%S" if format == "ISO8601" else format
        words = TIMES.dt.strftime(pattern).to_numpy(object)
        assert date_format(words) == format
        known = pd.to_datetime(pd.Series(words), format=format)
        days = (known - pd.Timestamp(0)) / pd.Timedelta(days=1)
        assert_allclose(read_dates(words, format), days, rtol=0, atol=1e-9)


def test_zones_become_utc_and_what_is_no_date_is_missing():
    words = ["2024-01-02 23:30+02:00", "2024-1-2", "2024-01-02T21:30:00 UTC", "", "20240102", "x"]
    found = read_dates(words, "ISO8601")
    assert_allclose(found[:3] - found[1], [21.5 / 24, 0, 21.5 / 24], atol=1e-9)
    assert np.isnan(found[3:]).all()


def test_parts_are_those_of_pandas():
    days = ((TIMES - pd.Timestamp(0)) / pd.Timedelta(days=1)).to_numpy()
    assert have_times(days)
    parts = date_parts(np.append(days, np.nan), days[0], timed=True)
    own = {
        "year": TIMES.dt.year,
        "month": TIMES.dt.month,
        "day of week": TIMES.dt.day_of_week,
        "hour": TIMES.dt.hour + TIMES.dt.minute / 60,
        "days": days - days[0],
    }
    assert list(parts) == list(own)
    for name, expected in own.items():
        assert_allclose(parts[name][:-1], expected, atol=1e-9, err_msg=name)
        assert np.isnan(parts[name][-1])
