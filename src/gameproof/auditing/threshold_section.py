"""The section on approval rates, thresholds and costs, at equal approval rates too."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.metric_types import EqualApproval, ThresholdRow
from gameproof.auditing.number_format import (
    as_percent,
    measure_text,
    number,
    percent,
    points,
    points_interval,
)
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series
from gameproof.auditing.section_parts import cells, outcome, series_look

OWN = "own"
FIELDS = ("approved", "bad_rate", "bad_approved", "cost")


def threshold_section(audit: Audit) -> Section:
    """What each approval rate means for bad rates and costs."""
    gamed = bool(audit.movable)
    columns = [
        PageColumn("model"),
        PageColumn("approve"),
        PageColumn("from a probability of", "decimal"),
    ]
    for when in ("", ", gamed") if gamed else ("",):
        columns += [
            PageColumn(f"approved{when}", "percent"),
            PageColumn(f"bad rate{when}", "percent"),
            PageColumn(f"bad approved{when}", "percent"),
            PageColumn(f"cost{when}", "decimal"),
        ]
    names = [*FIELDS, *(f"gamed_{name}" for name in FIELDS if gamed)]
    table = cells(audit.thresholds, "model", "approve", "threshold", *names)
    for row in table:
        row[1] = f"{OWN} threshold" if row[1] is None else percent(row[1])
    tables = [PageTable("thresholds by approval rate", columns, table)]
    if audit.equal_approvals:
        tables.append(_equal_table(audit))
    note = (
        "A threshold is a probability of a good outcome, above which people are approved. It is "
        "set on people who do not game. The bad rate is the share of "
        f"{outcome(audit, -1)} among the approved. Cost per applicant: "
        f"{number(audit.costs.accept_bad)} for each bad applicant who is approved, "
        f"{number(audit.costs.refuse_good)} for each good one who is refused."
    )
    charts = [_chart(audit, "bad_rate", "Bad rate among the approved", True)]
    charts.append(_chart(audit, "cost", "Cost per applicant", False))
    return Section("Whom to approve: thresholds and costs", _finding(audit), charts, tables, [note])


def own_threshold(audit: Audit, model: str) -> ThresholdRow:
    """The row of the model's own threshold."""
    rows: list[ThresholdRow] = audit.of(audit.thresholds, model)
    return next(row for row in rows if row.approve is None)


def _finding(audit: Audit) -> str:
    name = audit.subject
    own = own_threshold(audit, name)
    start = "" if own.threshold is None else f" from a probability of {own.threshold:.3f}"
    said = f"{name} approves{start}: {percent(own.approved)} of the applicants"
    said += "" if own.bad_rate is None else f", {percent(own.bad_rate)} of them bad"
    if audit.movable and own.gamed_bad_rate is not None:
        said += (
            f"; when bad applicants use their budgets, {percent(own.gamed_approved)}, "
            f"{percent(own.gamed_bad_rate)} of them bad"
        )
    rows = audit.of(audit.thresholds, name)
    cheapest = min(rows, key=lambda row: row.gamed_cost)
    when = " when people game" if audit.movable else ""
    said += (
        f". Of the approval rates in the table, {percent(cheapest.approved)} costs least{when}: "
        f"{measure_text(cheapest.gamed_cost)} per applicant"
    )
    constant, everyone = _cheaper_constant(audit)
    if constant < cheapest.gamed_cost:
        said += f"; to {everyone} everyone costs less, {measure_text(constant)}"
    return f"{said}.{_equal(audit, own)}"


def _cheaper_constant(audit: Audit) -> tuple[float, str]:
    """The cost per applicant of the cheaper decision about everyone, and this decision."""
    good = audit.quality[-1].n_positive / audit.quality[-1].n
    costs = audit.costs
    return min((costs.accept_bad * (1 - good), "approve"), (costs.refuse_good * good, "refuse"))


def _equal(audit: Audit, own: ThresholdRow) -> str:
    """The subject against the plainest other model, at the approval rate closest to its own."""
    if not audit.others:
        return ""
    name, other = audit.subject, audit.others[0]
    rows: list[EqualApproval] = [
        row for row in audit.versus(audit.equal_approvals, name) if row.against == other
    ]
    if not rows:
        return ""
    gamed = max(row.multiple for row in rows)
    row = min(
        (row for row in rows if row.multiple == gamed),
        key=lambda row: abs(row.approve - own.approved),
    )
    more = f"{points(row.difference)} {'more' if row.difference > 0 else 'fewer'}"
    than = f"{more} of the bad applicants than"
    if not as_percent(row.difference):
        than = "as many of the bad applicants as"
    when = " when these game" if gamed else ""
    return (
        f" If both approve {percent(row.approve)}, {name} approves {than} {other}{when} (95 % "
        f"interval {points_interval(row.low, row.high)})."
    )


def _chart(audit: Audit, field: str, title: str, as_percent: bool) -> Chart:
    series = []
    for model in reversed(audit.models):
        rows = [r for r in audit.of(audit.thresholds, model) if r.approve is not None]
        x = [100 * row.approve for row in rows]
        look = series_look(audit, model)
        kinds = ("gamed_", "") if audit.movable else ("",)
        for kind in kinds:
            y = [getattr(row, f"{kind}{field}") for row in rows]
            name = f"{model}, gamed" if kind else model
            if len(audit.models) > 1 and not kind and audit.movable:
                continue  # the table has the clean numbers; six lines would be too many
            series.append(Series(name, y, x, look=look if kind or not audit.movable else look + 1))
    ends = f"{title} by approval rate, for {len(series)} lines; the table has the numbers."
    shown = "share of bad applicants" if as_percent else "cost"
    return Chart(
        "lines", f"{title} by approval rate", ends, series, "approved, %", shown, percent=as_percent
    )


def _equal_table(audit: Audit) -> PageTable:
    columns = [
        PageColumn("model"),
        PageColumn("against"),
        PageColumn("both approve", "percent"),
        PageColumn("multiple of the budgets", "number"),
        PageColumn("more bad approved, points", "points"),
        *(PageColumn(title, "points") for title in ("95 % from", "to")),
    ]
    fields = ("model", "against", "approve", "multiple", "difference", "low", "high")
    return PageTable(
        "models at equal approval rates", columns, cells(audit.equal_approvals, *fields)
    )
