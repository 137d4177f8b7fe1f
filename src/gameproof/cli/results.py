"""What gaming does, as tables in a terminal: ``fit``, ``compare`` and ``audit`` share them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from gameproof.cli.options import number
from gameproof.core.naming import quoted

if TYPE_CHECKING:
    from gameproof.auditing.audit_result import Audit
    from gameproof.auditing.row_types import Gaming

WIDE = 100


def add_costs(parser: argparse.ArgumentParser) -> None:
    """What wrong decisions cost."""
    for what in ("accept-bad", "refuse-good"):
        parser.add_argument(
            f"--cost-{what}",
            type=number(0),
            default=1.0,
            metavar="COST",
            help=f"what it costs to {what.replace('-', ' a ')} applicant, in any unit: for the "
            "report, not for the fit (1)",
        )


def budget_lines(rows: Audit) -> list[str]:
    """Accuracy, approvals and costs of each model, by multiple of the budgets, for either kind of
    movers."""
    from gameproof.auditing.gaming_section import MOVERS
    from gameproof.auditing.scored_applicants import BAD, REFUSED

    many = f", mean of {rows.splits} splits" if rows.splits > 1 else ""
    width = max(map(len, rows.models)) + 2
    majority = f"majority baseline: {rows.quality[-1].majority:.3f}"
    if rows.outcomes:
        majority += f"; good: {quoted(rows.outcomes[0])}, bad: {quoted(rows.outcomes[1])}"
    if not rows.movable:
        lines = [f"accuracy, approvals and cost{many}; {majority}"]
        return lines + _block(rows, BAD, width)
    lines = [
        f"if people use their budgets{many}; {majority}",
        f"{'  times the budgets':{width + 20}s}" + "".join(f"{m:>13g}" for m in rows.multiples),
    ]
    for movers in (BAD, REFUSED):
        lines += [f" {MOVERS[movers]}", *_block(rows, movers, width)]
    return lines


def _block(rows: Audit, movers: str, width: int) -> list[str]:
    lines = []
    for name in rows.models:
        found: list[Gaming] = [r for r in rows.of(rows.gaming, name) if r.movers == movers]
        texts = {
            "accuracy": [f"{row.accuracy:.3f}" for row in found],
            "95% interval": [f"{row.low:.3f}-{row.high:.3f}" for row in found],
            "good approved": [f"{row.accepted_positive:.3f}" for row in found],
            "bad approved": [f"{row.accepted_negative:.3f}" for row in found],
            "cost": [f"{row.cost:.3f}" if row.cost < 1e6 else f"{row.cost:.3g}" for row in found],
        }
        for k, (what, values) in enumerate(texts.items()):
            head = f"  {name if k == 0 else '':{width}s}{what:18s}"
            lines.append(head + "".join(f"{value:>13s}" for value in values))
    return lines


def lead_lines(rows: Audit) -> list[str]:
    """At which multiples the last model is ahead of the others, and behind, beyond doubt."""
    from gameproof.auditing.gaming_section import MOVERS

    last, lines = rows.models[-1], []
    for movers in dict.fromkeys(row.movers for row in rows.gaming):
        for other in rows.models[:-1]:
            own = [r for r in rows.of(rows.differences, last) if r.against == other]
            leads = [row for row in own if row.movers == movers]
            ahead = [f"{row.multiple:g}" for row in leads if row.low > 0]
            behind = [f"{row.multiple:g}" for row in leads if row.high < 0]
            lines.append(
                f"{last} against {other}, {MOVERS[movers]}: beyond doubt (95%) ahead at "
                f"{', '.join(ahead) or 'none'}, behind at {', '.join(behind) or 'none'}"
            )
    return lines


def worst_lines(rows: Audit, radius: float) -> list[str]:
    """The least accuracy of each model within one radius, and whether the last is no better."""
    from gameproof.auditing.worst_case_section import no_better_than

    used = ", budgets used" if rows.movable else ""
    found = [row for row in rows.shifts if row.radius == radius]
    said = [f"{row.model} {row.accuracy:.3f} ({row.low:.3f} to {row.high:.3f})" for row in found]
    lines = [f"worst-case accuracy within a radius of {radius:.3g}{used}: {', '.join(said)}"]
    told = no_better_than(rows).replace("\u00a0", " ").replace("−", "-")
    return [wrapped(line) for line in [*lines, told] if line]


def scale_lines(rows: Audit, powers: Sequence[float], radius: float | None = None) -> list[str]:
    """What depends on the scale of the scores, in short."""
    from gameproof.auditing.scale_rows import WHY_SCALE_MATTERS

    said = []
    if rows.movable:
        for model in rows.models:
            known = {row.power: row.accuracy for row in rows.of(rows.by_power, model)}
            shares = ", ".join(f"{known[power]:.3f}" for power in powers)
            said.append(f"{model} {shares}" if len(rows.models) > 1 else shares)
        head = f"accuracy by gaming power {', '.join(f'{p:g}' for p in powers)}: "
        said = [head + "; ".join(said)]
    if radius is not None:
        found = [f"{row.model} {row.risk:.3f}" for row in rows.losses if row.radius == radius]
        said.append(f"largest log loss within a radius of {radius:.3g}: {', '.join(found)}")
    return (
        [wrapped(f"secondary: {WHY_SCALE_MATTERS}"), *(wrapped(f"  {line}") for line in said)]
        if said
        else []
    )


def wrapped(line: str) -> str:
    """A sentence in lines that a terminal has room for."""
    return fill(line, WIDE, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
