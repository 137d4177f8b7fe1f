"""The types of an audit's rows, as `--json` prints them.

Good applicants have label +1 and should be accepted; bad applicants have label -1 and should be
refused. Multiplying a model by a positive number changes no row except those of `scale_rows.py`:
`PowerGaming`, `ShiftLoss` and `Coefficient`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Quality:
    """The quality of a classifier when nobody moves.

    `majority` is the accuracy of the best constant decision. `idle` is 1 if no change within the
    budgets raises a score; over several splits it is the share of such splits. `same_score` is the
    share of people who have the most frequent score.
    """

    model: str
    n: int
    n_positive: int
    accuracy: float
    low: float
    high: float
    majority: float
    auc: float
    accepted_positive: float
    accepted_negative: float
    idle: float = 0.0
    same_score: float = 0.0


@final
@dataclass(frozen=True)
class Bin:
    """Counts of people by label in a range of scores, in standard deviations of the scores."""

    model: str
    start: float
    end: float
    positive: int
    negative: int


@final
@dataclass(frozen=True)
class Gaming:
    """The quality of a classifier when people use a multiple of their budgets.

    movers
        Who moves: "bad", everyone who should be refused, or "refused", everyone who is refused.
    accepted_positive, accepted_negative
        The shares of good and of bad applicants who are accepted.
    cost
        The cost per applicant of accepting bad applicants and refusing good ones.
    """

    model: str
    movers: str
    multiple: float
    accuracy: float
    low: float
    high: float
    auc: float
    accepted_positive: float
    accepted_negative: float
    cost: float


@final
@dataclass(frozen=True)
class Shift:
    """The worst-case accuracy within a radius, after bad applicants used their budgets."""

    model: str
    radius: float
    accuracy: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class Weakness:
    """The effect of the budget of one column when bad applicants use it and nothing else.

    budget
        The budget as text, in the table's units.
    share
        Its share of the mean gain in score from all budgets together; None if they gain nothing.
    accuracy, loss
        The accuracy, and how much lower it is than when nobody moves.
    accepted_negative, gained
        The share of bad applicants who are accepted, and how much higher it is.
    """

    model: str
    feature: str
    budget: str
    share: float | None
    accuracy: float
    loss: float
    accepted_negative: float
    gained: float


@final
@dataclass(frozen=True)
class Hurt:
    """What refused people need to be accepted: the burden on label +1, the recourse of label -1.

    `group` is None for all people of the label. `refused` is the share of the n people who are
    refused. `within` is the share of the refused who can be accepted within their budgets, with its
    95 % interval. The quantiles are over the refused: the multiple of their budgets that they need.
    They are None beyond a multiple of 100. A number that rests on fewer than 20 people of a group,
    or on nobody, is None.
    """

    model: str
    group: str | None
    label: int
    n: int
    refused: float | None
    within: float | None
    low: float | None
    high: float | None
    q10: float | None
    q25: float | None
    q50: float | None
    q75: float | None
    q90: float | None


@final
@dataclass(frozen=True)
class Difference:
    """The accuracy of one classifier minus that of another, on the same people."""

    model: str
    against: str
    movers: str
    multiple: float
    difference: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class ShiftDifference:
    """The worst-case accuracy of one classifier minus that of another, on the same people."""

    model: str
    against: str
    radius: float
    difference: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class PowerGaming:
    """The quality when bad applicants game with a power; `moved` is how far each of them moves."""

    model: str
    power: float
    moved: float
    accuracy: float
    low: float
    high: float
    risk: float
    accepted_positive: float
    accepted_negative: float


@final
@dataclass(frozen=True)
class ShiftLoss:
    """The largest mean logistic loss within a radius, after bad applicants used their budgets."""

    model: str
    radius: float
    risk: float


@final
@dataclass(frozen=True)
class Coefficient:
    """A coefficient in the units of the table, and per unit of scale."""

    model: str
    feature: str
    coefficient: float
    scaled: float
