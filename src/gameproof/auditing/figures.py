"""Figures for papers, with the same colour, line and name for an algorithm everywhere.

A figure is described once, as `Panels` of charts: `draw_files` makes image files of it, and a page
shows it. Lines differ in dash and marker as well as in colour, so they are distinct in grey too.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gameproof.auditing.page_model import Chart, Panels, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class LineStyle(NamedTuple):
    """How a line is drawn in a file; `look` is the closest style on a page."""

    colour: str
    dash: str
    marker: str
    look: int = 0


# Colours that are distinct for all types of colour vision, from dark to light.
LINES: dict[str, LineStyle] = {
    "OGDA-RR": LineStyle("#0b3c6f", "-", "o", 0),
    "OGDA-WR": LineStyle("#4a90d9", "--", "s", 3),
    "SGDA-RR": LineStyle("#b3450c", "-", "^", 1),
    "SGDA-WR": LineStyle("#f0a35e", "--", "v", 4),
    "robust": LineStyle("#0b3c6f", "-", "o", 0),
    "robust, from values": LineStyle("#4a90d9", "-.", "D", 3),
    "strategic": LineStyle("#b3450c", "--", "s", 1),
    "logistic": LineStyle("#8a8a8a", ":", "^", 2),
    "paper's robust": LineStyle("#4a90d9", "-.", "D", 3),
    "for the budget": LineStyle("#0b3c6f", "-", "o", 0),
    "logistic, divided": LineStyle("#c2a300", "-.", "v", 4),
    **{
        f"for {shape} {budget:g}": LineStyle(colour, dash, marker, look)
        for shape in ("budget", "box")
        for budget, colour, dash, marker, look in (
            (0.25, "#8fcfa4", ":", "D", 5),
            (0.5, "#3f9b62", "--", "v", 4),
            (1.0, "#14532d", "-", "P", 3),
        )
    },
    "min-max": LineStyle("#0b3c6f", "-", "o", 0),
    "min-max, to the letter": LineStyle("#4a90d9", "-.", "D", 3),
    "non-smooth": LineStyle("#b3450c", "--", "s", 1),
    "theorem": LineStyle("#888888", "--", "", 2),
    "robust, power 1": LineStyle("#888888", "--", "", 2),
}
EXTRA = (
    LineStyle("#0b3c6f", "-", "o", 0),
    LineStyle("#b3450c", "--", "s", 1),
    LineStyle("#2e7d4f", "-.", "^", 3),
    LineStyle("#8e5ea2", ":", "D", 4),
)
STYLE: Any = {
    "font.family": "serif",
    "font.size": 9,
    "mathtext.fontset": "dejavuserif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "svg.hashsalt": "gameproof",
    "svg.fonttype": "path",
}


@contextmanager
def panels(
    number: int, width: float = 3.3, height: float = 3.1
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure with a row of panels; draw and save it inside the context."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width * number, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, [figure.add_subplot(1, number, k + 1) for k in range(number)]


def line_style(name: str, k: int = 0) -> LineStyle:
    """The style of a known name, or the k-th style for other names."""
    return LINES.get(name, EXTRA[k % len(EXTRA)])


def mean_band(name: str, x: Sequence[float], runs: ArrayLike) -> Series:
    """The mean over runs, one row each, with a band of two standard deviations."""
    values = np.asarray(runs, dtype=np.float64)
    mean, width = values.mean(axis=0), 2 * values.std(axis=0, ddof=min(1, len(values) - 1))
    low, high = (mean - width).tolist(), (mean + width).tolist()
    return Series(name, mean.tolist(), x, low, high)


def line_chart(title: str, x: str, y: str, series: Sequence[Series], **more: Any) -> Chart:
    """A chart of lines with a description of where each begins and ends."""
    series = [replace(each, look=line_style(each.name, k).look) for k, each in enumerate(series)]
    told = [f"{s.name} from {s.y[0]:.3g} to {s.y[-1]:.3g}" for s in series if s.y and not s.guide]
    alt = f"{title}: {y} by {x}. From left to right, {'; '.join(told) or 'nothing'}."
    return Chart("lines", title, alt, series, x, y, **more)


def draw_files(given: Panels) -> Mapping[str, bytes]:
    """The image files of a figure, by format."""
    with panels(len(given.charts), width=3.5) as (figure, axes):
        for ax, chart in zip(axes, given.charts, strict=True):
            draw(ax, chart)
        return as_files(figure)


def draw(axes: Axes, chart: Chart) -> None:
    """Draws a chart of lines as a panel."""
    if chart.log_x:
        axes.set_xscale("log")
    if chart.log_y:
        axes.set_yscale("log")
    for k, series in enumerate(chart.series):
        _draw_series(axes, series, k)
    for place, _ in chart.upright:
        axes.axvline(place, color="#bbbbbb", linewidth=0.8)
    if chart.from_zero:
        axes.set_ylim(bottom=0)
    label(axes, chart.x_label, chart.y_label, chart.title, legend=len(chart.series) > 1)


def _draw_series(axes: Axes, series: Series, k: int) -> None:
    line, x, y = line_style(series.name, k), np.asarray(series.x), np.asarray(series.y)
    every = max(1, len(y) // 8)
    look: Any = {"linewidth": 0.8, "dashes": (4, 3)} if series.guide else {"linestyle": line.dash}
    marks: Any = {"marker": line.marker, "markevery": every}
    axes.plot(x, y, color=line.colour, label=series.name, **look, **marks)
    if series.low:
        low, high = np.asarray(series.low), np.asarray(series.high)
        if axes.get_yscale() == "log":
            low = np.maximum(low, 1e-9 * y)  # `label` sets the lower limit of the axis
        axes.fill_between(x, low, high, color=line.colour, alpha=0.12, linewidth=0)


def label(axes: Axes, x: str, y: str, title: str = "", legend: bool = True) -> None:
    """Labels the axes and adds a legend.

    On a logarithmic axis, a band that reaches 0 is cut off a little below the lowest line.
    """
    axes.set(xlabel=x, ylabel=y)
    if axes.get_yscale() == "log":
        low, high = axes.get_ylim()
        least = min(float(np.min(np.asarray(line.get_ydata()))) for line in axes.get_lines())
        axes.set_ylim(max(low, 0.4 * least), high)
    if title:
        axes.set_title(title, fontsize=9)
    if legend:
        axes.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.22),
            ncols=2,
            fontsize=8,
            handlelength=2.8,
            columnspacing=1.2,
        )


def as_files(figure: Figure) -> Mapping[str, bytes]:
    """The figure as SVG and PNG; equal figures give equal bytes."""
    found = {}
    for kind, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=200, metadata=metadata)
        found[kind] = buffer.getvalue()
    return found
