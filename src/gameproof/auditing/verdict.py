"""`AuditVerdict`: one sentence that says which model to use, or that none should be used.

A model is unusable if it makes the same decision about almost everyone, if the interval of its
measure reaches the better of two constant decisions (approve all, refuse all) when nobody games, or
if the measure itself does when bad applicants use their budgets. If only its interval does then,
the sentence says so. Models are ordered from the plainest to the most robust. Recommended is the
plainest usable one that no usable one is measurably better than under gaming; models whose interval
then reaches a constant decision come after the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from gameproof.auditing.metric_rows import GAMED
from gameproof.auditing.metric_types import Confusion, Metric, MetricDifference
from gameproof.auditing.number_format import listed, percent
from gameproof.auditing.row_types import Quality
from gameproof.estimators.measures import Measure

# Fewer people than this share, or than half the share of the rarer outcome, decided another way.
ALMOST_NOBODY = 0.05
# From this share on, the people who have the same score are worth a warning.
MANY = 0.5
# A single model that loses at least this part of its advantage to gaming should not be used.
TOO_MUCH = 0.5
NO_MODEL = "Do not use any of these models"


class Audited(Protocol):
    """The parts of an `Audit` that a verdict needs."""

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

    @property
    def warnings(self) -> tuple[str, ...]: ...

    @property
    def verdict(self) -> AuditVerdict: ...

    def of(self, rows: Iterable[Any], model: str) -> list[Any]: ...


class AuditVerdict(NamedTuple):
    """The recommended model, None if there is none, and the verdict in a sentence.

    `warnings` are about the data, and about models that make the same decision about almost
    everyone.
    """

    model: str | None
    sentence: str
    warnings: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """The verdict for JSON."""
        return {**self._asdict(), "warnings": list(self.warnings)}


def verdict(audit: Audited) -> AuditVerdict:
    """The verdict of an audit."""
    problems = {model: _problem(audit, model) for model in audit.models}
    about = (_same_for_most(audit, model) for model in audit.models)
    warnings = (*audit.warnings, *filter(None, about))
    usable = [model for model in audit.models if not problems[model]]
    if len(audit.models) == 1:
        (name,) = audit.models
        if problems[name]:
            return AuditVerdict(None, f"Do not use {name}: {problems[name]}.", warnings)
        return AuditVerdict(name, _one_model(audit, name), warnings)
    if not usable:
        reasons = dict.fromkeys(problems.values())
        said = "; for ".join(f"{_named(problems, reason)}: {reason}" for reason in reasons)
        return AuditVerdict(None, f"{NO_MODEL}. For {said}.", warnings)
    name = _recommended(audit, usable)
    return AuditVerdict(name, _several_models(audit, name, usable), warnings)


def _same_for_most(audit: Audited, model: str) -> str:
    """A warning if the model makes the same decision about almost everyone, or gives most people
    the same score; else empty."""
    said = same_decisions(audit, model)
    if not said:
        return same_scores(audit, model)
    clean = measured(audit, model, 0.0)
    ranks = audit.measure.ranks and _beats(audit, clean.low, clean.high, _constant(audit))
    if not (ranks and _is_certain(audit, model)):
        return said
    when = " when bad applicants use their budgets" if audit.movable else ""
    value = measured(audit, model, GAMED if audit.movable else 0.0).value
    return (
        f"{said}; its ranking is measurably better than chance ({audit.measure.label} {value:.3f}"
        f"{when}), so choose its threshold by an approval rate (fit --approve)"
    )


def same_decisions(audit: Audited, model: str) -> str:
    """A sentence if the model makes the same decision about almost everyone; else empty."""
    row = next(r for r in audit.confusions if (r.model, r.group, r.multiple) == (model, None, 0.0))
    n_good, n_bad = row.good_accepted + row.good_refused, row.bad_accepted + row.bad_refused
    n, approved = n_good + n_bad, row.good_accepted + row.bad_accepted
    few = min(approved, n - approved) / n
    if few >= min(ALMOST_NOBODY, min(n_good, n_bad) / (2 * n)) or audit.approve is not None:
        return ""
    if approved > n - approved:
        return (
            f"{model} approves {percent(approved / n)} of all applicants, and "
            f"{percent(row.bad_accepted / n_bad)} of those who should be refused"
        )
    return (
        f"{model} refuses {percent(1 - approved / n)} of all applicants, and "
        f"{percent(row.good_refused / n_good)} of those who should be accepted"
    )


def same_scores(audit: Audited, model: str) -> str:
    """A sentence if most people get the same score; else empty."""
    (row,) = audit.of(audit.quality, model)
    if row.same_score <= MANY:
        return ""
    return f"{model} gives {percent(row.same_score)} of all applicants the same score"


def measured(audit: Audited, model: str, multiple: float) -> Metric:
    """The measure of the audit for one model and everyone."""
    key = (model, None, audit.measure.name, multiple)
    return next(r for r in audit.metrics if (r.model, r.group, r.metric, r.multiple) == key)


def lead(audit: Audited, model: str, against: str, multiple: float) -> tuple[float, float, float]:
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
    audit: Audited, row: MetricDifference, sign: float
) -> tuple[float, float, float]:
    if audit.measure.name == "cost":
        sign = -sign
    ends = sorted((sign * row.low, sign * row.high))
    return sign * row.difference, ends[0], ends[1]


def _problem(audit: Audited, model: str) -> str:
    """Why the model should not be used; empty if nothing speaks against it."""
    if said := same_decisions(audit, model):
        return (
            said.removeprefix(f"{model} ")
            .replace("approves", "it approves", 1)
            .replace("refuses", "it refuses", 1)
        )
    label, constant = audit.measure.label, _constant(audit)
    clean = measured(audit, model, 0.0)
    if not _beats(audit, clean.low, clean.high, constant):
        return (
            f"its {_label(audit)} of {_value(clean)} is not measurably better than {_whom(audit)}"
        )
    if audit.movable:
        gamed = measured(audit, model, GAMED)
        if not _beats(audit, gamed.value, gamed.value, constant):
            return (
                f"when bad applicants use their budgets, its {_label(audit)} goes from "
                f"{clean.value:.3f} to {gamed.value:.3f}, no better than {_whom(audit)}"
            )
        kept = (gamed.value - constant) / (clean.value - constant)
        if len(audit.models) == 1 and 1 - kept >= TOO_MUCH:
            return (
                f"when bad applicants use their budgets, it loses {percent(1 - kept)} of its "
                f"advantage over {_whom(audit)} ({label} {clean.value:.3f} to {gamed.value:.3f})"
            )
    return ""


def _constant(audit: Audited) -> float:
    """The measure of the better constant decision, in the sign of the metric."""
    row = audit.quality[-1]
    found = audit.measure.of_constant(row.n_positive / row.n)
    return -found if audit.measure.name == "cost" else found


def _beats(audit: Audited, low: float, high: float, constant: float) -> bool:
    return high < constant if audit.measure.name == "cost" else low > constant


def _whom(audit: Audited) -> str:
    """The constant decision in words."""
    if audit.measure.name in ("accuracy", "cost"):
        return f"the same decision about everyone ({_constant(audit):.3f})"
    return "chance"


def _label(audit: Audited) -> str:
    return "cost per applicant" if audit.measure.name == "cost" else audit.measure.label


def _value(row: Metric) -> str:
    return f"{row.value:.3f} (95 % {row.interval} interval {row.low:.3f} to {row.high:.3f})"


def _named(problems: dict[str, str], reason: str) -> str:
    names = [model for model, found in problems.items() if found == reason]
    return ("each of " if len(names) > 1 else "") + listed(names)


def _recommended(audit: Audited, usable: list[str]) -> str:
    """The plainest of the models that none is measurably better than.

    Under gaming, those that are measurably better than a constant decision come first.
    """
    unbeaten = _unbeaten(audit, usable)
    return next((model for model in unbeaten if _is_certain(audit, model)), unbeaten[0])


def _unbeaten(audit: Audited, usable: list[str]) -> list[str]:
    """The usable models that no usable model is measurably better than, the plainest first."""
    multiple = GAMED if audit.movable else 0.0

    def beats(one: str, two: str) -> bool:
        difference, low, _ = lead(audit, one, two, multiple)
        return difference > 0 and low > 0  # so that the best model is always unbeaten

    return [two for two in usable if not any(beats(one, two) for one in usable if one != two)]


def _is_certain(audit: Audited, model: str) -> bool:
    """Whether the model is measurably better than a constant decision, also when people game."""
    found = measured(audit, model, GAMED if audit.movable else 0.0)
    return _beats(audit, found.low, found.high, _constant(audit))


def _one_model(audit: Audited, name: str) -> str:
    clean, label = measured(audit, name, 0.0), _label(audit)
    if not audit.movable:
        return f"{name} can be used if nobody games it: its {label} is {_value(clean)}."
    gamed = measured(audit, name, GAMED)
    return (
        f"{name} can be used at these budgets: when bad applicants use them, its {label} is "
        f"{_value(gamed)} instead of {clean.value:.3f}{_doubt(audit, name)}."
    )


def _several_models(audit: Audited, name: str, usable: list[str]) -> str:
    label, clean = _label(audit), measured(audit, name, 0.0)
    every = "" if len(usable) == len(audit.models) else "usable "
    better = f"no other {every}model is measurably better"
    if len(usable) == 1:
        better = "it is the only usable model"
    if not audit.movable:
        return f"Use {name}: {better}; its {label} is {_value(clean)}."
    plain = next(model for model in audit.models if model != name)
    at, other = measured(audit, name, GAMED), measured(audit, plain, GAMED)
    gained, low, high = lead(audit, name, plain, GAMED)
    doubt = _doubt(audit, name) or _passed_over(audit, name, usable)
    if low <= 0:
        when = "when bad applicants use them"
        said = f"{better} {when}; its {label} is then"
        if len(usable) == 1:
            said = f"{better}; {when}, its {label} is"
        return (
            f"Use {name} at these budgets: {said} {_value(at)}, and {clean.value:.3f} when nobody "
            f"games{doubt}."
        )
    kind = next(r.interval for r in audit.metric_differences if r.metric == audit.measure.name)
    cost, cheap, dear = (-end for end in lead(audit, name, plain, 0.0))
    return (
        f"Use {name} at these budgets: when bad applicants use them, its {label} is "
        f"{at.value:.3f} instead of {other.value:.3f} for {plain} (better by {gained:.3f}, 95 % "
        f"{kind} interval {low:.3f} to {high:.3f}); when nobody games, "
        f"{_price(cost, dear, cheap)}{doubt}."
    )


def _doubt(audit: Audited, name: str) -> str:
    """A clause if the interval under gaming reaches the measure of a constant decision."""
    if _is_certain(audit, name):
        return ""
    return f"; gamed, it is not measurably better than {_whom(audit)}"


def _passed_over(audit: Audited, name: str, usable: list[str]) -> str:
    """A clause on plainer models that are not recommended because gaming may make them useless."""
    unbeaten = _unbeaten(audit, usable)
    found = unbeaten[: unbeaten.index(name)]
    if not found:
        return ""
    verb = "is" if len(found) == 1 else "are"
    return f"; gamed, {listed(found)} {verb} not measurably better than {_whom(audit)}"


def _price(cost: float, low: float, high: float) -> str:
    """What the recommended model costs when nobody games, in words."""
    if low <= 0 <= high:
        return f"the difference is not measurable ({-high:.3f} to {-low:.3f})"
    if cost > 0:
        return f"it is worse by {cost:.3f} ({low:.3f} to {high:.3f})"
    return f"it is better by {-cost:.3f} ({-high:.3f} to {-low:.3f})"
