"""Damaged tables give a result or a TableError of one line, never another error."""

import io
import random

import pytest

from kernelwise.app.evaluation import fit_table
from kernelwise.app.tabular import (
    TableEncoder,
    TableError,
    check_target,
    describe_columns,
    read_table,
)

from .tables import patients

GOOD = patients(60).to_csv(index=False).encode()
N_TABLES, N_FITTED = 500, 12
SEPARATORS = b",;\t|"


def cut(data, rng):
    return data[: rng.randrange(len(data))]


def flip(data, rng):
    changed = bytearray(data)
    for _ in range(rng.choice([1, 5, 50])):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def drop_separators(data, rng):
    which = rng.choice([b",", b"\n"])
    parts = data.split(which)
    for _ in range(rng.choice([1, 3, 20])):
        place = rng.randrange(1, len(parts)) if len(parts) > 1 else 0
        if place:
            parts[place - 1 : place + 1] = [parts[place - 1] + parts[place]]
    return which.join(parts)


def other_separator(data, rng):
    return data.replace(b",", bytes([rng.choice(SEPARATORS)]), rng.choice([-1, 5, 100]))


def huge_field(data, rng):
    place = rng.randrange(len(data))
    return data[:place] + b"9" * rng.choice([400, 5000, 140000]) + data[place:]


def control_bytes(data, rng):
    place = rng.randrange(len(data))
    return data[:place] + rng.choice([b"\x00", b"\x07", b"\r", b"\x1a", b"\x0c"]) + data[place:]


def mixed_encodings(data, rng):
    lines = data.split(b"\n")
    for _ in range(5):
        place = rng.randrange(len(lines))
        lines[place] = lines[place].replace(b"town", "Größe".encode(rng.choice(ENCODINGS)))
    return b"\n".join(lines)


def quotes(data, rng):
    place = rng.randrange(len(data))
    return data[:place] + rng.choice([b'"', b'""', b"'", b'"\n"']) + data[place:]


def column_of(data, rng):
    """Put one thing into all cells of a column."""
    value = rng.choice(
        [b"", b"inf", b"1e999", b"-", b"x", b"=1+1", b"99999999999999999999", b"NaT"]
    )
    lines = [line.split(b",") for line in data.split(b"\n")]
    place = rng.randrange(9)
    for line in lines[rng.choice([0, 1, 30]) :]:
        if place < len(line):
            line[place] = value
    return b"\n".join(b",".join(line) for line in lines)


def shuffled_lines(data, rng):
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def odd_dates(data, rng):
    return data.replace(b".2020", rng.choice([b".0001", b".9999", b".1492", b".20"]))


ENCODINGS = ["utf-8", "latin-1", "utf-16"]
MUTATIONS = [
    cut,
    flip,
    drop_separators,
    other_separator,
    huge_field,
    control_bytes,
    mixed_encodings,
    quotes,
    column_of,
    shuffled_lines,
    odd_dates,
]


def damaged(seed):
    rng = random.Random(seed)
    data = GOOD
    for _ in range(rng.choice([1, 1, 2, 3])):
        data = rng.choice(MUTATIONS)(data, rng) or b"a"
    return data


def use(data, fit):
    """Go as far with a table as it goes, and return how far that is."""
    frame = read_table(io.BytesIO(data))
    assert frame.shape[1] >= 2
    classes = check_target(frame, "outcome")
    rows = frame.drop(columns="outcome")
    if fit:
        assert len(describe_columns(frame, "outcome")) == rows.shape[1]
        model = fit_table(frame, classes, "svc")
        assert len(model.predict(rows)) == len(frame)
    else:
        TableEncoder().fit_transform(rows)
    return "used"


@pytest.mark.filterwarnings("ignore:.*control character")
def test_damaged_tables_end_in_a_result_or_in_one_line():
    ends = {"used": 0, "refused": 0}
    for seed in range(N_TABLES):
        data = damaged(seed)
        try:
            end = use(data, fit=ends["used"] < N_FITTED)
        except TableError as error:
            end = "refused"
            text = str(error)
            assert text, seed
            assert "Traceback" not in text, seed
        except Exception as error:
            pytest.fail(f"table {seed}: {error!r}")
        ends[end] += 1
    assert ends["used"] > 50, ends  # else the damage is so heavy that nothing is tested
    assert ends["refused"] > 50, ends
