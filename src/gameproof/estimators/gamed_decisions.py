"""What is measured where people game a classifier: who moves, and how the result is counted.

A person with a score s towards the favourable class who can gain g is accepted after gaming where
s + g > 0, whether they move as far as they can or just far enough. Everybody with an unfavourable
label moves, or everybody who is refused; the others stay.
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
    """Labels +1 for the favourable class and -1, and scores that are positive for the second of
    two classes; `towards` is the sign of the favourable one in them."""

    signs: Vector
    scores: Vector
    towards: float

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Who does not get the favourable class. A score of 0 is the first class, as in
        `predict`."""
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
                raise ValueError("roc_auc needs people of both classes; y has one")
            return float(roc_auc_score(wanted, self.scores, sample_weight=weights))
        if metric == "balanced_accuracy":
            given = self.scores > 0
            return float(balanced_accuracy_score(wanted, given, sample_weight=weights))
        return float(np.average((self.scores > 0) == wanted, weights=weights))


def require_who(who: Any) -> None:
    """Refuses anything but the two groups of people."""
    if who not in WHO:
        raise ValueError(f"who must be one of {', '.join(WHO)}, got {shown(who)}")
