"""Text that a spreadsheet would run as a formula is marked as text.

A cell of a CSV file that begins with =, +, - or @ is a formula to a spreadsheet, and a formula can
call programs and send data away. A leading apostrophe makes it text. Numbers stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gameproof.tables.column import NUMBER

# Spreadsheets skip a leading tab or line break.
FORMULA = r"^[\t\r\n ]*[=+\-@]"


def neutralised(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table, with an apostrophe before each text that begins like a formula."""
    import pyarrow as pa

    cells = {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
    names = _as_text(pa.array(list(cells), pa.string())).to_pylist()
    return {
        name: _as_text(part) if pa.types.is_string(part.type) else part
        for name, part in zip(names, cells.values(), strict=True)
    }


def _as_text(cells: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    formula = pc.and_not(
        pc.match_substring_regex(cells, FORMULA), pc.match_substring_regex(cells, NUMBER)
    )
    marked = pc.binary_join_element_wise(pa.scalar("'"), cells, "")
    return pc.if_else(pc.fill_null(formula, False), marked, cells)
