"""``--movable``: what people can change, and by how much.

    savings:0..5000,utilisation:-0.2..0,job:=retired|student,rooms

A part is the name of a column, alone or followed by a colon and its budget: the least and the
largest change of a number, or, after =, the levels of a category that people can claim. Where
several names fit, the longest counts, so names may hold colons. A name or levels that hold commas
stand in quotation marks: "savings, total":0..5000, job:="care, other|none".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gameproof.cli.options import SenselessOptions

if TYPE_CHECKING:
    from gameproof.core.arguments import Matrix
    from gameproof.estimators.features import Features
    from gameproof.estimators.table_budgets import Budgets
    from gameproof.tables.table import Table

FORM = "A:LOW..HIGH,B,C:=X|Y"
# None for a budget that is not stated, a pair for a range, a list for levels.
Stated = Mapping[str, tuple[float, float] | list[str] | None]


def stated(given: list[str] | None, table: Table) -> Stated:
    """The budgets that one text or several state, by column."""
    found: dict[str, Any] = {}
    for text in given or []:
        pieces = [text] if text in table.columns else list(_pieces(text))
        named = [piece for piece in pieces if piece]
        if text.strip() and not named:
            raise SenselessOptions(
                f"{text!r} names no column; expected names between commas, or '' for none"
            )
        for piece in named:
            name, budget = _read(piece, table)
            if name in found and found[name] != budget:
                raise SenselessOptions(f"--movable states two budgets for {name!r}")
            found[name] = budget
    return found


def budgets_of(given: Stated, features: Features, rows: Matrix) -> Budgets:
    """The same, checked against what the columns are; `rows` give the budgets that are not
    stated."""
    from gameproof.estimators.table_budgets import Budgets

    for name, budget in given.items():
        if name in features.levels and isinstance(budget, tuple):
            raise SenselessOptions(
                f"{name!r} is a category, and --movable states a range for it; name the levels "
                f"that people can claim, as in {name}:={features.levels[name][0]}, or the column "
                "alone for every level"
            )
        if name not in features.levels and isinstance(budget, list):
            raise SenselessOptions(
                f"{name!r} holds numbers, and --movable states levels for it; write the least and "
                f"the largest change, as in {name}:-1..1, the column alone for half a standard "
                "deviation, or name it as a category (--category)"
            )
    by_name: dict[Any, Any] = dict(given)
    try:
        return Budgets.of(by_name, features, rows)
    except (TypeError, ValueError) as error:
        raise SenselessOptions(str(error)) from error


def _pieces(text: str) -> Iterator[str]:
    """What stands between commas. Quotation marks around a name or around levels keep theirs.

    >>> list(_pieces('"a, b":0..1,c, "5"" pipe",d:="x, y|z"'))
    ['a, b:0..1', 'c', '5" pipe', 'd:=x, y|z']
    """
    piece, inside, k = "", False, 0
    while k < len(text):
        letter = text[k]
        if inside and text[k : k + 2] == '""':
            piece, k = piece + '"', k + 1
        elif inside and letter == '"':
            inside = False
        elif letter == '"' and (not piece.strip() or piece.endswith(":=")):
            inside = True
        elif not inside and letter == ",":
            yield piece.strip()
            piece = ""
        elif not inside and letter in "\r\n":
            raise _no_list(text)
        else:
            piece += letter
        k += 1
    if inside:
        raise _no_list(text)
    yield piece.strip()


def _no_list(text: str) -> SenselessOptions:
    return SenselessOptions(
        f"{text!r} is no list of columns; a name that holds commas or line breaks stands alone, or "
        'in quotation marks, as in "a, b",c'
    )


def _read(piece: str, table: Table) -> tuple[str, Any]:
    """The column and its budget."""
    if piece in table.columns:
        return piece, None
    colons = [k for k, letter in enumerate(piece) if letter == ":"]
    for k in reversed(colons):
        name = piece[:k].strip()
        if name in table.columns:
            return name, _budget(name, piece[k + 1 :].strip())
    name = piece
    for k in reversed(colons):
        if piece[k + 1 :].lstrip().startswith("=") or ".." in piece[k + 1 :]:
            name = piece[:k].strip()
    table.column(name, "movable column")  # says that there is none
    raise AssertionError("a column that is there was found before")


def _budget(name: str, text: str) -> tuple[float, float] | list[str]:
    if text.startswith("="):
        levels = [level.strip() for level in text[1:].split("|") if level.strip()]
        if not levels:
            raise SenselessOptions(
                f"--movable states no level for {name!r}; write {name}:=one|another, or the column "
                "alone for every level"
            )
        return levels
    low, dots, high = text.partition("..")
    try:
        if dots:
            return float(low), float(high)
    except ValueError:
        pass
    raise SenselessOptions(
        f"--movable states the budget {text!r} for {name!r}; expected the least and the largest "
        f"change, as in {name}:0..5000, or levels, as in {name}:=one|another"
    )
