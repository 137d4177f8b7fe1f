"""A short form of an audit, for `print` and for notebooks: the verdict and one row per model."""

from __future__ import annotations

from gameproof.auditing.metric_rows import GAMED, METRICS
from gameproof.auditing.verdict import Audited
from gameproof.core.html_tables import html_summary

SHOWN = ("auc", "accuracy", "brier")


def summary_rows(audit: Audited) -> tuple[list[str], list[list[str]]]:
    """The head and the rows: metrics of each model when nobody games, and when budgets are used."""
    found = {(r.model, r.metric, r.multiple): r for r in audit.metrics if r.group is None}
    names = [m for m in SHOWN if (audit.models[-1], m, 0.0) in found]
    cases = [(0.0, ""), *([(GAMED, ", gamed")] if audit.movable else [])]
    head = ["model", *(f"{METRICS[name]}{when}" for name in names for _, when in cases)]
    rows = []
    for model in audit.models:
        cells = [found.get((model, name, at)) for name in names for at, _ in cases]
        rows.append([model, *("-" if each is None else f"{each.value:.3f}" for each in cells)])
    return head, rows


def summary_lines(audit: Audited) -> list[str]:
    """The short form as text."""
    head, rows = summary_rows(audit)
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [audit.verdict.sentence, *audit.verdict.warnings]
    for row in (head, *rows):
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        lines.append("  ".join(cells))
    return lines


def summary_html(audit: Audited, details: list[str] | None = None) -> str:
    """The short form as HTML."""
    head, rows = summary_rows(audit)
    sentences = [audit.verdict.sentence, *(f"Warning: {text}" for text in audit.verdict.warnings)]
    return html_summary(sentences, head, rows, details or ())
