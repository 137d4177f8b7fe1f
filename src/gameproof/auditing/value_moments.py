"""Metrics from moments of people, which can be merged block by block.

Every metric is a mean of one number per person, or a sum of two such means, one over good and one
over bad people (`judged_people.py`). So count, mean and squared deviations by label give each
metric and its interval, and those of differences between two models give the interval of a paired
difference. People in memory are one block. Only the bootstrap of KS needs more: people themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.decision_counts import Costs
from gameproof.auditing.intervals import paired_parts_interval, share_interval
from gameproof.auditing.judged_people import JudgedPeople
from gameproof.auditing.ranking import Z, area_interval, percentile_interval
from gameproof.core.arguments import Vector
from gameproof.rows.moments import Moments

DELONG, WILSON, NORMAL, BOOTSTRAP = "DeLong", "Wilson", "normal", "bootstrap"
PAIRED = "Bonett and Price"
NORMAL_MEANS = ("cost", "log_loss", "brier", "mean_probability")  # with normal intervals
BY_LABEL = ("auc", "ks", "balanced")  # these need good and bad people
# Metrics of which differences between models are reported, besides the measure of the audit.
COMPARED = ("auc", "good_refused", "bad_approved")


class Estimate(NamedTuple):
    """A number with its interval, and how the interval was computed."""

    value: float
    low: float
    high: float
    interval: str


class MetricKey(NamedTuple):
    """A metric of a model, or with `against` its difference to that of another model."""

    model: str
    against: str | None
    group: str | None
    metric: str
    multiple: float


class ValueMoments(NamedTuple):
    """Moments of one number per person, over bad and over good people."""

    bad: Moments
    good: Moments

    @classmethod
    def of(
        cls, values: Vector, where: NDArray[np.bool_] | None, good: NDArray[np.bool_]
    ) -> ValueMoments:
        """The moments of the values that count."""
        kinds = (~good, good) if where is None else (where & ~good, where & good)
        return cls(*(Moments.of(values[kind][:, None]) for kind in kinds))

    def merged(self, other: ValueMoments) -> ValueMoments:
        """The moments of both groups of people."""
        return ValueMoments(self.bad.merged(other.bad), self.good.merged(other.good))


def metric_moments(
    people: Mapping[str, JudgedPeople],
    costs: Costs,
    measure: str,
    group: str | None,
    multiple: float,
) -> dict[MetricKey, ValueMoments]:
    """The moments of the people of each model, and of differences between every pair of models."""
    values = {name: each.values(costs) for name, each in people.items()}
    found = {}
    for name, own in values.items():
        for metric, (each, where) in own.items():
            key = MetricKey(name, None, group, metric, multiple)
            found[key] = ValueMoments.of(each, where, people[name].good)
    for one, two in combinations(values, 2):
        for metric in dict.fromkeys((measure, *COMPARED)):
            if metric in values[two]:
                (a, _), (b, where) = values[one][metric], values[two][metric]
                key = MetricKey(two, one, group, metric, multiple)
                found[key] = ValueMoments.of(b - a, where, people[two].good)
    return found


def n_people_behind(metric: str, moments: ValueMoments) -> int:
    """The number of people that a metric rests on."""
    return int(min(sample.mass for sample in _samples(metric, moments)))


def estimates(
    metric: str, moments: ValueMoments, resampled: Vector | None = None
) -> Iterator[tuple[str, Estimate]]:
    """A metric with its interval, that of the resamples if there are any; after AUC also Gini."""
    samples = _samples(metric, moments)
    if metric == "auc":
        area = _mean(moments.good)
        low, high = area_interval(
            area, sqrt(_variance(samples, 1)), n_people_behind(metric, moments)
        )
        yield "auc", Estimate(area, low, high, DELONG)
        yield "gini", Estimate(2 * area - 1, 2 * low - 1, 2 * high - 1, DELONG)
    elif metric in (*BY_LABEL, *NORMAL_MEANS):
        yield metric, _sum_of_means(samples, resampled)
    else:
        (everyone,) = samples
        k, n = round(_mean(everyone) * everyone.mass), round(everyone.mass)
        yield metric, Estimate(k / n, *share_interval(k, n), WILSON)


def difference(
    metric: str, moments: ValueMoments, costs: Costs, resampled: Vector | None = None
) -> Estimate:
    """A paired difference of a metric, with its interval."""
    samples = _samples(metric, moments)
    if metric == "auc":
        more, half = _mean(moments.good), Z * sqrt(_variance(samples, 1))
        return Estimate(more, more - half, more + half, DELONG)
    if metric == "ks":
        return _sum_of_means(samples, resampled)
    # The most by which another decision about a person changes the person's term.
    most = {"balanced": 0.5, "cost": max(costs)}.get(metric, 1.0)
    parts = []
    for each in samples:
        total = each.mass * _mean(each)
        parts.append((each.mass, total, float(each.squares[0]) + total * _mean(each)))
    return Estimate(sum(map(_mean, samples)), *paired_parts_interval(parts, most), PAIRED)


def _samples(metric: str, moments: ValueMoments) -> list[Moments]:
    """The samples whose means add up to a metric: bad and good people, or everyone as one."""
    return list(moments) if metric in BY_LABEL else [moments.bad.merged(moments.good)]


def _mean(sample: Moments) -> float:
    return float(sample.mean[0])


def _variance(samples: Sequence[Moments], ddof: int) -> float:
    """The variance of the sum of means; `ddof` is 1 for unbiased variances of the samples."""
    known = [(each.mass, float(each.squares[0])) for each in samples if each.mass > ddof]
    return sum(squares / (n - ddof) / n for n, squares in known)


def _sum_of_means(samples: Sequence[Moments], resampled: Vector | None) -> Estimate:
    value = sum(map(_mean, samples))
    if resampled is not None:
        return Estimate(value, *percentile_interval(resampled), BOOTSTRAP)
    half = Z * sqrt(_variance(samples, 0))
    return Estimate(value, value - half, value + half, NORMAL)
