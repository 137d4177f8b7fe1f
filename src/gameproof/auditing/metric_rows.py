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

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.decision_counts import Costs, DecisionCounts
from gameproof.auditing.judged_people import Bools, JudgedPeople
from gameproof.auditing.metric_types import Confusion, Metric, MetricDifference
from gameproof.auditing.people_groups import fewest_of, in_order
from gameproof.auditing.ranking import MANY, Ranking, resampled_ks
from gameproof.auditing.score_rounding import tie_groups
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.auditing.value_moments import (
    MetricKey,
    ValueMoments,
    difference,
    estimates,
    metric_moments,
    n_people_behind,
)
from gameproof.core.arguments import Vector

GAMED = 1.0  # the multiple of the budgets that metrics under gaming are about
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


def metric_rows(
    cases: Sequence[ScoredApplicants],
    costs: Costs,
    measure: str,
    groups: NDArray[np.str_] | None = None,
) -> tuple[list[Metric], list[MetricDifference], list[Confusion]]:
    """Metrics and confusion matrices of each model, and differences of every pair of models."""
    confusions: list[Confusion] = []
    moments: dict[MetricKey, ValueMoments] = {}
    resampled: dict[MetricKey, Vector] = {}
    for group, chosen in group_masks(groups):
        for multiple in reported_multiples(cases[0].people.columns):
            people = {case.name: _judged(case, multiple, chosen) for case in cases}
            for name, each in people.items():
                decisions = DecisionCounts.of(each.scores > 0, each.good)
                confusions.append(Confusion(name, group, multiple, *decisions))
            moments |= metric_moments(people, costs, measure, group, multiple)
            resampled |= _resampled(people, group, multiple)
    return *rows_of_moments(moments, costs, resampled), confusions


def rows_of_moments(
    moments: Mapping[MetricKey, ValueMoments], costs: Costs, resampled: Mapping[MetricKey, Vector]
) -> tuple[list[Metric], list[MetricDifference]]:
    """The rows that rest on enough people, in the order of the moments. What is `resampled` has the
    interval of its resamples."""
    metrics, differences = [], []
    for key, each in moments.items():
        if n_people_behind(key.metric, each) < fewest_of(key.group):
            continue
        model, against, group, metric, multiple = key
        if against is None:
            for name, estimate in estimates(metric, each, resampled.get(key)):
                metrics.append(Metric(model, group, name, multiple, *estimate))
        else:
            found = difference(metric, each, costs, resampled.get(key))
            differences.append(MetricDifference(model, against, group, metric, multiple, *found))
    return metrics, differences


def reported_multiples(movable: Sequence[str]) -> tuple[float, ...]:
    """The multiples of the budgets that metrics are about."""
    return (0.0, GAMED) if movable else (0.0,)


def group_masks(groups: NDArray[np.str_] | None) -> Iterator[tuple[str | None, Bools | slice]]:
    """Everyone, and then each group with the mask of its people."""
    yield None, slice(None)
    if groups is not None:
        for group in in_order(groups.tolist()):
            yield group, groups == group


def _judged(case: ScoredApplicants, multiple: float, chosen: Bools | slice) -> JudgedPeople:
    """The chosen people, ranked among themselves."""
    scores, good = case.gamed(multiple)[chosen], case.y[chosen] > 0
    places = tie_groups(scores, case.rounding[chosen])
    return JudgedPeople(scores, good, places, Ranking.of(places, good), case.calibration)


def _resampled(
    people: Mapping[str, JudgedPeople], group: str | None, multiple: float
) -> dict[MetricKey, Vector]:
    """KS of each resample, and its differences, for few people; nothing for many, whose interval is
    normal."""
    good = next(iter(people.values())).good
    if good.size > MANY or min(good.sum(), (~good).sum()) < fewest_of(group):
        return {}
    ks = {name: resampled_ks(each.places, good) for name, each in people.items()}
    found = {MetricKey(name, None, group, "ks", multiple): each for name, each in ks.items()}
    for one, two in combinations(ks, 2):
        found[MetricKey(two, one, group, "ks", multiple)] = ks[two] - ks[one]
    return found
