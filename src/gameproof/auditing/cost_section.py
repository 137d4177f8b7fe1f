"""The section on the cost of robustness: paired differences in accuracy between models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.gaming_section import MOVERS, MOVING, budget_axis
from gameproof.auditing.number_format import comparison, points_interval
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
        said,
        [chart] if audit.movable else [],
        [PageTable("paired differences in accuracy", columns, table)],
        [f"Differences are paired, {over}. A difference of 1 point is one decision in a hundred."],
    )


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
