"""Text that a spreadsheet would run as a formula is marked as text.

A cell of a CSV file that begins with =, +, - or @ is a formula to a spreadsheet, and a formula can
call programs and send data away. A leading apostrophe makes it text. Numbers stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gameproof.tables.column import NUMBER
from gameproof.tables.parquet_files import is_text

# Spreadsheets skip a leading tab or line break, and take full-width signs for plain ones.
FORMULA = r"^[\t\r\n ]*[=+\-@＝＋－＠]"


def neutralised(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table, with an apostrophe before each text that begins like a formula."""
    import pyarrow as pa

    names = _marked(pa.array(list(columns), pa.string())).to_pylist()
    cells = (_marked(pa.array(values, from_pandas=True)) for values in columns.values())
    return dict(zip(names, cells, strict=True))


def _marked(cells: Any) -> Any:
    """The cells, marked if they are text, or bytes: a CSV file shows both in the same way."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_fixed_size_binary(cells.type):
        cells = cells.cast(pa.binary())
    if not is_text(cells.type):
        return cells
    formula = pc.and_not(
        pc.match_substring_regex(cells, FORMULA), pc.match_substring_regex(cells, NUMBER)
    )
    apostrophe, nothing = (pa.scalar(text).cast(cells.type) for text in ("'", ""))
    marked = pc.binary_join_element_wise(apostrophe, cells, nothing)
    return pc.if_else(pc.fill_null(formula, False), marked, cells)
