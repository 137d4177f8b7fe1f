"""Draws the results of `queries.py`: queries by gap, and the gap by deployments for each batch."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from query_runs import TARGETS, Row

from gameproof.auditing import figures
from gameproof.auditing.figures import LineStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Contender and average, or a variant of Solver.auto.
SHOWN: dict[tuple[str, str | None], LineStyle] = {
    ("paper to the letter", "suffix"): LineStyle("#8a8a8a", ":", "x"),
    ("OGDA-RR, one point", "average"): LineStyle("#4a90d9", "--", "s"),
    ("SGDA-RR, one point", "last"): LineStyle("#f0a35e", "--", "v"),
    ("SGDA-RR, baseline", "last"): LineStyle("#b3450c", "-", "^"),
    ("SGDA-RR, two points", "last"): LineStyle("#8e5ea2", ":", "D"),
    ("SGDA-RR, envelope", "last"): LineStyle("#0b3c6f", "-", "o"),
    ("auto, scores", None): LineStyle("#2e7d4f", "-.", "P"),
    ("auto, answers", None): LineStyle("#111111", "-", "*"),
}
BATCHES: dict[int | None, LineStyle] = {
    1: LineStyle("#0b3c6f", "-", "o"),
    10: LineStyle("#4a90d9", "--", "s"),
    100: LineStyle("#b3450c", "-.", "^"),
    None: LineStyle("#2e7d4f", ":", "D"),
}


def draw(folder: Path, names: list[str], hand: dict[Any, list[float]], auto: list[Row]) -> None:
    """Draws both figures."""
    folder.mkdir(parents=True, exist_ok=True)
    with figures.panels(len(names), width=3.0, height=3.6) as (figure, axes):
        for ax, name in zip(axes, names, strict=True):
            _by_queries(ax, name, hand, auto)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
        _write(folder, "queries-figure", figure)
    with figures.panels(2, height=3.4) as (figure, axes):
        ways = ("auto, baseline, own start", "auto, envelope, own start")
        for ax, way in zip(axes, ways, strict=True):
            _by_deployments(ax, names[0], way, auto)
        _write(folder, "deployments-figure", figure)


def _by_queries(axes: Axes, name: str, hand: dict[Any, list[float]], auto: list[Row]) -> None:
    axes.set(xscale="log", yscale="log", xlim=(40, 2e6))
    for (contender, average), line in SHOWN.items():
        medians = []
        for target in TARGETS:
            found = hand.get((name, contender, average, target)) or [
                row["queries"]
                for row in auto
                if (row["problem"], row["way"], row["batch"]) == (name, contender, 1)
                and row.get("target") == target
            ]
            medians.append(statistics.median(found))
        there = [k for k, median in enumerate(medians) if np.isfinite(median)]
        label = contender if average is None else f"{contender}, {average}"
        axes.plot(
            [medians[k] for k in there],
            [TARGETS[k] for k in there],
            line.dash,
            color=line.colour,
            marker=line.marker,
            label=label,
        )
    axes.set(yticks=TARGETS, yticklabels=[f"{t:g}" for t in TARGETS])
    axes.minorticks_off()
    axes.set(xlabel="queries, median of 10 seeds", ylabel="gap stays below")
    axes.set_title(name, fontsize=9)


def _by_deployments(axes: Axes, name: str, way: str, auto: list[Row]) -> None:
    axes.set(xscale="log", yscale="log")
    for batch, line in BATCHES.items():
        runs = [
            row
            for row in auto
            if (row["problem"], row["way"], row["batch"]) == (name, way, batch) and "gaps" in row
        ]
        # Deployments of the run, without the pilot. All seeds record at the same steps.
        least = min(len(run["gaps"]) for run in runs)
        before = runs[0]["deployed"][0]
        deployed = np.array(runs[0]["deployed"][1:least]) - before
        gaps = np.median([run["gaps"][1:least] for run in runs], axis=0)
        seen = (deployed > 0) & (gaps > 1e-4)
        axes.plot(
            deployed[seen],
            gaps[seen],
            line.dash,
            color=line.colour,
            marker=line.marker,
            markevery=6,
            label=f"batch {'n' if batch is None else batch}",
        )
    kind = way.split(",")[1].strip()
    figures.label(axes, "deployments of the run", "gap", f"{name}, {kind}, own start")


def _write(folder: Path, name: str, figure: Any) -> None:
    content = figures.written(figure)
    (folder / f"{name}.png").write_bytes(content["png"])
