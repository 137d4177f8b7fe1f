"""The section on burden and recourse: what refused people need to be accepted."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.number_format import number, percent
from gameproof.auditing.page_model import Chart, Column, Section, Series, Table
from gameproof.auditing.recourse_rows import MOST
from gameproof.auditing.section_parts import cells, kind_of_outcome, outcome, series_look

ALL = "everyone"
QUANTILES = {"q10": "10 %", "q25": "25 %", "q50": "median", "q75": "75 %", "q90": "90 %"}


def recourse_section(audit: Audit) -> Section | None:
    """Burden and recourse by label and group; None if nothing can be changed."""
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
        "The multiple of their budgets that refused people need: median and quartiles",
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
        "The multiple of their budgets that refused people need to be accepted is the burden on "
        "people who should be accepted, and the recourse of people who should be refused. Shares "
        "within the budgets and quantiles are over refused people; multiples beyond "
        f"{MOST:g} are not shown."
    )
    table_ = Table("burden and recourse", columns, table)
    drawn = any(value is not None for each in series for value in each.y)
    return Section("Who is hurt?", finding, [chart] if drawn else [], [table_], [note])


def _hurt(audit: Audit) -> str:
    name = audit.models[-1]
    own = {row.label: row for row in audit.of(audit.hurt, name) if row.group is None}
    good, bad = own[1], own[-1]
    said = f"{name} refuses {percent(good.refused)} of those who should be accepted"
    if good.within is not None:
        said += f"; {percent(good.within)} of them can be accepted within their budgets"
        said += f", and half of them need {times_budgets(good.q50)}" if good.within < 1 else ""
    if bad.within is not None:
        said += (
            f". Of the people who are refused and should be, {percent(bad.within)} can be accepted "
            "within their budgets"
        )
    return f"{said}."


def times_budgets(multiple: float | None) -> str:
    """The multiple of their budgets that people need, as text.

    >>> times_budgets(1.234), times_budgets(None)
    ('1.23 times their budgets or more', 'more than 100 times their budgets')
    """
    if multiple is None:
        return f"more than {MOST:g} times their budgets"
    return f"{number(multiple)} times their budgets or more"
