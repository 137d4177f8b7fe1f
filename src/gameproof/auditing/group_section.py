"""The section on groups: quality by group, and who bears the cost of robustness."""

from __future__ import annotations

from typing import NamedTuple

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.metric_rows import GAMED, METRICS
from gameproof.auditing.metric_types import Metric, MetricDifference
from gameproof.auditing.number_format import (
    listed,
    percent,
    percent_interval,
    points_interval,
    signed_points,
)
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series
from gameproof.auditing.people_groups import FEWEST, group_name
from gameproof.auditing.section_parts import series_look

CHARTED = "good_refused"


class AuditedGroup(NamedTuple):
    """A group, and how many good and bad applicants it has."""

    name: str
    good: int
    bad: int


def audited_groups(audit: Audit) -> list[AuditedGroup]:
    """All groups, in order; over several splits, with the mean numbers of people."""
    rows = [r for r in audit.of(audit.confusions, audit.models[-1]) if r.multiple == 0]
    return [
        AuditedGroup(r.group, r.good_accepted + r.good_refused, r.bad_accepted + r.bad_refused)
        for r in rows
        if r.group is not None
    ]


def group_section(audit: Audit) -> Section | None:
    """Everything by group; None if there are no groups."""
    groups = audited_groups(audit)
    if not groups:
        return None
    charted = [group for group in groups if group.good >= FEWEST]
    tables = [
        _quality(audit, groups, 0.0),
        *([_quality(audit, groups, GAMED)] * bool(audit.movable)),
    ]
    tables.append(_counts(audit, groups))
    if audit.metric_differences and len(audit.models) > 1:
        tables.append(_differences(audit, groups))
    notes = [
        f"A number that rests on fewer than {FEWEST} people of a group is left out: it would say "
        "little. Each interval is about one group alone: if two models do the same, the difference "
        "still looks certain in about one of twenty groups."
    ]
    if small := [group for group in groups if group not in charted]:
        said = [f"{group_name(audit.grouped_by, group.name)} ({group.good:,})" for group in small]
        notes.append(
            f"Groups with fewer than {FEWEST} good applicants are not in the chart: {listed(said)}."
        )
    charts = [_chart(audit, charted)] if charted else []
    return Section("Who is affected, by group?", _finding(audit, charted), charts, tables, notes)


def _chart(audit: Audit, groups: list[AuditedGroup]) -> Chart:
    series = []
    for model in reversed(audit.models):
        own = {row.group: row for row in audit.of(audit.metrics, model) if _is(row, CHARTED, 0.0)}
        y, low, high = (
            [getattr(own.get(group.name), field, None) for group in groups]
            for field in ("value", "low", "high")
        )
        series.append(Series(model, y, low=low, high=high, look=series_look(audit, model)))
    return Chart(
        "dots",
        "Good applicants refused when nobody games, by group, with 95 % intervals",
        "The share of good applicants who are refused, by group and model.",
        series,
        "share refused",
        labels=[group_name(audit.grouped_by, group.name) for group in groups],
        percent=True,
    )


def _is(row: Metric | MetricDifference, metric: str, multiple: float) -> bool:
    return (row.metric, row.multiple) == (metric, multiple)


def group_differences(
    audit: Audit, pair: tuple[str, str], metric: str, multiple: float
) -> list[MetricDifference]:
    """One model against another one, by group."""
    name, other = pair
    return [
        row
        for row in audit.versus(audit.metric_differences, name)
        if row.group is not None and row.against == other and _is(row, metric, multiple)
    ]


def _finding(audit: Audit, charted: list[AuditedGroup]) -> str:
    if not charted:
        return f"Every group has fewer than {FEWEST} good applicants, too few to compare groups."
    if not audit.others:
        return _extremes(audit)
    pair = name, other = audit.subject, audit.others[0]
    rows = group_differences(audit, pair, CHARTED, 0.0)
    if not rows:
        return _extremes(audit)
    found = (
        f"Compared with {other}, when nobody games, {name} "
        f"{_certain(audit, rows, 'refuses', 'good applicants')}."
    )
    gamed = group_differences(audit, pair, "bad_approved", GAMED)
    if gamed:
        found += (
            f" When bad applicants use their budgets, it "
            f"{_certain(audit, gamed, 'approves', 'of them')}."
        )
    return found


def _certain(audit: Audit, rows: list[MetricDifference], verb: str, whom: str) -> str:
    """In how many groups one model certainly does something more or less often, and where most."""
    fewer = sorted((r for r in rows if r.high < 0), key=lambda row: row.difference)
    more = sorted((r for r in rows if r.low > 0), key=lambda row: -row.difference)
    said = []
    for word, part in (("more", more), ("fewer", fewer)):
        if part:
            most, where = part[0], group_name(audit.grouped_by, str(part[0].group))
            many = f"in {len(part)} of {len(rows)} groups, most of all for {where}"
            if len(rows) == len(part) == 1:
                many = f"for {where}"
            said.append(
                f"{verb} {word} {whom} {many} ({signed_points(most.difference)} points, 95 % "
                f"interval {points_interval(most.low, most.high)})"
            )
    left = len(rows) - len(fewer) - len(more)
    if not said:
        return f"{verb} about as many {whom}: the difference is not certain in any group"
    rest = f"; in the other {left} the difference is not certain" if left else ""
    return listed(said) + rest


def _extremes(audit: Audit) -> str:
    """In which groups one model refuses most and fewest good applicants."""
    name = audit.subject
    rows = [
        row
        for row in audit.of(audit.metrics, name)
        if row.group is not None and _is(row, CHARTED, 0.0)
    ]
    ends = [
        f"{group_name(audit.grouped_by, str(row.group))} ({percent(row.value)}, 95 % interval "
        f"{percent_interval(row)})"
        for row in (max(rows, key=lambda r: r.value), min(rows, key=lambda r: r.value))
    ]
    return f"{name} refuses most good applicants for {ends[0]}, and fewest for {ends[1]}."


def _head(groups: list[AuditedGroup]) -> dict[str, list[object]]:
    return {group.name: [group.name, group.good, group.bad] for group in groups}


HEAD = (PageColumn("group"), PageColumn("good", "count"), PageColumn("bad", "count"))


def _quality(audit: Audit, groups: list[AuditedGroup], multiple: float) -> PageTable:
    """Every metric of each group, with one column for each model."""
    found = {
        (row.group, row.metric, row.model): (row.value, row.low, row.high)
        for row in audit.metrics
        if row.multiple == multiple
    }
    columns = [
        *HEAD,
        PageColumn("metric"),
        *(PageColumn(model, "decimal interval") for model in audit.models),
    ]
    rows = []
    for group, head in _head(groups).items():
        for metric, title in METRICS.items():
            values = [found.get((group, metric, model)) for model in audit.models]
            if any(values):
                rows.append([*head, title, *values])
    when = "when bad applicants use their budgets" if multiple else "when nobody games"
    return PageTable(f"quality by group {when}, with 95 % intervals", columns, rows)


def _counts(audit: Audit, groups: list[AuditedGroup]) -> PageTable:
    fields = ("good_accepted", "good_refused", "bad_accepted", "bad_refused")
    columns = [
        *HEAD,
        PageColumn("model"),
        PageColumn("multiple of the budgets", "number"),
        *(PageColumn(field.replace("_", " "), "count") for field in fields),
    ]
    head = _head(groups)
    rows = [
        [*head[row.group], row.model, row.multiple, *(getattr(row, field) for field in fields)]
        for row in audit.confusions
        if row.group is not None
    ]
    return PageTable("decisions by group", columns, rows)


def _differences(audit: Audit, groups: list[AuditedGroup]) -> PageTable:
    columns = [
        *HEAD,
        *(PageColumn(title) for title in ("model", "against", "metric")),
        PageColumn("multiple of the budgets", "number"),
        *(PageColumn(title, "decimal") for title in ("difference", "95 % from", "to")),
    ]
    head = _head(groups)
    rows = [
        [
            *head[row.group],
            *(row.model, row.against, METRICS[row.metric], row.multiple),
            *(row.difference, row.low, row.high),
        ]
        for row in audit.metric_differences
        if row.group is not None
    ]
    return PageTable("differences between models by group", columns, rows)
