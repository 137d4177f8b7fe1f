"""Rows of metrics: discrimination, decisions and probabilities, for everyone and by group.

| metric | interval |
|---|---|
| AUC, Gini (2 AUC - 1) | DeLong |
| KS | bootstrap, normal for many people |
| accuracy, approval, bad rate, good refused, bad approved | Wilson |
| balanced accuracy, cost, log loss, Brier score, mean probability | normal |

Differences on the same people are paired: DeLong for AUC, as above for KS, and Bonett and Price
for decisions, which also has a width if two models make the same decisions about a group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import sqrt
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gameproof.auditing.decision_counts import Costs, DecisionCounts
from gameproof.auditing.intervals import paired_parts_interval, share_interval
from gameproof.auditing.metric_types import Confusion, Metric, MetricDifference
from gameproof.auditing.people_groups import FEWEST, in_order
from gameproof.auditing.ranking import MANY, Ranking, Z, percentile_interval
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.core.arguments import Vector

Bools = NDArray[np.bool_]
GAMED = 1.0  # the multiple of the budgets that metrics under gaming are about
DELONG, WILSON, NORMAL, BOOTSTRAP = "DeLong", "Wilson", "normal", "bootstrap"
PAIRED = "Bonett and Price"
METRICS = {
    "auc": "AUC",
    "gini": "Gini",
    "ks": "KS",
    "accuracy": "accuracy",
    "balanced": "balanced accuracy",
    "approval": "approval rate",
    "bad_rate": "bad rate among approved",
    "good_refused": "good applicants refused",
    "bad_approved": "bad applicants approved",
    "cost": "cost per applicant",
    "log_loss": "log loss",
    "brier": "Brier score",
    "mean_probability": "mean probability",
}
# Metrics of which differences between models are reported, besides the measure of the audit.
COMPARED = ("auc", "good_refused", "bad_approved")
NORMAL_MEANS = ("cost", "log_loss", "brier", "mean_probability")  # with normal intervals
BY_LABEL = ("auc", "gini", "ks", "balanced")  # these need good and bad people


class Estimate(NamedTuple):
    """A number with its interval, and how the interval was computed."""

    value: float
    low: float
    high: float
    interval: str


@final
@dataclass(frozen=True, eq=False)
class Judged:
    """People of a group with their scores, when nobody games or when bad applicants do."""

    scores: Vector
    good: Bools
    error: Vector
    costs: Costs
    log_odds: Vector | None

    @classmethod
    def of(
        cls, case: ScoredApplicants, multiple: float, costs: Costs, chosen: Bools | slice
    ) -> Judged:
        """The chosen people at a multiple of the budgets."""
        z = case.gamed(multiple)[chosen]
        odds = None if case.calibration is None else case.calibration.log_odds(z)
        return cls(z, case.y[chosen] > 0, case.rounding[chosen], costs, odds)

    @property
    def approved(self) -> Bools:
        """Who is approved."""
        found: Bools = self.scores > 0
        return found

    @cached_property
    def ranking(self) -> Ranking | None:
        """The ranking by scores; None if all people have the same label."""
        if self.good.all() or not self.good.any():
            return None
        return Ranking.of(self.scores, self.good, self.error)

    @cached_property
    def ks(self) -> tuple[float, Vector]:
        """KS, and KS of each bootstrap resample."""
        assert self.ranking is not None  # only rankings have KS
        return self.ranking.ks(), self.ranking.resampled_ks()

    @cached_property
    def below_ks(self) -> Vector:
        """1 for people below the score at which shares above differ most, else 0."""
        assert self.ranking is not None  # only rankings have KS
        return self.ranking.below_ks().astype(np.float64)

    @property
    def right(self) -> Vector:
        """1 for a correct decision, else 0."""
        found: Vector = (self.approved == self.good).astype(np.float64)
        return found

    @property
    def paid(self) -> Vector:
        """What the decision about each person costs."""
        price = np.where(self.good, self.costs.refuse_good, self.costs.accept_bad)
        return np.where(self.approved == self.good, 0.0, price)

    @cached_property
    def by_person(self) -> dict[str, tuple[Vector, Bools | None]]:
        """Metrics that are means over people, or over those for whom a mask is true."""
        approved = self.approved.astype(np.float64)
        return {
            "accuracy": (self.right, None),
            "approval": (approved, None),
            "bad_rate": ((~self.good).astype(np.float64), self.approved),
            "good_refused": (1 - approved, self.good),
            "bad_approved": (approved, ~self.good),
            "cost": (self.paid, None),
            **self._by_probability(),
        }

    def _by_probability(self) -> dict[str, tuple[Vector, Bools | None]]:
        if self.log_odds is None:
            return {}
        probability: Vector = expit(self.log_odds)
        signed = np.where(self.good, self.log_odds, -self.log_odds)
        return {
            "log_loss": (np.logaddexp(0.0, -signed), None),
            "brier": ((probability - self.good) ** 2, None),
            "mean_probability": (probability, None),
        }

    def estimates(self, fewest: int = 1) -> dict[str, Estimate]:
        """All metrics that at least `fewest` people define."""
        found = {}
        if self.ranking is not None and self._fewer_kind >= fewest:
            area, low, high = self.ranking.auc()
            found["auc"] = Estimate(area, low, high, DELONG)
            found["gini"] = Estimate(2 * area - 1, 2 * low - 1, 2 * high - 1, DELONG)
            found["ks"] = self._ks()
            parts = [self.right[self.good], self.right[~self.good]]
            found["balanced"] = _normal([part / 2 for part in parts])
        for name, (values, where) in self.by_person.items():
            chosen = values if where is None else values[where]
            if chosen.size < fewest:
                continue
            if name in NORMAL_MEANS:
                found[name] = _normal([chosen])
            else:
                k = int(chosen.sum())
                found[name] = Estimate(k / chosen.size, *share_interval(k, chosen.size), WILSON)
        return {name: found[name] for name in METRICS if name in found}

    def _ks(self, other: Judged | None = None) -> Estimate:
        """KS, or its difference to that of the same people under another model."""
        if self.good.size > MANY:
            low = self.below_ks if other is None else self.below_ks - other.below_ks
            return _normal([low[~self.good], -low[self.good]])
        value, resampled = self.ks
        if other is not None:
            value, resampled = value - other.ks[0], resampled - other.ks[1]
        return Estimate(value, *percentile_interval(resampled), BOOTSTRAP)

    @property
    def _fewer_kind(self) -> int:
        """The number of good or of bad people, whichever is smaller."""
        n_good = int(self.good.sum())
        return min(n_good, self.good.size - n_good)

    def difference(self, other: Judged, metric: str, fewest: int = 1) -> Estimate | None:
        """A metric of these people minus that of the same people under another model; None if fewer
        than `fewest` people define it."""
        if metric in BY_LABEL and self._fewer_kind < fewest:
            return None
        if metric in ("auc", "ks"):
            if self.ranking is None or other.ranking is None:
                return None
            if metric == "auc":
                return Estimate(*self.ranking.auc_difference(other.ranking), DELONG)
            return self._ks(other)
        if metric == "balanced":
            more = (self.right - other.right) / 2
            return _paired([more[self.good], more[~self.good]], largest_change(metric, self.costs))
        (values, where), (others, _) = self.by_person[metric], other.by_person[metric]
        more = values - others
        chosen = more if where is None else more[where]
        if chosen.size < fewest:
            return None
        return _paired([chosen], largest_change(metric, self.costs))


def largest_change(metric: str, costs: Costs) -> float:
    """The most by which another decision about one person changes that person's term in a
    metric."""
    return {"balanced": 0.5, "cost": max(costs)}.get(metric, 1.0)


def metric_rows(
    cases: Sequence[ScoredApplicants],
    costs: Costs,
    measure: str,
    groups: NDArray[np.str_] | None = None,
) -> tuple[list[Metric], list[MetricDifference], list[Confusion]]:
    """Metrics and confusion matrices of each model, and differences of every pair of models."""
    metrics, differences, confusions = [], [], []
    multiples = (0.0, GAMED) if cases[0].people.columns else (0.0,)
    for group, chosen in group_masks(groups):
        fewest = 1 if group is None else FEWEST
        for multiple in multiples:
            judged = {case.name: Judged.of(case, multiple, costs, chosen) for case in cases}
            for name, people in judged.items():
                decisions = DecisionCounts.of(people.approved, people.good)
                confusions.append(Confusion(name, group, multiple, *decisions))
                for metric, estimate in people.estimates(fewest).items():
                    metrics.append(Metric(name, group, metric, multiple, *estimate))
            for one, two in combinations(judged, 2):
                for metric in dict.fromkeys((measure, *COMPARED)):
                    found = judged[two].difference(judged[one], metric, fewest)
                    if found is not None:
                        row = (two, one, group, metric, multiple, *found)
                        differences.append(MetricDifference(*row))
    return metrics, differences, confusions


def group_masks(groups: NDArray[np.str_] | None) -> Iterator[tuple[str | None, Bools | slice]]:
    """Everyone, and then each group with the mask of its people."""
    yield None, slice(None)
    if groups is not None:
        for group in in_order(groups.tolist()):
            yield group, groups == group


def _paired(parts: Sequence[Vector], most: float) -> Estimate:
    """The sum of the means of paired differences, each between -most and most."""
    mean = sum(float(part.mean()) for part in parts)
    sums = [(part.size, float(part.sum()), float(part @ part)) for part in parts]
    return Estimate(mean, *paired_parts_interval(sums, most), PAIRED)


def _normal(parts: Sequence[Vector]) -> Estimate:
    """The sum of the means of independent samples, with a normal interval."""
    mean = sum(float(part.mean()) for part in parts)
    half = Z * sqrt(sum(float(part.var()) / part.size for part in parts))
    return Estimate(mean, mean - half, mean + half, NORMAL)
