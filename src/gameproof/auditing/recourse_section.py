"""The section on burden and recourse: what refused people need to be accepted."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.number_format import number, percent, percent_interval
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series
from gameproof.auditing.people_groups import group_name
from gameproof.auditing.recourse_rows import MOST
from gameproof.auditing.row_types import Hurt
from gameproof.auditing.section_parts import cells, kind_of_outcome, outcome, series_look

ALL = "everyone"
HARDLY = 0.005  # multiples of the budgets below this are next to nothing
QUANTILES = {"q10": "10 %", "q25": "25 %", "q50": "median", "q75": "75 %", "q90": "90 %"}


def recourse_section(audit: Audit) -> Section | None:
    """Burden and recourse by label and group; None if nothing can be changed."""
    if not audit.movable:
        return None
    columns = [
        *(PageColumn(title) for title in ("model", "group")),
        PageColumn(kind_of_outcome(audit), "text" if audit.outcomes else "label"),
        PageColumn("people", "count"),
        PageColumn("refused", "percent"),
        PageColumn("accepted within the budgets", "percent"),
        *(PageColumn(title, "percent") for title in ("95 % from", "to")),
        *(PageColumn(title, "number") for title in QUANTILES.values()),
    ]
    fields = ("model", "group", "label", "n", "refused", "within", "low", "high", *QUANTILES)
    table = cells(audit.hurt, *fields)
    for row in table:
        row[1] = ALL if row[1] is None else row[1]
        row[2] = outcome(audit, row[2]) if audit.outcomes else row[2]
    note = (
        "The multiple of their budgets that refused people need to be accepted is the burden on "
        "people who should be accepted, and the recourse of people who should be refused. The "
        "table has its quantiles. They and the shares within the budgets are over refused people; "
        f"multiples beyond {MOST:g} are not shown."
    )
    chart = _chart(audit)
    return Section(
        "Who is hurt?",
        _finding(audit),
        [] if chart is None else [chart],
        [
            PageTable(
                "burden and recourse: the multiple of their budgets that people need",
                columns,
                table,
            )
        ],
        [note],
    )


def _chart(audit: Audit) -> Chart | None:
    """The share of refused people who can get in: everyone, and the good ones of each group."""
    found = {(row.model, row.group, row.label): row for row in audit.hurt}
    keys = [
        (group, label)
        for group, label in dict.fromkeys((row.group, row.label) for row in audit.hurt)
        if group is None or label > 0
    ]
    keys = [key for key in keys if any(_share(found, m, key) is not None for m in audit.models)]
    if not any(_share(found, m, key) for m in audit.models for key in keys):
        return None  # nobody can get in, or nobody is refused
    series = []
    for model in reversed(audit.models):
        rows = [found.get((model, *key)) for key in keys]
        y, low, high = (
            [getattr(row, field, None) for row in rows] for field in ("within", "low", "high")
        )
        series.append(Series(model, y, low=low, high=high, look=series_look(audit, model)))
    return Chart(
        "dots",
        "Refused people who can be accepted within their budgets, with 95 % intervals",
        _finding(audit),
        series,
        "share of the people who are refused",
        labels=[_label(audit, *key) for key in keys],
        percent=True,
    )


def _share(
    found: dict[tuple[str, str | None, int], Hurt], model: str, key: tuple[str | None, int]
) -> float | None:
    row = found.get((model, *key))
    return None if row is None else row.within


def _label(audit: Audit, group: str | None, label: int) -> str:
    whom = f"should be {'accepted' if label > 0 else 'refused'}"
    if group is not None:
        return f"{whom}, {group_name(audit.grouped_by, group)}"
    return f"{whom} ({outcome(audit, label)})" if audit.outcomes else whom


def _finding(audit: Audit) -> str:
    name = audit.subject
    rows = {(row.model, row.label): row for row in audit.hurt if row.group is None}
    good, bad = rows[name, 1], rows[name, -1]
    said = f"{name} refuses {percent(good.refused or 0.0)} of those who should be accepted"
    (quality,) = audit.of(audit.quality, name)
    if quality.idle == 1:
        return f"{said}; no change within their budgets helps them." if good.refused else f"{said}."
    if good.within is not None:
        others = [
            f"{other} {percent(within)}"
            for other in audit.others
            if (within := rows[other, 1].within) is not None
        ]
        shown = f"95 % interval {percent_interval(good)}" + "".join(f"; {each}" for each in others)
        said += f". {percent(good.within)} of them can be accepted within their budgets ({shown})"
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
    >>> times_budgets(8.9e-14)
    'hardly any of their budgets'
    """
    if multiple is None:
        return f"more than {MOST:g} times their budgets"
    if multiple < HARDLY:
        return "hardly any of their budgets"
    return f"{number(multiple)} times their budgets or more"
