"""Parses tables in text files: CSV with any usual separator. Every cell is read as text."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gameproof.core.errors import DataError
from gameproof.core.naming import listed
from gameproof.tables.column import MISSING
from gameproof.tables.text_encoding import Decoded, decode
from gameproof.tables.text_layout import Layout, find_layout

UTF8 = "utf-8"


class NoRows(DataError):
    """A table has columns, and no rows."""


class ParsedText(NamedTuple):
    """The names and the columns of a text file, as Arrow arrays of strings, and notes."""

    names: list[str]
    columns: list[Any]
    notes: tuple[str, ...]


def parse_text(data: bytes, given: str, encoding: str | None = None) -> ParsedText:
    """The columns of a text file. `encoding` is the user's, None to detect it."""
    import pyarrow as pa
    import pyarrow.csv as arrow

    decoded = decode(data, given, encoding)
    text = decoded.text
    layout = find_layout(text, given)
    names = layout.header
    require_different([name.strip() for name in names if name.strip()], given)
    keys = [str(k) for k in range(layout.width)]
    try:
        table = arrow.read_csv(
            pa.BufferReader(_rows(data, decoded, layout)),
            read_options=arrow.ReadOptions(column_names=keys),
            parse_options=arrow.ParseOptions(
                delimiter=layout.separator, newlines_in_values='"' in text, ignore_empty_lines=True
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string()),
                null_values=MISSING,
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid as error:
        if layout.start == len(text):
            raise NoRows(f"{given} has no rows") from error
        fault = _fault(text, layout, given)
        raise DataError(fault or f"{given} cannot be split into rows and columns") from error
    if text.count('"') % 2 and (fault := _fault(text, layout, given)):
        raise DataError(fault)  # Arrow reads the rest of the file as one cell
    columns = [column.combine_chunks() for column in table.columns]
    notes = [decoded.note, *layout.notes]
    names = [*names, *([""] if layout.width > len(names) else [])]
    while len(names) > 1 and not names[-1].strip() and columns[-1].null_count == len(columns[-1]):
        names, columns = names[:-1], columns[:-1]
    if len(columns) < layout.width:
        notes.append("the lines end with a separator; the empty last column is ignored")
    return ParsedText(names, columns, tuple(filter(None, notes)))


def require_different(names: Sequence[str], given: str) -> None:
    """Raises if two columns have the same name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise DataError(
            f"{given} has more than one column named {listed(list(map(repr, twice)))}; give every "
            "column a name of its own"
        )


def _rows(data: bytes, decoded: Decoded, layout: Layout) -> Any:
    """The rows below the header in UTF-8, without a copy where the file is in UTF-8."""
    import pyarrow as pa

    if decoded.encoding != UTF8:
        rows = pa.py_buffer(decoded.text[layout.start :].encode())
    else:
        mark = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        rows = pa.py_buffer(data).slice(mark + len(decoded.text[: layout.start].encode()))
    if decoded.text.startswith("\ufeff", layout.start):
        # Arrow would take this cell for a byte-order mark; it ignores empty lines.
        return pa.py_buffer(b"\n" + rows.to_pybytes())
    return rows


def _fault(text: str, layout: Layout, given: str) -> str:
    """What is wrong with a text that cannot be split into rows; Arrow does not say where."""
    stream = io.StringIO(text[layout.start :], newline="")
    reader = csv.reader(stream, delimiter=layout.separator, strict=True)
    try:
        for row in reader:
            if row and len(row) != layout.width:
                line = layout.skipped + reader.line_num
                fault = (
                    f"{given}, line {line}: this row has {len(row)} cells, but the header has "
                    f"{layout.width}"
                )
                return fault + _advice(row, layout)
    except csv.Error as error:
        line = layout.skipped + reader.line_num
        return f"{given}, line {line}: a quotation mark is not closed ({error})"
    return ""


def _advice(row: Sequence[str], layout: Layout) -> str:
    """What to do about decimal commas that look like separators."""
    digits = [cell.strip().lstrip("+-").isdigit() for cell in row]
    pairs = sum(one and two for one, two in pairwise(digits))
    if layout.separator != "," or len(row) <= layout.width or pairs < len(row) - layout.width:
        return ""
    return (
        "; if the commas inside numbers are decimal signs or thousands separators, put the numbers "
        "in quotation marks or separate the columns with semicolons"
    )
