"""`Column`: the cells of one column, and their kind: numbers, text or dates.

Numbers and dates in text may be written in many ways; `number_spelling` and `dates` tell which.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, final

from gameproof.tables.dates import date_formats, days_of_moments, days_of_text
from gameproof.tables.number_spelling import GAPS, PLAIN, Spelling, parsed, take_apart, without_gaps

MISSING = (
    *("", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "?"),
    *("<NA>", "n.a.", "N.A.", "k.A.", "#NV"),
)
"""Texts that stand for a missing value."""
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
"""A number as programs write it."""
Kind = Literal["number", "text", "date", "nothing", "other"]


@final
@dataclass(frozen=True, eq=False)
class Column:
    """A column as an Arrow array: strings from a text file, other types from Parquet or a frame.

    `readings` are the ways in which texts can be read as numbers: none if some cell is not a
    number, several if it is not clear which one is meant.
    """

    name: str
    cells: Any
    readings: tuple[Spelling, ...] = (PLAIN,)

    @cached_property
    def numbers(self) -> Any:
        """The cells as numbers, null where missing; None if any cell is something else."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_boolean(self.cells.type) or not plain(self.cells.type):
            return None
        if not self.is_text:
            try:
                values = pc.cast(self._tidy, pa.float64())
            except pa.ArrowInvalid:  # integers with more digits than a float has
                return None
        elif len(self.readings) == 1:
            values = self._read_as(self.readings[0])
        else:
            return None
        if values is None:
            return None
        return pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)

    def _read_as(self, spelling: Spelling) -> Any:
        """Texts as numbers in this spelling; None if some cell is not a number."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if spelling.plain:
            with suppress(pa.ArrowInvalid):
                return pc.cast(self._tidy, pa.float64())
        coded = self._tidy.dictionary_encode()
        values = parsed(coded.dictionary, spelling)
        return None if values is None else values.take(coded.indices)

    @property
    def is_text(self) -> bool:
        """True if the cells are strings."""
        import pyarrow as pa

        return bool(pa.types.is_string(self.cells.type))

    @property
    def doubtful(self) -> bool:
        """True if the cells can be read as different numbers."""
        return self.is_text and len(self.readings) > 1

    def doubt(self) -> str:
        """A cell that can be read as different numbers, and the numbers."""
        import pyarrow.compute as pc

        cells = without_gaps(pc.unique(self._tidy))
        values = [parsed(cells, reading) for reading in self.readings]
        at = pc.index(pc.not_equal(values[0], values[1]), True).as_py()
        found = " or ".join(f"{each[at].as_py():,.12g}".replace(",", "") for each in values)
        return f"{cells[at].as_py()!r} is {found}"

    @cached_property
    def text(self) -> Any:
        """The cells as strings, null where missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = pc.cast(self._tidy, pa.string())
        lower = pc.utf8_lower(pc.drop_null(pc.unique(text)))
        if len(lower) and set(lower.to_pylist()) <= {"true", "false"}:
            return pc.utf8_lower(text)  # programs write True, TRUE and true
        return text

    @cached_property
    def codes(self) -> Any:
        """The cells as levels of a category: 2.0 becomes 2, since programs write integers either
        way, and 02 stays a name."""
        import pyarrow.compute as pc

        if self.numbers is None:
            return self.text
        return pc.replace_substring_regex(self.text, r"^(-?\d+)\.0*$", r"\1")

    @cached_property
    def kind(self) -> Kind:
        """The kind of the cells, found from all of them."""
        import pyarrow as pa

        if pa.types.is_date(self.cells.type) or pa.types.is_timestamp(self.cells.type):
            return "date"
        if not plain(self.cells.type):
            return "other"
        if self._tidy.null_count == len(self.cells):
            return "nothing"
        if self.numbers is not None:
            return "nothing" if self.numbers.null_count == len(self.cells) else "number"
        return "date" if self.date_formats else "text"

    @cached_property
    def _tidy(self) -> Any:
        """The cells without surrounding spaces, null for texts that stand for a missing value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_string(self.cells.type):
            return self.cells
        trimmed = pc.utf8_trim_whitespace(self.cells)
        gone = pc.is_in(trimmed, value_set=pa.array(MISSING))
        return pc.if_else(gone, pa.scalar(None, pa.string()), trimmed)

    @cached_property
    def date_formats(self) -> tuple[str, ...]:
        """The formats in which all cells are dates; empty for types other than text."""
        return date_formats(self.distinct) if self.is_text else ()

    @property
    def distinct(self) -> Any:
        """The different cells, without missing ones; true and false are texts."""
        import pyarrow as pa
        import pyarrow.compute as pc

        truth = pa.types.is_boolean(self.cells.type)
        return pc.drop_null(pc.unique(self.text if truth else self._tidy))

    def days(self, form: str) -> Any:
        """Dates as days since 2000-01-01; `form` is the format of text."""
        return days_of_text(self._tidy, form) if self.is_text else days_of_moments(self.cells)

    def first_text(self) -> tuple[int, int, str]:
        """The number of cells that do not look like numbers, and the position and text of the
        first; the position is -1 if there is none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = self.text
        fits, _ = take_apart(text)
        gaps = pc.is_in(text, value_set=pa.array(GAPS))
        other = pc.and_not(pc.is_valid(text), pc.or_(fits, gaps))
        row = pc.index(other, True).as_py()
        return pc.sum(other).as_py() or 0, row, "" if row < 0 else text[row].as_py()

    def settled(self, *known: Spelling) -> Column:
        """This column without the readings that disagree with known spellings, if any is left."""
        left = tuple(r for r in self.readings if all(map(r.agrees, known)))
        return replace(self, readings=left) if self.doubtful and left else self

    def take(self, rows: Any) -> Column:
        """The column of these rows."""
        return Column(self.name, self.cells.take(rows), self.readings)


def plain(kind: Any) -> bool:
    """True if a column of this Arrow type can hold numbers or text."""
    import pyarrow as pa

    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    empty = pa.types.is_null(kind)
    return bool(numbers or empty or pa.types.is_string(kind) or pa.types.is_boolean(kind))
