"""The verdict on a fit: whether the answers fit, and if not, the likely reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gameproof.strategic.learning.fit_tests import (
    EACH_TEST,
    is_exact,
    p_lack_of_fit,
    p_start_dependence,
)
from gameproof.strategic.learning.model_violations import (
    describe_cut,
    find_delay,
    find_other_features,
    moves_against_theta,
    moves_regardless_of_theta,
    rounding_unit,
)
from gameproof.strategic.learning.response_fit import ResponseFit

LARGEST_DEGREE = 20.0  # above this degree, moves hardly grow with theta


@dataclass(frozen=True)
class FitVerdict:
    """Whether the answers fit, a sentence that explains it, and by how many deployments people
    answer late."""

    fits: bool
    sentence: str
    delay: int = 0


def judge(fit: ResponseFit, refuted: Sequence[ResponseFit] = ()) -> FitVerdict:
    """Tests the fit, and says what was found and what to do next.

    If every family is refuted, `refuted` are the fits of all families, the power cost first."""
    pilot, fits = fit.pilot, refuted or (fit,)
    answers = f"{pilot.agents.size} answers to {len(pilot.thetas)} deployments"
    if not np.abs(pilot.moves).max() > pilot.rounding:
        return FitVerdict(True, f"Nobody moved in {answers}: the power is 0.")
    if is_exact(fit):
        return FitVerdict(True, f"{describe(fit)} It predicts all {answers} exactly.")
    p_start, p_growth = p_start_dependence(fits[0]), fits[0].p_growth()
    p_value = min(p_lack_of_fit(fits[0]), p_start, p_growth)
    if moves_regardless_of_theta(fits[0], p_value):
        return _refuted(
            "people move, but agents who were asked again moved by the same amount, whatever theta "
            "was"
        )
    unit = rounding_unit(pilot)
    if p_value < EACH_TEST:
        # From scores, movable features are found by deploying them alone. A delay shifts those
        # deployments, so the features of the fit are kept.
        if delay := find_delay(fit, fits[0].movable if pilot.scores_only else None):
            plural = "s" if delay > 1 else ""
            late = _refuted(f"people answer the theta from {delay} deployment{plural} earlier")
            return replace(late, delay=delay)
        if others := find_other_features(fit):
            return FitVerdict(
                False,
                "The answers do not fit a response on the features given: "
                f"{', '.join(map(str, others))} move as well. Add these to `features`, or leave "
                "`features` out and they will be found.",
            )
    cut = "" if unit else next(filter(None, (describe_cut(each, p_value) for each in fits)), "")
    rounded = unit > 0 and float(np.abs(fit.residuals()).max()) < 0.75 * unit
    if rounded or (p_value >= EACH_TEST and not cut):
        what = f"answers are rounded to multiples of {unit:.4g}" if unit else "answers are noisy"
        number = "score" if pilot.scores_only else "feature"
        return FitVerdict(
            True,
            f"{describe(fit)} It predicts {answers} on average; {what}, with a standard deviation "
            f"of {fit.noise:.2g} per {number}.",
        )
    if unit:
        cut = f"answers are multiples of {unit:.4g}, but not those nearest to the best response"
    return _refuted(cut or _other_reason(fits[0], p_start, p_growth))


def describe(fit: ResponseFit) -> str:
    """What the answers fit, in a sentence."""
    if not fit.movable.any():
        return "Nobody moves with theta: the power is 0."
    what, strengths = fit.describe(), fit.strengths()
    if not fit.by_agent:
        return what + "."
    still = int((strengths <= 1e-6 * strengths.max()).sum())
    never = f", and {still} of them never move" if still else ""
    spread = fit.describe_range(strengths.min(), strengths.max())
    return f"{what} on average; {spread} among the {strengths.size} agents seen{never}."


def _refuted(reason: str) -> FitVerdict:
    return FitVerdict(
        False,
        f"The answers fit neither a power cost nor a budget: {reason}. Use the learned response "
        "only as a starting point, and continue with an estimate from values, such as TwoPoint.",
    )


def _other_reason(fit: ResponseFit, p_start: float, p_growth: float) -> str:
    pilot = fit.pilot
    if p_start < EACH_TEST:
        return "how far people move depends on their own features, as if clipped at bounds"
    if p_growth < EACH_TEST:
        return "moves do not grow as a power of theta, as if cut at a limit"
    if fit.degree > LARGEST_DEGREE:
        return (
            "moves hardly grow with theta, as if cut at a limit, but fit no ball, no box and no "
            "prices"
        )
    if pilot.agents.size == len(pilot.thetas):
        return (
            "predictions are wrong, and with one answer per deployment noise cannot be told from a "
            "violation of the model"
        )
    if moves_against_theta(pilot):
        return "some moved against a change of theta, which no best response does"
    return "mean residuals of deployments exceed what the variation among agents explains"
