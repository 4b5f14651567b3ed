"""Tables of any dialect are read, and other files refused with the reason."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

from kernelwise.app.tabular import TableError, delimited, describe_columns, formats, read_table
from kernelwise.app.tabular.delimited import MISSING

from ..loop import loop
from .tables import patients

SAMPLE = pd.DataFrame(
    {"size": [1.5, 2.25, np.nan], "count": [3, 4, 5], "colour": ["red", "blue, dark", "grün"]}
)


def read(text, **options):
    return read_table(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


@loop("separator", [",", ";", "\t", "|"], ids=["comma", "semi", "tab", "bar"])
@loop("decimal", [".", ","], ids=["point", "comma"])
@loop("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_separator_decimal_sign_and_encoding_are_found_out(separator, decimal, encoding):
    if separator == "," and decimal == ",":
        decimal = "."  # nobody writes that without quotation marks
    text = SAMPLE.to_csv(index=False, sep=separator, decimal=decimal)
    pd.testing.assert_frame_equal(read(text.encode(encoding)), SAMPLE)


# pandas 2.2 warns where one gap is None and the other NaN.
@pytest.mark.filterwarnings("ignore:Mismatched null-like values:FutureWarning")
@loop("ending", ["csv", "tsv", "csv.gz", "parquet"])
def test_files_are_known_by_their_names(tmp_path, ending):
    path, frame = tmp_path / f"table.{ending}", patients(30)
    if ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    pd.testing.assert_frame_equal(read_table(path), frame)


def test_arff_with_nominal_text_and_missing_values():
    text = """% comment
@relation weather
@attribute 'wind speed' REAL
@attribute sky {sunny, 'very cloudy'}
@attribute note string
@data
1.5, sunny, 'it''s'
?, 'very cloudy', "a, b"
% another
2,?,plain
"""
    frame = read(text.replace("it''s", "it\\'s"), format="arff")
    assert list(frame.columns) == ["wind speed", "sky", "note"]
    np.testing.assert_array_equal(frame["wind speed"], [1.5, np.nan, 2.0])
    assert frame["sky"].tolist() == ["sunny", "very cloudy", None]
    assert frame["note"].tolist() == ["it's", "a, b", "plain"]
    words = read(text.replace("\n2,", "\ncalm,"), format="arff")
    assert words["wind speed"].tolist() == ["1.5", None, "calm"]  # for describe_columns to tell of


def test_libsvm():
    frame = read("1 1:0.5 3:2\n-1 2:1\n", format="libsvm")
    assert frame.to_dict("list") == {
        "target": [1, -1],
        "x1": [0.5, 0.0],
        "x2": [0.0, 1.0],
        "x3": [2.0, 0.0],
    }


def test_text_buffer_gzip_and_row_numbers_of_r():
    frame = read_table(io.BytesIO(gzip.compress(b'"","a","b"\n"1",2,x\n"2",3,y\n')))
    assert list(frame.columns) == ["row", "a", "b"]
    assert read_table(io.StringIO("a,b\n1,2\n")).shape == (1, 2)


def test_lines_that_end_with_separators_and_blank_lines():
    frame = read("\na,b,,\n1,x,,\n\n2,y,\n")
    assert frame.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}


def test_gaps_have_many_spellings():
    frame = read("a,b\n?,x\nNA,y\n-,z\n,u\n1,v\n")
    np.testing.assert_array_equal(frame["a"], [np.nan] * 4 + [1.0])
    assert MISSING[0] == ""
    for gap in MISSING:
        frame = read(f"a,b\n1.5,x\n{gap},y\n2.5,{gap}\n")
        np.testing.assert_array_equal(frame["a"], [1.5, np.nan, 2.5], err_msg=gap)
        assert frame["b"].isna().tolist() == [False, False, True], gap


def test_words_that_may_be_values_stay_in_the_table():
    frame = read("a,b\n1,unknown\nunknown,x\n2,none\n")
    assert frame["b"].tolist() == ["unknown", "x", "none"]
    assert describe_columns(frame)[0].why == (
        "1 missing -> median, and an indicator column; not numbers: 'unknown' (1)"
    )


def test_a_tenth_of_the_numbers_not_available():
    rows = [f"{k / 7:.3f},{k % 2}" if k % 9 else f"n.a.,{k % 2}" for k in range(180)]
    (column,) = describe_columns(read("\n".join(["size,y", *rows])), "y")
    assert (column.kind, column.n_missing) == ("number", 20)


@loop("text", ["size\n1.5\n\n2.5\n", '"size"\n1.5\n2.5'])
def test_a_table_may_have_one_column(text):
    assert read(text).to_dict("list") == {"size": [1.5, 2.5]}


def test_words_with_spaces_may_be_one_column():
    assert read("town\nNew York\nParis\nSan Jose\n").shape == (3, 1)
    assert read('home town\n"New York"\n"San Jose"\n').shape == (2, 1)


BAD = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n ", "is empty"),
    "binary": (b"a,b\n1,\x002\n", "line 2 has bytes of a binary"),
    "damaged zip": (b"PK\x03\x04rest", "is damaged: it cannot be decompressed"),
    "damaged Excel": (b"\xd0\xcf\x11\xe0rest", "Excel|damaged"),
    "damaged feather": (b"ARROW1" + b"x" * 40, "is damaged"),
    "object": (b'{"a": {"b": 1}, "c": [1, 2', "is no table in JSON"),
    "pdf": (b"%PDF-1.4", "a PDF document"),
    "spaces": (b"a b c\n1 2 3\n4 5 6\n", "seem to be separated by spaces; separate them by"),
    "colons": (b"a:b\n1:2\n", "seem to be separated by colons"),
    "prose": (b"Dear Sir\nplease find\n", "seem to be separated by spaces"),
    "ragged": (b"a,b\n1,2\n1,2,3\n", "line 3: 3 fields, but the first line names 2"),
    "short": (b"a,b,c\n1,2,3\n1,2\n", "line 3: 2 fields, but the first line names 3"),
    "twice": (b"a,b,a\n1,2,3\n", "two columns are called 'a'"),
    "nameless": (b"a,,c\n1,2,3\n", "column 2 has no name"),
    "no header": (b"1,2,3\n4,5,6\n", "the first line has only numbers"),
    "no rows": (b"a,b\n", "no rows"),
    "huge field": (b'a,b\n1,"' + b"x" * 200000 + b'"\n', "line 2: field larger"),
    "damaged gzip": (gzip.compress(b"a,b\n1,2\n")[:-9], "is damaged"),
    "damaged parquet": (b"PAR1" + b"x" * 40, "is damaged"),
}


@loop("name", list(BAD))
def test_files_that_are_not_tables_are_refused_with_the_reason(name):
    content, reason = BAD[name]
    with pytest.raises(TableError, match=reason):
        read(content)


def packed(content, name="table.csv", others=()):
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as file:
        for each in (name, *others):
            file.writestr(each, content)
    return buffer.getvalue()


def test_finding_21_compressed_files_and_other_formats_are_tables():
    text, expected = b"size,kind\n1.5,a\n2.5,b\n", {"size": [1.5, 2.5], "kind": ["a", "b"]}
    frame = pd.DataFrame(expected)
    feather = io.BytesIO()
    frame.to_feather(feather)
    lines = frame.to_json(orient="records", lines=True).encode()
    listed = frame.to_json(orient="records").encode()
    for content in (
        *(pack(text) for pack in (gzip.compress, bz2.compress, lzma.compress, packed)),
        feather.getvalue(), lines, listed, gzip.compress(lines),
    ):  # fmt: skip
        assert read(content).to_dict("list") == expected
    with pytest.raises(TableError, match=r"zip archive of 2 files, 'table.csv', 'b.csv'; give one"):
        read(packed(text, others=["b.csv"]))


def test_finding_21_an_excel_file_is_a_table():
    content = io.BytesIO()
    expected = {"size": [1.5, 2.5], "kind": ["a", "b"]}
    pd.DataFrame(expected).to_excel(content, index=False)
    assert read(content.getvalue()).to_dict("list") == expected


def test_finding_21_without_its_package_an_excel_file_has_a_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(TableError, match=r"an Excel file: .*openpyxl.* Or save the sheet as CSV"):
        read(packed(b"", "xl/workbook.xml"))


LONG = [f"{k},x{k % 3},{k % 2}" for k in range(200)]


@loop(
    ("line", "reason"),
    [
        ("7,x", "line 102: 2 fields, but the first line names 3"),
        ("7,x,1,2", "line 102: 4 fields, but the first line names 3"),
        ('7,"x,1', "lines 102 to 202: .* quotation mark missing in line 102"),
    ],
    ids=["short", "long", "open quotation mark"],
)
def test_a_bad_line_after_many_good_ones_is_found(line, reason):
    text = "\n".join(["a,b,c", *LONG[:100], line, *LONG[100:]])
    with pytest.raises(TableError, match=reason):
        read(text)


@loop(
    ("text", "n_passes"),
    [
        ("\n".join(["a,b,c", *LONG]), 0),
        ("\n".join(["a,b,c", *LONG, "7,x,"]), 0),
        ("\n".join(["a,b,c", *LONG, "7,x,1,,"]), 1),
        ("\n".join(["a,b,c", *LONG, '7,"x, y",']), 1),
    ],
    ids=["plain", "gap in the last column", "trailing separators", "gap and quotation marks"],
)
def test_all_lines_are_checked_only_where_one_may_be_bad(monkeypatch, text, n_passes):
    lengths = []

    def count(text, separator, name, n_rows=None, _read=delimited._read_layout):
        lengths.append(n_rows)
        return _read(text, separator, name, n_rows)

    monkeypatch.setattr(delimited, "_read_layout", count)
    frame = read(text)
    assert frame.shape == (text.count("\n"), 3)
    assert frame["a"].tolist() == [*range(200), *[7] * (len(frame) - 200)]
    assert lengths.count(None) == n_passes


@loop(
    ("format", "text", "reason"),
    [
        ("libsvm", "a,b\n1,2\n", "not in libsvm's format"),
        ("arff", "a,b\n1,2\n", "no line @attribute"),
        ("arff", "@attribute a real\n@attribute b real\n@data\n1\n", "line 4: 1 values"),
        ("arff", "@attribute a real\n@attribute b real\n@data\n{0 1}\n", "sparse ARFF"),
        ("arff", "@attribute a\n", "needs a name and a type"),
        ("xls", "a,b\n1,2\n", "format='xls' is not known"),
    ],
)
def test_other_formats_name_the_reason_too(format, text, reason):
    with pytest.raises(TableError, match=reason):
        read(text, format=format)


def test_a_file_that_is_not_there_or_a_folder(tmp_path):
    with pytest.raises(TableError, match=r"there is no file .*none\.csv"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)


def test_a_spreadsheet_of_windows_with_decimal_commas_and_thousands():
    text = (
        "size;people;price;day\r\n1,5;12.345;1.234,50 €;31.12.2024\r\n2;999;7,00 €;01.02.2024\r\n"
    )
    frame = read(text.encode("cp1252"))
    assert frame["people"].tolist() == [12345, 999]
    assert frame["price"].tolist() == ["1.234,50 €", "7,00 €"]
    assert frame["day"].tolist() == ["31.12.2024", "01.02.2024"]


def test_thousands_in_quotation_marks_are_no_decimals():
    frame = read('loan,late\n"1,234",0\n"12,345",1\n999,2\n')
    assert frame["loan"].tolist() == ["1,234", "12,345", "999"]


def test_reading_does_not_wait_for_scikit_learn():
    code = (
        "import sys\nfrom kernelwise.app.tabular import read_table\nprint('sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def large_parquet(path, n=9000):
    """Write a table of several row groups, with an index, gaps, words and hard decimals."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "single": rng.normal(size=n).astype(np.float32),
            "gaps": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "time": 1.7e9 + rng.random(n),
            "huge": 1e300 * rng.random(n),
            "count": rng.integers(0, 9, n),
            "some": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "word": rng.choice(["a", "b"], n),
            "target": rng.choice(["yes", "no"], n),
        },
        index=rng.permutation(n),
    )
    frame.to_parquet(path, row_group_size=2500)
    return frame


def test_large_parquet_files_are_read_in_batches(tmp_path, monkeypatch):
    frame = large_parquet(tmp_path / "large.parquet")
    monkeypatch.setattr(formats, "LARGE_VALUES", 1000)
    monkeypatch.setattr(formats, "_BATCH_ROWS", 1024)
    read = read_table(tmp_path / "large.parquet")
    assert list(read.columns) == list(frame.columns)
    assert len(read) == len(frame)
    rounded = {"x", "single", "gaps"}
    assert {name for name in read.columns if read[name].dtype == np.float32} == rounded
    for name in frame.columns:
        expected = frame[name].reset_index(drop=True)
        if name in rounded:
            expected = expected.astype(np.float32)
        pd.testing.assert_series_equal(read[name], expected, check_dtype=name != "some")


def test_a_large_parquet_file_is_in_memory_once(tmp_path):
    """The peak is the table in float32 and some batches, not the file and a table in float64."""
    path = tmp_path / "large.parquet"
    n, d = 200_000, 60
    values = np.random.default_rng(0).normal(size=(n, d))
    pd.DataFrame(values, columns=[f"x{j}" for j in range(d)]).to_parquet(
        path, row_group_size=20_000, compression=None
    )
    code = (
        "import resource, sys\n"
        "import pandas, pyarrow.parquet\n"
        "from kernelwise.app.tabular import formats, read_table\n"
        "formats.LARGE_VALUES = 1000\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "frame = read_table(sys.argv[1])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    run = [sys.executable, "-c", code, str(path)]
    rise = int(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    table = n * d * 4 / 1024  # kilobytes in float32
    assert rise < table + 40_000  # the file and a table in float64 would be four times as much


@loop("ending", ["csv", "parquet"])
def test_spaces_around_names_are_left_out_in_every_format(tmp_path, ending):
    frame = pd.DataFrame({" size ": [1.0, 2.0], "kind\t": ["a", "b"]})
    path = tmp_path / f"table.{ending}"
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    assert list(read_table(path).columns) == ["size", "kind"]


def test_names_that_differ_by_spaces_alone_are_refused(tmp_path):
    pd.DataFrame({"size": [1.0], "size ": [2.0]}).to_parquet(tmp_path / "table.parquet")
    with pytest.raises(TableError, match="two columns are called 'size'"):
        read_table(tmp_path / "table.parquet")


def test_finding_8_odd_bytes_are_read_with_a_note():
    text = "name,kind\n" + "".join(f"row {k} of some words,a\n" for k in range(200))
    damaged = text.replace("row 7 of", "row\x197 of").encode()
    with pytest.warns(UserWarning, match=r"a control character in line 9 \('\\x19'\), read as"):
        frame = read_table(io.BytesIO(damaged))
    assert frame["name"][7] == "row 7 of some words"
    with pytest.warns(UserWarning, match=r"has 400 control characters, the first in line 2"):
        frame = read_table(io.BytesIO(text.replace("row", "\x19\x1a").encode()))
    assert frame["name"][7] == "7 of some words"
    binary = "".join("\x19" if sign.isalpha() else sign for sign in text)
    with pytest.raises(TableError, match="line 1 has bytes of a binary file"):
        read_table(io.BytesIO(binary.encode()))
