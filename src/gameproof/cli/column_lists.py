"""Lists of columns on the command line: names separated by commas.

A name that contains commas is given alone, or in quotation marks as in a CSV file: "a, b",c.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gameproof.cli.options import UsageError

if TYPE_CHECKING:
    from gameproof.tables.table import Table
    from gameproof.tables.table_files import TableFiles


def column_names(given: list[str] | None, table: Table | TableFiles) -> list[str]:
    """The names of columns in one or several texts, each once."""
    return list(dict.fromkeys(items(given, table)))


def items(given: list[str] | None, table: Table | TableFiles) -> Iterator[str]:
    """The items of one or several lists. A text that is the name of a column is one item."""
    for text in given or []:
        found = [text] if text in table.columns else [item for item in split_list(text) if item]
        if text.strip() and not found:
            raise UsageError(
                f"{text!r} names no column; expected names separated by commas, or '' for none"
            )
        yield from found


def split_list(text: str) -> Iterator[str]:
    """Splits a list at its commas, but not at those in quotation marks.

    >>> list(split_list('"a, b":0..1,c, "5"" pipe",d:="x, y|z"'))
    ['a, b:0..1', 'c', '5" pipe', 'd:=x, y|z']
    """
    item, quoted, k = "", False, 0
    while k < len(text):
        letter = text[k]
        if quoted and text[k : k + 2] == '""':
            item, k = item + '"', k + 1
        elif quoted and letter == '"':
            quoted = False
        elif letter == '"' and (not item.strip() or item.endswith(":=")):
            quoted = True
        elif not quoted and letter == ",":
            yield item.strip()
            item = ""
        elif not quoted and letter in "\r\n":
            raise _not_a_list(text)
        else:
            item += letter
        k += 1
    if quoted:
        raise _not_a_list(text)
    yield item.strip()


def _not_a_list(text: str) -> UsageError:
    return UsageError(
        f"{text!r} is not a list of columns; give a name that contains commas or line breaks "
        'alone, or in quotation marks, as in "a, b",c'
    )
