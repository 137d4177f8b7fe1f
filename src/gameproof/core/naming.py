"""Names of columns in sentences. Light, for the command's help must not wait for what reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def suggestion(name: str, names: Iterable[str]) -> str:
    """What may have been meant."""
    import difflib

    known = list(names)
    folded = {other.casefold(): other for other in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if near:
        return f"did you mean {folded[near[0]]!r}?"
    return f"there are {listed([quoted(other) for other in known])}"


def quoted(name: str) -> str:
    """A name or a value from a table, as it stands in a line: in quotation marks where it could be
    taken for more than itself, for several names or for the next line.

    >>> quoted("income"), quoted("savings, total"), quoted("a\\nb")
    ('income', "'savings, total'", "'a\\\\nb'")
    """
    return name if name.isprintable() and not set(",;:") & set(name) else repr(name)


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in a sentence, not too many."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
