"""The page of `learn_budgets`: what people changed after a model became known."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from gameproof.auditing.number_format import listed, percent, percent_interval
from gameproof.auditing.page import write_page
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series, Tile
from gameproof.auditing.provenance import provenance
from gameproof.tables.budget_learning.column_moves import ColumnMoves
from gameproof.tables.budget_learning.learned_budgets import LearnedBudgets
from gameproof.tables.budget_learning.lines import WEAKER
from gameproof.tables.budget_learning.moves import Group
from gameproof.tables.budget_learning.phrases import p_number
from gameproof.tables.budget_learning.proposed_budgets import movable_text
from gameproof.tables.table import Table

WEAK = f"The evidence is {WEAKER}."


def write_moves_page(
    path: str | Path,
    found: LearnedBudgets,
    tables: Sequence[Table],
    *,
    model: Path | None = None,
    command: str = "",
    seed: int | None = None,
) -> None:
    """Writes what was learned as one HTML file with figures, which needs no network.

    The tables, the file of the model, the command and the seed are listed on the page.
    """
    data = {table.source: table.digest for table in tables if table.digest}
    if model is not None:
        data[str(model)] = sha256(model.read_bytes()).hexdigest()
    write_page(
        path,
        "What people changed, and the budgets that follow",
        moves_sections(found),
        provenance(command=command, seed=seed, data=data),
        subtitle=" and ".join(table.source for table in tables),
        verdict=found.verdict,
        tiles=moves_tiles(found),
        notes=[*([WEAK] if found.evidence == "unpaired" else []), *found.notes],
    )


def moves_tiles(found: LearnedBudgets) -> list[Tile]:
    """Numbers for the top of the page."""
    people = f"{found.n_before:,}"
    if found.evidence == "unpaired":
        people = f"{found.n_before:,} and {found.n_after:,}"
    tiles = [
        Tile("evidence", found.evidence, "weaker" if found.evidence == "unpaired" else ""),
        Tile("people before and after", people),
        Tile("columns that moved", f"{len(_moved(found))} of {len(found.rows)}"),
    ]
    won = found.acceptance.won if found.acceptance else None
    if won is not None:
        tiles.append(
            Tile("refused before, accepted after", percent(won.value), percent_interval(won))
        )
    return tiles


def moves_sections(found: LearnedBudgets) -> list[Section]:
    """The sections of the page; those without findings are left out."""
    parts = (_what_changed(found), _how_far(found), _does_it_help(found), _which_budgets(found))
    return [part for part in parts if part is not None]


def _moved(found: LearnedBudgets) -> list[ColumnMoves]:
    return [row for row in found.rows if row.verdict == "moved"]


def _what_changed(found: LearnedBudgets) -> Section:
    moved, drifted = (
        [row.column for row in found.rows if row.verdict == verdict]
        for verdict in ("moved", "drift")
    )
    summary = f"People moved {listed(moved)}." if moved else "No column moved significantly."
    if drifted:
        summary += f" {listed(drifted)}: everyone's values changed, which is drift, not gaming."
    columns = [
        PageColumn("column"),
        PageColumn("verdict"),
        PageColumn("why"),
        PageColumn("p, corrected"),
    ]
    rows = [[row.column, row.verdict, row.why, p_number(row.p_value)] for row in found.rows]
    charts = [] if found.evidence == "unpaired" else [_chart(found)]
    table = PageTable("verdicts", columns, rows)
    return Section("What did people change?", summary, charts, [table], open=True)


def _chart(found: LearnedBudgets) -> Chart:
    """The shares of people who moved each column in the more frequent direction."""
    compared = any(row.refused and row.accepted for row in found.rows)
    groups = ("refused", "accepted") if compared else ("everyone",)
    whom = "people refused and people accepted before" if compared else "people"
    title = f"Shares of {whom} who moved a column"
    ways = [_way(getattr(row, groups[0]) or row.everyone) for row in found.rows]
    series = []
    for look, name in enumerate(groups):
        shares = [
            getattr(getattr(row, name), way, None)
            for row, way in zip(found.rows, ways, strict=True)
        ]
        ends = [
            [None if share is None else getattr(share, end) for share in shares]
            for end in ("value", "low", "high")
        ]
        label = f"{name} before" if compared else "everyone"
        series.append(Series(label, ends[0], low=ends[1], high=ends[2], look=look))
    return Chart(
        "dots",
        title,
        f"{title}, with intervals; the table below explains them.",
        series,
        "share of people",
        labels=[f"{row.column}, {way}" for row, way in zip(found.rows, ways, strict=True)],
        percent=True,
    )


def _way(group: Group | None) -> str:
    """The field of `Group` that holds the share of the more frequent direction."""
    if group is None or group.up is None or group.down is None:
        return "changed"
    if group.up.value == group.down.value == 0:
        return "changed"
    return "up" if group.up.value >= group.down.value else "down"


def _how_far(found: LearnedBudgets) -> Section | None:
    rows = []
    shares: tuple[float, ...] = ()
    for row in _moved(found):
        moves = row.up if row.direction > 0 else row.down
        if row.kind == "number" and moves is not None:
            shares = tuple(each.at for each in moves.quantiles)
            cells = [(each.value, each.low, each.high) for each in moves.quantiles]
            rows.append([row.column, moves.n, row.drift, *cells, row.ordinary])
    if not rows:
        return None
    unit = "ranks" if found.evidence == "unpaired" else "moves"
    columns = [
        PageColumn("column"),
        PageColumn(unit, "count"),
        PageColumn("drift subtracted", "number"),
        *(PageColumn(f"{100 * share:g} % within", "interval") for share in shares),
        PageColumn("ordinary moves", "number"),
    ]
    summary = "Quantiles of the moves, in the table's own units, with their intervals."
    weak = [WEAK] if found.evidence == "unpaired" else []
    return Section(
        "How far?", summary, tables=[PageTable("moves", columns, rows)], notes=weak, open=True
    )


def _does_it_help(found: LearnedBudgets) -> Section | None:
    end = found.acceptance
    if end is None:
        return None
    summary = f"{percent(end.before.value)} are accepted before, {percent(end.after.value)} after."
    if end.won is not None and end.lost is not None:
        summary += (
            f" {percent(end.won.value)} ({percent_interval(end.won)}) of people refused before are "
            f"accepted after; {percent(end.lost.value)} of people accepted before are refused "
            "after."
        )
    columns = [
        PageColumn("column"),
        PageColumn("changes of the refused that raise the score", "percent"),
        PageColumn("mean change of score", "interval"),
    ]
    rows = [
        [row.column, row.refused.raised.value, row.refused.gain[:3]]
        for row in found.rows
        if row.refused and row.refused.raised and row.refused.gain
    ]
    tables = [PageTable("the effect of changes of one column alone on scores", columns, rows)]
    return Section("Does it help acceptance?", summary, tables=tables if rows else [], open=True)


def _which_budgets(found: LearnedBudgets) -> Section:
    lines = [
        [row.column, _budget(row), _interval(row.interval)] for row in _moved(found) if row.budget
    ]
    columns = [PageColumn("column"), PageColumn("budget"), PageColumn("interval of its quantile")]
    summary = f"A budget is {found.method}."
    weak = [WEAK] if found.evidence == "unpaired" else []
    tables = [PageTable("proposed budgets", columns, lines)] if lines else []
    if found.budgets:
        weak.append(f"For gameproof fit: --movable '{found.movable}'")
    return Section("Which budgets?", summary, tables=tables, notes=weak, open=True)


def _budget(row: ColumnMoves) -> str:
    assert row.budget is not None
    return movable_text({"": row.budget}).removeprefix(":")


def _interval(ends: tuple[float, float] | None) -> str | None:
    if ends is None:
        return None
    return f"{ends[0]:,.6g} to {ends[1]:,.6g}".replace("-", "−")
