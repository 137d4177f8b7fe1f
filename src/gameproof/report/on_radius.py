"""What happens when the data is off, and what robustness costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isinf
from typing import Any

from gameproof.report.audit import Audit
from gameproof.report.on_accuracy import ACCURACY
from gameproof.report.parts import Chart, Column, Section, Series, Table
from gameproof.report.reading import at_power, at_radius, cells, line, look, outcome, stretches
from gameproof.report.words import compared, listed, number, percent, signed


def data_off(audit: Audit) -> Section | None:
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
    before = f" that games with power {audit.power:g}" if audit.games else ""
    finding = (
        f"If the data of a population{before} is off by {own} of {shown.radius:.3g}, in the worst "
        f"way, {name} is still right for {percent(shown.accuracy)}"
        + (f", {listed(others)}" if others else "")
        + f"; if it is not off, {name} is right for {percent(at_power(audit, name).accuracy)}."
    )
    safe = [row.radius for row in rows if row.accuracy > 0.5]
    if safe and 0 < safe[-1] < rows[-1].radius:
        finding += f" Up to a radius of {safe[-1]:g}, more than half are decided rightly for sure."
    columns = [
        Column("model"),
        Column("radius", "number"),
        Column("least accuracy", "percent"),
        *(Column(name, "percent") for name in ("95 % from", "to")),
        Column("largest log loss", "number"),
    ]
    table = cells(audit.shifts, "model", "radius", "accuracy", "low", "high", "risk")
    note = (
        "The worst case is over all data within the radius. With a radius of 0.1 an adversary may "
        f"move everyone by 0.1 {audit.unit} in the mean, in any features"
        f"{_flips(audit)}."
    )
    return Section(
        "What happens when the data is off?",
        finding,
        [_worst(audit, "accuracy"), _worst(audit, "risk")],
        [Table("worst case by radius", columns, table)],
        [note],
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


def _worst(audit: Audit, what: str) -> Chart:
    rows, share = audit.of(audit.shifts, audit.models[-1]), what == "accuracy"
    title = (
        "The least accuracy within a radius" if share else "The largest log loss within a radius"
    )
    said = [
        f"{percent(row.accuracy) if share else number(row.risk)} at radius {row.radius:g}"
        for row in (rows[0], rows[-1])
    ]
    return Chart(
        "lines",
        title,
        f"{title}, of {audit.models[-1]}: {listed(said)}.",
        [
            line(model, audit.of(audit.shifts, model), what, look(audit, model))
            for model in reversed(audit.models)
        ],
        "radius",
        ACCURACY if share else "log loss",
        percent=share,
    )


def robustness_cost(audit: Audit) -> Section | None:
    """The last model against each of the others; nothing where there are none."""
    name = audit.models[-1]
    # Where nothing can be moved, all powers are alike.
    differences = [row for row in audit.differences if audit.movable or row.power == 0]
    found = {
        model: [row for row in differences if (row.model, row.against) == (name, model)]
        for model in audit.models[:-1]
    }
    if not found:
        return None
    said = " ".join(_lead(rows, audit.power) for rows in found.values())
    chart = Chart(
        "lines",
        f"How much more often {name} is right, with 95 % intervals",
        f"Difference in accuracy against gaming power. {said}",
        [
            _in_points(line(f"{name} against {model}", rows, "difference", look(audit, model)))
            for model, rows in found.items()
        ],
        "gaming power",
        "points of accuracy; above 0 it is right more often",
        across=[(0.0, "equal")],
    )
    columns = [
        *(Column(title) for title in ("model", "against")),
        Column("power", "number"),
        *(Column(title, "points") for title in ("difference, points", "95 % from", "to")),
    ]
    fields = ("model", "against", "power", "difference", "low", "high")
    over = f"over {audit.splits} splits" if audit.splits > 1 else "person by person, on one split"
    return Section(
        "What does robustness cost?",
        said,
        [chart] if audit.movable else [],
        [Table("paired differences in accuracy", columns, cells(differences, *fields))],
        [f"Differences are paired, {over}. A difference of 1 point is one decision in a hundred."],
    )


def _in_points(series: Series) -> Series:
    y, low, high = (
        [None if share is None else 100 * share for share in shares]
        for shares in (series.y, series.low, series.high)
    )
    return replace(series, y=y, low=low, high=high)


def _lead(rows: Sequence[Any], power: float) -> str:
    """One model against another, in a sentence: where nobody games, at the power expected, and at
    which powers it is ahead or behind beyond doubt."""
    clean, grid = rows[0], [row.power for row in rows]
    said = (
        f"Against {clean.against}, {clean.model} is right {compared(clean.difference)} where nobody"
        f" games (95 % interval {signed(clean.low, clean.high)})"
    )
    if len(rows) == 1:
        return f"{said}."
    shown = next(row for row in rows if row.power == power)
    if shown is not clean:
        said += (
            f" and {compared(shown.difference)} at power {shown.power:g} "
            f"({signed(shown.low, shown.high)})"
        )
    better = [row.power for row in rows if row.low > 0]
    worse = [row.power for row in rows if row.high < 0]
    if not (better or worse):
        return f"{said}; the interval holds 0 at every power looked at."
    above = f"at powers {stretches(better, grid)}" if better else "at no power"
    below = f", and below 0 at powers {stretches(worse, grid)}" if worse else ""
    return f"{said}; the interval is above 0 {above}{below}."
