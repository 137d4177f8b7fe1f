"""Which columns are the weak spot, and who is hurt."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.gaming_rows import MOST
from gameproof.auditing.number_format import listed, number, percent, points
from gameproof.auditing.page import cell
from gameproof.auditing.page_model import Chart, Column, Section, Series, Table
from gameproof.auditing.row_types import Weakness
from gameproof.auditing.section_parts import cells, kind_of_outcome, outcome, series_look

ALL = "everyone"
# More are in the table only.
MOST_BARS = 15
QUANTILES = {"q10": "10 %", "q25": "25 %", "q50": "median", "q75": "75 %", "q90": "90 %"}


def weak_columns_section(audit: Audit) -> Section | None:
    """Column by column; nothing where none can be changed."""
    own: list[Weakness] = audit.of(audit.weaknesses, audit.models[-1])
    if not own:
        return None
    shown = own[:MOST_BARS]
    series = []
    for model in reversed(audit.models):
        by = {row.feature: row for row in audit.of(audit.weaknesses, model)}
        values = [by[row.feature].gained for row in shown]
        series.append(Series(model, values, look=series_look(audit, model)))
    refused = f"those who should be refused ({outcome(audit, -1)})"
    chart = Chart(
        "bars",
        f"How many more of {refused} are accepted by the budget of one column alone"
        + (f": the {MOST_BARS} columns that gain most" if len(own) > MOST_BARS else ""),
        "More accepted by column: "
        + listed([f"{row.feature} {cell(row.gained, 'points')} points" for row in shown]),
        series,
        "more accepted",
        labels=[row.feature for row in shown],
        percent=True,
    )
    columns = [
        *(Column(title) for title in ("column", "budget", "model")),
        Column("share of gain", "percent"),
        Column("accuracy if it alone changes", "percent"),
        Column("change, points", "points"),
        Column(f"accepted of {outcome(audit, -1)}", "percent"),
        Column("more, points", "points"),
    ]
    fields = ("feature", "budget", "model", "share", "accuracy", "loss")
    table = cells(audit.weaknesses, *fields, "accepted_negative", "gained")
    for row in table:
        row[5] = -row[5]
    note = (
        "Those who should be refused use the budget of one column and leave the others as they "
        "are. The share of gain is of what all budgets together add to their scores."
    )
    return Section(
        "Which columns are the weak spot?",
        _weakest(own[0], audit),
        [chart] if any(row.share is not None for row in audit.weaknesses) else [],
        [Table("columns that people can change", columns, table)],
        [note],
    )


def _weakest(top: Weakness, audit: Audit) -> str:
    if top.share is None:
        return f"Gaming gains nothing: {top.model} gives no weight to what people can change."
    lost = "costs no accuracy" if top.loss < 0.0005 else f"costs {points(top.loss)} of accuracy"
    before = top.accepted_negative - top.gained
    return (
        f"{top.feature} is the weak spot of {top.model}: {percent(top.share)} of what gaming gains "
        f"comes from it. Its budget alone ({top.budget}) {lost}, and {top.model} then accepts "
        f"{percent(top.accepted_negative)} of those who should be refused instead of "
        f"{percent(before)}."
    )


def recourse_section(audit: Audit) -> Section | None:
    """The burden on those who should be accepted, the recourse of those who should not."""
    if not audit.movable:
        return None
    groups = list(dict.fromkeys(row.group for row in audit.hurt))
    keys = [(group, label) for group in groups for label in (1, -1)]
    series = []
    for model in reversed(audit.models):
        rows = {(row.group, row.label): row for row in audit.of(audit.hurt, model)}
        middle, low, high = (
            [getattr(rows.get(key), q, None) for key in keys] for q in ("q50", "q25", "q75")
        )
        series.append(Series(model, middle, low=low, high=high, look=series_look(audit, model)))
    finding = _hurt(audit)
    chart = Chart(
        "dots",
        "How many times their budgets refused people need: the median, and the middle half",
        finding,
        series,
        "multiple of the budgets",
        labels=[
            f"{ALL if group is None else group}, should be {'accepted' if k > 0 else 'refused'}"
            + (f" ({outcome(audit, k)})" if audit.outcomes else "")
            for group, k in keys
        ],
    )
    columns = [
        *(Column(title) for title in ("model", "group")),
        Column(kind_of_outcome(audit), "text" if audit.outcomes else "label"),
        Column("people", "count"),
        Column("refused", "percent"),
        Column("accepted within the budgets", "percent"),
        *(Column(title, "number") for title in QUANTILES.values()),
    ]
    table = cells(audit.hurt, "model", "group", "label", "n", "refused", "within", *QUANTILES)
    for row in table:
        row[1] = ALL if row[1] is None else row[1]
        row[2] = outcome(audit, row[2]) if audit.outcomes else row[2]
    note = (
        "How many times their budgets refused people need to be accepted: the burden on those who "
        "should be accepted, the recourse of those who should be refused. Shares within the "
        f"budgets and quantiles are over the refused; nothing is shown beyond {MOST:g} times."
    )
    table_ = Table("burden and recourse", columns, table)
    drawn = any(value is not None for each in series for value in each.y)
    return Section("Who is hurt?", finding, [chart] if drawn else [], [table_], [note])


def _hurt(audit: Audit) -> str:
    name = audit.models[-1]
    own = {row.label: row for row in audit.of(audit.hurt, name) if row.group is None}
    good, bad = own[1], own[-1]
    said = f"Of those who should be accepted, {name} refuses {percent(good.refused)}"
    if good.within is not None:
        said += f"; their budgets get {percent(good.within)} of these accepted"
        said += f", and half of them need {times_budgets(good.q50)}" if good.within < 1 else ""
    if bad.within is not None:
        said += (
            f". Of those who should be refused and are, {percent(bad.within)} get accepted within "
            "their budgets"
        )
    return f"{said}."


def times_budgets(multiple: float | None) -> str:
    """How many times their budgets people need.

    >>> times(1.234), times(None)
    ('1.23 times their budgets or more', 'more than 100 times their budgets')
    """
    if multiple is None:
        return f"more than {MOST:g} times their budgets"
    return f"{number(multiple)} times their budgets or more"
