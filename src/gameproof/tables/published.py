"""Parses a published file into its canonical table, or raises an error that says what is wrong.

A canonical table is a matrix of 64-bit floats: the columns in the catalogue's order, then the
label. A category is the position of its level, and a missing value is NaN. Rows are sorted, because
sources order them differently. Every source therefore gives the same bits, and one checksum
identifies the published table.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import math
from collections.abc import Mapping, Sequence

import numpy as np

from gameproof.core.arguments import Matrix
from gameproof.core.errors import DataError
from gameproof.core.exact_bits import exact_bytes
from gameproof.core.naming import listed
from gameproof.tables.catalog import Published

Columns = Mapping[str, Sequence[str]]

MISSING = ("NA", "", "?")
"""Texts that stand for a missing value."""


def read_csv(data: bytes, about: Published, given: str) -> Columns:
    """The columns of a published file, as text. `given` names the file in messages."""
    text = _decoded(data, about, given)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=about.separator)
    try:
        header = next(reader, [])
        _check_header(header, about, given)
        cells: list[str] = []
        for row in reader:
            if row and len(row) != len(header):
                raise DataError(
                    f"{given}, line {reader.line_num}: {_counted(len(row), 'cell')}, but the "
                    f"header has {_counted(len(header), 'column')}; the file is truncated or "
                    f"altered: {_again(about)}"
                )
            cells += row
    except csv.Error as error:
        raise DataError(f"{given}, line {reader.line_num}: {error}; {_again(about)}") from error
    return {
        name: cells[k :: len(header)]
        for k, name in enumerate(header)
        if name not in about.row_number
    }


def canonical(columns: Columns, about: Published, given: str) -> Matrix:
    """The canonical table of these columns, before its checksum is compared."""
    check_names(list(columns), about, given)
    rows = {len(column) for column in columns.values()}
    if rows != {about.rows}:
        raise DataError(
            f"{given} has {max(rows):,} rows, but {about.name} has {about.rows:,}: "
            f"it is truncated, or another version; {_again(about)}"
        )
    codes: dict[str, Mapping[str, float]] = {about.target: about.outcomes}
    for name, levels in about.columns.items():
        if levels:
            codes[name] = {level: float(k) for k, level in enumerate(levels)}
    table = np.column_stack(
        [
            _column(name, columns[name], codes.get(name), about, given)
            for name in (*about.columns, about.target)
        ]
    )
    return np.ascontiguousarray(table[np.lexsort(table.T[::-1])])


def checksum(table: Matrix, about: Published) -> str:
    """SHA-256 of the names, the levels, the shape and the numbers of a canonical table."""
    named = f"{list(about.columns.items())} {about.target} {table.shape}"
    digest = hashlib.sha256(named.encode())
    digest.update(exact_bytes(table))
    return digest.hexdigest()


def verified(table: Matrix, about: Published, given: str) -> Matrix:
    """The table itself, after its checksum is compared with the published one."""
    if checksum(table, about) != about.checksum:
        raise DataError(
            f"{given} has the columns and the number of rows of {about.name}, but its checksum "
            f"does not match: some values were altered; {_again(about)}"
        )
    return table


def check_names(found: Sequence[str], about: Published, given: str) -> None:
    """Raises if the columns differ from the catalogue's; their order does not matter."""
    expected = [*about.columns, about.target]
    complaints = [
        f"{what} {listed(list(map(repr, names)), 3)}"
        for what, names in (
            ("lacks", [name for name in expected if name not in found]),
            ("has the unknown", [name for name in found if name not in expected]),
            ("repeats", sorted({name for name in found if found.count(name) > 1})),
        )
        if names
    ]
    if complaints:
        raise DataError(
            f"the columns of {given} do not match {about.name}: it {' and '.join(complaints)}; "
            f"{_again(about)}"
        )


def _decoded(data: bytes, about: Published, given: str) -> str:
    start = data[:1000].removeprefix(codecs.BOM_UTF8).lstrip()
    if not start:
        raise DataError(f"{given} is empty; {_again(about)}")
    if start.startswith(b"<"):
        raise DataError(
            f"{given} is a web page, not a table, perhaps a login page; {_again(about)}"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{given} is not text: {error}; {_again(about)}") from error


def _check_header(header: Sequence[str], about: Published, given: str) -> None:
    line = about.separator.join(header)
    for other in (",", ";", "\t", "|"):
        names = next(csv.reader([line], delimiter=other), [])
        if other != about.separator and set(names) >= {*about.columns, about.target}:
            raise DataError(
                f"{given} separates columns with {other!r}, but {about.name} uses "
                f"{about.separator!r}; {_again(about)}"
            )
    check_names([name for name in header if name not in about.row_number], about, given)


def _column(
    name: str,
    cells: Sequence[str],
    codes: Mapping[str, float] | None,
    about: Published,
    given: str,
) -> Matrix:
    """A column as numbers. Equal cells are parsed once, since most columns have few values."""
    distinct = set(cells)
    try:
        values = _numbers(distinct) if codes is None else {cell: codes[cell] for cell in distinct}
    except (ValueError, KeyError):
        wrong = [cell for cell in distinct if not _readable(cell, codes)]
        row = min(cells.index(cell) for cell in wrong)
        expected = "a number" if codes is None else f"one of {', '.join(codes)}"
        raise DataError(
            f"{given}, row {row + 1}, column {name!r}: expected {expected}, got {cells[row]!r}; "
            f"{_again(about)}"
        ) from None
    column = np.fromiter(map(values.__getitem__, cells), dtype=np.float64, count=len(cells))
    return column + 0.0  # turns -0 into 0


def _numbers(cells: set[str]) -> dict[str, float]:
    written = cells.difference(MISSING)
    numbers = dict(zip(written, map(float, written), strict=True))
    if math.inf in numbers.values() or -math.inf in numbers.values():
        raise ValueError
    numbers.update(dict.fromkeys(MISSING, math.nan))
    return numbers


def _readable(cell: str, codes: Mapping[str, float] | None) -> bool:
    if codes is not None:
        return cell in codes
    try:
        return bool(_numbers({cell}))
    except ValueError:
        return False


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _again(about: Published) -> str:
    return f"get {about.files[-1]} as it was published"
