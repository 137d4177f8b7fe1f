"""The mean probability of several linear classifiers, as `CalibratedClassifierCV` computes it.

With scores s_k of the members and increasing functions p_k, the classifier decides by the mean of
p_k(s_k) minus a threshold. A person who changes a column changes all s_k at once. If a column
raises all of them in the same direction, one end of its range is best for every member, and hence
for the mean. If members disagree about a direction, the best change lies inside the range and
depends on everything else; this is rejected. Levels of categories are tried one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, final

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.column_effects import BINS
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.read_classifier import Member, ReadClassifier
from gameproof.estimators.table_budgets import Budgets

# The largest number of combinations of levels that are tried.
MOST_COMBINATIONS = 1000


@final
@dataclass(frozen=True, eq=False)
class AveragedScore:
    """Members with their preparations; `sign` is the favourable class's sign in their scores."""

    members: tuple[Member, ...]
    preparations: tuple[FittedPreparation, ...]
    sign: float
    threshold: float

    @classmethod
    def of(
        cls, read: ReadClassifier, sign: float, names: tuple[str, ...] | None, d: int
    ) -> AveragedScore:
        """The averaged score of a classifier for a table with d columns."""
        known = read.names if names is None else names
        preparations = tuple(
            FittedPreparation(member.transformer, known, d) for member in read.members
        )
        return cls(read.members, preparations, sign, read.threshold)

    @property
    def first(self) -> FittedPreparation:
        """The preparation of the first member, which names columns and levels."""
        return self.preparations[0]

    def rows(self, X: Any) -> AveragedRows:
        """The rows of a table, prepared for each member."""
        return AveragedRows(self, X, [own.transform(X) for own in self.preparations])

    def mean(self, scores: list[Vector]) -> Vector:
        """The score, positive towards the favourable class, from the scores of the members."""
        each = [member.probability(own) for member, own in zip(self.members, scores, strict=True)]
        found: Vector = self.sign * (np.mean(each, axis=0) - self.threshold)
        return found

    def require_agreement(self, at: int) -> None:
        """Rejects a column that raises some members and lowers others."""
        signs = set()
        for preparation, member in zip(self.preparations, self.members, strict=True):
            name = preparation.features.names[at]
            if preparation.effects is None:
                factor = float(member.coef[at]) if preparation.transformer is None else None
            else:
                effect = preparation.effects.on_score(at, member.coef)
                factor = 0.0 if effect is None else effect.factor
                if effect is not None and effect.kind == BINS:
                    factor = None
            if factor is None:
                raise TypeError(
                    f"the gain from {name!r} under an average of models cannot be computed exactly "
                    "through this preparation; fit CalibratedClassifierCV with ensemble=False"
                )
            signs.add(float(np.sign(factor)))
        if {-1.0, 1.0} <= signs:
            raise TypeError(
                f"the {len(self.members)} models that are averaged disagree about {name!r}: it "
                "raises the score of some and lowers that of others, so the gain cannot be "
                "computed exactly; fit CalibratedClassifierCV with ensemble=False, or state no "
                "budget for this column"
            )


@final
@dataclass(frozen=True, eq=False)
class AveragedRows:
    """Rows of a table, as each member of an averaged score sees them."""

    score: AveragedScore
    X: Any
    prepared: list[Matrix]

    @cached_property
    def member_scores(self) -> list[Vector]:
        """The scores of each member when nobody moves."""
        pairs = zip(self.prepared, self.score.members, strict=True)
        return [Z @ member.coef + member.intercept for Z, member in pairs]

    @cached_property
    def scores(self) -> Vector:
        """Mean probability minus the threshold, positive towards the favourable class."""
        return self.score.mean(self.member_scores)

    def gains(self, budgets: Budgets, times: float | Vector = 1.0) -> Vector:
        """The largest gain of each person within `times` their budget."""
        sign, numbers = self.score.sign, Budgets(budgets.features, budgets.ranges, {})
        for at in budgets.ranges:
            self.score.require_agreement(at)
        parts = zip(self.score.members, self.score.preparations, self.prepared, strict=True)
        moved = [
            own + sign * preparation.gains(self.X, numbers, sign * member.coef, times, Z)
            for own, (member, preparation, Z) in zip(self.member_scores, parts, strict=True)
        ]
        best = self.score.mean(moved)
        for levels in _combinations(budgets):
            raised = [
                own + change for own, change in zip(moved, self._claimed(levels), strict=True)
            ]
            best = np.maximum(best, self.score.mean(raised))
        gained: Vector = np.maximum(best - self.scores, 0.0)
        return gained

    def _claimed(self, levels: dict[int, int]) -> list[Vector]:
        """The change of each member's scores if everyone claims these levels."""
        known = self.score.first.levels
        values = {at: known[at][k] for at, k in levels.items()}
        parts = zip(self.score.members, self.score.preparations, self.prepared, strict=True)
        return [own.level_changes(self.X, values, member.coef, Z) for member, own, Z in parts]


def _combinations(budgets: Budgets) -> list[dict[int, int]]:
    """All ways to claim levels, at least one of them."""
    columns = list(budgets.claims)
    choices = [(None, *budgets.claims[at]) for at in columns]
    number = prod(len(each) for each in choices)
    if number > MOST_COMBINATIONS:
        raise TypeError(
            f"people can claim {number:,} combinations of levels, too many to try under an average "
            "of models; fit CalibratedClassifierCV with ensemble=False"
        )
    found = (dict(zip(columns, each, strict=True)) for each in product(*choices))
    kept = ({at: k for at, k in each.items() if k is not None} for each in found)
    return [each for each in kept if each]
