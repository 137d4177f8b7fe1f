"""What happens when the data is inaccurate, and what robustness costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isinf
from typing import Any

from gameproof.auditing.accuracy_section import ACCURACY
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.gaming_section import MOVERS, MULTIPLE
from gameproof.auditing.linear_model import BAD
from gameproof.auditing.number_format import comparison, listed, percent, points_interval
from gameproof.auditing.page_model import Chart, Column, Section, Series, Table
from gameproof.auditing.section_parts import (
    at_radius,
    cells,
    line_series,
    outcome,
    series_look,
    stretches,
)


def worst_case_section(audit: Audit) -> Section | None:
    """Radius by radius; nothing where one radius was looked at."""
    name = audit.models[-1]
    rows = audit.of(audit.shifts, name)
    shown = at_radius(audit, name)
    if shown is None:
        return None
    others = [
        f"{model} for {percent(at_radius(audit, model).accuracy)}" for model in audit.models[:-1]
    ]
    own = "the model's radius" if audit.radius == shown.radius else "a radius"
    before = " of people who use their budgets" if audit.movable else ""
    multiple = 1.0 if audit.movable else 0.0
    finding = (
        f"If the data{before} is inaccurate by {own} of {shown.radius:.3g}, in the worst way, "
        f"{name} is still right for {percent(shown.accuracy)}"
        + (f", {listed(others)}" if others else "")
        + f"; if it is accurate, {name} is right for {percent(audit.at(name, multiple).accuracy)}."
    )
    safe = [row.radius for row in rows if row.accuracy > 0.5]
    if safe and 0 < safe[-1] < rows[-1].radius:
        finding += f" Up to a radius of {safe[-1]:g}, more than half are decided rightly for sure."
    if told := no_better_than(audit):
        finding += f" {told}"
    columns = [
        Column("model"),
        Column("radius", "number"),
        Column("least accuracy", "percent"),
        *(Column(name, "percent") for name in ("95 % from", "to")),
    ]
    table = cells(audit.shifts, "model", "radius", "accuracy", "low", "high")
    tables = [Table("worst case by radius", columns, table)]
    if audit.shift_differences:
        columns = [
            *(Column(title) for title in ("model", "against")),
            Column("radius", "number"),
            *(Column(title, "points") for title in ("difference, points", "95 % from", "to")),
        ]
        fields = ("model", "against", "radius", "difference", "low", "high")
        table = cells(audit.shift_differences, *fields)
        tables.append(Table("paired differences in the least accuracy", columns, table))
    note = (
        "The worst case is over all data within the radius. With a radius of 0.1 an adversary may "
        f"move everyone by 0.1 {audit.unit} in the mean, in any features"
        f"{_flips(audit)}. The largest log loss, which depends on the scale of the scores, is in "
        "the last part."
    )
    title = "What happens when the data is inaccurate?"
    return Section(title, finding, [_worst(audit)], tables, [note])


def no_better_than(audit: Audit) -> str:
    """A sentence where the least accuracy of the last model, at its radius, is no better than that
    of others: the interval of the paired difference is not above 0."""
    name = audit.models[-1]
    shown = at_radius(audit, name)
    if shown is None:
        return ""
    found = [
        f"{row.against} ({comparison(row.difference)}, "
        f"95 % interval {points_interval(row.low, row.high)})"
        for row in audit.of(audit.shift_differences, name)
        if row.radius == shown.radius and not row.low > 0
    ]
    if not found:
        return ""
    return (
        f"At a radius of {shown.radius:.3g}, the worst-case accuracy of {name} is no better than "
        f"that of {listed(found)}."
    )


def _flips(audit: Audit) -> str:
    label_cost = audit.label_cost
    ends = f"from {outcome(audit, 1)} to {outcome(audit, -1)}"
    if isinf(label_cost):
        return ""
    if label_cost == 0:
        return f", and turn people {ends} for nothing"
    turned = min(1.0, 0.1 / (2 * label_cost))
    return f", or turn {percent(turned)} of the people {ends}, or some of both"


def _worst(audit: Audit) -> Chart:
    title = "The least accuracy within a radius"
    rows = audit.of(audit.shifts, audit.models[-1])
    said = [f"{percent(row.accuracy)} at radius {row.radius:g}" for row in (rows[0], rows[-1])]
    return Chart(
        "lines",
        title,
        f"{title}, of {audit.models[-1]}: {listed(said)}.",
        [
            line_series(model, audit.of(audit.shifts, model), "accuracy", series_look(audit, model))
            for model in reversed(audit.models)
        ],
        "radius",
        ACCURACY,
        percent=True,
    )


def cost_section(audit: Audit) -> Section | None:
    """The last model against each of the others; nothing where there are none."""
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
        MULTIPLE,
        "points of accuracy; above 0 it is right more often",
        across=[(0.0, "equal")],
    )
    columns = [
        *(Column(title) for title in ("model", "against", "who moves")),
        Column("multiple of the budgets", "number"),
        *(Column(title, "points") for title in ("difference, points", "95 % from", "to")),
    ]
    fields = ("model", "against", "movers", "multiple", "difference", "low", "high")
    table = cells(audit.differences, *fields)
    for row in table:
        row[2] = MOVERS[row[2]]
    over = f"over {audit.splits} splits" if audit.splits > 1 else "person by person, on one split"
    return Section(
        "What does robustness cost?",
        said,
        [chart] if audit.movable else [],
        [Table("paired differences in accuracy", columns, table)],
        [f"Differences are paired, {over}. A difference of 1 point is one decision in a hundred."],
    )


def _in_points(series: Series) -> Series:
    y, low, high = (
        [None if share is None else 100 * share for share in shares]
        for shares in (series.y, series.low, series.high)
    )
    return replace(series, y=y, low=low, high=high)


def _lead(rows: Sequence[Any]) -> str:
    """One model against another, in a sentence: where nobody games, where people use their budgets,
    and at which multiples it is ahead or behind beyond doubt."""
    clean, grid = rows[0], [row.multiple for row in rows]
    said = (
        f"Against {clean.against}, {clean.model} is right {comparison(clean.difference)} where "
        f"nobody games (95 % interval {points_interval(clean.low, clean.high)})"
    )
    if len(rows) == 1:
        return f"{said}."
    shown = next(row for row in rows if row.multiple == 1)
    said += (
        f" and {comparison(shown.difference)} where those who should be refused use their budgets "
        f"({points_interval(shown.low, shown.high)})"
    )
    better = [row.multiple for row in rows if row.low > 0]
    worse = [row.multiple for row in rows if row.high < 0]
    if not (better or worse):
        return f"{said}; the interval holds 0 at every multiple looked at."
    above = f"at {stretches(better, grid)} times the budgets" if better else "at no multiple"
    below = f", and below 0 at {stretches(worse, grid)} times the budgets" if worse else ""
    return f"{said}; the interval is above 0 {above}{below}."
