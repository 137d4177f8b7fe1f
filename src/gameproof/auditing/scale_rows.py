"""Rows that depend on the scale of the scores: gaming by power, log losses, coefficients.

Dividing a classifier by four changes no decision. But people who want a higher score, rather than
to be accepted, then move a quarter as far, so the classifier looks four times as robust. Its log
loss changes too. These rows are therefore secondary.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

import numpy as np

from gameproof.auditing.row_types import Coefficient, PowerGaming, ShiftLoss
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.worst_case import worst_case

WHY_SCALE_MATTERS = (
    "These numbers depend on the scale of the scores: dividing a classifier by four changes no "
    "decision and makes it look four times as robust."
)


def power_gaming_row(case: ScoredApplicants, power: float) -> PowerGaming:
    """The row for bad applicants who game with this power."""
    z = case.by_power(power)
    found = case.decisions(z)
    return PowerGaming(
        case.name,
        power,
        power * case.reach,
        *found.accuracy,
        float(Logistic().value(z, case.y).mean()),
        *found.accepted_shares,
    )


def loss_rows(case: ScoredApplicants, radii: Sequence[float], label_cost: float) -> list[ShiftLoss]:
    """The largest mean log loss within each radius, after bad applicants used their budgets."""
    # The loss depends on scores and |theta| only, so one feature is enough.
    length = hypot(*case.theta)
    gamed = case.gamed(1.0) - case.intercept
    at = gamed / length if length > 0 else np.zeros(case.y.size)
    problem = StrategicProblem(Population(at[:, None], case.y), 0.0, label_cost)
    largest = [worst_case(problem.at_radius(r), [length], case.intercept).value for r in radii]
    return [ShiftLoss(case.name, radius, risk) for radius, risk in zip(radii, largest, strict=True)]


def coefficient_rows(case: ScoredApplicants) -> list[Coefficient]:
    """One row per feature of the model."""
    rows = zip(case.people.names, case.coefficients.tolist(), case.theta.tolist(), strict=True)
    # Adding 0 turns -0 into 0.
    return [Coefficient(case.name, name, own + 0.0, scaled + 0.0) for name, own, scaled in rows]
