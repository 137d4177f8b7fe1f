"""`Layout`: where the columns of a text file begin: its separator, its header and its first row.

Spreadsheets and reporting programs write more than a header and rows. A first line ``sep=;`` names
the separator. Titles and empty lines may stand above the header: lines whose first cells alone are
filled. Lines may end with a separator, which adds an empty cell to them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import NamedTuple

from gameproof.core.errors import DataError

SEPARATORS = (",", ";", "\t", "|")
STATED = re.compile(r'^"?sep=(.)"?;*,*\r?\n?$', re.IGNORECASE)
NUMBER_LIKE = re.compile(r"^[+\-−]?[\d.,' \xa0]*\d[\d.,' \xa0]*\s*[%€$£]?$")
ENOUGH = 1_000_000  # characters that a layout is recognised by, and the rest of the first line
LINES = 60  # lines that a layout is recognised by
MOST_TITLES = 20
BLANK = ' ;,\t|"\r\n'  # what the cells of an empty line consist of


class Layout(NamedTuple):
    """The separator, the names of the header, the position of the first row, and notes.

    `start` counts characters and `skipped` lines, up to and including the header. `width` is the
    number of cells in a row, which may be one more than the header has: an empty one at the end.
    """

    separator: str
    header: list[str]
    start: int
    skipped: int
    width: int
    notes: tuple[str, ...] = ()


def find_layout(text: str, given: str) -> Layout:
    """The layout of a text; `given` names it in messages."""
    beginning = text[: _whole_lines(text)]
    stream = io.StringIO(beginning, newline="")
    notes: list[str] = []
    first = stream.readline()
    before = 0
    separators: tuple[str, ...] = SEPARATORS
    if stated := STATED.match(first):
        before, separators = 1, (stated[1],)
        notes.append(f"the first line names the separator {stated[1]!r}")
    else:
        stream.seek(0)
    position = stream.tell()
    lines = [line for line, _ in zip(stream, range(LINES), strict=False)]
    guesses = {separator: _guess(lines, separator) for separator in separators}
    separator = max(separators, key=lambda each: guesses[each].merit)
    titles, more = guesses[separator].titles, guesses[separator].more
    if any(line.strip(BLANK) for line in lines[:titles]):
        what = "a line" if titles == 1 else f"{titles} lines"
        notes.append(f"skipped {what} above the header: {_shortened(lines)}")
    stream.seek(position)
    reader = csv.reader(iter(stream.readline, ""), delimiter=separator)
    try:
        for _ in range(titles):
            next(reader)
        header = next(reader, [])
        while not header and stream.tell() < len(beginning):
            header = next(reader, [])
    except csv.Error as error:
        line = before + reader.line_num
        raise DataError(
            f"{given}, line {line}: a quotation mark is not closed ({error})"
        ) from error
    width = len(header) + more
    skipped = before + reader.line_num
    return Layout(separator, header[:width], stream.tell(), skipped, width, tuple(notes))


def _whole_lines(text: str) -> int:
    """The length of the first lines. A line that is cut off has fewer cells, and a shorter name in
    the last one."""
    if len(text) <= ENOUGH:
        return len(text)
    before = max(text.rfind(end, 0, ENOUGH) for end in "\n\r")
    behind = [at for end in "\n\r" if (at := text.find(end, ENOUGH)) >= 0]
    return before + 1 or min(behind, default=len(text) - 1) + 1


class _Guess(NamedTuple):
    """What one separator makes of the first lines; the best separator has the largest merit.

    Rows have `more` cells than the header: 1 or -1 if only one of them ends with a separator.
    """

    merit: tuple[bool, int, int]
    titles: int = 0
    more: int = 0


NO_GUESS = _Guess((False, 0, 0))


def _guess(lines: Sequence[str], separator: str) -> _Guess:
    try:
        rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        return NO_GUESS
    if len(rows) > 1 and len(lines) == LINES:
        rows.pop()  # a quoted cell may continue in the next line
    titles = _titles(rows)
    header, *body = [row for row in rows[titles:] if row] or [[]]
    width, widths = len(header), {len(row) for row in body}
    more = 0
    if widths == {width + 1} and not any(row[-1].strip() for row in body):
        more = 1
    elif widths == {width - 1} and not header[-1].strip():
        more = -1
    even = width > 1 and (more != 0 or widths <= {width})
    return _Guess((even, -titles if even else 0, width), titles, more)


def _titles(rows: Sequence[Sequence[str]]) -> int:
    """The number of rows above the header.

    A row is a title if its first cell alone is filled, or its first two in a wide table. The row
    behind the titles counts as a header only if all of its cells are filled, but for trailing ones,
    and none is a number: otherwise nothing is skipped.
    """
    width = max((len(row) for row in rows), default=0)
    for k, row in enumerate(rows[: MOST_TITLES + 1]):
        filled = len([cell for cell in row if cell.strip()])
        if filled > (2 if width > 3 else 1) or (filled and not row[0].strip()):
            names = [cell.strip() for cell in row]
            while names and not names[-1]:
                names.pop()
            numbers = any(NUMBER_LIKE.match(name) for name in names)
            return k if all(names) and not numbers else 0
    return 0


def _shortened(lines: Sequence[str]) -> str:
    title = next(line for line in lines if line.strip(BLANK)).strip(BLANK)
    return repr(title if len(title) <= 40 else title[:39] + "…")
