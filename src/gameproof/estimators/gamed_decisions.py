"""Who moves when a classifier is gamed, and how the result is scored.

A person with score s towards the favourable class who can gain g is accepted after gaming if
s + g > 0, whether they move as far as they can or just far enough. Either everyone with the
unfavourable label moves, or everyone who is refused; the others stay.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from gameproof.core.arguments import Vector, shown

Who = Literal["unfavourable", "refused"]
WHO = ("unfavourable", "refused")
METRICS = ("accuracy", "balanced_accuracy", "roc_auc")


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

    def measured(self, metric: str, weights: Vector | None) -> float:
        """The metric of these scores."""
        wanted = self.towards * self.signs > 0
        if metric == "roc_auc":
            if wanted.all() or not wanted.any():
                raise ValueError("roc_auc needs both classes; y has only one")
            return float(roc_auc_score(wanted, self.scores, sample_weight=weights))
        if metric == "balanced_accuracy":
            given = self.scores > 0
            return float(balanced_accuracy_score(wanted, given, sample_weight=weights))
        return float(np.average((self.scores > 0) == wanted, weights=weights))


def require_who(who: Any) -> None:
    """Rejects anything but the two groups of people who may move."""
    if who not in WHO:
        raise ValueError(f"who must be one of {', '.join(WHO)}, got {shown(who)}")
