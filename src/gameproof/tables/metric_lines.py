"""Verdict, metrics and thresholds as lines for a terminal."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.metric_rows import GAMED, METRICS
from gameproof.auditing.metric_types import Metric, ThresholdRow
from gameproof.auditing.number_format import measure_text, signed_decimal
from gameproof.core.naming import quoted
from gameproof.tables.audit_lines import wrapped

SHOWN = ("auc", "gini", "ks", "accuracy", "log_loss", "brier")
MORE_SHOWN = ("balanced", "approval", "bad_rate", "cost", "mean_probability")


def verdict_lines(audit: Audit) -> list[str]:
    """The verdict, and warnings that must not be overlooked."""
    found = audit.verdict
    lines = [f"verdict: {found.sentence}", *(f"WARNING: {text}" for text in found.warnings)]
    return [wrapped(line) for line in lines]


def metric_lines(audit: Audit, full: bool = False) -> list[str]:
    """AUC, Gini, KS and others with intervals, clean and gamed, and the confusion matrices."""
    rows = {(r.model, r.metric, r.multiple): r for r in audit.metrics if r.group is None}
    more = MORE_SHOWN if full else (audit.measure.name,)
    shown = [*SHOWN, *(metric for metric in more if metric not in SHOWN)]
    cases = [(0.0, "nobody games")]
    cases += [(GAMED, "budgets used")] if audit.movable else []
    width = max(map(len, audit.models)) + 2
    kinds = sorted({row.interval for row in rows.values() if row.metric in shown})
    lines = [
        f"quality on {audit.quality[-1].n:,} rows, with 95% intervals ({', '.join(kinds)})",
        f"{'':{width + 22}s}" + "".join(f"{name:>27s}" for _, name in cases),
    ]
    for model in audit.models:
        found = [m for m in shown if (model, m, 0.0) in rows]
        for k, metric in enumerate(found):
            head = f"  {model if k == 0 else '':{width}s}{METRICS[metric]:20s}"
            cells = [_cell(rows.get((model, metric, multiple))) for multiple, _ in cases]
            lines.append(head + "".join(f" {cell:>26s}" for cell in cells))
        lines += _confusion_lines(audit, model, width)
    return [*lines, *_probability_lines(audit)]


def _probability_lines(audit: Audit) -> list[str]:
    """What to compare accuracies and probabilities with."""
    means = [
        f"{row.model} {row.value:.3f}"
        for row in audit.metrics
        if (row.group, row.metric, row.multiple) == (None, "mean_probability", 0.0)
    ]
    good = audit.quality[-1]
    whom = f" ({quoted(audit.outcomes[0])})" if audit.outcomes else ""
    said = (
        f"share of good applicants{whom}: {good.n_positive / good.n:.3f}; majority baseline of "
        f"accuracy: {good.majority:.3f}"
    )
    return [wrapped(f"{said}; mean probability: {', '.join(means)}" if means else said)]


def _confusion_lines(audit: Audit, model: str, width: int) -> list[str]:
    found = [r for r in audit.confusions if (r.model, r.group) == (model, None)]
    lines = []
    for kind in ("good", "bad"):
        cells = []
        for row in found:
            accepted, refused = (getattr(row, f"{kind}_{end}") for end in ("accepted", "refused"))
            cells.append(f"{accepted:,} / {refused:,}")
        head = f"  {'':{width}s}{f'{kind}: yes / no':20s}"
        lines.append(head + "".join(f"{cell:>27s}" for cell in cells))
    return lines


def _cell(row: Metric | None) -> str:
    if row is None:
        return "-"
    value, low, high = map(measure_text, (row.value, row.low, row.high))
    return f"{value} ({low} to {high})"


def threshold_lines(audit: Audit, full: bool = False) -> list[str]:
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
        rows = audit.of(audit.thresholds, model)
        if not full:
            rows = [row for row in rows if row.approve in _rates(audit)]
        for k, row in enumerate(rows):
            lines.append(f"  {model if k == 0 else '':{width}s}{_threshold(row, gamed)}")
    return [wrapped(lines[0]), *lines[1:], *_equal_lines(audit, full)]


def _rates(audit: Audit) -> tuple[float | None, ...]:
    """Approval rates near the share of good applicants; None is the model's own threshold."""
    share = audit.quality[-1].n_positive / audit.quality[-1].n
    if share < 1 / 3:
        return None, 0.1, 0.2, 0.3
    return (None, 0.7, 0.8, 0.9) if share > 2 / 3 else (None, 0.3, 0.5, 0.7)


def _threshold(row: ThresholdRow, gamed: bool) -> str:
    share = "own" if row.approve is None else f"{row.approve:.0%}"
    cells = [f"{share:>9s}{_share(row.threshold):>9s}"]
    cells.append(f"{row.approved:>10.3f}{_share(row.bad_rate):>10s}{measure_text(row.cost):>9s}")
    if gamed:
        rate = _share(row.gamed_bad_rate)
        cells.append(f"{row.gamed_approved:>12.3f}{rate:>10s}{measure_text(row.gamed_cost):>9s}")
    return "".join(cells)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _equal_lines(audit: Audit, full: bool) -> list[str]:
    """The subject against the plainest other model, or against all others, where both approve about
    as many as the subject does."""
    name = audit.subject
    own = next((r for r in audit.of(audit.thresholds, name) if r.approve is None), None)
    rows = audit.versus(audit.equal_approvals, name)
    if own is None or not rows:
        return []
    nearest = min({row.approve for row in rows}, key=lambda share: abs(share - own.approved))
    lines = []
    for row in rows:
        if row.approve == nearest and (full or row.against == audit.others[0]):
            when = "when bad applicants use their budgets" if row.multiple else "nobody games"
            lines.append(
                f"both approve {row.approve:.0%}, {when}: of the bad applicants, {name} approves "
                f"{signed_decimal(row.difference)} compared with {row.against} "
                f"({signed_decimal(row.low)} to {signed_decimal(row.high)})"
            )
    return [wrapped(line) for line in lines]
