"""Reasons against a model: decisions that are the same for almost everyone, and poor measures."""

from __future__ import annotations

from gameproof.auditing.audited_measure import (
    MeasuredAudit,
    beats,
    constant_in_words,
    ends,
    is_certain,
    measured,
    of_constant,
    with_interval,
)
from gameproof.auditing.metric_rows import GAMED
from gameproof.auditing.number_format import percent

# Fewer people than this share, or than half the share of the rarer outcome, decided another way.
ALMOST_NOBODY = 0.05
# From this share on, the people who have the same score are worth a warning.
MANY = 0.5
# A single model that loses at least this part of its advantage to gaming should not be used.
TOO_MUCH = 0.5


def why_not(audit: MeasuredAudit, model: str) -> str:
    """Why the model should not be used; empty if nothing speaks against it."""
    if said := same_decisions(audit, model):
        return (
            said.removeprefix(f"{model} ")
            .replace("approves", "it approves", 1)
            .replace("refuses", "it refuses", 1)
        )
    label, whom, constant = audit.measure.spoken, constant_in_words(audit), of_constant(audit)
    clean = measured(audit, model, 0.0)
    if not beats(audit, clean.low, clean.high, constant):
        how = "not measurably better" if clean.low <= constant <= clean.high else "worse"
        return f"its {label} of {with_interval(clean)} is {how} than {whom}"
    if audit.movable:
        gamed = measured(audit, model, GAMED)
        change = ends(clean.value, gamed.value)
        if not beats(audit, gamed.value, gamed.value, constant):
            return (
                f"when bad applicants use their budgets, its {label} goes from {change}, no better "
                f"than {whom}"
            )
        kept = (gamed.value - constant) / (clean.value - constant)
        if len(audit.models) == 1 and 1 - kept >= TOO_MUCH:
            return (
                f"when bad applicants use their budgets, it loses {percent(1 - kept)} of its "
                f"advantage over {whom} ({label} {change})"
            )
    return ""


def warning(audit: MeasuredAudit, model: str) -> str:
    """A warning if the model makes the same decision about almost everyone, or gives most people
    the same score; else empty."""
    said = same_decisions(audit, model)
    if not said:
        return same_scores(audit, model)
    clean = measured(audit, model, 0.0)
    ranks = audit.measure.ranks and beats(audit, clean.low, clean.high, of_constant(audit))
    if not (ranks and is_certain(audit, model)):
        return said
    when = " when bad applicants use their budgets" if audit.movable else ""
    value = measured(audit, model, GAMED if audit.movable else 0.0).value
    return (
        f"{said}; its ranking is measurably better than chance ({audit.measure.label} {value:.3f}"
        f"{when}), so choose its threshold by an approval rate (fit --approve)"
    )


def same_decisions(audit: MeasuredAudit, model: str) -> str:
    """A sentence if the model makes the same decision about almost everyone; else empty."""
    row = next(r for r in audit.confusions if (r.model, r.group, r.multiple) == (model, None, 0.0))
    n_good, n_bad = row.good_accepted + row.good_refused, row.bad_accepted + row.bad_refused
    n, approved = n_good + n_bad, row.good_accepted + row.bad_accepted
    few = min(approved, n - approved) / n
    if few >= min(ALMOST_NOBODY, min(n_good, n_bad) / (2 * n)) or audit.approve is not None:
        return ""
    if approved > n - approved:
        return (
            f"{model} approves {percent(approved / n)} of all applicants, and "
            f"{percent(row.bad_accepted / n_bad)} of those who should be refused"
        )
    return (
        f"{model} refuses {percent(1 - approved / n)} of all applicants, and "
        f"{percent(row.good_refused / n_good)} of those who should be accepted"
    )


def same_scores(audit: MeasuredAudit, model: str) -> str:
    """A sentence if most people get the same score; else empty."""
    (row,) = audit.of(audit.quality, model)
    if row.same_score <= MANY:
        return ""
    return f"{model} gives {percent(row.same_score)} of all applicants the same score"
