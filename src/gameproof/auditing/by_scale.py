"""Rows that depend on the scale of the scores: gaming by power, log losses, coefficients.

Dividing a classifier by four changes no decision. People who gain from a higher score, rather than
from being accepted, then move a quarter as far, so the classifier looks four times as robust; and
its log loss changes too. These rows are therefore secondary.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

import numpy as np

from gameproof.auditing.gaming import accepted, right
from gameproof.auditing.intervals import share_interval
from gameproof.auditing.linear_model import Case
from gameproof.auditing.rows import Coefficient, Loss, PowerGaming
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.worst_case import worst_case

WHY = (
    "These numbers depend on the scale of the scores: dividing a classifier by four changes no "
    "decision and makes it look four times as robust."
)


def power_gaming(case: Case, power: float) -> PowerGaming:
    """Where people with label -1 answer with this power."""
    z, y, n = case.by_power(power), case.y, case.y.size
    k = int(right(z, y).sum())
    return PowerGaming(
        case.name,
        power,
        power * case.reach,
        k / n,
        *share_interval(k, n),
        float(Logistic().value(z, y).mean()),
        *accepted(z, y),
    )


def losses(case: Case, radii: Sequence[float], label_cost: float) -> list[Loss]:
    """The largest mean logistic loss within each radius, after bad people used their budgets."""
    # Only scores and |theta| count, so people may as well stand on a line.
    length = hypot(*case.theta)
    gamed = case.gamed(1.0) - case.intercept
    at = gamed / length if length > 0 else np.zeros(case.y.size)
    problem = StrategicProblem(Population(at[:, None], case.y), 0.0, label_cost)
    largest = [worst_case(problem.at_radius(r), [length], case.intercept).value for r in radii]
    return [Loss(case.name, radius, risk) for radius, risk in zip(radii, largest, strict=True)]


def coefficients(case: Case) -> list[Coefficient]:
    """One row a feature of the model."""
    rows = zip(case.people.names, case.coefficients.tolist(), case.theta.tolist(), strict=True)
    # 0 is added, for there is a -0 too.
    return [Coefficient(case.name, name, own + 0.0, scaled + 0.0) for name, own, scaled in rows]
