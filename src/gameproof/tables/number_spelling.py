"""`Spelling`: how the numbers of a column are written, and the ways in which they can be read.

A number may have a decimal sign, thousands separators, a currency or a unit, and a minus sign in
front, behind (as SAP writes it) or as parentheses. The text 1,234 can be read in two ways, as 1234
and as 1.234. A column has every reading that fits all of its cells; it is clear if there is one.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

MONEY = r"\p{Sc}|EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|DM|kr|zł|Kč|Fr\."
UNIT = rf"{MONEY}|%|‰|kg|km|cm|mm|m²|min"
# One group for each part of a cell. Single letters do not count as units, because 1a and 2b are
# more likely codes.
CELL = (
    r"^(?P<open>\()?(?P<first>[+-])?\s*"
    rf"(?P<before>{MONEY})?\s*(?P<second>[+-])?\s*"
    r"(?P<digits>[.,]?\d(?:[\d.,' ]*\d)?[.,]?(?:[eE][+-]?\d+)?)"
    rf"(?P<last>-)?\s*(?P<after>{UNIT})?(?P<close>\))?$"
)
RATES = ("%", "‰")
GAPS = ("-", "–", "—", ".")
"""Texts that stand for a missing value among numbers, but may be levels of a category."""
# A plain number that cannot be a whole number with thousands separators.
NOT_GROUPED = r"^[+-]?(0\.|0\d|\d{4,}|\d*\.(\d{0,2}|\d{4,})$)|[eE]"


class Spelling(NamedTuple):
    """The decimal sign and the thousands separator that occur, empty if none does, and the unit."""

    decimal: str = ""
    thousands: str = ""
    unit: str = ""

    @property
    def plain(self) -> bool:
        """True for numbers as programs write them: 1234.5."""
        return self.decimal in ("", ".") and not self.thousands and not self.unit

    def example(self) -> str:
        """A number that is written in this way."""
        number = f"1{self.thousands}234" + (f"{self.decimal}5" if self.decimal else "")
        return f"{number} {self.unit}".rstrip()

    def agrees(self, other: Spelling) -> bool:
        """False if a sign is the decimal sign in one spelling and separates groups in the other, or
        if their decimal signs or separators differ."""
        for one, two in ((self, other), (other, self)):
            if one.decimal and two.decimal and one.decimal != two.decimal:
                return False
            if one.decimal and one.decimal == two.thousands:
                return False
        return not (self.thousands and other.thousands) or self.thousands == other.thousands


PLAIN = Spelling(".")
STYLES = tuple(
    Spelling(decimal, thousands)
    for decimal in (".", ",")
    for thousands in ("", ".", ",", " ", "'")
    if decimal != thousands
)


class Parts(NamedTuple):
    """Cells that look like numbers, taken apart: digits with separators, sign and unit."""

    digits: Any
    negative: Any
    unit: Any

    @property
    def units(self) -> set[str]:
        """The units that occur; the empty text if some cell has none."""
        import pyarrow.compute as pc

        return set(pc.unique(self.unit).to_pylist())


def take_apart(cells: Any) -> tuple[Any, Parts]:
    """Whether each cell looks like a number, and the parts of all cells that do."""
    import pyarrow as pa
    import pyarrow.compute as pc

    even = pc.replace_substring_regex(cells, "[\u00a0\u2009\u202f]", " ")
    even = pc.replace_substring(pc.replace_substring(even, "\u2019", "'"), "\u2212", "-")
    found = pc.extract_regex(even, CELL)
    fits = pc.is_valid(found)
    found = found.filter(fits)

    def part(name: str) -> Any:
        return pc.struct_field(found, name)

    closed = pc.equal(part("open"), "("), pc.equal(part("close"), ")")
    minus = [pc.equal(part(name), "-") for name in ("first", "second", "last")]
    signs = [pc.cast(sign, pa.int8()) for sign in (*minus, pc.and_(*closed))]
    count = signs[0]
    for sign in signs[1:]:
        count = pc.add(count, sign)
    units = pc.binary_join_element_wise(part("before"), part("after"), "")
    sound = pc.and_(pc.less_equal(count, 1), pc.equal(*closed))
    keep = pc.replace_with_mask(fits, fits, sound)
    negative = pc.equal(count.filter(sound), 1)
    return keep, Parts(part("digits").filter(sound), negative, units.filter(sound))


def minus_elsewhere(cells: Any) -> bool:
    """True if some number is negative by parentheses or by a minus sign behind it."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(cells, r"^\(.*\)$|-$")).as_py())


def readings(cells: Any, allowed: tuple[Spelling, ...] = STYLES) -> tuple[Spelling, ...]:
    """All readings of distinct cells as numbers; none if they are not numbers.

    Numbers must all have the same unit. A currency may be left out, a percent sign may not.
    """
    import pyarrow.compute as pc

    cells = without_gaps(cells)
    fits, parts = take_apart(cells)
    units = parts.units
    unit = max(units, default="")
    if not len(cells) or not pc.all(fits).as_py() or len(units - {""}) > 1:
        return ()
    if unit in RATES and len(units) > 1:
        return ()
    for strict in (True, False):
        styles = [s for s in allowed if _all_match(parts.digits, _pattern(s, strict))]
        found = dict.fromkeys(_occurring(parts.digits, style, unit) for style in styles)
        if found:
            return _without_unlikely_money(tuple(found), parts.digits)
    return ()


def parsed(cells: Any, spelling: Spelling) -> Any:
    """Distinct cells as floats, null for gaps; None if some cell is not a number so written."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pc.invert(pc.is_in(cells, value_set=pa.array(GAPS)))
    known = pc.and_(known, pc.is_valid(cells))
    fits, parts = take_apart(cells.filter(known))
    if not pc.all(fits).as_py() or not parts.units <= {"", spelling.unit}:
        return None
    if not _all_match(parts.digits, _pattern(spelling, False)):
        return None
    digits = parts.digits
    if spelling.thousands:
        digits = pc.replace_substring(digits, spelling.thousands, "")
    if spelling.decimal == ",":
        digits = pc.replace_substring(digits, ",", ".")
    values = pc.cast(digits, pa.float64())
    values = pc.if_else(parts.negative, pc.negate(values), values)
    empty = pa.nulls(len(cells), pa.float64())
    return pc.replace_with_mask(empty, known, values)


def plain_readings(cells: Any) -> tuple[Spelling, ...]:
    """All readings of distinct cells that are plain numbers. They are clear in almost all columns,
    so most are recognised without a look at every cell."""
    import pyarrow.compute as pc

    dotted = pc.match_substring(cells, ".")
    if not pc.any(dotted).as_py():
        return (Spelling(),)
    for sample in (cells[:200], cells):
        if pc.any(pc.match_substring_regex(sample, NOT_GROUPED)).as_py():
            return (Spelling("."),)
    return readings(cells) or (Spelling("."),)


def without_gaps(cells: Any) -> Any:
    """The cells that are not missing, not even among numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pc.drop_null(cells)
    return known.filter(pc.invert(pc.is_in(known, value_set=pa.array(GAPS))))


@cache
def _pattern(style: Spelling, strict: bool) -> str:
    """The digits of one number. Strictly, every number above 999 has its separators; otherwise some
    may have none, and groups of two digits are allowed as in 1,00,000."""
    whole = r"\d+"
    if style.thousands:
        mark = rf"[{style.thousands}]"
        grouped = rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+"
        loose = rf"\d+|[1-9]\d?(?:{mark}\d{{2}})+{mark}\d{{3}}"
        whole = rf"(?:{grouped}|" + (r"\d{1,3}" if strict else loose) + ")"
    if not style.decimal:
        return rf"^{whole}(?:[eE][+-]?\d+)?$"
    decimal = rf"[{style.decimal}]"
    return rf"^(?:{whole}(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?$"


def _all_match(digits: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    start = pc.match_substring_regex(digits[:50], pattern)
    if not pc.all(start).as_py():
        return False
    return bool(pc.all(pc.match_substring_regex(digits, pattern)).as_py())


def _occurring(digits: Any, style: Spelling, unit: str) -> Spelling:
    """The spelling without the signs that do not occur in the digits."""
    import pyarrow.compute as pc

    decimal, thousands = (
        sign if sign and pc.any(pc.match_substring(digits, sign)).as_py() else ""
        for sign in style[:2]
    )
    return Spelling(decimal, thousands, unit)


def _without_unlikely_money(found: tuple[Spelling, ...], digits: Any) -> tuple[Spelling, ...]:
    """Readings without amounts of exactly three decimals, such as $12,500 as 12.5.

    Prices such as 1.459 € have three decimals, so some amount must be below 1 or above 9.999.
    """
    import pyarrow.compute as pc

    grouped = tuple(reading for reading in found if reading.thousands)
    unit = found[0].unit
    if len(found) < 2 or unit in ("", *RATES) or not grouped:
        return found
    prices = pc.match_substring_regex(digits, r"^\d[.,]\d{3}$")
    return found if pc.all(prices).as_py() else grouped
