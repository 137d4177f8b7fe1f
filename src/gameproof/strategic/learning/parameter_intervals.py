"""Intervals of a fitted power cost or ball.

By profile: all degrees (norms, powers) for which the best of the others leave no more unexplained
than an F test allows. Without noise these are as narrow as floating-point numbers let them be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Vector
from gameproof.strategic.learning.power_fit import LOWER, UPPER, PowerFit, fitted, polished

Pair = tuple[float, float]

ARITHMETIC = 1e-10  # added to intervals: a search on floating-point numbers finds no better
NARROW = 0.01  # an interval of 1/degree or 1/norm that can tell halves apart


def profile(best: PowerFit, name: str, level: float) -> Pair:
    """The interval of "v", of "w" or, where it is common, of "power": all values for which the best
    of the others leave no more unexplained than an F test allows."""
    allowed = best.variance * float(f_distribution.ppf(level, 1, best.freedom))
    centre = {"v": best.v, "w": best.w, "power": float(best.powers()[0])}[name]
    lowest, highest = {
        "v": (LOWER[0], UPPER[0]),
        "w": (LOWER[1], UPPER[1]),
        "power": (0.0, 1e3 * centre),
    }[name]
    ball = best.v == 0 and name != "v"  # whose degree is no question
    nearest = {centre: best}  # each search starts from the one that was closest

    def over(value: float) -> float:
        if value in nearest:
            return nearest[value].rss - best.rss - allowed
        start = nearest[min(nearest, key=lambda other: abs(other - value))]
        pinned = replace(
            start,
            v=value if name == "v" else start.v,
            w=value if name == "w" else start.w,
            pinned=value if name == "power" else None,
        )
        tries = (pinned, polished(pinned, (name != "v" and not ball, name != "w")))
        nearest[value] = min(tries, key=lambda fit: fit.rss)
        return nearest[value].rss - best.rss - allowed

    def end(bound: float) -> float:
        reach, inside = max(spread(best, name), 1e-13 * centre, 1e-14), centre
        while True:
            outside = centre + np.sign(bound - centre) * min(reach, abs(bound - centre))
            if over(outside) > 0:
                return float(brentq(over, inside, outside, xtol=1e-13, rtol=1e-4))
            if reach >= abs(bound - centre):
                return bound
            inside, reach = outside, 2 * reach

    width = ARITHMETIC * (centre if name == "power" else 1.0)
    return float(max(end(lowest) - width, lowest)), float(min(end(highest) + width, highest))


def spread(best: PowerFit, name: str) -> float:
    """The standard error of "v", "w" or "power" (of all powers in proportion), to first order."""
    slopes = best.sensitivities()
    if best.v == 0 and name != "v":  # the degree of a ball is no question
        slopes = slopes * np.array([1.0, 0.0, 1.0])
    # A norm that does not matter has slope 0 and gets no share.
    shares = np.linalg.pinv(slopes.T @ slopes, rcond=1e-12)
    mean = float(best.powers().mean())
    k = ("power", "v", "w").index(name)
    return float(np.sqrt(max(shares[k, k], 0.0) * best.variance)) * (mean if k == 0 else 1.0)


def power_interval(best: PowerFit, movers: int, level: float) -> Pair:
    """The interval of the population's mean power. Where powers differ: from the fit to first
    order, and from the spread among the agents seen, unless all were."""
    if not best.by_agent:
        return profile(best, "power", level)
    powers = best.powers()
    mean = float(powers.mean())
    width = spread(best, "power") * float(t_distribution.ppf((1 + level) / 2, best.freedom))
    width = float(np.hypot(width, mean * mean_error(powers[best.shown], movers, level)))
    width += ARITHMETIC * mean
    return max(mean - width, 0.0), mean + width


def mean_error(powers: Vector, movers: int, level: float) -> float:
    """By how much the mean of these powers may differ from that of all, relative to it."""
    seen, mean = powers.size, float(powers.mean())
    if not 1 < seen < movers or mean == 0:
        return 0.0
    error = float(powers.std(ddof=1)) * np.sqrt((1 - seen / movers) / seen)
    return float(t_distribution.ppf((1 + level) / 2, seen - 1) * error / mean)


def inverse(number: float) -> float:
    """1 over it, infinite for 0."""
    return 1 / float(number) if number > 0 else float(np.inf)


def rounded(best: PowerFit, v: Pair, w: Pair, level: float) -> PowerFit:
    """With a degree of 2 and a norm of 2, infinity or 1, or of halves where the interval is narrow:
    where each lies in its interval and both leave no more unexplained than an F test allows."""

    def half(inverse: float, ends: Pair) -> tuple[float, ...]:
        narrow = ends[1] - ends[0] < NARROW
        return (2 / max(round(2 / max(inverse, 1e-3)), 2),) if narrow else ()

    def nicest(value: float, tries: tuple[float, ...], ends: Pair) -> float:
        return next((one for one in tries if ends[0] <= one <= ends[1]), value)

    nice_v = nicest(best.v, (0.5, *half(best.v, v)), v)
    nice_w = nicest(best.w, (0.5, 0.0, 1.0, *half(best.w, w)), w)
    allowed = 2 * best.variance * float(f_distribution.ppf(level, 2, best.freedom))
    both = best.at(nice_v, nice_w)
    one = min(fitted(best, w=nice_w), fitted(best, v=nice_v), key=lambda fit: fit.rss)
    return next((fit for fit in (both, one) if fit.rss <= best.rss + allowed), best)
