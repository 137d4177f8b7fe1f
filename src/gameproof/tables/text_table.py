"""Parses tables in text files: CSV with any usual separator. Every cell is read as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from gameproof.core.errors import DataError
from gameproof.core.naming import listed
from gameproof.tables.column import MISSING

SEPARATORS = (",", ";", "\t", "|")
# How other text formats begin. Columns may be called "<30 days" and "{x}".
OTHERS = {rb"<([!?]|html)": "a web page or XML", rb'\[?\s*\{\s*["}]': "JSON"}


def parse_text(data: bytes, given: str) -> tuple[list[str], list[Any]]:
    """The header and the columns of a text file, as Arrow arrays of strings."""
    import pyarrow as pa
    import pyarrow.csv as arrow

    text = _text(data, given)
    separator = _separator(text)
    try:
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    except csv.Error as error:  # a cell that is never closed
        raise DataError(_fault(text, separator, given)) from error
    require_different([name.strip() for name in header], given)
    try:
        table = arrow.read_csv(
            pa.BufferReader(data.removeprefix(codecs.BOM_UTF8)),
            parse_options=arrow.ParseOptions(
                delimiter=separator, newlines_in_values='"' in text, ignore_empty_lines=True
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()),
                null_values=MISSING,
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid as error:
        fault = _fault(text, separator, given)
        raise DataError(fault or f"{given} cannot be split into rows and columns") from error
    if text.count('"') % 2 and (fault := _fault(text, separator, given)):
        raise DataError(fault)  # Arrow reads the rest of the file as one cell
    return header, [column.combine_chunks() for column in table.columns]


def require_different(names: Sequence[str], given: str) -> None:
    """Raises if two columns have the same name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise DataError(f"{given} has more than one column named {listed(list(map(repr, twice)))}")


def _text(data: bytes, given: str) -> str:
    """The text of a file, or an error that says what else the file is."""
    start = data[:4000]
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{given} is written in UTF-16; save it as UTF-8")
    if b"\x00" in start:
        raise DataError(f"{given} is a binary file, expected a table: CSV, TSV or Parquet")
    if not start.removeprefix(codecs.BOM_UTF8).strip():
        raise DataError(f"{given} is empty")
    for mark, what in OTHERS.items():
        if re.match(mark, start.removeprefix(codecs.BOM_UTF8).lstrip(), re.IGNORECASE):
            raise DataError(f"{given} is {what}, expected a table: CSV, TSV or Parquet")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{given}, line {line}: the byte 0x{data[error.start]:02x} is not UTF-8; save the "
            "table as UTF-8"
        ) from error


def _separator(text: str) -> str:
    """The separator that splits the first lines into equally many cells, and into the most."""
    lines = text[:100_000].splitlines(keepends=True)[:50]

    def width(separator: str) -> int:
        widths = {len(row) for row in csv.reader(lines, delimiter=separator) if row}
        return widths.pop() if len(widths) == 1 else 0

    def in_header(separator: str) -> int:
        return len(next(csv.reader(lines, delimiter=separator), []))

    best = max(SEPARATORS, key=width)
    return best if width(best) > 1 else max(SEPARATORS, key=in_header)


def _fault(text: str, separator: str, given: str) -> str:
    """What is wrong with a text that cannot be split into rows; Arrow does not say where."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        width = len(next(reader, []))
        for row in reader:
            if row and len(row) != width:
                return (
                    f"{given}, line {reader.line_num}: this row has {len(row)} cells, but the "
                    f"header has {width}"
                )
    except csv.Error as error:
        return f"{given}, line {reader.line_num}: a quotation mark is not closed ({error})"
    return ""
