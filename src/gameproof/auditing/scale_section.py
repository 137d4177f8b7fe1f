"""Numbers that depend on the scale of the scores: a section that is closed until it is opened."""

from __future__ import annotations

from gameproof.auditing.accuracy_section import ACCURACY, SHARE
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.number_format import listed, number, percent
from gameproof.auditing.page_model import Chart, Column, Section, Table
from gameproof.auditing.scale_rows import WHY_SCALE_MATTERS
from gameproof.auditing.section_parts import (
    ACCEPTED,
    accepted_columns,
    at_power,
    cells,
    line_series,
    series_look,
)

TITLE = "Numbers that depend on the scale of the scores"


def scale_section(audit: Audit) -> Section:
    """Gaming by power, log losses and coefficients."""
    charts = [_worst(audit)] if len({row.radius for row in audit.losses}) > 1 else []
    tables = [_losses(audit), _coefficients(audit)]
    said, notes = [WHY_SCALE_MATTERS], []
    name = audit.models[-1]
    if audit.movable and len(audit.of(audit.by_power, name)) > 1:
        charts.insert(0, _curves(audit))
        tables.insert(0, _powers(audit))
        row = at_power(audit, name)
        said.append(
            f"With a gaming power of {row.power:g}, {name} is right for {percent(row.accuracy)}."
        )
        notes.append(
            "Gaming by power: people who should be refused change numbers as far as the gain in "
            f"score is worth the cost, distance²/(2 power). At power {row.power:g}, {name} makes "
            f"each of them move by {number(row.moved)} {audit.unit}."
        )
    after = ", after people used their budgets" if audit.movable else ""
    notes.append(f"The largest log loss is over all data within the radius{after}.")
    return Section(TITLE, " ".join(said), charts, tables, notes, collapsed=True)


def _curves(audit: Audit) -> Chart:
    name = audit.models[-1]
    rows = audit.of(audit.by_power, name)
    ends = [f"{percent(row.accuracy)} at {row.power:g}" for row in (rows[0], rows[-1])]
    return Chart(
        "lines",
        "Accuracy by gaming power",
        f"Accuracy of {name} against gaming power: {listed(ends)}.",
        [
            line_series(
                model, audit.of(audit.by_power, model), "accuracy", series_look(audit, model)
            )
            for model in reversed(audit.models)
        ],
        "gaming power",
        ACCURACY,
        percent=True,
        upright=[(audit.power, "expected")] if 0 < audit.power <= rows[-1].power else [],
    )


def _worst(audit: Audit) -> Chart:
    title = "The largest log loss within a radius"
    rows = audit.of(audit.losses, audit.models[-1])
    ends = [f"{number(row.risk)} at radius {row.radius:g}" for row in (rows[0], rows[-1])]
    return Chart(
        "lines",
        title,
        f"{title}, {audit.models[-1]}: {listed(ends)}.",
        [
            line_series(model, audit.of(audit.losses, model), "risk", series_look(audit, model))
            for model in reversed(audit.models)
        ],
        "radius",
        "log loss",
    )


def _powers(audit: Audit) -> Table:
    columns = [
        Column("model"),
        *(Column(title, "number") for title in ("power", "each moves by")),
        *SHARE,
        Column("log loss", "number"),
        *accepted_columns(audit),
    ]
    fields = ("model", "power", "moved", "accuracy", "low", "high", "risk", *ACCEPTED)
    return Table("gaming by power", columns, cells(audit.by_power, *fields))


def _losses(audit: Audit) -> Table:
    columns = [Column("model"), *(Column(n, "number") for n in ("radius", "largest log loss"))]
    return Table("log loss by radius", columns, cells(audit.losses, "model", "radius", "risk"))


def _coefficients(audit: Audit) -> Table:
    columns = [
        *(Column(title) for title in ("feature", "model")),
        *(Column(title, "number") for title in ("coefficient", "for one scale")),
    ]
    rows = cells(audit.coefficients, "feature", "model", "coefficient", "scaled")
    return Table("coefficients of the features that models see", columns, rows)
