"""What the sections of a page read off an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.number_format import listed
from gameproof.auditing.page_model import Column, Series

# What the intervals of rows are around.
CENTRES = ("accuracy", "difference")
ACCEPTED = ("accepted_positive", "accepted_negative")


def accepted_columns(audit: Audit) -> list[Column]:
    """The columns of these."""
    return [Column(f"accepted of {outcome(audit, label)}", "percent") for label in (1, -1)]


def series_look(audit: Audit, model: str) -> int:
    """The model in question looks the same everywhere, the others as they come."""
    return (audit.models.index(model) + 1) % len(audit.models)


def line_series(name: str, rows: Sequence[Any], what: str, look: int) -> Series:
    """Rows by multiple, radius or power, with their intervals where `what` has any."""
    kind = next(kind for kind in ("multiple", "radius", "power") if hasattr(rows[0], kind))
    low, high = (
        [getattr(row, end) for row in rows if what in CENTRES and hasattr(row, end)]
        for end in ("low", "high")
    )
    values, x = ([getattr(row, field) for row in rows] for field in (what, kind))
    return Series(name, values, x, low, high, look)


def cells(rows: Sequence[Any], *fields: str) -> list[list[Any]]:
    """Some fields of rows, for a table."""
    return [[getattr(row, field) for field in fields] for row in rows]


def at_power(audit: Audit, model: str) -> Any:
    """The row of the power that is expected."""
    return next(row for row in audit.of(audit.by_power, model) if row.power == audit.power)


def at_radius(audit: Audit, model: str) -> Any:
    """The row nearest to the radius that the model was fitted for; where that is 0 or not known, to
    a third of the largest: small enough to mean something. None where no radius was looked at."""
    rows = [row for row in audit.of(audit.shifts, model) if row.radius > 0]
    if not rows:
        return None
    wanted = audit.radius or rows[-1].radius / 3
    return min(rows, key=lambda row: abs(row.radius - wanted))


def outcome(audit: Audit, label: int) -> str:
    """What a label is called."""
    if audit.outcomes:
        return audit.outcomes[0 if label > 0 else 1]
    return "label +1" if label > 0 else "label −1"


def kind_of_outcome(audit: Audit) -> str:
    """The word for either of them."""
    return "outcome" if audit.outcomes else "label"


def stretches(chosen: Sequence[float], grid: Sequence[float]) -> str:
    """Which of a grid's numbers, in words.

    >>> stretches([0.2, 0.3, 0.4, 0.8], [0.1, 0.2, 0.3, 0.4, 0.6, 0.8])
    '0.2 to 0.4 and 0.8'
    """
    places = [list(grid).index(number) for number in chosen]
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    ends = [(grid[run[0]], grid[run[-1]]) for run in runs]
    return listed([f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in ends])
