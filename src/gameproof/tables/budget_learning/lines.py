"""Learned budgets as lines for a terminal."""

from __future__ import annotations

from textwrap import wrap

from gameproof.core.naming import quoted
from gameproof.tables.budget_learning.column_moves import Acceptance, ColumnMoves, Findings
from gameproof.tables.budget_learning.moves import Moves
from gameproof.tables.budget_learning.phrases import (
    WAYS,
    mean_text,
    number,
    p_number,
    people,
    percent,
    share_text,
    signed,
)
from gameproof.tables.budget_learning.proposed_budgets import movable_text

WIDTH = 100
WEAKER = (
    "UNPAIRED, which is weaker evidence: people are not matched, so a move is the shift of the "
    "value at a rank. These are the smallest moves that explain the change, but drift, and people "
    "who left or joined, can cause it too"
)


def lines(found: Findings) -> list[str]:
    """Verdict, evidence, notes, decisions, columns and budgets."""
    shown = _wrapped(f"verdict: {found.verdict}")
    shown.append(f"evidence: paired, {people(found.n_before)} before and after")
    weak = ""
    if found.evidence == "unpaired":
        counts = f"{people(found.n_before)} before, {people(found.n_after)} after"
        shown[-1:] = _wrapped(f"evidence: {WEAKER}; {counts}")
        weak = " (unpaired: weaker evidence)"
    shown += [line for note in found.notes for line in _wrapped(f"note: {note}")]
    shown += _decisions(found.acceptance)
    shown += _table(found)
    shown += _wrapped(f"a budget is {found.method}")
    budgets = [movable_text({name: budget}) for name, budget in found.budgets.items()]
    return [*shown, f"proposed budgets{weak}: {', '.join(budgets) or 'none'}"]


def _decisions(found: Acceptance | None) -> list[str]:
    if found is None:
        return []
    shares = share_text(found.before), share_text(found.after)
    shown = [f"{found.model} accepts {shares[0]} before, {shares[1]} after"]
    for who, end, part, gain in (
        ("refused", "accepted", found.won, found.refused_gain),
        ("accepted", "refused", found.lost, found.accepted_gain),
    ):
        if part is not None and gain is not None:
            shown.append(
                f"  {who} before: {share_text(part)} of {part.n:,} are {end} after; mean change of "
                f"score: {mean_text(gain)}"
            )
    if found.raised is not None:
        shown.append(
            f"  refused before, score changed: {share_text(found.raised)} of "
            f"{found.raised.n:,} raised it"
        )
    return shown


def _table(found: Findings) -> list[str]:
    """One line for each column; below it the reason, the distance and the effect."""
    width = max(6, *(len(quoted(row.column)) for row in found.rows))
    unit = "people" if found.evidence == "paired" else "ranks"
    shown = [f"{'column':{width}s}  verdict          up    down    p (corrected)   ({unit})"]
    for row in found.rows:
        up, down = (percent(each.share.value) if each else "–" for each in (row.up, row.down))
        name = f"{quoted(row.column):{width}s}"
        shown.append(f"{name}  {row.verdict:10s} {up:>8s}{down:>8s}    {p_number(row.p_value)}")
        if row.verdict not in ("unchanged", "too few"):
            shown += [line for part in (row.why, *_details(row, found)) for line in _below(part)]
    return shown


def _details(row: ColumnMoves, found: Findings) -> list[str]:
    """How far people moved who may have gamed, and what it does to their scores."""
    if row.verdict not in ("moved", "unclear"):
        return []
    shown = [
        _how_far(row, way, moves, found)
        for way, moves in ((1, row.up), (-1, row.down))
        if moves is not None and way == (row.direction or way)
    ]
    group = row.refused or row.everyone
    if group is not None and group.raised is not None and group.gain is not None:
        whom = " of the refused" if row.refused else ""
        shown.append(
            f"{share_text(group.raised)} of the changes{whom} raise the score; mean change "
            f"{mean_text(group.gain)}"
        )
    if row.budget is not None and row.ordinary is not None:
        whom = "accepted people" if row.people == "refused" else "people who moved the other way"
        shown.append(
            f"ordinary moves: {percent(found.quantile)} of the moves of {whom} are within "
            f"{number(row.ordinary)}"
        )
    return shown


def _how_far(row: ColumnMoves, way: int, moves: Moves, found: Findings) -> str:
    whom = f"ranks that shifted {WAYS[way]}"
    if found.evidence == "paired":
        whom = f"moves {WAYS[way]} of {'the refused' if row.people == 'refused' else 'people'}"
    beyond = f", beyond a drift of {signed(row.drift)}" if row.drift else ""
    parts = [
        f"{percent(each.at)} within {signed(each.value)} ({number(each.low)} to "
        f"{number(each.high)})"
        for each in moves.quantiles
    ]
    return f"{moves.n:,} {whom}{beyond}: {', '.join(parts)}"


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _below(text: str) -> list[str]:
    return wrap(
        text,
        WIDTH,
        initial_indent="    ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )
