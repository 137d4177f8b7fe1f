"""Verdict, metrics, thresholds and groups as lines for a terminal."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.metric_rows import GAMED, METRICS
from gameproof.auditing.metric_types import Metric, ThresholdRow
from gameproof.core.naming import quoted
from gameproof.tables.audit_lines import plain, wrapped

# Metrics that do not stand in the table of gaming by budgets.
SHOWN = ("auc", "gini", "ks", "balanced", "log_loss", "brier", "mean_probability")
APPROVALS_SHOWN = (None, 0.5, 0.7, 0.8, 0.9, 0.95)  # None: the threshold of the model itself


def verdict_lines(audit: Audit) -> list[str]:
    """The verdict, and warnings about models that decide almost everyone the same way."""
    found = audit.verdict
    lines = [f"verdict: {found.sentence}", *(f"WARNING: {text}" for text in found.warnings)]
    return [wrapped(plain(line)) for line in lines]


def metric_lines(audit: Audit) -> list[str]:
    """AUC, Gini, KS and others with intervals, clean and gamed, and the confusion matrices."""
    rows = {(r.model, r.metric, r.multiple): r for r in audit.metrics if r.group is None}
    cases = [(0.0, "nobody games")]
    cases += [(GAMED, "budgets used")] if audit.movable else []
    width = max(map(len, audit.models)) + 2
    kinds = sorted({row.interval for row in rows.values() if row.metric in SHOWN})
    lines = [
        f"quality with 95% intervals ({', '.join(kinds)})",
        f"{'':{width + 22}s}" + "".join(f"{name:>24s}" for _, name in cases),
    ]
    for model in audit.models:
        found = [m for m in SHOWN if (model, m, 0.0) in rows]
        for k, metric in enumerate(found):
            head = f"  {model if k == 0 else '':{width}s}{METRICS[metric]:20s}"
            cells = [_cell(rows.get((model, metric, multiple))) for multiple, _ in cases]
            lines.append(head + "".join(f"{cell:>24s}" for cell in cells))
        lines += _confusion_lines(audit, model, width)
    return lines


def _confusion_lines(audit: Audit, model: str, width: int) -> list[str]:
    found = [r for r in audit.confusions if (r.model, r.group) == (model, None)]
    lines = []
    for kind in ("good", "bad"):
        cells = []
        for row in found:
            accepted, refused = (getattr(row, f"{kind}_{end}") for end in ("accepted", "refused"))
            cells.append(f"{accepted:,} / {refused:,}")
        head = f"  {'':{width}s}{f'{kind}: yes / no':20s}"
        lines.append(head + "".join(f"{cell:>24s}" for cell in cells))
    return lines


def _cell(row: Metric | None) -> str:
    return "-" if row is None else f"{row.value:.3f} ({row.low:.3f}-{row.high:.3f})"


def threshold_lines(audit: Audit) -> list[str]:
    """Approval rate, bad rate and cost of thresholds, clean and gamed."""
    gamed = bool(audit.movable)
    head = f"{'approve':>9s}{'from p':>9s}{'approved':>10s}{'bad rate':>10s}{'cost':>9s}"
    more = f"{'approved':>12s}{'bad rate':>10s}{'cost':>9s}" if gamed else ""
    costs = audit.costs
    width = max(map(len, audit.models)) + 2
    lines = [
        f"thresholds: approve from a probability p; cost {costs.accept_bad:g} for a bad applicant "
        f"accepted, {costs.refuse_good:g} for a good one refused"
        + ("; on the right when bad applicants use their budgets" if gamed else ""),
        f"  {'':{width}s}{head}{more}",
    ]
    for model in audit.models:
        rows = [r for r in audit.of(audit.thresholds, model) if r.approve in APPROVALS_SHOWN]
        for k, row in enumerate(rows):
            lines.append(f"  {model if k == 0 else '':{width}s}{_threshold(row, gamed)}")
    return [wrapped(lines[0]), *lines[1:], *_equal_lines(audit)]


def _threshold(row: ThresholdRow, gamed: bool) -> str:
    share = "own" if row.approve is None else f"{row.approve:.0%}"
    cells = [f"{share:>9s}{_share(row.threshold):>9s}"]
    cells.append(f"{row.approved:>10.3f}{_share(row.bad_rate):>10s}{row.cost:>9.3f}")
    if gamed:
        rate = _share(row.gamed_bad_rate)
        cells.append(f"{row.gamed_approved:>12.3f}{rate:>10s}{row.gamed_cost:>9.3f}")
    return "".join(cells)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _equal_lines(audit: Audit) -> list[str]:
    """The last model against the others, where both approve about as many as the last one does."""
    name = audit.models[-1]
    own = next((r for r in audit.of(audit.thresholds, name) if r.approve is None), None)
    rows = audit.of(audit.equal_approvals, name)
    if own is None or not rows:
        return []
    nearest = min({row.approve for row in rows}, key=lambda share: abs(share - own.approved))
    lines = []
    for row in rows:
        if row.approve == nearest:
            when = "when bad applicants use their budgets" if row.multiple else "nobody games"
            lines.append(
                f"both approve {row.approve:.0%}, {when}: of the bad applicants, {name} approves "
                f"{row.difference:+.3f} compared with {row.against} ({row.low:+.3f} to "
                f"{row.high:+.3f})"
            )
    return [wrapped(line) for line in lines]


def group_lines(audit: Audit) -> list[str]:
    """Quality by group, and who bears the cost of robustness."""
    groups = list(dict.fromkeys(r.group for r in audit.metrics if r.group is not None))
    if not groups:
        return []
    rows = {(r.model, r.group, r.metric, r.multiple): r for r in audit.metrics}
    gamed = GAMED if audit.movable else 0.0
    width = max(len(quoted(group)) for group in groups) + 2
    names = [("AUC", "auc", 0.0), ("approved", "approval", 0.0)]
    names += [("good refused", "good_refused", 0.0), ("bad approved", "bad_approved", 0.0)]
    names += [("AUC gamed", "auc", gamed), ("bad appr. gamed", "bad_approved", gamed)]
    lines = []
    for model in audit.models:
        head = "".join(f"{title:>17s}" for title, *_ in names)
        lines.append(f"by group, {model}:")
        lines.append(f"  {'':{width}s}{head}")
        for group in groups:
            found = [rows.get((model, group, metric, multiple)) for _, metric, multiple in names]
            cells = "".join(f"{'-' if r is None else f'{r.value:.3f}':>17s}" for r in found)
            lines.append(f"  {quoted(group):{width}s}{cells}")
    return lines + _burden_lines(audit, groups)


def _burden_lines(audit: Audit, groups: list[str]) -> list[str]:
    name = audit.models[-1]
    found = [
        row
        for row in audit.of(audit.metric_differences, name)
        if row.group in groups
        and (row.metric, row.multiple) == ("good_refused", 0.0)
        and row.against == audit.models[0]
    ]
    lines = [
        f"  {quoted(str(row.group))}: {row.difference:+.3f} ({row.low:+.3f} to {row.high:+.3f})"
        for row in found
    ]
    if not lines:
        return []
    head = (
        f"who bears the cost of robustness: the share of good applicants that {name} refuses, "
        f"minus that of {audit.models[0]}, when nobody games"
    )
    return [wrapped(head), *lines]
