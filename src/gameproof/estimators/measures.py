"""`Measure`: the number by which classifiers are compared and settings are chosen.

Accuracy says little if one outcome is rare: among 93 good applicants and 7 bad ones, approving
everyone is right for 93 %. The default is therefore the area under the ROC curve where the rarer
outcome has less than 30 % of the rows, and accuracy otherwise. All measures are larger for better
classifiers; the cost enters with a minus sign.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Vector, as_number, shown

MeasureName = Literal["accuracy", "balanced", "auc", "ks", "cost"]
LABELS = {
    "accuracy": "accuracy",
    "balanced": "balanced accuracy",
    "auc": "AUC",
    "ks": "KS",
    "cost": "minus cost",
}
MEASURES = tuple(LABELS)
# scikit-learn's names of the same measures.
ALIASES = {"balanced_accuracy": "balanced", "roc_auc": "auc"}
RARE = 0.3  # an outcome with a smaller share of the rows is rare
Bools = NDArray[np.bool_]


@final
class Measure(NamedTuple):
    """A measure by name, with the costs of wrong decisions."""

    name: str = "accuracy"
    cost_accept_bad: float = 1.0
    cost_refuse_good: float = 1.0

    @property
    def label(self) -> str:
        """The measure in sentences and tables."""
        return LABELS[self.name]

    @property
    def ranks(self) -> bool:
        """Whether the measure is about the order of scores, not about decisions."""
        return self.name in ("auc", "ks")

    @property
    def spoken(self) -> str:
        """The measure in a sentence, in which a cost has no minus."""
        return "cost per applicant" if self.name == "cost" else self.label

    def said(self, value: float) -> str:
        """A value of the measure in a sentence.

        >>> Measure("auc").said(0.75), Measure("cost", 5, 1).said(-0.75)
        ('0.750', '0.750')
        """
        return f"{-value if self.name == 'cost' else value:.3f}"

    def value(self, scores: Vector, good: Bools, weights: Vector | None = None) -> float:
        """The measure of scores that approve if they are positive; `good` says who should be."""
        approved = scores > 0
        if self.name == "accuracy":
            return float(np.average(approved == good, weights=weights))
        if self.name == "cost":
            lost = np.where(good, self.cost_refuse_good, self.cost_accept_bad)
            return -float(np.average(np.where(approved == good, 0.0, lost), weights=weights))
        if good.all() or not good.any():
            raise ValueError(f"{self.label} needs both classes; y has only one")
        from sklearn.metrics import (
            balanced_accuracy_score,
            roc_auc_score,
            roc_curve,
        )  # slow to import

        if self.name == "balanced":
            return float(balanced_accuracy_score(good, approved, sample_weight=weights))
        if self.name == "auc":
            return float(roc_auc_score(good, scores, sample_weight=weights))
        false, true, _ = roc_curve(good, scores, sample_weight=weights)
        return float(np.max(true - false))

    def of_constant(self, share_good: float) -> float:
        """The measure of the better of two constant decisions: approve all, or refuse all."""
        if self.name == "accuracy":
            return max(share_good, 1 - share_good)
        if self.name == "cost":
            return -min(self.cost_accept_bad * (1 - share_good), self.cost_refuse_good * share_good)
        return 0.0 if self.name == "ks" else 0.5

    def class_weight(self, good: Bools | float, balanced: bool | None = None) -> Any:
        """Class weights of a fit to labels -1 and +1 that aims at this measure.

        A fit minimises the loss per row, so that a rare class hardly counts. Measures that treat
        both classes the same get balanced weights, and the cost weighs each class by its cost.
        `balanced` overrides this choice.
        """
        if balanced is not None:
            return "balanced" if balanced else None
        if self.name == "cost":
            return {1.0: self.cost_refuse_good, -1.0: self.cost_accept_bad}
        rare = self.ranks and is_rare(good)
        return "balanced" if rare or self.name == "balanced" else None


ACCURACY = Measure()


def is_rare(good: Bools | float) -> bool:
    """Whether one of the outcomes has less than 30 % of the rows. `good` marks the rows with the
    favourable one, or is their share."""
    share = float(np.mean(good))
    return min(share, 1 - share) < RARE


def as_measure(
    given: Any, good: Bools | float, cost_accept_bad: float = 1.0, cost_refuse_good: float = 1.0
) -> Measure:
    """A measure by name; None chooses by how rare the rarer outcome is.

    >>> as_measure(None, np.array([True] * 9 + [False])).name, as_measure("roc_auc", None).name
    ('auc', 'auc')
    """
    if isinstance(given, Measure):
        return given
    if given is None:
        given = "auc" if is_rare(good) else "accuracy"
    name = ALIASES.get(given, given) if isinstance(given, str) else given
    if name not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {shown(given)}")
    costs = [
        as_number("cost_accept_bad", cost_accept_bad),
        as_number("cost_refuse_good", cost_refuse_good),
    ]
    if name == "cost" and not min(costs) > 0:
        raise ValueError(
            f"the measure cost needs positive costs of both wrong decisions, got {costs[0]:g} for "
            f"accepting a bad applicant and {costs[1]:g} for refusing a good one"
        )
    return Measure(str(name), *costs)
