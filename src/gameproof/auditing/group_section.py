"""The section on groups: quality by group, and who bears the cost of robustness."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.metric_rows import GAMED, METRICS
from gameproof.auditing.metric_types import MetricDifference
from gameproof.auditing.number_format import listed, points, points_interval
from gameproof.auditing.page_model import Chart, Column, Section, Series, Table
from gameproof.auditing.section_parts import cells, series_look

CHARTED = "good_refused"


def group_section(audit: Audit) -> Section | None:
    """Everything by group; None if there are no groups."""
    groups = list(dict.fromkeys(row.group for row in audit.metrics if row.group is not None))
    if not groups:
        return None
    rows = [row for row in audit.metrics if row.group is not None]
    series = []
    for model in reversed(audit.models):
        own = {row.group: row for row in audit.of(rows, model) if _is(row, CHARTED, 0.0)}
        y, low, high = (
            [getattr(own.get(group), field, None) for group in groups]
            for field in ("value", "low", "high")
        )
        series.append(Series(model, y, low=low, high=high, look=series_look(audit, model)))
    chart = Chart(
        "dots",
        "Good applicants refused when nobody games, by group, with 95 % intervals",
        "The share of good applicants who are refused, by group and model.",
        series,
        "share refused",
        labels=[str(group) for group in groups],
        percent=True,
    )
    columns = [
        *(Column(title) for title in ("group", "model", "metric")),
        Column("multiple of the budgets", "number"),
        *(Column(title, "decimal") for title in ("value", "95 % from", "to")),
        Column("interval"),
    ]
    fields = ("group", "model", "metric", "multiple", "value", "low", "high", "interval")
    table = cells(rows, *fields)
    for row in table:
        row[2] = METRICS[row[2]]
    tables = [Table("quality by group", columns, table), _counts(audit)]
    if differences := [row for row in audit.metric_differences if row.group is not None]:
        tables.append(_differences(differences))
    return Section("Who is affected, by group?", _finding(audit), [chart], tables)


def _is(row: MetricDifference, metric: str, multiple: float) -> bool:
    return (row.metric, row.multiple) == (metric, multiple)


def _finding(audit: Audit) -> str:
    name, first = audit.models[-1], audit.models[0]
    rows = [
        row
        for row in audit.of(audit.metric_differences, name)
        if row.group is not None and row.against == first and _is(row, CHARTED, 0.0)
    ]
    if not rows:
        return "The chart and the tables show each group."
    said = [
        f"{row.group} {points(row.difference)} {'more' if row.difference > 0 else 'fewer'} "
        f"({points_interval(row.low, row.high)})"
        for row in sorted(rows, key=lambda row: -row.difference)
    ]
    gamed = [
        row
        for row in audit.of(audit.metric_differences, name)
        if row.group is not None and row.against == first and _is(row, "bad_approved", GAMED)
    ]
    text = (
        f"Compared with {first}, {name} refuses of the good applicants when nobody games: "
        f"{listed(said)}."
    )
    if gamed:
        most = min(gamed, key=lambda row: row.difference)
        text += (
            f" In return it approves fewer bad applicants who game, most of all in {most.group}: "
            f"{points(most.difference)} {'fewer' if most.difference < 0 else 'more'}."
        )
    return text


def _counts(audit: Audit) -> Table:
    columns = [
        *(Column(title) for title in ("group", "model")),
        Column("multiple of the budgets", "number"),
        *(
            Column(title, "count")
            for title in ("good accepted", "good refused", "bad accepted", "bad refused")
        ),
    ]
    rows = [row for row in audit.confusions if row.group is not None]
    fields = ("good_accepted", "good_refused", "bad_accepted", "bad_refused")
    return Table("decisions by group", columns, cells(rows, "group", "model", "multiple", *fields))


def _differences(rows: list[MetricDifference]) -> Table:
    columns = [
        *(Column(title) for title in ("group", "model", "against", "metric")),
        Column("multiple of the budgets", "number"),
        *(Column(title, "decimal") for title in ("difference", "95 % from", "to")),
    ]
    fields = ("group", "model", "against", "metric", "multiple", "difference", "low", "high")
    table = cells(rows, *fields)
    for row in table:
        row[3] = METRICS[row[3]]
    return Table("differences between models by group", columns, table)
