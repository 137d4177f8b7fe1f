"""The verdict on a fit: whether the answers fit the model, and if not, what likely breaks it.

Some breaks show exactly. Moves that answer nothing are the same for every theta; answers to an
older theta fit that one; rounded answers are multiples of a unit; where most numbers fit exactly
and some fall short, they were cut: whole answers at a length, or single features at bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.learning.families import chosen
from gameproof.strategic.learning.fit_tests import (
    EACH,
    EXACT,
    FALSE_ALARM,
    depends_on_start,
    is_exact,
    lack_of_fit,
)
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit
from gameproof.strategic.learning.response_fit import Fit, Mask, positions
from gameproof.strategic.observed import refute

TRIM = 0.65  # of the numbers answered, those that fit best, make the trimmed fit
# Numbers that are off by so many times what the median number is off by are so for another reason
# than noise, or than rounding to single precision, whose size is that of the number.
OFF = 100.0
LARGEST_DEGREE = 20.0  # beyond it, moves hardly grow with theta


@dataclass(frozen=True)
class FitVerdict:
    """Whether answers fit, in a sentence."""

    fits: bool
    sentence: str


def judge(fit: Fit, tried: Sequence[Fit] = ()) -> FitVerdict:
    """Tests the fit and says what it found and what to do next.

    `tried` are those of other families, a power cost first, where none of them holds."""
    pilot, every = fit.pilot, tried or (fit,)
    many = f"{pilot.agents.size} answers to {len(pilot.thetas)} deployments"
    if not np.abs(pilot.moves).max() > pilot.floor:
        return FitVerdict(True, f"Nobody moved in {many}: the power is 0.")
    if is_exact(fit):
        return FitVerdict(True, f"{described(fit)} It gives all {many} exactly.")
    by_start, by_size = depends_on_start(every[0]), every[0].growth()
    odds = min(lack_of_fit(every[0]), by_start, by_size)
    if _regardless(every[0], odds):
        return _refused("people move, but those asked again moved the same, whatever theta was")
    unit = _unit(pilot)
    if odds < EACH:
        # Of scores, features are told apart by their own deployments, which a delay shifts.
        if late := _delay(fit, every[0].movable if pilot.scores else None):
            return _refused(f"people answer the theta deployed {late} before")
        if others := _others(fit):
            told = ", ".join(map(str, others))
            return FitVerdict(
                False,
                f"The answers do not fit a response on the features given: {told} move as well. "
                "Give those too, or leave features out to have them found.",
            )
    cut = "" if unit else next(filter(None, (_cut(each, odds) for each in every)), "")
    rounded = unit > 0 and float(np.abs(fit.residuals()).max()) < 0.75 * unit
    if rounded or (odds >= EACH and not cut):
        noise = fit.noise
        what = f"answers are rounded to multiples of {unit:.4g}" if unit else "there is noise"
        each = "score" if pilot.scores else "feature"
        return FitVerdict(
            True, f"{described(fit)} On average it gives {many}; {what}, sd {noise:.2g} a {each}."
        )
    if unit:
        cut = f"answers are multiples of {unit:.4g}, but not those nearest to the best response"
    return _refused(cut or _other(every[0], by_start, by_size))


def _refused(why: str) -> FitVerdict:
    return FitVerdict(
        False,
        f"The answers fit neither a power cost nor a budget: {why}. Use what was learnt as a start "
        "only, and go on with estimates from values, such as TwoPoint.",
    )


def described(fit: Fit) -> str:
    """What the answers fit, in a sentence."""
    if not fit.movable.any():
        return "Nobody moves with theta: the power is 0."
    what, powers = fit.described(), fit.powers()
    if not fit.by_agent:
        return what + "."
    still = int((powers <= 1e-6 * powers.max()).sum())
    never = f", and {still} of them never move" if still else ""
    return (
        f"{what} on average; {fit.differing(powers.min(), powers.max())} among the {powers.size} "
        f"agents seen{never}."
    )


def _regardless(fit: Fit, odds: float) -> bool:
    """Whether those asked more than once moved, and the same each time: to rounding, or where the
    model is refuted but for noise."""
    pilot = fit.pilot.of_those_asked_again()
    if pilot.scores or not np.abs(pilot.moves).max(initial=0.0) > pilot.floor:
        return False
    whose = np.unique(pilot.agents, return_inverse=True)[1]
    total = np.array([np.bincount(whose, column) for column in pilot.moves.T]).T
    mean = total / np.bincount(whose)[:, None]
    left = replace(pilot, moves=pilot.moves - mean[whose])
    if np.abs(left.moves).max() <= pilot.floor:
        return True
    still = PowerFit(left, np.zeros_like(fit.movable), False)
    return odds < EACH and lack_of_fit(still) >= FALSE_ALARM


def _delay(fit: Fit, told: Mask | None) -> int:
    """By how many deployments answers come late; 0 where no older theta explains them better."""
    for delay in range(1, min(4, len(fit.pilot.thetas) - 2)):
        late = chosen(fit.pilot.lagged(delay), told)
        left = float((fit.residuals()[fit.pilot.which >= delay] ** 2).sum())
        if late.holds and float((late.best.residuals() ** 2).sum()) < 0.8 * left:
            return delay
    return 0


def _others(fit: Fit) -> list[int]:
    """Features beside those of the fit, where they were given, that move and make the answers fit;
    where features were found, there are none."""
    if fit.pilot.scores or fit.movable.all():
        return []
    free = chosen(fit.pilot)
    return positions(free.best.movable & ~fit.movable) if free.holds else []


def _unit(pilot: Pilot) -> float:
    """The unit of which all moved features are multiples; 0 where there is none."""
    if pilot.scores:
        return 0.0
    moved = np.abs(pilot.moves) > pilot.floor
    values = np.unique(np.round((pilot.own + pilot.moves)[moved], 12))
    if values.size < 3:
        return 0.0
    gaps = np.diff(values)
    unit = float(gaps[gaps > 1e-9 * np.abs(values).max()].min(initial=np.inf))
    if not np.isfinite(unit):
        return 0.0
    multiples = values / unit
    off = np.abs(multiples - np.round(multiples))
    return unit if bool((off <= 1e-6 * np.maximum(1.0, np.abs(multiples))).all()) else 0.0


def _cut(fit: Fit, odds: float) -> str:
    """Where most numbers fit exactly and the others fall short: how they were cut."""
    pilot = fit.pilot
    if pilot.scores:
        return ""
    lengths, largest = _lengths(pilot), float(np.abs(pilot.moves).max())
    longest = lengths >= (1 - EXACT) * lengths.max()
    if odds < EACH and np.unique(pilot.which[longest]).size > 1:
        return f"nobody moves farther than {lengths.max():.4g}"
    # A power of one's own explains all of a single answer's length.
    for by_agent, seen in ((False, pilot), (True, pilot.of_those_asked_again())):
        core, lengths = _trimmed(replace(fit, pilot=seen, by_agent=by_agent)), _lengths(seen)
        expected, left = core.predicted(), np.abs(core.residuals())
        counts = expected != 0
        typical = float(np.median(left[counts])) if counts.any() else np.inf
        if typical > EXACT * largest:
            continue
        broken = left > max(EXACT * largest, OFF * typical)
        rows = broken.any(axis=1)
        if rows.all() or not rows.any():
            continue  # there are no others that fit, or none that do not
        if rows.sum() > 1 and float(np.ptp(lengths[rows])) <= EXACT * largest:
            return f"nobody moves farther than {lengths[rows].mean():.4g}"
        along = (seen.moves * np.sign(expected))[broken]
        if ((along < np.abs(expected[broken])) & (along >= -EXACT * largest)).mean() > 0.9:
            return (
                f"{int(broken.sum())} numbers fall short where all others fit exactly, as if "
                "clipped at bounds"
            )
        return f"{int(rows.sum())} answers are off where all others fit exactly"
    return ""


def _lengths(pilot: Pilot) -> Vector:
    lengths: Vector = np.linalg.norm(pilot.moves, axis=1)
    return lengths


def _trimmed(fit: Fit) -> Fit:
    """Refitted to the numbers that fit best, time after time, as long as those fit better by far:
    where there is noise they never do."""
    typical = np.inf
    for _ in range(12):
        unit = fit.unit()
        left = np.where(unit != 0, np.abs(fit.residuals()), np.inf)
        count = int(TRIM * (unit != 0).sum())
        if count == 0:
            return fit
        median = float(np.median(left[unit != 0]))
        if median > 0.7 * typical or median == 0:
            return fit
        kept: Mask = left <= np.partition(left.ravel(), count - 1)[count - 1]
        fit, typical = fit.refitted(kept), median
    return fit


def _other(fit: Fit, by_start: float, by_size: float) -> str:
    pilot = fit.pilot
    if by_start < EACH:
        return "how far people move depends on where they start, as if clipped at bounds"
    if by_size < EACH:
        return "moves grow with theta as no one power of it does, as if cut at a limit"
    if fit.degree > LARGEST_DEGREE:
        return (
            "moves hardly grow with theta, as if cut at a limit, but are those of no ball, box or "
            "prices"
        )
    if pilot.agents.size == len(pilot.thetas):
        return "they are off, and where one person is asked noise cannot be told from a break"
    panel = np.flatnonzero(np.bincount(pilot.agents) == len(pilot.thetas))
    if not pilot.scores and panel.size:
        rows = [
            [np.flatnonzero((pilot.which == k) & (pilot.agents == a))[0] for a in panel]
            for k in range(len(pilot.thetas))
        ]
        given = pilot.own[rows] + pilot.moves[rows]
        if refute(pilot.own[rows[0]], pilot.thetas, given, 0.1).refuted:
            return "some moved against a change of theta, which no best response does"
    return "deployments are off by more than the variation among those asked explains"
