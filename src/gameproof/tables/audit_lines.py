"""An audit as tables and sentences for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.gaming_section import MOVERS
from gameproof.auditing.row_types import Gaming
from gameproof.auditing.scale_rows import WHY_SCALE_MATTERS
from gameproof.auditing.scored_applicants import BAD, REFUSED
from gameproof.auditing.worst_case_section import no_better_than
from gameproof.core.naming import quoted

WIDTH = 100
POWERS_SHOWN = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
LARGE_COST = 1e6  # from here on a cost is shown with three digits


def wrapped(line: str, width: int = WIDTH) -> str:
    """A sentence in lines that fit a terminal."""
    return fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def plain(text: str) -> str:
    """A sentence of a page with the characters of a terminal."""
    return text.replace("\u00a0", " ").replace("−", "-")


def budget_lines(audit: Audit) -> list[str]:
    """Accuracy, approvals and cost of each model, by multiple of the budgets and by who moves."""
    many = f", mean of {audit.splits} splits" if audit.splits > 1 else ""
    width = max(map(len, audit.models)) + 2
    majority = f"majority baseline: {audit.quality[-1].majority:.3f}"
    if audit.outcomes:
        majority += f"; good: {quoted(audit.outcomes[0])}, bad: {quoted(audit.outcomes[1])}"
    if not audit.movable:
        lines = [f"accuracy, approvals and cost{many}; {majority}"]
        return lines + _block(audit, BAD, width)
    lines = [
        f"if people use their budgets{many}; {majority}",
        f"{'  times the budgets':{width + 20}s}" + "".join(f"{m:>13g}" for m in audit.multiples),
    ]
    for movers in (BAD, REFUSED):
        lines += [f" {MOVERS[movers]}", *_block(audit, movers, width)]
    return lines


def _block(audit: Audit, movers: str, width: int) -> list[str]:
    """Five lines for each model, with one column for each multiple of the budgets."""
    lines = []
    for name in audit.models:
        rows: list[Gaming] = [r for r in audit.of(audit.gaming, name) if r.movers == movers]
        texts = {
            "accuracy": [f"{row.accuracy:.3f}" for row in rows],
            "95% interval": [f"{row.low:.3f}-{row.high:.3f}" for row in rows],
            "good approved": [f"{row.accepted_positive:.3f}" for row in rows],
            "bad approved": [f"{row.accepted_negative:.3f}" for row in rows],
            "cost": [_cost(row.cost) for row in rows],
        }
        for k, (what, values) in enumerate(texts.items()):
            head = f"  {name if k == 0 else '':{width}s}{what:18s}"
            lines.append(head + "".join(f"{value:>13s}" for value in values))
    return lines


def _cost(cost: float) -> str:
    return f"{cost:.3f}" if cost < LARGE_COST else f"{cost:.3g}"


def lead_lines(audit: Audit) -> list[str]:
    """The multiples at which the last model is significantly ahead of the others, or behind."""
    last, lines = audit.models[-1], []
    for movers in dict.fromkeys(row.movers for row in audit.gaming):
        for other in audit.models[:-1]:
            own = [r for r in audit.of(audit.differences, last) if r.against == other]
            leads = [row for row in own if row.movers == movers]
            ahead = [f"{row.multiple:g}" for row in leads if row.low > 0]
            behind = [f"{row.multiple:g}" for row in leads if row.high < 0]
            lines.append(
                f"{last} against {other}, {MOVERS[movers]}: significantly (95%) ahead at "
                f"{', '.join(ahead) or 'none'}, behind at {', '.join(behind) or 'none'}"
            )
    return lines


def worst_lines(audit: Audit, radius: float) -> list[str]:
    """The worst-case accuracy of each model within a radius, and whether the last is no better."""
    used = ", budgets used" if audit.movable else ""
    rows = [row for row in audit.shifts if row.radius == radius]
    shown = [f"{row.model} {row.accuracy:.3f} ({row.low:.3f} to {row.high:.3f})" for row in rows]
    line = f"worst-case accuracy within a radius of {radius:.3g}{used}: {', '.join(shown)}"
    comparison = plain(no_better_than(audit))
    return [wrapped(sentence) for sentence in (line, comparison) if sentence]


def scale_lines(audit: Audit, powers: Sequence[float], radius: float | None = None) -> list[str]:
    """The numbers that depend on the scale of the scores, in short."""
    lines = []
    if audit.movable:
        by_model = []
        for model in audit.models:
            accuracy = {row.power: row.accuracy for row in audit.of(audit.by_power, model)}
            shown = ", ".join(f"{accuracy[power]:.3f}" for power in powers)
            by_model.append(f"{model} {shown}" if len(audit.models) > 1 else shown)
        head = f"accuracy by gaming power {', '.join(f'{p:g}' for p in powers)}: "
        lines.append(head + "; ".join(by_model))
    if radius is not None:
        risks = [f"{row.model} {row.risk:.3f}" for row in audit.losses if row.radius == radius]
        lines.append(f"largest log loss within a radius of {radius:.3g}: {', '.join(risks)}")
    why = [wrapped(f"secondary: {WHY_SCALE_MATTERS}")] if lines else []
    return [*why, *(wrapped(f"  {line}") for line in lines)]
