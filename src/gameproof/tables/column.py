"""`Column`: the cells of one column, and their kind: numbers, text or dates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final

MISSING = ("", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "?")
"""Texts that stand for a missing value."""
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"

# Formatted numbers: 12,5 and 1.234,5 and 1,234.50, 1 234, € 12, 12 %, 12 kg. Single letters do not
# count as units, because 1a and 2b are more likely codes.
DIGITS = r"\d{1,3}([.,' \x{a0}\x{202f}]\d{3})+([.,]\d+)?|\d+([.,]\d+)?|[.,]\d+"
MONEY = r"\p{Sc}|EUR|USD|GBP|CHF"
UNIT = rf"{MONEY}|%|‰|kg|km|cm|mm|m²|min"
FORMATTED = rf"^[+-]?\s*({MONEY})?\s*[+-]?({DIGITS})\s*({UNIT})?$"

Kind = Literal["number", "text", "date", "nothing", "other"]


@final
@dataclass(frozen=True, eq=False)
class Column:
    """A column as an Arrow array: strings from a text file, other types from Parquet or a frame."""

    name: str
    cells: Any

    @cached_property
    def numbers(self) -> Any:
        """The cells as numbers, null where missing; None if any cell is something else."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_boolean(self.cells.type) or not plain(self.cells.type):
            return None
        try:
            values = pc.cast(self._tidy, pa.float64())
        except pa.ArrowInvalid:
            return None
        return pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)

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
        import pyarrow.compute as pc

        if pa.types.is_temporal(self.cells.type):
            return "date"
        if not plain(self.cells.type):
            return "other"
        if self._tidy.null_count == len(self.cells):
            return "nothing"
        if self.numbers is not None:
            return "nothing" if self.numbers.null_count == len(self.cells) else "number"
        dates = pc.match_substring_regex(pc.drop_null(self.text), DATE)
        return "date" if pc.all(dates).as_py() else "text"

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

    def first_text(self) -> tuple[int, int, str]:
        """The number of cells that are not numbers, and the position and text of the first."""
        import pyarrow.compute as pc

        other = pc.fill_null(pc.invert(pc.match_substring_regex(self.text, NUMBER)), False)
        row = pc.index(other, True).as_py()
        return pc.sum(other).as_py() or 0, row, self.text[row].as_py()

    def formatted_numbers(self) -> tuple[int, str]:
        """The number of cells that are numbers to a reader, and the first that is not a plain one.

        Formatted numbers have a decimal comma, thousands separators, a currency or a unit.
        """
        import pyarrow.compute as pc

        known = pc.drop_null(self.text)
        formatted = pc.match_substring_regex(known, FORMATTED)
        plain_ones = pc.match_substring_regex(known, NUMBER)
        first = pc.index(pc.and_not(formatted, plain_ones), True).as_py()
        count = pc.sum(pc.or_(formatted, plain_ones)).as_py() or 0
        return (count, known[first].as_py()) if first >= 0 else (0, "")

    def take(self, rows: Any) -> Column:
        """The column of these rows."""
        return Column(self.name, self.cells.take(rows))


def plain(kind: Any) -> bool:
    """True if a column of this Arrow type can hold numbers or text."""
    import pyarrow as pa

    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    empty = pa.types.is_null(kind)
    return bool(numbers or empty or pa.types.is_string(kind) or pa.types.is_boolean(kind))
