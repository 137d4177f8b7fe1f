"""The page of the paper's experiments: the verdicts on its claims, and a section per experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from gameproof.auditing.number_format import p_value, survival
from gameproof.auditing.page_model import Chart, Column, Section, Table


def reproduction_sections(
    claims: Sequence[Mapping[str, Any]], experiments: Sequence[Mapping[str, Any]]
) -> list[Section]:
    """The sections of the page of experiments.

    claims
        Rows with text, measure, effect, low, high, border, verdict, p, p_adjusted, survives and
        experiment.
    experiments
        Each has a name, a title, notes, and figures as `Panels`.
    """
    # Only the first two columns are visible on a phone without scrolling.
    columns = [
        Column("claim"),
        Column("verdict", "verdict"),
        *(Column(name) for name in ("survives correction", "experiment", "measure")),
        *(Column(name, "number") for name in ("effect", "95 % from", "to", "border")),
        *(Column(name) for name in ("p", "adjusted p")),
    ]
    names = ("text", "verdict", "survives", "experiment", "measure")
    numbered = ("effect", "low", "high", "border", "p", "p_adjusted")
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
        "all experiments that are finished in the same folder: the chance that even one surviving "
        "verdict is due to chance is at most 5 %.",
    ]
    written = [{**claim, **_as_words(claim)} for claim in claims]
    table = Table(
        "claims", columns, [[claim[name] for name in (*names, *numbered)] for claim in written]
    )
    first = Section("What became of the claims?", finding, tables=[table], notes=notes, open=True)
    return [first, *(_experiment(each) for each in experiments)]


def _as_words(claim: Mapping[str, Any]) -> dict[str, str]:
    """Whether a claim's verdict survives, and its p-values, as text."""
    return {
        "survives": survival(claim["verdict"], claim["survives"]),
        "p": p_value(claim["p"]),
        "p_adjusted": p_value(claim["p_adjusted"]),
    }


def _experiment(found: Mapping[str, Any]) -> Section:
    """The section of an experiment: its first note is the finding, and every chart has a table."""
    notes = list(found.get("notes", ()))
    charts = [chart for figure in found["figures"] for chart in figure.charts]
    return Section(
        f"{found['name']}: {found['title']}",
        notes[0] if notes else "",
        notes=notes[1:],
        panels=found["figures"],
        tables=[numbers(chart) for chart in charts],
    )


def numbers(chart: Chart) -> Table:
    """The numbers of a chart of lines: one row per x, one column per line."""
    caption = f"{chart.y_label} by {chart.x_label}, {chart.title}"
    columns = [Column(chart.x_label, "number")]
    columns += [Column(series.name, "interval") for series in chart.series]
    found = [dict(zip(s.x, zip_longest(s.y, s.low, s.high), strict=True)) for s in chart.series]
    places = sorted({x for series in found for x in series})
    rows = [[x, *(series.get(x) for series in found)] for x in places]
    return Table(caption, columns, rows)
