"""What a page is made of: sections with a finding, charts and tables. Plain data; the page is
drawn from it, and from nothing else. Charts are drawn as files from the same data (`figures.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

Kind = Literal["text", "number", "interval", "percent", "points", "count", "label", "verdict"]
Value = float | None


@final
@dataclass(frozen=True)
class Column:
    """What a column of a table is called, and how its values are written."""

    name: str
    kind: Kind = "text"


@final
@dataclass(frozen=True)
class Table:
    """Rows under a caption."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]


@final
@dataclass(frozen=True)
class Series:
    """One line of a chart, or one mark for each of its labels, with intervals where there are any.

    `look` chooses colour, dash and marker; 0 is for what is in question. A `guide` is a line to
    compare with, without markers.
    """

    name: str
    y: Sequence[Value]
    x: Sequence[float] = ()
    low: Sequence[Value] = ()
    high: Sequence[Value] = ()
    look: int = 0
    fill: bool = False
    guide: bool = False


@final
@dataclass(frozen=True)
class Chart:
    """A figure: lines over x, or bars or dots for each of `labels`.

    alt
        What it shows, for those who do not see it.
    across, upright
        Lines to compare with, at a value and at an x, each with its name.
    log_x, log_y
        Axes of lines that are logarithmic. What is not above 0 lies below the chart.
    from_zero
        Whether the values' axis of lines begins at 0.
    """

    kind: Literal["lines", "bars", "dots"]
    title: str
    alt: str
    series: Sequence[Series]
    x_label: str = ""
    y_label: str = ""
    labels: Sequence[str] = ()
    percent: bool = False
    across: Sequence[tuple[float, str]] = ()
    upright: Sequence[tuple[float, str]] = ()
    log_x: bool = False
    log_y: bool = False
    from_zero: bool = False


@final
@dataclass(frozen=True)
class Panels:
    """Charts that belong together, under one caption."""

    caption: str
    charts: Sequence[Chart] = ()


@final
@dataclass(frozen=True)
class Tile:
    """A number for the top of the page."""

    label: str
    value: str
    note: str = ""


@final
@dataclass(frozen=True)
class Section:
    """A question, the answer in a sentence, and what it rests on."""

    title: str
    finding: str
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    panels: Sequence[Panels] = ()
    # A table that is the finding itself is shown open.
    open: bool = False
    # What is secondary is shown once it is opened.
    collapsed: bool = False
