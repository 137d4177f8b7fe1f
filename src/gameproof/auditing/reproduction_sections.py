"""The page of the paper's experiments: the verdicts on its claims, and a section per experiment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from gameproof.auditing.number_format import p_value
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section


def reproduction_sections(
    claims: Sequence[Mapping[str, Any]], experiments: Sequence[Mapping[str, Any]]
) -> list[Section]:
    """The sections of the page of experiments.

    claims
        Rows with text, measure, effect, low, high, border, verdict, p_adjusted, survives and
        experiment.
    experiments
        Each has a name, a title, notes, and figures as `Panels`.
    """
    # Only the first two columns are visible on a phone without scrolling.
    columns = [
        PageColumn("claim, and how it is measured"),
        PageColumn("verdict", "verdict"),
        PageColumn("effect, with 95 % interval", "interval"),
        PageColumn("border", "number"),
        PageColumn("adjusted p"),
    ]
    verdicts = [claim["verdict"] for claim in claims]
    counted = {word: verdicts.count(word) for word in ("holds", "does not hold", "undecided")}
    surviving = sum(claim["survives"] for claim in claims)
    finding = (
        f"Of {len(claims)} checks of claims, {counted['holds']} hold, "
        f"{counted['does not hold']} do not, and {counted['undecided']} are undecided; "
        f"{surviving} of the verdicts survive the correction for the number of claims."
    )
    notes = [
        "A claim holds, or does not hold, if its whole 95 % interval is on one side of the border.",
        "The correction is Holm's step-down procedure on two-sided p-values, over all claims of "
        "all experiments that are finished in the same folder. A verdict survives if its adjusted "
        "p is at most 0.05: the chance that even one surviving verdict is due to chance is at most "
        "5 %.",
    ]
    table = PageTable("claims", columns, [_row(claim) for claim in claims])
    first = Section("What became of the claims?", finding, tables=[table], notes=notes, open=True)
    return [first, *(_experiment(each) for each in experiments)]


def _row(claim: Mapping[str, Any]) -> list[Any]:
    return [
        f"{claim['experiment']}: {claim['text']}; {claim['measure']}",
        claim["verdict"],
        (claim["effect"], claim["low"], claim["high"]),
        claim["border"],
        p_value(claim["p_adjusted"]),
    ]


def _experiment(found: Mapping[str, Any]) -> Section:
    """The section of an experiment: its first note is the finding, and every chart has a table."""
    notes = [_plain(note) for note in found.get("notes", ())]
    charts = [chart for figure in found["figures"] for chart in figure.charts]
    panels = [replace(figure, caption=_plain(figure.caption)) for figure in found["figures"]]
    return Section(
        f"{found['name']}: {found['title']}",
        notes[0] if notes else "",
        notes=notes[1:],
        panels=panels,
        tables=[numbers(chart) for chart in charts],
    )


def _plain(text: str) -> str:
    """Markdown with quotation marks for backticks."""
    return re.sub("`([^`]*)`", r"'\1'", text)


def numbers(chart: Chart) -> PageTable:
    """The numbers of a chart of lines: one row per x, one column per line."""
    caption = f"{chart.y_label} by {chart.x_label}, {chart.title}"
    columns = [PageColumn(chart.x_label, "number")]
    columns += [PageColumn(series.name, "interval") for series in chart.series]
    found = [dict(zip(s.x, zip_longest(s.y, s.low, s.high), strict=True)) for s in chart.series]
    places = sorted({x for series in found for x in series})
    rows = [[x, *(series.get(x) for series in found)] for x in places]
    return PageTable(caption, columns, rows)
