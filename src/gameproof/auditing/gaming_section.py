"""The section on gaming: what happens when people use their budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gameproof.auditing.accuracy_section import ACCURACY, SHARE
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.audited_measure import beside_others
from gameproof.auditing.metric_rows import GAMED
from gameproof.auditing.number_format import (
    beside_clean,
    listed,
    measure_text,
    number,
    percent,
    shortened,
)
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series
from gameproof.auditing.row_types import Gaming
from gameproof.auditing.scored_applicants import BAD, REFUSED
from gameproof.auditing.section_parts import (
    ACCEPTED,
    accepted_columns,
    cells,
    line_series,
    outcome,
    series_look,
)

# Who moves, in a sentence and in a table.
MOVERS = {BAD: "those who should be refused move", REFUSED: "everyone who is refused moves"}
MOVING = {BAD: "bad applicants", REFUSED: "all who are refused"}
LONGEST, MOST_LINES = 90, 4  # characters of an axis label, lines with a budget below it
MULTIPLE = "multiple of the budgets"
# Measures that are no shares and are known at every multiple.
NUMBERS = {"auc": "AUC", "cost": "Cost per applicant"}


def gaming_section(audit: Audit) -> Section | None:
    """Quality by multiple of the budgets; None if nothing can be changed."""
    if not audit.movable:
        return None
    columns = [
        PageColumn("model"),
        PageColumn("who moves"),
        PageColumn("multiple of the budgets", "number"),
        *SHARE,
        PageColumn("AUC", "decimal"),
        *accepted_columns(audit),
        PageColumn("cost per applicant", "decimal"),
    ]
    fields = ("movers", "multiple", "accuracy", "low", "high", "auc", *ACCEPTED, "cost")
    table = cells(audit.gaming, "model", *fields)
    for row in table:
        row[1] = MOVING[row[1]]
    costs = audit.costs
    note = (
        "People change what they can, within their budgets, to be accepted. People who should be "
        "accepted stay as they are, unless everyone who is refused moves. Cost per "
        f"applicant: {number(costs.accept_bad)} for each person with {outcome(audit, -1)} who is "
        f"accepted, {number(costs.refuse_good)} for each person with {outcome(audit, 1)} who is "
        "refused, over all applicants."
    )
    return Section(
        "What happens when people game it?",
        _finding(audit),
        _charts_of_one(audit) if len(audit.models) == 1 else _charts_of_several(audit),
        [PageTable("gaming by budgets", columns, table)],
        [note],
    )


def budget_axis(audit: Audit) -> str:
    """The label of the axis of multiples, with the budgets in the table's units.

    Budgets that do not fit beside the label have a line each, and the last line counts the rest.
    """
    stated = [
        f"{shortened(name)} {text.split(' (')[0]}"
        for name, text in audit.budgets.by_column().items()
    ]
    label = f"{MULTIPLE} (1: {'; '.join(stated)})"
    if len(label) <= LONGEST:
        return label
    lines = [f"1: {shortened(text, LONGEST - 3)}" for text in stated]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [f"and {len(lines) - MOST_LINES + 1} more columns"]
    return "\n".join([MULTIPLE, *lines])


def _finding(audit: Audit) -> str:
    name = audit.subject
    (good,) = audit.of(audit.quality, name)
    bad, everyone = audit.at(name, 1.0), audit.at(name, 1.0, REFUSED)
    others = [f"{m} for {percent(audit.at(m, 1.0).accuracy)}" for m in audit.others]
    said = [f"Budgets: {audit.budgets.describe()}."]
    when = "If everyone who should be refused uses them,"
    if audit.measure.name != "accuracy":
        label = audit.measure.spoken
        said.append(f"{when} the {label} of {name} is {beside_others(audit, GAMED)}.")
        when = "Then"
    said += [
        f"{when} {name} is right for {beside_clean(bad.accuracy, good.accuracy)}"
        + (f", {listed(others)}" if others else "")
        + ".",
        f"Of those who should be refused, {name} then accepts "
        f"{beside_clean(bad.accepted_negative, good.accepted_negative)}.",
        f"If everyone who is refused moves, {name} is right for {percent(everyone.accuracy)}, and "
        "of those who should be accepted it accepts "
        f"{beside_clean(everyone.accepted_positive, good.accepted_positive)}.",
    ]
    rows: list[Gaming] = [r for r in audit.of(audit.gaming, name) if r.movers == BAD]
    worse = [row.multiple for row in rows if row.accuracy < good.majority]
    if good.accuracy < good.majority:
        but = "" if audit.measure.name == "accuracy" else "; the verdict does not go by accuracy"
        said.append(f"Even when nobody games, the majority baseline is right more often{but}.")
    elif worse:
        said.append(
            f"From {worse[0]:g} times the budgets on, the majority baseline is right more often."
        )
    return " ".join(said)


def _charts_of_one(audit: Audit) -> list[Chart]:
    """Charts of one model: accuracy and acceptance rates, for each kind of movers."""
    (name,) = audit.models
    charts = []
    for movers, words in MOVERS.items():
        rows = _rows(audit, name, movers)
        x = [row.multiple for row in rows]
        series = [line_series("accuracy", rows, "accuracy", 0)]
        for label, field, look_ in ((1, ACCEPTED[0], 3), (-1, ACCEPTED[1], 1)):
            shares = [getattr(row, field) for row in rows]
            series.append(Series(f"accepted of {outcome(audit, label)}", shares, x, look=look_))
        chart = _chart(audit, f"Accuracy and acceptance rates when {words}", rows, series)
        charts.append(replace(chart, y_label="share of people"))
    return charts


def _charts_of_several(audit: Audit) -> list[Chart]:
    """Charts of several models: accuracy for each kind of movers, and acceptance rates."""
    measure = audit.measure.name
    shown = [
        *([(measure, BAD, f"{NUMBERS[measure]} when")] if measure in NUMBERS else []),
        ("accuracy", BAD, "Accuracy when"),
        ("accuracy", REFUSED, "Accuracy when"),
        ("accepted_negative", BAD, f"Accepted of {outcome(audit, -1)} when"),
        ("accepted_positive", REFUSED, f"Accepted of {outcome(audit, 1)} when"),
    ]
    charts = []
    for what, movers, words in shown:
        series = [
            line_series(model, _rows(audit, model, movers), what, series_look(audit, model))
            for model in reversed(audit.models)
        ]
        rows = _rows(audit, audit.subject, movers)
        charts.append(_chart(audit, f"{words} {MOVERS[movers]}", rows, series, what))
    return charts


def _rows(audit: Audit, model: str, movers: str) -> list[Gaming]:
    return [row for row in audit.of(audit.gaming, model) if row.movers == movers]


def _value(row: Gaming, what: str) -> str:
    value = getattr(row, what)
    return measure_text(value) if what in NUMBERS else percent(value)


def _chart(
    audit: Audit,
    title: str,
    rows: Sequence[Gaming],
    series: Sequence[Series],
    what: str = "accuracy",
) -> Chart:
    (good,) = audit.of(audit.quality, audit.subject)
    ends = [
        f"{_value(row, what)} at {row.multiple:g} times the budgets" for row in (rows[0], rows[-1])
    ]
    return Chart(
        "lines",
        title,
        f"{title}, {audit.subject}: {listed(ends)}.",
        series,
        budget_axis(audit),
        {"accuracy": ACCURACY, **NUMBERS}.get(what, "share accepted"),
        percent=what not in NUMBERS,
        across=[(good.majority, "majority baseline")] if what == "accuracy" else [],
        upright=[(1.0, "as stated")],
    )
