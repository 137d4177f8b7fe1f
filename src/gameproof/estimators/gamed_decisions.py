"""Who moves when a classifier is gamed, and how the result is scored.

A person with score s towards the favourable class who can gain g is accepted after gaming if
s + g > 0, whether they move as far as they can or just far enough. Either everyone with the
unfavourable label moves, or everyone who is refused; the others stay.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Vector, shown
from gameproof.estimators.measures import Measure

Who = Literal["unfavourable", "refused"]
WHO = ("unfavourable", "refused")


class Decisions(NamedTuple):
    """Labels and scores of people.

    `signs` is +1 for the favourable class and -1 for the other. Scores are positive for the second
    of the two classes, and `towards` is the sign of the favourable class in them.
    """

    signs: Vector
    scores: Vector
    towards: float

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Who does not get the favourable class; a score of 0 means the first class."""
        found: NDArray[np.bool_] = (self.scores > 0) != (self.towards > 0)
        return found

    def moving(self, who: str) -> NDArray[np.bool_]:
        """Who changes what they can."""
        require_who(who)
        return self.signs < 0 if who == "unfavourable" else self.refused

    @property
    def towards_favourable(self) -> Vector:
        """Scores that are positive for people who get the favourable class."""
        if self.towards > 0:
            return self.scores
        # A score of 0 means the first class, which is the favourable one here.
        return np.where(self.scores == 0, np.finfo(np.float64).tiny, -self.scores)

    def measured(self, measure: Measure, weights: Vector | None) -> float:
        """The measure of these scores."""
        return measure.value(self.towards_favourable, self.signs > 0, weights)


def require_who(who: Any) -> None:
    """Rejects anything but the two groups of people who may move."""
    if who not in WHO:
        raise ValueError(f"who must be one of {', '.join(WHO)}, got {shown(who)}")
