"""Groups of people: their order, and how many people a number about a group must rest on.

Twenty people do not show much, but fewer show nothing: of 20 people none of whom is refused, the
refused share may still be anything up to 16 %.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite

MISSING = "(missing)"  # the group of people without a value
# Numbers about a group that rest on fewer people are not reported.
FEWEST = 20


def fewest_of(group: str | None) -> int:
    """The fewest people that a number about a group, or about everyone (None), must rest on."""
    return 1 if group is None else FEWEST


def in_order(groups: Iterable[str]) -> list[str]:
    """The groups, each once: numbers by size, then text, and people without a value last.

    >>> in_order(["10", "(missing)", "other", "2", "1"])
    ['1', '2', '10', 'other', '(missing)']
    """
    return sorted(set(groups), key=_place)


def group_name(column: str, group: str) -> str:
    """A group in a sentence.

    >>> group_name("home", "rented"), group_name("home", "(missing)"), group_name("", "rented")
    ('home = rented', 'home missing', 'rented')
    """
    if not column:
        return group
    return f"{column} missing" if group == MISSING else f"{column} = {group}"


def _place(group: str) -> tuple[bool, float, str]:
    try:
        value = float(group)
    except ValueError:
        value = inf
    return group == MISSING, value if isfinite(value) else inf, group
