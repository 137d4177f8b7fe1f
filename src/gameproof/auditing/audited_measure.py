"""The measure of an audit: its values, leads of one model over another, and a constant decision."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from gameproof.auditing.metric_rows import GAMED
from gameproof.auditing.metric_types import Confusion, Metric, MetricDifference
from gameproof.auditing.number_format import listed, measure_text
from gameproof.auditing.row_types import Quality
from gameproof.estimators.measures import Measure


class MeasuredAudit(Protocol):
    """The parts of an `Audit` that are about the measure of its verdict."""

    @property
    def models(self) -> tuple[str, ...]: ...

    @property
    def movable(self) -> tuple[str, ...]: ...

    @property
    def measure(self) -> Measure: ...

    @property
    def approve(self) -> float | None: ...

    @property
    def quality(self) -> tuple[Quality, ...]: ...

    @property
    def metrics(self) -> tuple[Metric, ...]: ...

    @property
    def metric_differences(self) -> tuple[MetricDifference, ...]: ...

    @property
    def confusions(self) -> tuple[Confusion, ...]: ...

    def of(self, rows: Iterable[Any], model: str) -> list[Any]: ...


class SubjectedAudit(MeasuredAudit, Protocol):
    """An audit with a model that its sentences describe."""

    @property
    def subject(self) -> str: ...


def measured(audit: MeasuredAudit, model: str, multiple: float) -> Metric:
    """The measure of the audit for one model and everyone."""
    key = (model, None, audit.measure.name, multiple)
    return next(r for r in audit.metrics if (r.model, r.group, r.metric, r.multiple) == key)


def lead(
    audit: MeasuredAudit, model: str, against: str, multiple: float
) -> tuple[float, float, float]:
    """How much better a model is than another by the audit's measure, with the interval."""
    for row in audit.metric_differences:
        if (row.group, row.metric, row.multiple) != (None, audit.measure.name, multiple):
            continue
        if (row.model, row.against) == (model, against):
            return _towards_better(audit, row, 1.0)
        if (row.model, row.against) == (against, model):
            return _towards_better(audit, row, -1.0)
    raise KeyError(f"the audit does not compare {model} with {against}")


def _towards_better(
    audit: MeasuredAudit, row: MetricDifference, sign: float
) -> tuple[float, float, float]:
    if audit.measure.name == "cost":
        sign = -sign
    low, high = sorted((sign * row.low, sign * row.high))
    return sign * row.difference, low, high


def of_constant(audit: MeasuredAudit) -> float:
    """The measure of the better constant decision, in the sign of the metric."""
    row = audit.quality[-1]
    found = audit.measure.of_constant(row.n_positive / row.n)
    return -found if audit.measure.name == "cost" else found


def beats(audit: MeasuredAudit, low: float, high: float, constant: float) -> bool:
    """Whether a whole interval of the measure is better than a constant decision."""
    return high < constant if audit.measure.name == "cost" else low > constant


def constant_in_words(audit: MeasuredAudit) -> str:
    """The constant decision in words."""
    if audit.measure.name in ("accuracy", "cost"):
        return f"the same decision about everyone ({measure_text(of_constant(audit))})"
    return "chance"


def with_interval(row: Metric) -> str:
    """A value of the measure with its interval, as text."""
    return f"{measure_text(row.value)} (95 % {row.interval} interval {ends(row.low, row.high)})"


def beside_others(audit: SubjectedAudit, multiple: float) -> str:
    """The measure of the subject, and in brackets of the other models."""
    found = {model: measure_text(measured(audit, model, multiple).value) for model in audit.models}
    own = found.pop(audit.subject)
    others = listed([f"{model} {value}" for model, value in found.items()])
    return f"{own} ({others})" if others else own


def ends(low: float, high: float) -> str:
    """The ends of an interval of the measure, as text."""
    return f"{measure_text(low)} to {measure_text(high)}"


def is_certain(audit: MeasuredAudit, model: str) -> bool:
    """Whether the model is measurably better than a constant decision, also when people game."""
    found = measured(audit, model, GAMED if audit.movable else 0.0)
    return beats(audit, found.low, found.high, of_constant(audit))
