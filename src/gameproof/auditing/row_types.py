"""What the rows of an audit are; `--json` prints them.

Good applicants have label +1 and should be accepted, bad ones have label -1 and should be refused.
Nothing here changes when a model is multiplied by a positive number, except what `by_scale.py`
computes: `PowerGaming`, `Loss` and `Coefficient`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Quality:
    """How good a classifier is where nobody moves. `majority` is the share that the best constant
    decision gets right. `idle` is 1 where the budgets gain nothing, because the classifier gives no
    weight to what can be changed; over several splits it is the share of these."""

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


@final
@dataclass(frozen=True)
class Bin:
    """How many people of each label have a score between two numbers, in standard deviations of
    the scores."""

    model: str
    start: float
    end: float
    positive: int
    negative: int


@final
@dataclass(frozen=True)
class Gaming:
    """What is left where people use a multiple of their budgets.

    movers
        "bad": those who should be refused move. "refused": everyone who is refused moves.
    accepted_positive, accepted_negative
        The shares of good and of bad applicants that are accepted.
    cost
        Per applicant: what bad ones that are accepted and good ones that are refused cost.
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
    """The least accuracy within a radius of the people, after the bad ones used their budgets."""

    model: str
    radius: float
    accuracy: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class Weakness:
    """What the budget of one column alone does for bad applicants.

    budget
        In words, in the table's units.
    share
        Of the mean gain in score by all budgets together. None where they gain nothing.
    accuracy, loss
        What is left, and what that is less than where nobody moves.
    accepted_negative, gained
        The share of bad applicants that are accepted, and what that is more.
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
    """What it takes people of one label to be accepted: the burden on those with label +1, the
    recourse of those with label -1. `group` is None for all of them together.

    `within` is the share of the refused whom their budgets get accepted. The quantiles are over the
    refused: how many times their budgets they need. None where not even 100 times are enough, or
    where nobody is refused.
    """

    model: str
    group: str | None
    label: int
    n: int
    refused: float
    within: float | None
    q10: float | None
    q25: float | None
    q50: float | None
    q75: float | None
    q90: float | None


@final
@dataclass(frozen=True)
class Difference:
    """How much more often one classifier is right than another, on the same people."""

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
    """How much larger the least accuracy of one classifier is than that of another, on the same
    people."""

    model: str
    against: str
    radius: float
    difference: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class PowerGaming:
    """What is left where people with label -1 answer with a power; `moved` is how far each goes."""

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
class Loss:
    """The largest mean logistic loss within a radius, where `Shift` has the least accuracy."""

    model: str
    radius: float
    risk: float


@final
@dataclass(frozen=True)
class Coefficient:
    """A coefficient of the score, for a step of 1 and for a step of one scale."""

    model: str
    feature: str
    coefficient: float
    scaled: float
