"""The section on numbers that depend on the scale of the scores; it is collapsed at first."""

from __future__ import annotations

from gameproof.auditing.accuracy_section import ACCURACY, SHARE
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.number_format import number, percent
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section
from gameproof.auditing.scale_rows import WHY_SCALE_MATTERS
from gameproof.auditing.section_parts import (
    ACCEPTED,
    accepted_columns,
    at_power,
    cells,
    curve_chart,
)

POWERS = ("Accuracy by gaming power", "gaming power", ACCURACY)
LOSSES = ("The worst-case log loss within a radius", "radius", "log loss")
TITLE = "Numbers that depend on the scale of the scores"


def scale_section(audit: Audit) -> Section:
    """Gaming by power, log losses and coefficients."""
    charts = []
    if len({row.radius for row in audit.losses}) > 1:
        charts.append(curve_chart(audit, audit.losses, "risk", LOSSES, number))
    tables = [_losses(audit), _coefficients(audit)]
    said, notes = [WHY_SCALE_MATTERS], []
    name = audit.subject
    if audit.movable and len(audit.of(audit.by_power, name)) > 1:
        charts.insert(0, _power_chart(audit))
        tables.insert(0, _powers(audit))
        row = at_power(audit, name)
        said.append(
            f"With a gaming power of {row.power:g}, {name} is right for {percent(row.accuracy)}."
        )
        notes.append(
            "Gaming by power: people who should be refused change numbers as long as the gain in "
            f"score exceeds the cost, distance²/(2 power). At power {row.power:g}, {name} makes "
            f"each of them move by {number(row.moved)} {audit.unit}."
        )
    after = ", after people used their budgets" if audit.movable else ""
    notes.append(f"The worst-case log loss is over all data within the radius{after}.")
    return Section(TITLE, " ".join(said), charts, tables, notes, collapsed=True)


def _power_chart(audit: Audit) -> Chart:
    shown = 0 < audit.power <= audit.by_power[-1].power
    expected = [(audit.power, "expected")] if shown else []
    return curve_chart(
        audit, audit.by_power, "accuracy", POWERS, percent, percent=True, upright=expected
    )


def _powers(audit: Audit) -> PageTable:
    columns = [
        PageColumn("model"),
        *(PageColumn(title, "number") for title in ("power", "each moves by")),
        *SHARE,
        PageColumn("log loss", "decimal"),
        *accepted_columns(audit),
    ]
    fields = ("model", "power", "moved", "accuracy", "low", "high", "risk", *ACCEPTED)
    return PageTable("gaming by power", columns, cells(audit.by_power, *fields))


def _losses(audit: Audit) -> PageTable:
    columns = [
        PageColumn("model"),
        PageColumn("radius", "number"),
        PageColumn("worst-case log loss", "decimal"),
    ]
    return PageTable("log loss by radius", columns, cells(audit.losses, "model", "radius", "risk"))


def _coefficients(audit: Audit) -> PageTable:
    columns = [
        *(PageColumn(title) for title in ("feature", "model")),
        *(PageColumn(title, "number") for title in ("coefficient", "for one scale")),
    ]
    rows = cells(audit.coefficients, "feature", "model", "coefficient", "scaled")
    return PageTable("coefficients of the features that models use", columns, rows)
