"""Numbers as they are read, and why a column has its verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.naming import listed, quoted
from gameproof.tables.budget_learning.column_moves import Group, LevelMoves, Verdict
from gameproof.tables.budget_learning.evidence import Mean, Share

WAYS = {1: "up", -1: "down", 0: "either way"}


def number(value: float) -> str:
    """With as many digits as are read.

    >>> number(12345.6), number(0.01234), number(float("inf"))
    ('12,346', '0.0123', '∞')
    """
    if np.isnan(value):
        return "?"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
    return text.replace("-", "−")


def signed(value: float) -> str:
    """With its sign."""
    return number(value) if value <= 0 else f"+{number(value)}"


def percent(share: float) -> str:
    """A share.

    >>> percent(0.95), percent(0.123), percent(0)
    ('95%', '12.3%', '0%')
    """
    text = f"{100 * share:.1f}"
    return f"{text.removesuffix('.0')}%"


def p_text(p_value: float) -> str:
    """A p-value."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def share_text(share: Share) -> str:
    """With its interval, where there is one."""
    if np.isnan(share.low):
        return percent(share.value)
    return f"{percent(share.value)} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def mean_text(mean: Mean) -> str:
    """With its interval, where there is one."""
    if np.isnan(mean.low):
        return signed(mean.value)
    return f"{signed(mean.value)} ({number(mean.low)} to {number(mean.high)})"


def people(count: int) -> str:
    """How many."""
    return "1 person" if count == 1 else f"{count:,} people"


def number_reason(
    verdict: Verdict,
    direction: int,
    drift: float,
    towards: int,
    p: dict[str, float],
    moves: Vector,
    parts: tuple[Vector, Vector] | None,
    clear: bool,
) -> str:
    """Why a column of numbers of the same people has this verdict; `parts` are the moves of the
    refused and of the accepted, and `clear` is whether the two differ clearly."""
    if verdict == "unchanged":
        return "nobody's value changed"
    if verdict == "too few":
        return f"only {people(int((moves != 0).sum()))} changed it: too few to tell"
    if verdict == "undirected":
        up, down = (percent(float((way * moves > 0).mean())) for way in (1, -1))
        chance = f"{up} moved up and {down} down, which chance explains ({p_text(p['moved'])})"
        return chance + _returning(parts)
    way = WAYS[direction]
    if parts is None:
        share, other = (percent(float((s * direction * moves > 0).mean())) for s in (1, -1))
        if verdict == "drift":
            return (
                f"{share} of all people moved {way}, by {signed(drift)} in the median: it looks "
                "like drift common to everyone; a model would tell, by comparing refused and "
                "accepted people"
            )
        return (
            f"{share} of people moved {way} and {other} the other way ({p_text(p['moved'])}); "
            "without a model, drift is not excluded"
        )
    refused, accepted = (percent(float((direction * part > 0).mean())) for part in parts)
    both = f"{refused} of the refused and {accepted} of the accepted moved {way}"
    similar = "accepted people with about the same value before"
    if verdict == "drift":
        return (
            f"{both}{_by(drift)}, and the refused went no further towards acceptance than "
            f"{similar}: drift common to everyone, not gaming"
        )
    if verdict == "away":
        return f"{both}; the refused went less far towards acceptance than {similar}: not gaming"
    if verdict == "unclear":
        return f"{both}; {_unclear(p['further'], clear, 'go further', similar)}: gaming or drift"
    aim = "towards acceptance" if towards else "though the model gives this column no weight"
    return f"{both}: further than {similar} ({p_text(p['further'])}), {aim}"


def _unclear(p_value: float, clear: bool, what: str, similar: str) -> str:
    """Why people moved and it is not clear whether they gamed."""
    if clear:
        return f"the difference comes from what the accepted did ({p_text(p_value)})"
    return f"the refused did not clearly {what} than {similar} ({p_text(p_value)})"


def _by(drift: float) -> str:
    return f", by {signed(drift)} in the median of the accepted" if drift else ""


def _returning(parts: tuple[Vector, Vector] | None) -> str:
    """A hint at values that come back to the middle."""
    if parts is None:
        return ""
    means = [float(np.sign(part).mean()) for part in parts]
    if means[0] * means[1] < 0 and min(map(abs, means)) > 0.1:
        return "; refused and accepted moved opposite ways, as extreme values return to the middle"
    return ""


def category_reason(
    verdict: Verdict,
    p: dict[str, float],
    levels: Sequence[LevelMoves],
    groups: Sequence[Group],
    clear: bool,
) -> str:
    """Why a category of the same people has this verdict; `groups` are everyone and, with a model,
    the refused and the accepted, and `clear` is whether these two differ clearly."""
    count = round(groups[0].changed.value * groups[0].n) if groups[0].changed else 0
    if verdict == "unchanged":
        return "nobody switched"
    if verdict == "too few":
        return f"only {people(count)} switched: too few to tell"
    if verdict == "undirected":
        return f"{people(count)} switched, to no level clearly more than from it"
    if len(groups) == 1:
        claimed = [f"{quoted(x.level)} (+{x.came}, −{x.left})" for x in levels if x.claim]
        return (
            f"{people(count)} switched, to {listed(claimed)} ({p_text(p['moved'])}); without a "
            "model, drift is not excluded"
        )
    shares = [percent(each.changed.value) if each.changed else "none" for each in groups[1:]]
    both = f"{shares[0]} of the refused and {shares[1]} of the accepted switched"
    similar = "accepted people with the same level before"
    if verdict == "drift":
        return f"{both}, and the refused gained no more than {similar}: drift, not gaming"
    if verdict == "away":
        return f"{both}, and the refused gained less than {similar}: not gaming"
    if verdict == "unclear":
        return f"{both}; {_unclear(p['further'], clear, 'gain more', similar)}: gaming or drift"
    claimed = [f"{quoted(x.level)} ({x.came} of the refused)" for x in levels if x.claim]
    return f"{both}, more than {similar} ({p_text(p['further'])}): to {listed(claimed)}"


def shift_reason(
    verdict: Verdict, direction: int, drift: float, towards: int, p: dict[str, float], model: bool
) -> str:
    """Why a column of numbers of unmatched people has this verdict."""
    changed = f"the distribution shifted {WAYS[direction]} ({p_text(p['moved'])})"
    safe = "people well above the threshold"
    if verdict == "too few":
        return "too few people to tell"
    if verdict == "unchanged":
        return f"the distribution did not clearly change ({p_text(p['moved'])})"
    if verdict == "undirected":
        return f"the distribution changed ({p_text(p['moved'])}), to neither side"
    if verdict == "unclear":
        return f"{changed}, not clearly more than among {safe} ({p_text(p['further'])}): " + (
            "gaming or drift"
        )
    if verdict == "away":
        return f"others shifted less far towards acceptance than {safe}: not gaming"
    if verdict == "drift":
        if not model:
            return (
                f"all ranks shifted by about the same, {signed(drift)} in the median: it looks "
                "like drift common to everyone; a key or a model would tell"
            )
        return (
            f"{safe} shifted too, by {signed(drift)} in the median: it looks like drift common to "
            "everyone, not gaming"
        )
    if not model:
        return f"{changed}; without a model, drift is not excluded"
    aim = "towards acceptance" if towards else "though the model gives this column no weight"
    return f"{changed}, further than among {safe} ({p_text(p['further'])}), {aim}"


def level_shift_reason(
    verdict: Verdict, p: dict[str, float], levels: Sequence[LevelMoves], model: bool
) -> str:
    """Why a category of unmatched people has this verdict."""
    changed = f"shares of levels changed ({p_text(p['moved'])})"
    safe = "people well above the threshold"
    if verdict == "too few":
        return "too few people to tell"
    if verdict == "unchanged":
        return f"shares of levels did not clearly change ({p_text(p['moved'])})"
    if verdict == "drift":
        return f"{changed}, among {safe} too: it looks like drift, not gaming"
    if verdict == "away":
        return f"{changed}, towards levels that lower the score: not gaming"
    if verdict == "unclear":
        return f"{changed}, not clearly more than among {safe} ({p_text(p['further'])})"
    claimed = [
        f"{quoted(x.level)} (from {percent(x.before.value)} to {percent(x.after.value)})"
        for x in levels
        if x.claim and x.before and x.after
    ]
    what = f"more people have {listed(claimed)} ({p_text(p['moved'])})" if claimed else changed
    end = f", beyond {safe}" if model else "; without a model, drift is not excluded"
    return f"{what}{end}"
