"""The option ``--movable``: what people can change, and by how much.

    savings:0..5000,utilisation:-0.2..0,job:=retired|student,rooms

An item is the name of a column, alone or followed by a colon and its budget. A budget is the
smallest and the largest change of a number or, after =, the levels of a category that people can
claim. Names may contain colons: the longest name that fits counts. Quotation marks protect commas
in names and levels: "savings, total":0..5000, job:="care, other|none".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gameproof.cli.column_lists import items
from gameproof.cli.options import UsageError

if TYPE_CHECKING:
    from gameproof.tables.table import Table
    from gameproof.tables.table_files import TableFiles

FORM = "A:LOW..HIGH,B,C:=X|Y"


def parse_movable(given: list[str] | None, table: Table | TableFiles) -> dict[str, Any]:
    """Budgets by column, as `fit_table` takes them: a range, a list of levels, or None."""
    found: dict[str, Any] = {}
    for item in items(given, table):
        name, budget = _parse_item(item, table)
        if name in found and found[name] != budget:
            raise UsageError(f"--movable gives two budgets for {name!r}")
        found[name] = budget
    return found


def _parse_item(item: str, table: Table | TableFiles) -> tuple[str, Any]:
    """The column and its budget."""
    if item in table.columns:
        return item, None
    colons = [k for k, letter in enumerate(item) if letter == ":"]
    for k in reversed(colons):
        name = item[:k].strip()
        if name in table.columns:
            return name, _parse_budget(name, item[k + 1 :].strip())
    name = item
    for k in reversed(colons):
        if item[k + 1 :].lstrip().startswith("=") or ".." in item[k + 1 :]:
            name = item[:k].strip()
    table.column(name, "movable column")  # raises, with a suggestion
    raise AssertionError(f"{name!r} is a column, and would have been found above")


def _parse_budget(name: str, text: str) -> tuple[float, float] | list[str]:
    if text.startswith("="):
        levels = [level.strip() for level in text[1:].split("|") if level.strip()]
        if not levels:
            raise UsageError(
                f"--movable gives no level for {name!r}; write {name}:=one|another, or the column "
                "alone for every level"
            )
        return levels
    low, dots, high = text.partition("..")
    try:
        if dots:
            return float(low), float(high)
    except ValueError:
        pass
    raise UsageError(
        f"--movable gives the budget {text!r} for {name!r}; expected the smallest and the largest "
        f"change, as in {name}:0..5000, or levels, as in {name}:=one|another"
    )
