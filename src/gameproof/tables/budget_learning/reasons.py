"""Why a column has its verdict: one sentence for each verdict.

Four kinds of columns differ in what their sentences report: numbers and categories, of the same
people or of people who are not matched. The p-values `p` are keyed by test, as `p_values()` of each
kind returns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.naming import listed, quoted
from gameproof.tables.budget_learning.moves import Group, LevelMoves, Verdict
from gameproof.tables.budget_learning.phrases import WAYS, p_text, people, percent, signed

NO_MODEL = "without a model, drift cannot be ruled out"
SAFE_PEOPLE = "people well above the threshold"
TOO_FEW = "too few people to tell"
NO_WEIGHT = "though the model gives this column no weight"

PValues = Mapping[str, float]


def number_reason(
    verdict: Verdict,
    direction: int,
    drift: float,
    towards: int,
    p: PValues,
    moves: Vector,
    parts: tuple[Vector, Vector] | None,
    clear: bool,
) -> str:
    """The reason for the verdict on numbers of the same people.

    `parts` are the moves of the refused and of the accepted, None without a model. `clear` is True
    if the two differ significantly.
    """
    if verdict == "unchanged":
        return "nobody's value changed"
    if verdict == "too few":
        return f"only {people(int((moves != 0).sum()))} changed it: {TOO_FEW}"
    if verdict == "undirected":
        up, down = (percent(float((way * moves > 0).mean())) for way in (1, -1))
        chance = f"{up} moved up and {down} down, which may be chance ({p_text(p['moved'])})"
        return chance + _regression_to_the_mean(parts)
    way = WAYS[direction]
    if parts is None:
        share, other = (percent(float((s * direction * moves > 0).mean())) for s in (1, -1))
        if verdict == "drift":
            return (
                f"{share} of all people moved {way}, by {signed(drift)} in the median: probably "
                "drift common to everyone; a model would tell, by comparing refused and accepted "
                "people"
            )
        return (
            f"{share} of people moved {way} and {other} the other way ({p_text(p['moved'])}); "
            f"{NO_MODEL}"
        )
    refused, accepted = (percent(float((direction * part > 0).mean())) for part in parts)
    both = f"{refused} of the refused and {accepted} of the accepted moved {way}"
    similar = "accepted people with about the same value before"
    by = f", by {signed(drift)} in the median of the accepted" if drift else ""
    aim = "towards acceptance" if towards else NO_WEIGHT
    sentences: dict[Verdict, str] = {
        "drift": f"{both}{by}, and the refused moved no further towards acceptance than {similar}: "
        "drift common to everyone, not gaming",
        "away": f"{both}; the refused moved less far towards acceptance than {similar}: not gaming",
        "unclear": f"{both}; {_unclear(p, clear, 'move further', similar)}",
        "moved": f"{both}: further than {similar} ({p_text(p['further'])}), {aim}",
    }
    return sentences[verdict]


def category_reason(
    verdict: Verdict,
    p: PValues,
    levels: Sequence[LevelMoves],
    groups: Sequence[Group],
    clear: bool,
) -> str:
    """The reason for the verdict on a category of the same people.

    `groups` are everyone and, with a model, the refused and the accepted. `clear` is True if these
    two differ significantly.
    """
    count = round(groups[0].changed.value * groups[0].n) if groups[0].changed else 0
    if verdict == "unchanged":
        return "nobody switched"
    if verdict == "too few":
        return f"only {people(count)} switched: {TOO_FEW}"
    if verdict == "undirected":
        return f"{people(count)} switched, but to no level significantly more than from it"
    if len(groups) == 1:
        claimed = [f"{quoted(x.level)} (+{x.came}, −{x.left})" for x in levels if x.claim]
        return f"{people(count)} switched, to {listed(claimed)} ({p_text(p['moved'])}); {NO_MODEL}"
    shares = [percent(each.changed.value) if each.changed else "none" for each in groups[1:]]
    both = f"{shares[0]} of the refused and {shares[1]} of the accepted switched"
    similar = "accepted people with the same level before"
    claimed = [f"{quoted(x.level)} ({x.came} of the refused)" for x in levels if x.claim]
    sentences: dict[Verdict, str] = {
        "drift": f"{both}, and the refused gained no more than {similar}: drift, not gaming",
        "away": f"{both}, and the refused gained less than {similar}: not gaming",
        "unclear": f"{both}; {_unclear(p, clear, 'gain more', similar)}",
        "moved": f"{both}, more than {similar} ({p_text(p['further'])}): to {listed(claimed)}",
    }
    return sentences[verdict]


def shift_reason(
    verdict: Verdict, direction: int, drift: float, towards: int, p: PValues, model: bool
) -> str:
    """The reason for the verdict on numbers of people who are not matched."""
    tested = p_text(p["moved"])
    changed = f"the distribution shifted {WAYS[direction]} ({tested})"
    drifted = f"{signed(drift)} in the median: probably drift common to everyone"
    aim = "towards acceptance" if towards else NO_WEIGHT
    further = f"further than among {SAFE_PEOPLE} ({p_text(p['further'])})"
    sentences: dict[Verdict, str] = {
        "too few": TOO_FEW,
        "unchanged": f"the distribution did not change significantly ({tested})",
        "undirected": f"the distribution changed ({tested}), but in no direction",
        "unclear": f"{changed}, but not significantly {further}: gaming or drift",
        "away": f"others shifted less far towards acceptance than {SAFE_PEOPLE}: not gaming",
        "drift": f"{SAFE_PEOPLE} shifted too, by {drifted}, not gaming"
        if model
        else f"all ranks shifted by about the same amount, {drifted}; a key or a model would tell",
        "moved": f"{changed}, {further}, {aim}" if model else f"{changed}; {NO_MODEL}",
    }
    return sentences[verdict]


def level_shift_reason(
    verdict: Verdict, p: PValues, levels: Sequence[LevelMoves], model: bool
) -> str:
    """The reason for the verdict on a category of people who are not matched."""
    tested = p_text(p["moved"])
    changed = f"the shares of levels changed ({tested})"
    claimed = [
        f"{quoted(x.level)} (from {percent(x.before.value)} to {percent(x.after.value)})"
        for x in levels
        if x.claim and x.before and x.after
    ]
    moved = f"more people have {listed(claimed)} ({tested})" if claimed else changed
    sentences: dict[Verdict, str] = {
        "too few": TOO_FEW,
        "unchanged": f"the shares of levels did not change significantly ({tested})",
        "drift": f"{changed}, among {SAFE_PEOPLE} too: probably drift, not gaming",
        "away": f"{changed}, towards levels that lower the score: not gaming",
        "unclear": f"{changed}, but not significantly more than among {SAFE_PEOPLE} "
        f"({p_text(p['further'])}): gaming or drift",
        "moved": f"{moved}, more than among {SAFE_PEOPLE}" if model else f"{moved}; {NO_MODEL}",
    }
    return sentences[verdict]


def _unclear(p: PValues, clear: bool, what: str, similar: str) -> str:
    """Why it is unclear whether people gamed."""
    tested = p_text(p["further"])
    if clear:
        return f"the difference comes from what the accepted did ({tested}): gaming or drift"
    return f"the refused did not significantly {what} than {similar} ({tested}): gaming or drift"


def _regression_to_the_mean(parts: tuple[Vector, Vector] | None) -> str:
    """A hint at extreme values that return to the mean."""
    if parts is None:
        return ""
    means = [float(np.sign(part).mean()) for part in parts]
    if means[0] * means[1] < 0 and min(map(abs, means)) > 0.1:
        return "; refused and accepted people moved in opposite directions: regression to the mean"
    return ""
