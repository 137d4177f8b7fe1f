"""An audit as tables and sentences for a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import fill

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.gaming_section import MOVERS
from gameproof.auditing.metric_rows import METRICS
from gameproof.auditing.number_format import measure_text
from gameproof.auditing.row_types import Gaming
from gameproof.auditing.scale_rows import WHY_SCALE_MATTERS
from gameproof.auditing.scored_applicants import BAD, REFUSED
from gameproof.auditing.worst_case_section import no_better_than
from gameproof.core.naming import quoted

WIDTH = 100
POWERS_SHOWN = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
GAMED_MEASURES = ("auc", "accuracy", "cost")  # those that are known at every multiple


def wrapped(line: str, width: int = WIDTH) -> str:
    """A sentence in lines that fit a terminal, in its characters.

    >>> print(wrapped("the interval of 95 % is wide", 18))
    the interval of
      95 % is wide
    """
    line = re.sub(r"(\d) %", "\\1\u00a0%", line)
    found = fill(
        line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return plain(found)  # only now, so that "96 %" stays on one line


def plain(text: str) -> str:
    """A sentence of a page with the characters of a terminal."""
    return text.replace("\u00a0", " ").replace("−", "-")


def gaming_lines(audit: Audit) -> list[str]:
    """The measure and the bad applicants approved, by multiple of the budgets, in short."""
    if not audit.movable:
        return []
    width = max(map(len, audit.models)) + 2
    kind = audit.measure.name if audit.measure.name in GAMED_MEASURES else "auc"
    lines = [f"{'bad applicants use their budgets, times':{width + 20}s}" + _multiples(audit)]
    for name in audit.models:
        rows = [audit.at(name, multiple) for multiple in audit.multiples]
        texts = {
            METRICS[kind]: [measure_text(getattr(row, kind)) for row in rows],
            "bad approved": [f"{row.accepted_negative:.3f}" for row in rows],
        }
        lines += _texts(name, texts, width)
    lines.append("everyone who is refused uses them")
    for name in audit.models:
        rows = [audit.at(name, multiple, REFUSED) for multiple in audit.multiples]
        texts = {"good approved": [f"{row.accepted_positive:.3f}" for row in rows]}
        lines += _texts(name, texts, width)
    return lines


def _multiples(audit: Audit) -> str:
    return "".join(f"{m:>13g}" for m in audit.multiples)


def _texts(name: str, texts: Mapping[str, Sequence[str]], width: int) -> list[str]:
    """A line for each text, the first one with a name."""
    return [
        f"  {name if k == 0 else '':{width}s}{what:18s}" + "".join(f"{v:>13s}" for v in values)
        for k, (what, values) in enumerate(texts.items())
    ]


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
        f"{'  times the budgets':{width + 20}s}" + _multiples(audit),
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
            "cost": [measure_text(row.cost) for row in rows],
        }
        lines += _texts(name, texts, width)
    return lines


def lead_lines(audit: Audit, full: bool = False) -> list[str]:
    """The multiples at which the subject's accuracy is significantly above that of the others, or
    below."""
    if not audit.movable:
        return []
    name, lines = audit.subject, []
    for movers in dict.fromkeys(row.movers for row in audit.gaming) if full else (BAD,):
        for other in audit.others:
            own = [r for r in audit.versus(audit.differences, name) if r.against == other]
            leads = [row for row in own if row.movers == movers]
            ahead = [f"{row.multiple:g}" for row in leads if row.low > 0]
            behind = [f"{row.multiple:g}" for row in leads if row.high < 0]
            lines.append(
                f"{name} against {other}, {MOVERS[movers]}: accuracy significantly (95%) ahead at "
                f"{', '.join(ahead) or 'none'}, behind at {', '.join(behind) or 'none'}"
            )
    return lines


def worst_lines(audit: Audit, radius: float) -> list[str]:
    """The worst-case accuracy of each model within a radius, and whether the subject is no better.

    Nothing at radius 0, where the worst case is gaming alone, unless labels flip for free.
    """
    if radius == 0 and audit.label_cost > 0:
        return []
    used = ", budgets used" if audit.movable else ""
    rows = [row for row in audit.shifts if row.radius == radius]
    shown = [f"{row.model} {row.accuracy:.3f} ({row.low:.3f} to {row.high:.3f})" for row in rows]
    line = f"worst-case accuracy within a radius of {radius:.3g}{used}: {', '.join(shown)}"
    comparison = no_better_than(audit, audit.subject)
    return [wrapped(sentence) for sentence in (line, comparison) if sentence]


def scale_lines(audit: Audit, powers: Sequence[float], radius: float | None = None) -> list[str]:
    """The numbers that depend on the scale of the scores, in short."""
    lines = []
    known = {row.power for row in audit.by_power}
    powers = [power for power in powers if power in known]  # none for an average of models
    if audit.movable and len(known) > 1:
        by_model = []
        for model in audit.models:
            accuracy = {row.power: row.accuracy for row in audit.of(audit.by_power, model)}
            shown = ", ".join(f"{accuracy[power]:.3f}" for power in powers)
            by_model.append(f"{model} {shown}" if len(audit.models) > 1 else shown)
        head = f"accuracy by gaming power {', '.join(f'{p:g}' for p in powers)}: "
        lines.append(head + "; ".join(by_model))
    if radius is not None:
        risks = [f"{row.model} {row.risk:.3f}" for row in audit.losses if row.radius == radius]
        within = f"worst-case log loss within a radius of {radius:.3g}" if radius else "log loss"
        lines.append(f"{within}: {', '.join(risks)}")
    why = [wrapped(f"secondary: {WHY_SCALE_MATTERS}")] if lines else []
    return [*why, *(wrapped(f"  {line}") for line in lines)]
