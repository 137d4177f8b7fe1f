"""How answers violate the best-response model, where that can be recognised.

Some violations show exactly. Moves that do not respond to theta are the same for every theta;
delayed answers fit an older theta; rounded answers are multiples of a unit. If most numbers fit
exactly and some fall short, those were cut: whole moves at a length, or single features at bounds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.feature_mask import Mask, positions
from gameproof.strategic.learning.choose_family import choose_family
from gameproof.strategic.learning.fit_tests import EACH_TEST, EXACT, FALSE_ALARM, p_lack_of_fit
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit
from gameproof.strategic.learning.response_fit import ResponseFit
from gameproof.strategic.refutation import refute

MAX_DELAY = 3
TRIM = 0.65  # the share of numbers, those that fit best, that a trimmed fit uses
# A residual this many times the median residual has another cause than noise or single precision.
OUTLIER = 100.0


def moves_regardless_of_theta(fit: ResponseFit, p_value: float) -> bool:
    """Whether agents who were asked repeatedly made the same move every time: up to rounding, or
    up to noise if the fit is refuted at this p-value."""
    pilot = fit.pilot.repeated()
    if pilot.scores_only or not np.abs(pilot.moves).max(initial=0.0) > pilot.rounding:
        return False
    agent = np.unique(pilot.agents, return_inverse=True)[1]
    total = np.array([np.bincount(agent, column) for column in pilot.moves.T]).T
    mean = total / np.bincount(agent)[:, None]
    centred = replace(pilot, moves=pilot.moves - mean[agent])
    if np.abs(centred.moves).max() <= pilot.rounding:
        return True
    nobody_moves = PowerFit(centred, np.zeros_like(fit.movable), False)
    return p_value < EACH_TEST and p_lack_of_fit(nobody_moves) >= FALSE_ALARM


def find_delay(fit: ResponseFit, given: Mask | None) -> int:
    """The number of deployments by which answers are late; 0 if no older theta explains them
    better."""
    for delay in range(1, min(MAX_DELAY + 1, len(fit.pilot.thetas) - 2)):
        late = choose_family(fit.pilot.lagged(delay), given)
        left = float((fit.residuals()[fit.pilot.deployment >= delay] ** 2).sum())
        if late.holds and float((late.best.residuals() ** 2).sum()) < 0.8 * left:
            return delay
    return 0


def find_other_features(fit: ResponseFit) -> list[int]:
    """Features other than the given ones that move, if the answers fit once they may."""
    if fit.pilot.scores_only or fit.movable.all():
        return []
    free = choose_family(fit.pilot)
    return positions(free.best.movable & ~fit.movable) if free.holds else []


def rounding_unit(pilot: Pilot) -> float:
    """The unit of which all moved features are multiples; 0 if there is none."""
    if pilot.scores_only:
        return 0.0
    moved = np.abs(pilot.moves) > pilot.rounding
    values = np.unique(np.round((pilot.features + pilot.moves)[moved], 12))
    if values.size < 3:
        return 0.0
    differences = np.diff(values)
    unit = float(differences[differences > 1e-9 * np.abs(values).max()].min(initial=np.inf))
    if not np.isfinite(unit):
        return 0.0
    multiples = values / unit
    errors = np.abs(multiples - np.round(multiples))
    return unit if bool((errors <= 1e-6 * np.maximum(1.0, np.abs(multiples))).all()) else 0.0


def describe_cut(fit: ResponseFit, p_value: float) -> str:
    """How answers were cut, if most numbers fit exactly and others fall short; else ''."""
    pilot = fit.pilot
    if pilot.scores_only:
        return ""
    lengths, largest = _lengths(pilot), float(np.abs(pilot.moves).max())
    longest = lengths >= (1 - EXACT) * lengths.max()
    if p_value < EACH_TEST and np.unique(pilot.deployment[longest]).size > 1:
        return f"nobody moves farther than {lengths.max():.4g}"
    # With a strength per agent, a single answer of an agent always fits in length.
    for by_agent, seen in ((False, pilot), (True, pilot.repeated())):
        core, lengths = _trimmed(replace(fit, pilot=seen, by_agent=by_agent)), _lengths(seen)
        expected, left = core.predicted(), np.abs(core.residuals())
        predicted = expected != 0
        typical = float(np.median(left[predicted])) if predicted.any() else np.inf
        if typical > EXACT * largest:
            continue
        outliers = left > max(EXACT * largest, OUTLIER * typical)
        rows = outliers.any(axis=1)
        if rows.all() or not rows.any():
            continue
        if lengths[rows].max() <= EXACT * largest:
            return f"{int(rows.sum())} answers show no move while all others fit exactly"
        if rows.sum() > 1 and float(np.ptp(lengths[rows])) <= EXACT * largest:
            return f"nobody moves farther than {lengths[rows].mean():.4g}"
        along = (seen.moves * np.sign(expected))[outliers]
        if ((along < np.abs(expected[outliers])) & (along >= -EXACT * largest)).mean() > 0.9:
            return (
                f"{int(outliers.sum())} numbers fall short while all others fit exactly, as if "
                "clipped at bounds"
            )
        return f"{int(rows.sum())} answers do not fit while all others fit exactly"
    return ""


def moves_against_theta(pilot: Pilot) -> bool:
    """Whether an agent who was asked at every deployment moved against a change of theta."""
    panel = np.flatnonzero(np.bincount(pilot.agents) == len(pilot.thetas))
    if pilot.scores_only or not panel.size:
        return False
    rows = [
        [np.flatnonzero((pilot.deployment == k) & (pilot.agents == a))[0] for a in panel]
        for k in range(len(pilot.thetas))
    ]
    answers = pilot.features[rows] + pilot.moves[rows]
    return refute(pilot.features[rows[0]], pilot.thetas, answers, 0.1).refuted


def _lengths(pilot: Pilot) -> Vector:
    lengths: Vector = np.linalg.norm(pilot.moves, axis=1)
    return lengths


def _trimmed(fit: ResponseFit) -> ResponseFit:
    """Refits to the numbers that fit best, again and again, as long as these fit much better each
    time. With noise they never do."""
    typical = np.inf
    for _ in range(12):
        predicted = fit.unit_moves() != 0
        left = np.where(predicted, np.abs(fit.residuals()), np.inf)
        count = int(TRIM * predicted.sum())
        if count == 0:
            return fit
        median = float(np.median(left[predicted]))
        if median > 0.7 * typical or median == 0:
            return fit
        included: Mask = left <= np.partition(left.ravel(), count - 1)[count - 1]
        fit, typical = fit.refit(included), median
    return fit
