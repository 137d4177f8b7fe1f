"""`AuditVerdict`: one sentence that says which model to use, or that none should be used.

A model is unusable if it makes the same decision about almost everyone, if the interval of its
measure reaches the better of two constant decisions (approve all, refuse all) when nobody games, or
if the measure itself does when bad applicants use their budgets. If only its interval does then,
the sentence says so. Models are ordered from the plainest to the most robust. Recommended is the
plainest usable one that no usable one is measurably better than under gaming; models whose interval
then reaches a constant decision come after the others.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from gameproof.auditing.audited_measure import (
    MeasuredAudit,
    constant_in_words,
    ends,
    is_certain,
    lead,
    measured,
    with_interval,
)
from gameproof.auditing.metric_rows import GAMED
from gameproof.auditing.number_format import listed, measure_text
from gameproof.auditing.reasons_against import warning, why_not

NO_MODEL = "Do not use any of these models"


class Audited(MeasuredAudit, Protocol):
    """The parts of an `Audit` that a verdict and a summary need."""

    @property
    def warnings(self) -> tuple[str, ...]: ...

    @property
    def verdict(self) -> AuditVerdict: ...


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
    problems = {model: why_not(audit, model) for model in audit.models}
    about = (warning(audit, model) for model in audit.models)
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


def _named(problems: dict[str, str], reason: str) -> str:
    names = [model for model, found in problems.items() if found == reason]
    return ("each of " if len(names) > 1 else "") + listed(names)


def _recommended(audit: Audited, usable: list[str]) -> str:
    """The plainest of the models that none is measurably better than.

    Under gaming, those that are measurably better than a constant decision come first.
    """
    unbeaten = _unbeaten(audit, usable)
    return next((model for model in unbeaten if is_certain(audit, model)), unbeaten[0])


def _unbeaten(audit: Audited, usable: list[str]) -> list[str]:
    """The usable models that no usable model is measurably better than, the plainest first."""
    multiple = GAMED if audit.movable else 0.0

    def beats(one: str, two: str) -> bool:
        difference, low, _ = lead(audit, one, two, multiple)
        return difference > 0 and low > 0  # so that the best model is always unbeaten

    return [two for two in usable if not any(beats(one, two) for one in usable if one != two)]


def _one_model(audit: Audited, name: str) -> str:
    clean, label = measured(audit, name, 0.0), audit.measure.spoken
    if not audit.movable:
        return f"{name} can be used if nobody games it: its {label} is {with_interval(clean)}."
    gamed = measured(audit, name, GAMED)
    beside = f" instead of {measure_text(clean.value)}"
    if measure_text(gamed.value) == measure_text(clean.value):
        beside = ", as when nobody games"
    return (
        f"{name} can be used at these budgets: when bad applicants use them, its {label} is "
        f"{with_interval(gamed)}{beside}{_doubt(audit, name)}."
    )


def _several_models(audit: Audited, name: str, usable: list[str]) -> str:
    label, clean = audit.measure.spoken, measured(audit, name, 0.0)
    every = "" if len(usable) == len(audit.models) else "usable "
    better = f"no other {every}model is measurably better"
    if len(usable) == 1:
        better = "it is the only usable model"
    if not audit.movable:
        return f"Use {name}: {better}; its {label} is {with_interval(clean)}."
    plain = next(model for model in audit.models if model != name)
    at, other = measured(audit, name, GAMED), measured(audit, plain, GAMED)
    gained, low, high = lead(audit, name, plain, GAMED)
    doubt = _doubt(audit, name) or _passed_over(audit, name, usable)
    if low <= 0:
        when = "when bad applicants use them"
        said = f"{better} {when}; its {label} is then"
        if len(usable) == 1:
            said = f"{better}; {when}, its {label} is"
        also = f"and {measure_text(clean.value)} when nobody games"
        if measure_text(at.value) == measure_text(clean.value):
            also = "as when nobody games"
        return f"Use {name} at these budgets: {said} {with_interval(at)}, {also}{doubt}."
    kind = next(r.interval for r in audit.metric_differences if r.metric == audit.measure.name)
    cost, cheap, dear = (-end for end in lead(audit, name, plain, 0.0))
    return (
        f"Use {name} at these budgets: when bad applicants use them, its {label} is "
        f"{measure_text(at.value)} instead of {measure_text(other.value)} for {plain} (better by "
        f"{measure_text(gained)}, 95 % {kind} interval {ends(low, high)}); when nobody games, "
        f"{_price(cost, dear, cheap)}{doubt}."
    )


def _doubt(audit: Audited, name: str) -> str:
    """A clause if the interval under gaming reaches the measure of a constant decision."""
    if is_certain(audit, name):
        return ""
    return f"; gamed, it is not measurably better than {constant_in_words(audit)}"


def _passed_over(audit: Audited, name: str, usable: list[str]) -> str:
    """A clause on plainer models that are not recommended because gaming may make them useless."""
    unbeaten = _unbeaten(audit, usable)
    found = unbeaten[: unbeaten.index(name)]
    if not found:
        return ""
    verb = "is" if len(found) == 1 else "are"
    return f"; gamed, {listed(found)} {verb} not measurably better than {constant_in_words(audit)}"


def _price(cost: float, low: float, high: float) -> str:
    """What the recommended model costs when nobody games, in words."""
    if low <= 0 <= high:
        return f"the difference is not measurable ({ends(-high, -low)})"
    if cost > 0:
        return f"it is worse by {measure_text(cost)} ({ends(low, high)})"
    return f"it is better by {measure_text(-cost)} ({ends(-high, -low)})"
