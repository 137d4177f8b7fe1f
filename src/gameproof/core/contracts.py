"""Assertions of contract tests that users run on parts of their own."""

from __future__ import annotations

from typing import Any


def check_that(holds: Any, failure: str) -> None:
    """Raises AssertionError with this sentence unless something holds.

    Unlike an assert statement, it also does so where Python is run with -O.

    >>> check_that(1 + 1 == 2, "one and one are not two")
    """
    if not holds:
        raise AssertionError(failure)


def require_kind(part: Any, kind: type) -> None:
    """Raises TypeError unless the part that a contract test was given is of this kind.

    >>> require_kind(1, int)
    """
    if not isinstance(part, kind):
        raise TypeError(f"expected a {kind.__name__}, got {part!r}")
