"""Tables from files of all usual formats, compared with pandas, and files that are not tables."""

import bz2
import csv
import gzip
import io
import lzma
import tarfile
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gameproof.core.errors import DataError
from gameproof.tables.column import MISSING
from gameproof.tables.table import open_table, table_of
from gameproof.tables.text_table import require_different
from gameproof.tables.unpack import unpacked

FRAME = pd.DataFrame(
    {
        "age": [31, 45, 27, 60],
        "income": [1000.5, np.nan, -3e5, 0.125],
        "home": ["owned", "rented, shared", None, 'a "house"'],
        "city": ["Zürich", "Łódź", "Zürich", "大阪"],
    }
)


def zipped(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("__MACOSX/._table.csv", b"clutter")
        archive.writestr("folder/table.csv", data)
    return buffer.getvalue()


def zstandard(data: bytes) -> bytes:
    return pa.Codec("zstd").compress(data, asbytes=True)


PACKERS = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "zst": zstandard,
    "twice": lambda data: zipped(gzip.compress(data)),
}


def read(data: bytes, folder: Path):
    path = folder / "table"
    path.write_bytes(data)
    return open_table(path)


def assert_equals_frame(table) -> None:
    assert list(table.columns) == list(FRAME)
    assert table.n == len(FRAME)
    for name in FRAME:
        column = table.columns[name]
        numeric = FRAME[name].dtype.kind in "if"
        found = column.numbers if numeric else column.text
        expected = [None if pd.isna(value) else value for value in FRAME[name].tolist()]
        assert column.kind == ("number" if numeric else "text")
        assert found.to_pylist() == expected


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("packer", PACKERS)
def test_text_is_read_as_pandas_wrote_it(separator: str, packer: str, tmp_path: Path) -> None:
    data = FRAME.to_csv(index=False, sep=separator).encode()
    assert_equals_frame(read(PACKERS[packer](data), tmp_path))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_matter(end: str, mark: str, tmp_path: Path) -> None:
    text = mark + FRAME.to_csv(index=False, lineterminator=end)
    assert_equals_frame(read(text.encode(), tmp_path))


@pytest.mark.parametrize("packer", ["plain", "gz", "zip"])
def test_parquet_is_read_as_pandas_wrote_it(packer: str, tmp_path: Path) -> None:
    assert_equals_frame(read(PACKERS[packer](FRAME.to_parquet(index=False)), tmp_path))


def test_parquet_types_become_numbers_text_dates_and_others(tmp_path: Path) -> None:
    table = pa.table(
        {
            "small": pa.array([1, 2], pa.int8()),
            "price": pa.array([Decimal("1.25"), None]),
            "flag": pa.array([True, None]),
            "home": pa.array(["a", "b"]).dictionary_encode(),
            "wide": pa.array(["a", "b"], pa.large_string()),
            "day": pa.array([1, 2], pa.date32()),
            "moment": pa.array([1, 2], pa.timestamp("s")),
            "list": pa.array([[1], [2]]),
            "none": pa.nulls(2),
            "nan": pa.array([np.nan, None]),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = {name: c.kind for name, c in open_table(tmp_path / "t.parquet").columns.items()}
    assert found == {
        "small": "number",
        "price": "number",
        "flag": "text",
        "home": "text",
        "wide": "text",
        "day": "date",
        "moment": "date",
        "list": "other",
        "none": "nothing",
        "nan": "nothing",
    }


@pytest.mark.parametrize(
    "cell", ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "?", " NA ", "n.a.", "#NV"]
)
def test_missing_marks_leave_a_column_one_of_numbers(cell: str, tmp_path: Path) -> None:
    column = read(f"a,b\n1,2\n{cell},3\n 4.5 ,4\n".encode(), tmp_path).columns["a"]
    assert column.kind == "number"
    assert column.numbers.to_pylist() == [1.0, None, 4.5]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "+2", "-3.5e-7", ".5"], "number"),
        (["1", "2", "3", "x"], "text"),
        (["1_000", "2_000", "3", "4"], "text"),
        (["2024-01-31", "1999-12-01", "NA", "2000-02-29"], "date"),
        (["2024-01-31 10:00", "2024-01-31T10:00:05.5Z", "2024-01-31", "NA"], "date"),
        (["2024-01-31", "soon", "NA", "2000-02-29"], "text"),
        (["2023-02-28", "2023-02-29"], "text"),  # no leap year
        (["1.4.2024", "30.04.2024"], "date"),
        (["31.04.2024", "30.04.2024"], "text"),
        (["NA", "", "?", "null"], "nothing"),
        (["True", "FALSE", "true", "NA"], "text"),
    ],
)
def test_what_a_column_is_depends_on_all_of_its_cells(cells, kind: str, tmp_path: Path) -> None:
    text = "a,b\n" + "".join(f"{cell},1\n" for cell in cells)
    assert read(text.encode(), tmp_path).columns["a"].kind == kind


def test_booleans_are_equal_however_they_are_written(tmp_path: Path) -> None:
    column = read(b"a,b\nTrue,1\nFALSE,1\ntrue,1\n", tmp_path).columns["a"]
    assert column.text.to_pylist() == ["true", "false", "true"]


def test_type_is_not_guessed_from_the_first_rows(tmp_path: Path) -> None:
    text = "a,b\n" + "1,2\n" * 400_000 + "x,2\n"
    column = read(text.encode(), tmp_path).columns["a"]
    assert column.kind == "text"
    assert column.first_text() == (1, 400_000, "x")


def test_quoted_newlines_separators_and_nameless_columns_are_read(tmp_path: Path) -> None:
    table = read(b',b\n"one\ntwo",2\n"3;4",5\n', tmp_path)
    assert list(table.columns) == ["column 1", "b"]
    assert table.columns["column 1"].text.to_pylist() == ["one\ntwo", "3;4"]


@pytest.mark.parametrize("name", ["<30 days", "{x}", "[0, 1]", "<h"])
def test_first_column_may_look_like_the_start_of_another_text(name: str, tmp_path: Path) -> None:
    assert list(read(f"{name};b\n1;2\n".encode(), tmp_path).columns) == [name, "b"]


def test_quotation_mark_inside_a_cell_is_a_character(tmp_path: Path) -> None:
    table = read(b'size,b\n5" pipe,1\n6 inch,2\n', tmp_path)
    assert table.columns["size"].text.to_pylist() == ['5" pipe', "6 inch"]


CELLS = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\x00", exclude_categories=("Cs", "Zs")),
    min_size=1,
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), st.sampled_from([",", ";", "\t"]))
def test_any_text_comes_back_as_it_was_written(rows: list[tuple[str, str]], separator: str) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerows([("first", "second"), *rows])
    with tempfile.TemporaryDirectory() as folder:
        table = read(buffer.getvalue().encode(), Path(folder))
    for k, name in enumerate(("first", "second")):
        column = table.columns[name]
        written = [row[k].strip() for row in rows]
        found = column.text.to_pylist()
        # Texts for missing values, and booleans in any capitals, are not kept as they are.
        if not {cell.lower() for cell in written} <= {"true", "false"}:
            assert found == [None if cell in MISSING else cell for cell in written]


def tar() -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("people.csv"))
    return held.getvalue()


def excel() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", b"<xml/>")
        archive.writestr("xl/workbook.xml", b"<xml/>")
    return buffer.getvalue()


def two_members() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", b"a\n1\n")
        archive.writestr("b.csv", b"a\n1\n")
    return buffer.getvalue()


BAD = {
    "empty": (b"", "is empty"),
    "spaces": (b" \n\n", "is empty"),
    "no rows": (b"a,b\n", "has no rows"),
    "binary": (b"\x7fELF\x00\x01\x02", "is a binary file"),
    "picture": (b"\x89PNG\r\n\x1a\n\x00\x00", "is a binary file"),
    "web page": (b"<!doctype html><p>log in</p>", "is a web page"),
    "DOS": ("a,b\n1,2\nZürich,3\n".encode("cp850"), "line 3: the byte 0x81 .*--encoding"),
    "Mac": ("a,b\n1,2\nKöln,3\n".encode("mac-roman"), "line 3: the byte 0x9a .*--encoding"),
    "two encodings": ("a,b\nZürich,1\n".encode() + b"K\xf6ln,2\n", "line 3: .*, while other"),
    "web page in capitals": (b"\n <HTML><p>log in</p>", "is a web page"),
    "XML": (b"<?xml version='1.0'?><a/>", "is a web page or XML"),
    "JSON": (b' {"a": [1, 2]}', "is JSON, expected a table"),
    "JSON in lines": (b'{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', "is JSON, expected a table"),
    "list in JSON": (b'[\n  {\n  "a": 1}]', "is JSON, expected a table"),
    "short row": (b"a,b\n1,2\n3\n", "line 3: this row has 1 cells, but the header has 2"),
    "long row": (b"a,b\n1,2\n3,4,5\n", "line 3: this row has 3 cells, but the header has 2"),
    "open quote": (b'a,b\n1,2\n"3,4\n5,6\n', "line 4: a quotation mark is not closed"),
    "open quote in a long file": (b'a,"b\n' + b"1,2\n" * 40_000, "quotation mark is not closed"),
    "open quote at the end": (b'a,b\n1,"2\n3,4\n', "line 3: a quotation mark is not closed"),
    "same name": (b"a,b,a\n1,2,3\n", "more than one column named 'a'"),
    "same but for spaces": (b"a,b, a\n1,2,3\n", "more than one column named 'a'"),
    "cut gzip": (gzip.compress(b"a,b\n1,2\n" * 99)[:-9], "broken archive"),
    "cut zstandard": (zstandard(b"a,b\n1,2\n" * 99)[:-9], "broken archive"),
    "cut parquet": (b"PAR1" + b"x" * 40, "broken Parquet file"),
    "tar": (tar(), "is a tar archive; unpack it and give the file inside"),
    "packed tar": (gzip.compress(tar()), "is a tar archive"),
    "workbook": (excel(), "an Excel workbook; save its sheet as CSV"),
    "two members": (two_members(), r"archive of 2 files \(a.csv, b.csv\), expected one"),
}


@pytest.mark.parametrize("name", BAD)
def test_file_that_is_not_a_table_is_refused_by_name(name: str, tmp_path: Path) -> None:
    data, message = BAD[name]
    with pytest.raises(DataError, match=message) as caught:
        read(data, tmp_path)
    assert str(tmp_path / "table") in str(caught.value)


def test_folder_and_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        open_table(tmp_path)
    with pytest.raises(DataError, match=r"there is no file .*nothing\.csv"):
        open_table(tmp_path / "nothing.csv")


def test_unknown_column_is_answered_with_a_close_name(tmp_path: Path) -> None:
    table = read(b"Income,age\n1,2\n", tmp_path)
    with pytest.raises(DataError, match="no movable column 'incom'; did you mean 'Income'"):
        table.column("incom", "movable column")
    with pytest.raises(DataError, match="there are Income, age"):
        table.column("zzz")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch) -> None:
    packed = zstandard(b"a,b\n1,2\n")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'gameproof\[tables\]'"):
        open_table(tmp_path)
    with pytest.raises(ImportError, match=r"Zstandard needs pyarrow: pip install 'gameproof\[tab"):
        unpacked(packed, "table.zst")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("enough", [1, 5, 12, 30, 1000])
def test_lines_are_recognised_whole_however_long_they_are(
    enough: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gameproof.tables.text_layout.ENOUGH", enough)
    lines = ["c;c1;c12;c123", "1,5;2;3;4", "5;6;7;8", "9;10;11;12"]
    table = table_of(end.join([*lines, ""]).encode(), "a table")
    assert list(table.columns) == ["c", "c1", "c12", "c123"]
    assert table.n == 3


def test_many_columns_are_checked_in_linear_time() -> None:
    """Quadratic, this would take half an hour."""
    names = [f"column {k}" for k in range(300_000)]
    require_different(names, "t.csv")
    with pytest.raises(DataError, match="more than one column named 'column 7'"):
        require_different([*names, "column 7"], "t.csv")
