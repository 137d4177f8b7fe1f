"""How many good and bad people are accepted and refused, and what follows from these numbers.

The numbers of blocks of people can be added, so they are all that an audit of many people needs for
accuracy, approval, bad rate and cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.intervals import share_interval
from gameproof.core.arguments import Indices


class Costs(NamedTuple):
    """Costs of accepting a bad applicant and of refusing a good one."""

    accept_bad: float = 1.0
    refuse_good: float = 1.0


class DecisionCounts(NamedTuple):
    """How many good and bad people a model accepts and refuses."""

    good_accepted: int
    good_refused: int
    bad_accepted: int
    bad_refused: int

    @classmethod
    def of(cls, accepted: NDArray[np.bool_], good: NDArray[np.bool_]) -> DecisionCounts:
        """The decisions about these people."""
        return cls.tabled(np.bincount(2 * good + accepted, minlength=4).reshape(2, 2))

    @classmethod
    def tabled(cls, table: Indices) -> DecisionCounts:
        """From the numbers of bad and of good people (rows), refused and accepted (columns)."""
        (bad_refused, bad_accepted), (good_refused, good_accepted) = table.tolist()
        return cls(good_accepted, good_refused, bad_accepted, bad_refused)

    @property
    def n(self) -> int:
        """The number of people."""
        return sum(self)

    @property
    def n_good(self) -> int:
        """The number of good people."""
        return self.good_accepted + self.good_refused

    @property
    def accuracy(self) -> tuple[float, float, float]:
        """The share of correct decisions, with its interval."""
        right, n = self.good_accepted + self.bad_refused, self.n
        return right / n, *share_interval(right, n)

    @property
    def accepted_shares(self) -> tuple[float, float]:
        """The shares of good and of bad people who are accepted."""
        n_good = self.n_good
        return self.good_accepted / n_good, self.bad_accepted / (self.n - n_good)

    @property
    def approval(self) -> float:
        """The share of people who are accepted."""
        return (self.good_accepted + self.bad_accepted) / self.n

    @property
    def bad_rate(self) -> float | None:
        """The share of bad people among the accepted; None if nobody is accepted."""
        accepted = self.good_accepted + self.bad_accepted
        return self.bad_accepted / accepted if accepted else None

    def cost(self, costs: Costs) -> float:
        """The cost per person of wrong decisions."""
        lost = costs.accept_bad * self.bad_accepted + costs.refuse_good * self.good_refused
        return lost / self.n
