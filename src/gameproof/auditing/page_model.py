"""The parts of a page: sections with findings, charts and tables.

They are plain data. `page.py` makes pages of them, and `figures.py` draws charts as files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

Kind = Literal[
    "text",
    "number",
    "decimal",
    "interval",
    "decimal interval",
    "percent",
    "points",
    "count",
    "label",
    "verdict",
]
Value = float | None


@final
@dataclass(frozen=True)
class PageColumn:
    """The name of a table's column, and how its values are written."""

    name: str
    kind: Kind = "text"


@final
@dataclass(frozen=True)
class PageTable:
    """Rows under a caption."""

    caption: str
    columns: Sequence[PageColumn]
    rows: Sequence[Sequence[Any]]


@final
@dataclass(frozen=True)
class Series:
    """One line of a chart, or one mark per label, with optional intervals.

    `look` selects colour, dash and marker; 0 is for the model under audit. A `guide` is a reference
    line without markers.
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
        A description for readers who cannot see the chart.
    across, upright
        Named reference lines: horizontal ones at a value, vertical ones at an x.
    log_x, log_y
        Whether the axes of lines are logarithmic. Values that are not positive are cut off.
    from_zero
        Whether the vertical axis of lines starts at 0.
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
    """Charts with a common caption."""

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
    """A question, its answer in a sentence, and the evidence.

    `open` shows tables unfolded. `collapsed` folds the whole section, for secondary results.
    """

    title: str
    finding: str
    charts: Sequence[Chart] = ()
    tables: Sequence[PageTable] = ()
    notes: Sequence[str] = ()
    panels: Sequence[Panels] = ()
    open: bool = False
    collapsed: bool = False
