"""Text in messages. Imports nothing heavy, so that the command's help is fast."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Control characters except the line feed, and marks that change the direction or the line of text.
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

PASSWORD = re.compile("(://[^/@:]*:).*@")


def escaped(text: str) -> str:
    """Text with its control characters escaped: in a terminal, they could hide what is printed.

    >>> escaped("people.csv\\x1b[2J")
    'people.csv\\\\x1b[2J'
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def without_password(url: str) -> str:
    """A database URL as a message shows it; a path stays as it is.

    >>> without_password("postgresql://me:secret@host/studies")
    'postgresql://me:***@host/studies'
    """
    return PASSWORD.sub(r"\1***@", url)


def suggestion(name: str, names: Iterable[str]) -> str:
    """A hint for an unknown name: the closest known one, or the list of known names."""
    import difflib

    known = list(names)
    folded = {other.casefold(): other for other in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if near:
        return f"did you mean {folded[near[0]]!r}?"
    return f"there are {quoted_list(known)}"


def quoted(name: str) -> str:
    """A name or value of a table as a message shows it.

    Quotation marks are added where it contains a separator or a line break.

    >>> quoted("income"), quoted("savings, total"), quoted("a\\nb")
    ('income', "'savings, total'", "'a\\\\nb'")
    """
    return name if name.isprintable() and not set(",;:") & set(name) else repr(name)


def all_quoted(names: Iterable[str]) -> str:
    """All names, each `quoted`, joined by commas.

    >>> all_quoted(["income", "a\\nb"])
    "income, 'a\\\\nb'"
    """
    return ", ".join(map(quoted, names))


def quoted_list(names: Iterable[str], most: int = 8) -> str:
    """`listed`, with the names quoted as in a message."""
    return listed([quoted(name) for name in names], most)


def rows_of(count: int) -> str:
    """A number of rows in words.

    >>> rows_of(1), rows_of(2000)
    ('1 row', '2,000 rows')
    """
    return f"{count:,} row" + ("" if count == 1 else "s")


def listed(names: Sequence[str], most: int = 8) -> str:
    """The first `most` names, joined by commas, and how many were left out."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
