"""Which features are the weak spot, and who is hurt."""

from __future__ import annotations

from collections.abc import Callable

from gameproof.report.audit import Audit
from gameproof.report.page import cell
from gameproof.report.parts import Chart, Column, Section, Series, Table
from gameproof.report.reading import cells, kind_of_outcome, look, outcome
from gameproof.report.rows import Weakness
from gameproof.report.words import listed, number, percent, points

ALL = "everyone"
# More are in the table only.
MOST_BARS = 15
QUANTILES = {"q10": "10 %", "q25": "25 %", "q50": "median", "q75": "75 %", "q90": "90 %"}


def weak_spot(audit: Audit, in_table: Callable[[str, float], str] | None = None) -> Section | None:
    """Feature by feature; nothing where none can be moved; `in_table` as `write_audit` has it."""
    own: list[Weakness] = audit.of(audit.weaknesses, audit.models[-1])
    if not own:
        return None
    shares = {row.feature: row.share for row in own[:MOST_BARS]}
    series = []
    for model in reversed(audit.models):
        by = {row.feature: row.share for row in audit.of(audit.weaknesses, model)}
        series.append(Series(model, [by[name] for name in shares], look=look(audit, model)))
    chart = Chart(
        "bars",
        "Where the gain from gaming comes from"
        + (f": the {MOST_BARS} features that give most" if len(own) > MOST_BARS else ""),
        "Share of the gain in score by feature: "
        + listed([f"{name} {cell(share, 'percent')}" for name, share in shares.items()]),
        series,
        "share of the gain in score",
        labels=list(shares),
        percent=True,
    )
    numbers = ("coefficient", "one scale", "move needed", "in scales")
    columns = [
        *(Column(title) for title in ("feature", "model")),
        *(Column(title, "number") for title in numbers),
        Column("share of gain", "percent"),
    ]
    fields = ("feature", "model", "coefficient", "scale", "needed", "needed_scaled", "share")
    table = cells(audit.weaknesses, *fields)
    note = (
        "The move needed is that of the refused person of median score, in this feature alone; a "
        "step of one scale costs the same in every feature."
    )
    if audit.games:
        columns.append(Column("accuracy if it alone moves", "percent"))
        columns.append(Column("change, points", "points"))
        for line, row in zip(table, audit.weaknesses, strict=True):
            line += [row.accuracy, -row.loss]
        note += f" Accuracy is at gaming power {audit.power:g}."
    if in_table is not None:
        # The audit's own units mean nothing to those who know the table.
        columns[3:5] = [Column("move needed")]
        for line, row in zip(table, audit.weaknesses, strict=True):
            line[3:5] = [None if row.needed is None else in_table(row.feature, row.needed)]
        note += (
            " Coefficients are those of the prepared table; the move is told for a person at the "
            "column's median, in the table's own units."
        )
    return Section(
        "Which features are the weak spot?",
        _weakest(own[0], audit, in_table),
        [chart] if any(row.share is not None for row in audit.weaknesses) else [],
        [Table("movable features", columns, table)],
        [note],
    )


def _weakest(top: Weakness, audit: Audit, in_table: Callable[[str, float], str] | None) -> str:
    if top.share is None:
        return f"Gaming gains nothing: {top.model} gives no weight to what can be moved."
    said = (
        f"{top.feature} is the weak spot of {top.model}: {percent(top.share)} of what gaming gains "
        "comes from it"
    )
    if audit.games:
        lost = "costs no accuracy" if top.loss < 0.0005 else f"costs {points(top.loss)} of accuracy"
        said += f", and gaming it alone, at power {audit.power:g}, {lost}"
    said += "."
    if top.needed is None or top.needed_scaled is None:
        return said
    far = f"{number(top.needed_scaled)} {audit.unit}"
    told = in_table(top.feature, top.needed) if in_table is not None else ""
    if told:
        far += f", such as {told}"
    elif in_table is None and top.scale != 1:
        far = f"{number(abs(top.needed))}, which is {far}"
    way = "raised" if top.needed > 0 else "lowered"
    return f"{said} The refused person of median score is accepted once it is {way} by {far}."


def who_is_hurt(audit: Audit) -> Section | None:
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
        series.append(Series(model, middle, low=low, high=high, look=look(audit, model)))
    finding = _hurt(audit)
    chart = Chart(
        "dots",
        "How far refused people are from acceptance: the median, and the middle half",
        finding,
        series,
        f"distance in {audit.unit}",
        labels=[
            f"{ALL if group is None else group}, should be {'accepted' if k > 0 else 'refused'}"
            + (f" ({outcome(audit, k)})" if audit.outcomes else "")
            for group, k in keys
        ],
    )
    # Where nobody has power, no cost is worth its while.
    cost = {"mean_cost": "mean cost"} if audit.games else {}
    far = {"mean_distance": "mean distance", **cost, **QUANTILES}
    columns = [
        *(Column(title) for title in ("model", "group")),
        Column(kind_of_outcome(audit), "text" if audit.outcomes else "label"),
        Column("people", "count"),
        Column("refused", "percent"),
        *(Column(title, "number") for title in far.values()),
    ]
    table = cells(audit.hurt, "model", "group", "label", "n", "refused", *far)
    for row in table:
        row[1] = ALL if row[1] is None else row[1]
        row[2] = outcome(audit, row[2]) if audit.outcomes else row[2]
    note = (
        "The distance is that of the shortest way to acceptance by what can be moved: the burden "
        "on those who should be accepted, the recourse of those who should be refused. Means are "
        f"over all people with the same {kind_of_outcome(audit)}, quantiles over the refused."
        + (f" A cost is distance²/(2 power), at power {audit.power:g}." if cost else "")
    )
    table_ = Table("burden and recourse", columns, table)
    return Section("Who is hurt?", finding, [chart], [table_], [note])


def _hurt(audit: Audit) -> str:
    name = audit.models[-1]
    own = {row.label: row for row in audit.of(audit.hurt, name) if row.group is None}
    good, bad = own[1], own[-1]
    said = f"Of those who should be accepted, {name} refuses {percent(good.refused)}"
    if good.refused and good.mean_distance is None:
        return f"{said}, and nothing that they can move gets them accepted."
    if good.q50 is not None:
        said += f"; half of these would have to move by {number(good.q50)} {audit.unit} or more"
    if bad.q50 is not None:
        said += (
            f". Of those who should be refused and are, half are within {number(bad.q50)} "
            f"{audit.unit} of being accepted"
        )
    return f"{said}."
