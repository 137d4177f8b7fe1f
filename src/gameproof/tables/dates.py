"""Dates as text, in the formats that programs and people use, and as days since a fixed day.

The text 03/04/2024 is 3 April in some countries and 4 March in others. A column has every format in
which all of its cells are dates; one cell such as 25/04/2024 settles the order for all of them.
"""

from __future__ import annotations

from datetime import date
from typing import Any

ORIGIN = date(2000, 1, 1)
"""Dates become days since this day."""
ISO = "%Y-%m-%d"
TIME = r"[T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?(Z|[+-]\d{2}:?\d{2})?$"
# The shapes of dates, and the formats that each may have.
SHAPES = {
    r"^\d{4}-\d{1,2}-\d{1,2}$": (ISO,),
    r"^\d{4}/\d{1,2}/\d{1,2}$": ("%Y/%m/%d",),
    r"^\d{4}\.\d{1,2}\.\d{1,2}$": ("%Y.%m.%d",),
    r"^\d{1,2}\.\d{1,2}\.\d{4}$": ("%d.%m.%Y",),
    r"^\d{1,2}\.\d{1,2}\.\d{2}$": ("%d.%m.%y",),
    r"^\d{1,2}/\d{1,2}/\d{4}$": ("%d/%m/%Y", "%m/%d/%Y"),
    r"^\d{1,2}/\d{1,2}/\d{2}$": ("%d/%m/%y", "%m/%d/%y"),
    r"^\d{1,2}-\d{1,2}-\d{4}$": ("%d-%m-%Y", "%m-%d-%Y"),
    r"^\d{1,2}-[A-Za-z]{3}-\d{4}$": ("%d-%b-%Y",),
    r"^\d{1,2}-[A-Za-z]{3}-\d{2}$": ("%d-%b-%y",),
    r"^\d{1,2} [A-Za-z]{3} \d{4}$": ("%d %b %Y",),
    r"^\d{1,2} [A-Za-z]{4,} \d{4}$": ("%d %B %Y",),
    r"^[A-Za-z]{3} \d{1,2}, \d{4}$": ("%b %d, %Y",),
    r"^[A-Za-z]{4,} \d{1,2}, \d{4}$": ("%B %d, %Y",),
}


def date_formats(cells: Any) -> tuple[str, ...]:
    """The formats in which all of these distinct texts are dates."""
    import pyarrow.compute as pc

    days = _without_time(cells)
    for shape, formats in SHAPES.items():
        for sample in (days[:20], days):
            if not (len(days) and pc.all(pc.match_substring_regex(sample, shape)).as_py()):
                break
        else:
            return tuple(form for form in formats if not _parsed(days, form).null_count)
    return ()


def mixed_dates(cells: Any) -> bool:
    """True if all of these distinct texts look like dates, but not in the same format."""
    import pyarrow.compute as pc

    def all_match(shape: str) -> bool:
        return bool(pc.all(pc.match_substring_regex(dated, shape)).as_py())

    dated = _without_time(cells)
    return bool(len(dated)) and all_match("|".join(SHAPES)) and not any(map(all_match, SHAPES))


def days_of_text(cells: Any, form: str) -> Any:
    """Texts as days since the origin, null where one is missing or not a date in this format."""
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = _without_time(cells).dictionary_encode()
    days = pc.cast(_days(_parsed(coded.dictionary, form)), pa.float64())
    return days.take(coded.indices)


def day_of_text(text: str, form: str) -> float | None:
    """One text as a day since the origin, in this format or as ISO writes it."""
    import pyarrow as pa

    for each in (form, ISO):
        found: float | None = days_of_text(pa.array([text]), each)[0].as_py()
        if found is not None:
            return found
    return None


def days_of_moments(cells: Any) -> Any:
    """Dates or times of an Arrow type as days since the origin."""
    return _days(cells)


def _days(moments: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    numbered = pc.cast(pc.cast(moments, pa.date32(), safe=False), pa.int32())
    return pc.cast(pc.subtract(numbered, (ORIGIN - date(1970, 1, 1)).days), pa.float64())


def _without_time(cells: Any) -> Any:
    import pyarrow.compute as pc

    return pc.replace_substring_regex(cells, TIME, "")


def _parsed(days: Any, form: str) -> Any:
    """Texts as moments, null where one is not a date in this format."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.strptime(days, format=form, unit="s", error_is_null=True)
    # Arrow takes 31 April for 1 May.
    same = pc.equal(_without_zeros(pc.strftime(found, format=form)), _without_zeros(days))
    return pc.if_else(same, found, pa.scalar(None, found.type))


def _without_zeros(days: Any) -> Any:
    """Dates in small letters, with 1.4.2024 for 01.04.2024."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(pc.utf8_lower(days), r"\b0+(\d)", r"\1")
