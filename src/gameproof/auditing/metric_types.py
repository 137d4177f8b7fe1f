"""The types of rows about metrics, thresholds and calibration, as `--json` prints them.

Good applicants should be accepted and bad ones refused. A multiple of 0 means that nobody games; at
a multiple of 1, everyone who should be refused uses their budgets. `group` is None for everyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import final

# The values that metrics can take, if not 0 to 1.
LIMITS = {"gini": (-1.0, 1.0), "cost": (0.0, inf), "log_loss": (0.0, inf)}


@final
@dataclass(frozen=True)
class Metric:
    """A metric of a classifier with its 95 % interval.

    `interval` says how the interval was computed: Wilson, DeLong, normal or bootstrap. Over several
    splits it is Nadeau and Bengio's. The value, because of rounding, and the interval are cut to
    what the metric can be.
    """

    model: str
    group: str | None
    metric: str
    multiple: float
    value: float
    low: float
    high: float
    interval: str

    def __post_init__(self) -> None:
        least, most = LIMITS.get(self.metric, (0.0, 1.0))
        for field in ("value", "low", "high"):
            object.__setattr__(self, field, min(max(getattr(self, field), least), most))


@final
@dataclass(frozen=True)
class MetricDifference:
    """A metric of one classifier minus that of another, on the same people."""

    model: str
    against: str
    group: str | None
    metric: str
    multiple: float
    difference: float
    low: float
    high: float
    interval: str


@final
@dataclass(frozen=True)
class Confusion:
    """How many good and bad applicants a classifier accepts and refuses."""

    model: str
    group: str | None
    multiple: float
    good_accepted: int
    good_refused: int
    bad_accepted: int
    bad_refused: int


@final
@dataclass(frozen=True)
class ThresholdRow:
    """What a threshold does when nobody games and when bad applicants use their budgets.

    approve
        The share of applicants that the threshold is chosen to approve; None for the classifier's
        own threshold.
    threshold
        The probability of a good outcome above which people are approved; None if the classifier
        has no probabilities.
    approved, bad_rate, bad_approved, cost
        The share of applicants who are approved, the share of bad ones among the approved (None if
        nobody is approved), the share of bad applicants who are approved, and the cost per
        applicant; with `gamed_` when bad applicants game.
    """

    model: str
    approve: float | None
    threshold: float | None
    approved: float
    bad_rate: float | None
    bad_approved: float
    cost: float
    gamed_approved: float
    gamed_bad_rate: float | None
    gamed_bad_approved: float
    gamed_cost: float


@final
@dataclass(frozen=True)
class EqualApproval:
    """The share of bad applicants approved by one classifier minus that of another.

    Both approve the same share of applicants when nobody games.
    """

    model: str
    against: str
    approve: float
    multiple: float
    difference: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class CalibrationBin:
    """People with similar predicted probabilities: their mean, and how many were good in fact."""

    model: str
    bin: int
    n: int
    predicted: float
    observed: float
    low: float
    high: float
