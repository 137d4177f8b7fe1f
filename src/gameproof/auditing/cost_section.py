"""The section on the cost of robustness: paired differences between models.

The measure of the verdict comes first. Accuracy, which is known at every multiple of the budgets,
is in the chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.audited_measure import ends
from gameproof.auditing.gaming_section import MOVERS, MOVING, budget_axis
from gameproof.auditing.metric_types import MetricDifference
from gameproof.auditing.number_format import comparison, measure_text, points_interval
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series
from gameproof.auditing.scored_applicants import BAD
from gameproof.auditing.section_parts import cells, line_series, series_look, stretches


def cost_section(audit: Audit) -> Section | None:
    """The last model against each of the others; None if there are no others."""
    name = audit.models[-1]
    found = {
        model: [
            r for r in audit.of(audit.differences, name) if (r.against, r.movers) == (model, BAD)
        ]
        for model in audit.models[:-1]
    }
    if not found:
        return None
    said = " ".join(_lead(rows) for rows in found.values())
    own = [] if audit.measure.name == "accuracy" else _by_measure(audit, name)
    finding = said
    if own:
        others = " ".join(_measured_lead(audit, model, own) for model in found)
        finding = (
            f"{others} By accuracy, which the verdict does not use: {said[0].lower()}{said[1:]}"
        )
    chart = Chart(
        "lines",
        f"How much more often {name} is right when {MOVERS[BAD]}, with 95 % intervals",
        f"Difference in accuracy against multiples of the budgets. {said}",
        [
            _in_points(
                line_series(
                    f"{name} against {model}", rows, "difference", series_look(audit, model)
                )
            )
            for model, rows in found.items()
        ],
        budget_axis(audit),
        "points of accuracy; positive: right more often",
        across=[(0.0, "equal")],
    )
    columns = [
        *(PageColumn(title) for title in ("model", "against", "who moves")),
        PageColumn("multiple of the budgets", "number"),
        *(PageColumn(title, "points") for title in ("difference, points", "95 % from", "to")),
    ]
    fields = ("model", "against", "movers", "multiple", "difference", "low", "high")
    table = cells(audit.differences, *fields)
    for row in table:
        row[2] = MOVING[row[2]]
    over = f"over {audit.splits} splits" if audit.splits > 1 else "person by person, on one split"
    return Section(
        "What does robustness cost?",
        finding,
        [chart] if audit.movable else [],
        [
            *([_measured_table(audit, own)] if own else []),
            PageTable("paired differences in accuracy", columns, table),
        ],
        [f"Differences are paired, {over}. A difference of 1 point is one decision in a hundred."],
    )


def _by_measure(audit: Audit, name: str) -> list[MetricDifference]:
    """The differences of the last model from the others, by the measure of the verdict."""
    found: list[MetricDifference] = audit.of(audit.metric_differences, name)
    return [row for row in found if (row.group, row.metric) == (None, audit.measure.name)]


def _measured_lead(audit: Audit, against: str, own: Sequence[MetricDifference]) -> str:
    """A sentence that compares two models by the measure of the verdict."""
    clean, *gamed = (row for row in own if row.against == against)
    said = (
        f"Against {against}, the {audit.measure.spoken} of {clean.model} is {_size(clean)} when "
        f"nobody games (95 % {clean.interval} interval {_ends(clean)})"
    )
    for row in gamed:
        said += (
            f" and {_size(row)} when those who should be refused use their budgets ({_ends(row)})"
        )
    return f"{said}."


def _size(row: MetricDifference) -> str:
    size = measure_text(abs(row.difference))
    if float(size.replace(",", "")) == 0:
        return "the same"
    said = f"{'higher' if row.difference > 0 else 'lower'} by {size}"
    return f"not measurably different ({said})" if row.low <= 0 <= row.high else said


def _ends(row: MetricDifference) -> str:
    return ends(row.low, row.high).replace("-", "−")


def _measured_table(audit: Audit, own: Sequence[MetricDifference]) -> PageTable:
    columns = [
        *(PageColumn(title) for title in ("model", "against")),
        PageColumn("multiple of the budgets", "number"),
        *(PageColumn(title, "decimal") for title in ("difference", "95 % from", "to")),
    ]
    table = cells(own, "model", "against", "multiple", "difference", "low", "high")
    return PageTable(f"paired differences in {audit.measure.spoken}", columns, table)


def _in_points(series: Series) -> Series:
    y, low, high = (
        [None if share is None else 100 * share for share in shares]
        for shares in (series.y, series.low, series.high)
    )
    return replace(series, y=y, low=low, high=high)


def _lead(rows: Sequence[Any]) -> str:
    """A sentence that compares two models at all multiples of the budgets."""
    clean, grid = rows[0], [row.multiple for row in rows]
    said = (
        f"Against {clean.against}, {clean.model} is right {comparison(clean.difference)} when "
        f"nobody games (95 % interval {points_interval(clean.low, clean.high)})"
    )
    if len(rows) == 1:
        return f"{said}."
    shown = next(row for row in rows if row.multiple == 1)
    said += (
        f" and {comparison(shown.difference)} when those who should be refused use their budgets "
        f"({points_interval(shown.low, shown.high)})"
    )
    better = [row.multiple for row in rows if row.low > 0]
    worse = [row.multiple for row in rows if row.high < 0]
    if not (better or worse):
        return f"{said}; the interval contains 0 at every multiple."
    above = f"at {stretches(better, grid)} times the budgets" if better else "at no multiple"
    below = f", and below 0 at {stretches(worse, grid)} times the budgets" if worse else ""
    return f"{said}; the interval is above 0 {above}{below}."
