"""From a model and people to the rows of an audit.

With z the scores, y the labels, delta the radius, kappa the price of a label and |theta| the length
of the scaled coefficients, the worst-case accuracy is found by spending a budget of n delta: to be
decided wrongly, a person who is decided rightly must be moved by |z| / |theta|, or, with label +1,
have the label turned at a price of 2 kappa. Each is bought at the lower price, the cheapest first,
the last in part. All gains are equal, so no other way to spend gains more.

With c the prices, 0 for those decided wrongly, and 1 / lambda the price of the last, that
accuracy is the largest over lambda of mean min(1, lambda c) - lambda delta. Where it is largest, a
small change of lambda changes nothing, so its interval is that of the mean, lambda held fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import hypot, inf

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from gameproof.arguments import Vector
from gameproof.exact.worst_case import worst_case
from gameproof.population.population import Population
from gameproof.problem.losses import Logistic
from gameproof.problem.strategic import StrategicProblem
from gameproof.report.intervals import mean_interval, share_interval
from gameproof.report.model import Case
from gameproof.report.rows import Bin, Gaming, Hurt, Quality, Shift, Weakness

BINS = 30


def right(scores: Vector, y: Vector) -> Vector:
    """1 where a decision is right, else 0."""
    found: Vector = ((scores > 0) == (y > 0)).astype(np.float64)
    return found


def quality(case: Case) -> Quality:
    """Where nobody moves."""
    z, y, n = case.scores, case.y, case.y.size
    good = y > 0
    k, n_positive = int(right(z, y).sum()), int(good.sum())
    # The Mann-Whitney statistic, ties counted half.
    above = float(rankdata(z)[good].sum()) - n_positive * (n_positive + 1) / 2
    return Quality(
        case.name,
        n,
        n_positive,
        k / n,
        *share_interval(k, n),
        max(n_positive, n - n_positive) / n,
        above / (n_positive * (n - n_positive)),
        float(Logistic().value(z, y).mean()),
        *_accepted(z, y),
        float(case.reach == 0),
    )


def bins(case: Case) -> list[Bin]:
    """The scores of both labels, counted between the 1st and the 99th percentile; the outer bins
    take what lies beyond."""
    low, high = np.quantile(case.scores, (0.01, 0.99))
    if not high > low:
        low, high = low - 1.0, high + 1.0
    edges = np.linspace(low, high, BINS + 1)
    inside = np.clip(case.scores, low, high)
    positive, negative = (np.histogram(inside[case.y == label], edges)[0] for label in (1, -1))
    return [
        Bin(case.name, float(edges[k]), float(edges[k + 1]), int(positive[k]), int(negative[k]))
        for k in range(BINS)
    ]


def gaming(case: Case, power: float) -> Gaming:
    """Where people with label -1 answer with this power."""
    z, y, n = case.gamed(power), case.y, case.y.size
    k = int(right(z, y).sum())
    return Gaming(
        case.name,
        power,
        power * case.reach,
        k / n,
        *share_interval(k, n),
        float(Logistic().value(z, y).mean()),
        *_accepted(z, y),
    )


def shifts(case: Case, radii: tuple[float, ...], label_cost: float, power: float) -> list[Shift]:
    """Where people answer with this power and the data is off by each of these radii."""
    least = worst_accuracies(case, radii, label_cost, power)
    # Only scores and |theta| count, so people may as well stand on a line.
    length = hypot(*case.theta)
    at = (case.gamed(power) - case.intercept) / length if length > 0 else np.zeros(case.y.size)
    problem = StrategicProblem(Population(at[:, None], case.y), 0.0, label_cost)
    largest = [worst_case(problem.at_radius(r), [length], case.intercept).value for r in radii]
    rows = zip(radii, least, largest, strict=True)
    return [Shift(case.name, radius, *shares, risk) for radius, shares, risk in rows]


def worst_accuracies(
    case: Case, radii: tuple[float, ...], label_cost: float, power: float
) -> list[tuple[float, float, float]]:
    """The least accuracy on the ball of each radius, and its interval; see the module."""
    z, y, n, length = case.gamed(power), case.y, case.y.size, hypot(*case.theta)
    is_right = right(z, y) > 0
    far = np.abs(z) / length if length > 0 else np.full(n, inf)
    each = np.where(is_right, np.minimum(far, np.where(y > 0, 2 * label_cost, inf)), 0.0)
    price = np.sort(each[is_right & np.isfinite(each)])
    spent = np.concatenate([[0.0], np.cumsum(price)])
    found = []
    for radius in radii:
        budget = n * radius
        whole = int(np.searchsorted(spent, budget, side="right")) - 1
        part = (budget - spent[whole]) / price[whole] if whole < price.size else 0.0
        least = (int(is_right.sum()) - whole - float(part)) / n
        # Where all that is for sale is bought, lambda is 0.
        last = float(price[whole]) if whole < price.size else inf
        kept = np.minimum(1.0, each / last) if last < inf else np.isinf(each).astype(np.float64)
        low, high = mean_interval(kept)
        paid = float(kept.mean()) - least
        found.append((least, max(0.0, low - paid), min(1.0, high - paid)))
    return found


def weaknesses(case: Case, power: float) -> list[Weakness]:
    """One row a movable feature, what gains most first."""
    refused = case.scores[case.scores <= 0]
    short = -float(np.median(refused)) if refused.size else None
    plain = float(right(case.scores, case.y).mean())
    rows = []
    for j in case.movable:
        per_scale, scale = float(case.theta[j]), float(case.scale[j])
        steps = None if short is None or per_scale == 0 else short / per_scale
        left = float(right(case.gamed(power, only=j), case.y).mean())
        rows.append(
            Weakness(
                case.name,
                case.names[j],
                per_scale / scale,
                scale,
                None if steps is None else steps * scale,
                None if steps is None else abs(steps),
                (per_scale / case.reach) ** 2 if case.reach > 0 else None,
                left,
                plain - left,
            )
        )
    return most_gained_first(rows, [case.name])


def most_gained_first(rows: Iterable[Weakness], models: Sequence[str]) -> list[Weakness]:
    """Model by model."""
    return sorted(rows, key=lambda row: (models.index(row.model), -(row.share or 0.0)))


def hurt(case: Case, power: float, groups: NDArray[np.str_] | None = None) -> list[Hurt]:
    """Label by label, for all and for each group; costs are |v|^2 / (2 power)."""
    sets: list[tuple[str | None, NDArray[np.bool_]]] = [(None, np.ones(case.y.size, dtype=bool))]
    if groups is not None:
        sets += [(str(group), groups == group) for group in np.unique(groups)]
    rows = []
    for name, chosen in sets:
        for label in (1, -1):
            far = case.distance[chosen & (case.y == label)]
            refused = far[case.scores[chosen & (case.y == label)] <= 0]
            if not far.size:
                continue
            cost = float((far**2).mean()) / (2 * power) if power > 0 else inf
            numbers = [float(far.mean()), cost]
            quantiles = [
                float(np.quantile(refused, q)) if refused.size and case.reach > 0 else inf
                for q in (0.1, 0.25, 0.5, 0.75, 0.9)
            ]
            known = [number if np.isfinite(number) else None for number in numbers + quantiles]
            share = refused.size / far.size
            rows.append(Hurt(case.name, name, label, int(far.size), share, *known))
    return rows


def _accepted(z: Vector, y: Vector) -> tuple[float, float]:
    """The shares of each label that are accepted."""
    return float((z[y > 0] > 0).mean()), float((z[y < 0] > 0).mean())
