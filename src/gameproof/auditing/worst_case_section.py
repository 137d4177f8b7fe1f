"""The section on inaccurate data: the worst-case accuracy within a radius."""

from __future__ import annotations

from math import isinf

from gameproof.auditing.accuracy_section import ACCURACY
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.number_format import as_percent, listed, percent, points, points_interval
from gameproof.auditing.page_model import PageColumn, PageTable, Section
from gameproof.auditing.row_types import ShiftDifference
from gameproof.auditing.section_parts import at_radius, cells, curve_chart, outcome

WORST = ("The worst-case accuracy within a radius", "radius", ACCURACY)


def worst_case_section(audit: Audit) -> Section | None:
    """Worst-case accuracy by radius; None if the audit has no positive radius."""
    name = audit.subject
    rows = audit.of(audit.shifts, name)
    shown = at_radius(audit, name)
    if shown is None:
        return None
    others = [f"{model} for {percent(at_radius(audit, model).accuracy)}" for model in audit.others]
    own = f"the {'' if name == audit.models[-1] else audit.models[-1] + ' '}model's radius"
    if audit.radius != shown.radius:
        own = "a radius"
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
        finding += (
            f" Up to a radius of {safe[-1]:g}, more than half of the decisions are certainly right."
        )
    if told := no_better_than(audit, name):
        finding += f" {told}"
    columns = [
        PageColumn("model"),
        PageColumn("radius", "number"),
        PageColumn("worst-case accuracy", "percent"),
        *(PageColumn(name, "percent") for name in ("95 % from", "to")),
    ]
    table = cells(audit.shifts, "model", "radius", "accuracy", "low", "high")
    tables = [PageTable("worst case by radius", columns, table)]
    if audit.shift_differences:
        columns = [
            *(PageColumn(title) for title in ("model", "against")),
            PageColumn("radius", "number"),
            *(PageColumn(title, "points") for title in ("difference, points", "95 % from", "to")),
        ]
        fields = ("model", "against", "radius", "difference", "low", "high")
        table = cells(audit.shift_differences, *fields)
        tables.append(PageTable("paired differences in worst-case accuracy", columns, table))
    note = (
        "The worst case is over all data within the radius. With a radius of 0.1 an adversary may "
        f"move people by 0.1 {audit.unit} on average, in any features"
        f"{_flips(audit)}. The worst-case log loss, which depends on the scale of the scores, is "
        "in the last section."
    )
    title = "What happens when the data is inaccurate?"
    chart = curve_chart(audit, audit.shifts, "accuracy", WORST, percent, percent=True)
    return Section(title, finding, [chart], tables, [note])


def no_better_than(audit: Audit, name: str) -> str:
    """A sentence if the worst-case accuracy of a model is worse than that of others, or not
    measurably better, by the interval of the paired difference at the radius shown.
    """
    shown = at_radius(audit, name)
    if shown is None:
        return ""
    rows = [r for r in audit.versus(audit.shift_differences, name) if r.radius == shown.radius]
    worse = [_against(row) for row in rows if row.high < 0]
    unclear = [_against(row) for row in rows if row.low <= 0 <= row.high]
    said = []
    if worse:
        said.append(f"worse than that of {listed(worse)}")
    if unclear:
        said.append(f"not measurably better than that of {listed(unclear)}")
    if not said:
        return ""
    return (
        f"At a radius of {shown.radius:.3g}, the worst-case accuracy of {name} is "
        f"{', and '.join(said)}."
    )


def _against(row: ShiftDifference) -> str:
    """The other model of a paired difference, with the difference and its interval."""
    size = "equal"
    if as_percent(row.difference):
        size = f"{'higher' if row.difference > 0 else 'lower'} by {points(row.difference)}"
    return f"{row.against} ({size}, 95 % interval {points_interval(row.low, row.high)})"


def _flips(audit: Audit) -> str:
    label_cost = audit.label_cost
    ends = f"from {outcome(audit, 1)} to {outcome(audit, -1)}"
    if isinf(label_cost):
        return ""
    if label_cost == 0:
        return f", and switch people {ends} at no cost"
    flipped = min(1.0, 0.1 / (2 * label_cost))
    return f", or switch {percent(flipped)} of the people {ends}, or some of both"
