"""Confidence intervals of a fitted power cost or ball.

A profile interval holds all values of one parameter at which the best fit of the others leaves no
more unexplained than an F test allows. Without noise, it is as narrow as floating-point numbers
permit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Vector
from gameproof.strategic.learning.power_fit import LOWER, UPPER, PowerFit, fit_power, polish

Interval = tuple[float, float]

ARITHMETIC = 1e-10  # added to intervals for the precision of the search
NARROW = 0.01  # the width of an interval of 1/degree or 1/norm that can tell halves apart


def profile_interval(best: PowerFit, name: str, level: float) -> Interval:
    """The profile interval of "v", "w" or, if it is common to all agents, "power"."""
    allowed = best.variance * float(f_distribution.ppf(level, 1, best.freedom))
    centre = {"v": best.v, "w": best.w, "power": float(best.strengths()[0])}[name]
    lowest, highest = {
        "v": (LOWER[0], UPPER[0]),
        "w": (LOWER[1], UPPER[1]),
        "power": (0.0, 1e3 * centre),
    }[name]
    ball = best.v == 0 and name != "v"  # the degree of a ball stays infinite
    fits = {centre: best}  # each search starts from the nearest fit so far

    def excess(value: float) -> float:
        if value in fits:
            return fits[value].rss - best.rss - allowed
        start = fits[min(fits, key=lambda other: abs(other - value))]
        fixed = replace(
            start,
            v=value if name == "v" else start.v,
            w=value if name == "w" else start.w,
            fixed_power=value if name == "power" else None,
        )
        tries = (fixed, polish(fixed, (name != "v" and not ball, name != "w")))
        fits[value] = min(tries, key=lambda fit: fit.rss)
        return fits[value].rss - best.rss - allowed

    def end(bound: float) -> float:
        reach, inside = max(standard_error(best, name), 1e-13 * centre, 1e-14), centre
        while True:
            outside = centre + np.sign(bound - centre) * min(reach, abs(bound - centre))
            if excess(outside) > 0:
                return float(brentq(excess, inside, outside, xtol=1e-13, rtol=1e-4))
            if reach >= abs(bound - centre):
                return bound
            inside, reach = outside, 2 * reach

    width = ARITHMETIC * (centre if name == "power" else 1.0)
    return float(max(end(lowest) - width, lowest)), float(min(end(highest) + width, highest))


def standard_error(best: PowerFit, name: str) -> float:
    """The first-order standard error of "v", "w" or "power" (all powers in proportion)."""
    slopes = best.sensitivities()
    if best.v == 0 and name != "v":  # the degree of a ball stays infinite
        slopes = slopes * np.array([1.0, 0.0, 1.0])
    # The pseudo-inverse gives a norm that does not matter, with slope 0, an error of 0.
    shares = np.linalg.pinv(slopes.T @ slopes, rcond=1e-12)
    mean = float(best.strengths().mean())
    k = ("power", "v", "w").index(name)
    return float(np.sqrt(max(shares[k, k], 0.0) * best.variance)) * (mean if k == 0 else 1.0)


def power_interval(best: PowerFit, movers: int, level: float) -> Interval:
    """The interval of the mean power of `movers` agents.

    If powers differ, it combines the first-order error of the fit with the error of having asked
    only some of the agents."""
    if not best.by_agent:
        return profile_interval(best, "power", level)
    powers = best.strengths()
    mean = float(powers.mean())
    fit_error = standard_error(best, "power") * best.t_quantile(level)
    sampling_error = mean * relative_mean_error(powers[best.identified], movers, level)
    width = float(np.hypot(fit_error, sampling_error)) + ARITHMETIC * mean
    return max(mean - width, 0.0), mean + width


def relative_mean_error(strengths: Vector, movers: int, level: float) -> float:
    """How far the mean of these strengths may be from the mean of all `movers` agents, relative
    to it."""
    seen, mean = strengths.size, float(strengths.mean())
    if not 1 < seen < movers or mean == 0:
        return 0.0
    error = float(strengths.std(ddof=1)) * np.sqrt((1 - seen / movers) / seen)
    return float(t_distribution.ppf((1 + level) / 2, seen - 1) * error / mean)


def reciprocal(number: float) -> float:
    """1 / number, infinite for 0."""
    return 1 / float(number) if number > 0 else float(np.inf)


def with_round_parameters(best: PowerFit, v: Interval, w: Interval, level: float) -> PowerFit:
    """The fit with a round degree and norm, if the answers allow them.

    Round degrees are 2, and round norms 2, infinity and 1; also multiples of 1/2 if the interval is
    narrow. A round value must lie in its interval, and both together must leave no more unexplained
    than an F test allows."""

    def halves(value: float, interval: Interval) -> tuple[float, ...]:
        narrow = interval[1] - interval[0] < NARROW
        return (2 / max(round(2 / max(value, 1e-3)), 2),) if narrow else ()

    def roundest(value: float, tries: tuple[float, ...], interval: Interval) -> float:
        return next((one for one in tries if interval[0] <= one <= interval[1]), value)

    round_v = roundest(best.v, (0.5, *halves(best.v, v)), v)
    round_w = roundest(best.w, (0.5, 0.0, 1.0, *halves(best.w, w)), w)
    allowed = 2 * best.variance * float(f_distribution.ppf(level, 2, best.freedom))
    both = best.at(round_v, round_w)
    one = min(fit_power(best, w=round_w), fit_power(best, v=round_v), key=lambda fit: fit.rss)
    return next((fit for fit in (both, one) if fit.rss <= best.rss + allowed), best)
