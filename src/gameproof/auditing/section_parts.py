"""Building blocks of an audit's sections: columns, series, charts, and lookups of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.number_format import listed
from gameproof.auditing.page_model import Chart, PageColumn, Series

# Fields of rows that have an interval.
CENTRES = ("accuracy", "difference")
# Fields that charts have on their horizontal axis.
KINDS = ("multiple", "radius", "power")
ACCEPTED = ("accepted_positive", "accepted_negative")


def accepted_columns(audit: Audit) -> list[PageColumn]:
    """The columns for the fields in `ACCEPTED`."""
    return [PageColumn(f"accepted of {outcome(audit, label)}", "percent") for label in (1, -1)]


def series_look(audit: Audit, model: str) -> int:
    """The style of a model: 0 for the last one, then in order."""
    return (audit.models.index(model) + 1) % len(audit.models)


def line_series(name: str, rows: Sequence[Any], what: str, look: int) -> Series:
    """A line of the field `what` over multiples, radii or powers, with intervals if it has any."""
    kind = next(kind for kind in KINDS if hasattr(rows[0], kind))
    low, high = (
        [getattr(row, end) for row in rows if what in CENTRES and hasattr(row, end)]
        for end in ("low", "high")
    )
    values, x = ([getattr(row, field) for row in rows] for field in (what, kind))
    return Series(name, values, x, low, high, look)


def curve_chart(
    audit: Audit,
    rows: Sequence[Any],
    what: str,
    axes: tuple[str, str, str],
    written: Callable[[float], str],
    **more: Any,
) -> Chart:
    """A chart of one line per model; `axes` are its title and the labels of x and y.

    The description gives the first and last values of the audit's subject, as `written`.
    """
    title, x_label, y_label = axes
    name = audit.subject
    own = audit.of(rows, name)
    kind = next(kind for kind in KINDS if hasattr(own[0], kind))
    ends = [f"{written(getattr(row, what))} at {getattr(row, kind):g}" for row in (own[0], own[-1])]
    series = [
        line_series(model, audit.of(rows, model), what, series_look(audit, model))
        for model in reversed(audit.models)
    ]
    alt = f"{title}, {name}: {listed(ends)} ({x_label})."
    return Chart("lines", title, alt, series, x_label, y_label, **more)


def cells(rows: Sequence[Any], *fields: str) -> list[list[Any]]:
    """Some fields of rows, as the rows of a table."""
    return [[getattr(row, field) for field in fields] for row in rows]


def at_power(audit: Audit, model: str) -> Any:
    """The row at the expected power."""
    return next(row for row in audit.of(audit.by_power, model) if row.power == audit.power)


def at_radius(audit: Audit, model: str) -> Any:
    """The row nearest to the radius that the model was fitted for.

    If that radius is 0 or unknown, a third of the largest one is used. None if the audit has no
    positive radius.
    """
    rows = [row for row in audit.of(audit.shifts, model) if row.radius > 0]
    if not rows:
        return None
    wanted = audit.radius or rows[-1].radius / 3
    return min(rows, key=lambda row: abs(row.radius - wanted))


def outcome(audit: Audit, label: int) -> str:
    """The name of a label."""
    if audit.outcomes:
        return audit.outcomes[0 if label > 0 else 1]
    return "label +1" if label > 0 else "label −1"


def kind_of_outcome(audit: Audit) -> str:
    """The word for labels: "outcome" if they have names."""
    return "outcome" if audit.outcomes else "label"


def stretches(chosen: Sequence[float], grid: Sequence[float]) -> str:
    """Numbers of a grid as text, with ranges for neighbours.

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
