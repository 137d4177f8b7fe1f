"""The section on weak columns: how much the budget of each column gains."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.number_format import beside_clean, cell, listed, percent, points
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series
from gameproof.auditing.row_types import Weakness
from gameproof.auditing.section_parts import cells, outcome, series_look

# The largest number of columns in the chart; the table has all of them.
MOST_BARS = 15


def weak_columns_section(audit: Audit) -> Section | None:
    """The effect of each column's budget; None if no column can be changed."""
    own: list[Weakness] = audit.of(audit.weaknesses, audit.subject)
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
        *(PageColumn(title) for title in ("column", "budget", "model")),
        PageColumn("share of gain", "percent"),
        PageColumn("accuracy if it alone changes", "percent"),
        PageColumn("change, points", "points"),
        PageColumn(f"accepted of {outcome(audit, -1)}", "percent"),
        PageColumn("more, points", "points"),
    ]
    fields = ("feature", "budget", "model", "share", "accuracy", "loss")
    table = cells(audit.weaknesses, *fields, "accepted_negative", "gained")
    for row in table:
        row[5] = -row[5]
    note = (
        "Those who should be refused use the budget of one column and leave the others as they "
        "are. The share of gain is relative to what all budgets together add to their scores."
    )
    return Section(
        "Which columns are the weak spot?",
        _weakest(own[0]),
        [chart] if any(row.share is not None for row in audit.weaknesses) else [],
        [PageTable("columns that people can change", columns, table)],
        [note],
    )


def _weakest(top: Weakness) -> str:
    if top.share is None:
        return f"Gaming gains nothing: no change within the budgets raises a score of {top.model}."
    lost = "stays the same" if top.loss < 0.0005 else f"falls by {points(top.loss)}"
    before = top.accepted_negative - top.gained
    return (
        f"{top.feature} is the weak spot of {top.model}: {percent(top.share)} of what gaming gains "
        f"comes from it. If those who should be refused use its budget alone ({top.budget}), "
        f"accuracy {lost}, and of these people {top.model} accepts "
        f"{beside_clean(top.accepted_negative, before)}."
    )
