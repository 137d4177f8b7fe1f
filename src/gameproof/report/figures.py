"""Figures in the style of a paper: the same colour, line and name for an algorithm everywhere.

Lines differ in dash and marker as well as in colour, so that they can be told apart in grey.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Line(NamedTuple):
    """How something is drawn."""

    colour: str
    dash: str
    marker: str


# Colours that people with any colour vision tell apart, from dark to light.
LINES: dict[str, Line] = {
    "OGDA-RR": Line("#0b3c6f", "-", "o"),
    "OGDA-WR": Line("#4a90d9", "--", "s"),
    "SGDA-RR": Line("#b3450c", "-", "^"),
    "SGDA-WR": Line("#f0a35e", "--", "v"),
    "robust": Line("#0b3c6f", "-", "o"),
    "robust, from values": Line("#4a90d9", "-.", "D"),
    "strategic": Line("#b3450c", "--", "s"),
    "logistic": Line("#8a8a8a", ":", "^"),
    "min-max": Line("#0b3c6f", "-", "o"),
    "non-smooth": Line("#b3450c", "--", "s"),
}
EXTRA = (
    Line("#0b3c6f", "-", "o"),
    Line("#b3450c", "--", "s"),
    Line("#2e7d4f", "-.", "^"),
    Line("#8e5ea2", ":", "D"),
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
    """A figure with a row of panels, to be drawn on and written inside the context."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width * number, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, [figure.add_subplot(1, number, k + 1) for k in range(number)]


def line_of(name: str, k: int = 0) -> Line:
    """The line of a name, or the k-th of those without a meaning of their own."""
    return LINES.get(name, EXTRA[k % len(EXTRA)])


def band(axes: Axes, name: str, x: ArrayLike, runs: ArrayLike, k: int = 0) -> None:
    """The mean over runs (a row each) with a band of two standard deviations."""
    values, line = np.asarray(runs, dtype=np.float64), line_of(name, k)
    mean, spread = values.mean(axis=0), 2 * values.std(axis=0, ddof=min(1, len(values) - 1))
    every = max(1, len(mean) // 8)
    axes.plot(
        x, mean, line.dash, color=line.colour, marker=line.marker, markevery=every, label=name
    )
    low = mean - spread
    if axes.get_yscale() == "log":
        low = np.maximum(low, 1e-9 * mean)  # and `label` cuts it off
    axes.fill_between(np.asarray(x), low, mean + spread, color=line.colour, alpha=0.12, linewidth=0)


def curve(axes: Axes, name: str, x: Sequence[float], y: ArrayLike, k: int = 0) -> None:
    """One line with a mark at each point."""
    line = line_of(name, k)
    axes.plot(x, np.asarray(y), line.dash, color=line.colour, marker=line.marker, label=name)


def label(axes: Axes, x: str, y: str, title: str = "", legend: bool = True) -> None:
    """Names the axes; and the lines, in a legend. A band that reaches 0 leaves a logarithmic panel
    at the bottom, a little below the lowest line."""
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


def written(figure: Figure) -> Mapping[str, bytes]:
    """The figure as SVG and PNG; the same figure gives the same bytes."""
    found = {}
    for kind, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=200, metadata=metadata)
        found[kind] = buffer.getvalue()
    return found
