"""Quality by group as lines for a terminal, and who bears the cost of robustness."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.group_section import AuditedGroup, audited_groups, group_differences
from gameproof.auditing.metric_rows import GAMED
from gameproof.auditing.metric_types import Metric
from gameproof.auditing.number_format import signed_decimal
from gameproof.auditing.people_groups import FEWEST
from gameproof.core.naming import quoted
from gameproof.tables.audit_lines import wrapped

Key = tuple[str, str | None, str, float]


def group_lines(audit: Audit, full: bool = False) -> list[str]:
    """Quality by group: of every model if it is `full`, else only whom robustness refuses."""
    groups = audited_groups(audit)
    if not groups:
        return []
    rows = {(r.model, r.group, r.metric, r.multiple): r for r in audit.metrics}
    lines = []
    if full or len(audit.models) == 1:
        lines = [line for model in audit.models for line in _quality(audit, rows, groups, model)]
    if len(audit.models) > 1:
        lines += _burden(audit, rows, groups)
    left_out = any(line.split()[-1] == "-" or " - " in line for line in lines)
    return [*lines, *[f"  -: rests on fewer than {FEWEST} people of the group"] * left_out]


def _head(audit: Audit, groups: list[AuditedGroup]) -> tuple[int, str]:
    """The width of names, and the names of the first columns."""
    title = quoted(audit.grouped_by) if audit.grouped_by else "group"
    width = max(len(title), *(len(quoted(group.name)) for group in groups)) + 2
    return width, f"  {title:{width}s}{'good':>9s}{'bad':>9s}"


def _people(group: AuditedGroup, width: int) -> str:
    return f"  {quoted(group.name):{width}s}{group.good:>9,}{group.bad:>9,}"


def _value(row: Metric | None) -> str:
    return "-" if row is None else f"{row.value:.3f}"


def _quality(
    audit: Audit, rows: dict[Key, Metric], groups: list[AuditedGroup], model: str
) -> list[str]:
    gamed = GAMED if audit.movable else 0.0
    shown = [("AUC", "auc", 0.0), ("approved", "approval", 0.0)]
    shown += [("good ref.", "good_refused", 0.0), ("bad appr.", "bad_approved", 0.0)]
    if audit.movable:
        shown += [("AUC gamed", "auc", gamed), ("bad gamed", "bad_approved", gamed)]
    width, head = _head(audit, groups)
    lines = [
        f"by group, {model}: good applicants refused, bad ones approved",
        head + "".join(f"{title:>11s}" for title, *_ in shown),
    ]
    for group in groups:
        found = [rows.get((model, group.name, metric, times)) for _, metric, times in shown]
        lines.append(_people(group, width) + "".join(f"{_value(row):>11s}" for row in found))
    return lines


def _burden(audit: Audit, rows: dict[Key, Metric], groups: list[AuditedGroup]) -> list[str]:
    """The good applicants whom the subject and the plainest other model refuse, and the
    difference."""
    pair = name, other = audit.subject, audit.others[0]
    known = {row.group: row for row in group_differences(audit, pair, "good_refused", 0.0)}
    width, head = _head(audit, groups)
    wide = max(len(name), len(other), 9) + 2
    title = (
        "who bears the cost of robustness: the share of good applicants who are refused when "
        "nobody games, by group"
    )
    lines = [wrapped(title), f"{head}{other:>{wide}s}{name:>{wide}s}   difference (95% interval)"]
    for group in groups:
        found = [rows.get((model, group.name, "good_refused", 0.0)) for model in (other, name)]
        cells = "".join(f"{_value(row):>{wide}s}" for row in found)
        row = known.get(group.name)
        more = ""
        if row is not None:
            size, low, high = map(signed_decimal, (row.difference, row.low, row.high))
            more = f"   {size} ({low} to {high})"
        lines.append(f"{_people(group, width)}{cells}{more}")
    return lines
