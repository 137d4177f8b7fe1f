"""What the rows of an audit are; `measure.py` computes them, and `--json` prints them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Quality:
    """How good a classifier is where nobody moves. `majority` is the share that the best constant
    decision gets right, `risk` the mean logistic loss. `idle` is 1 where it gives no weight to what
    can be moved, so that gaming gains nothing; over several splits it is the share of these."""

    model: str
    n: int
    n_positive: int
    accuracy: float
    low: float
    high: float
    majority: float
    auc: float
    risk: float
    accepted_positive: float
    accepted_negative: float
    idle: float = 0.0


@final
@dataclass(frozen=True)
class Bin:
    """How many people of each label have a score between two numbers."""

    model: str
    start: float
    end: float
    positive: int
    negative: int


@final
@dataclass(frozen=True)
class Gaming:
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
class Shift:
    """The least accuracy and the largest risk within a radius of the people that answered; the
    interval is the accuracy's."""

    model: str
    radius: float
    accuracy: float
    low: float
    high: float
    risk: float


@final
@dataclass(frozen=True)
class Weakness:
    """What a movable feature is worth to those who game.

    coefficient, scale
        Of the score, in the feature's own units; and the unit of cost.
    needed, needed_scaled
        How far the refused person of median score must move it, alone, to be accepted: in its own
        units with a sign, and as a number of scales. None where nobody is refused or no step helps.
    share
        Of what a unit of cost gains, all movable features together. None where it gains nothing.
    accuracy, loss
        Where this feature alone can be moved, with the audit's power; and what that loses.
    """

    model: str
    feature: str
    coefficient: float
    scale: float
    needed: float | None
    needed_scaled: float | None
    share: float | None
    accuracy: float
    loss: float


@final
@dataclass(frozen=True)
class Hurt:
    """What it takes people of one label to be accepted: the burden on those with label +1, the
    recourse of those with label -1. `group` is None for all of them together.

    Distances are in scales; `mean_distance` and `mean_cost` are over all of them, nothing for those
    who are accepted already; the quantiles are over the refused. None where no step helps.
    """

    model: str
    group: str | None
    label: int
    n: int
    refused: float
    mean_distance: float | None
    mean_cost: float | None
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
    power: float
    difference: float
    low: float
    high: float
