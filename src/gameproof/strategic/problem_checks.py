"""Checks of what a strategic problem is made of."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gameproof.core.arguments import Vector, as_number
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse

Form = Literal["exact", "printed"]
Flips = Literal["one-way", "none", "both"]
FORMS = ("exact", "printed")
FLIPS = ("one-way", "none", "both")
# Larger numbers overflow when squared and summed.
LARGEST = 1e100


def require_choices(form: str, flips: str, positive: str) -> None:
    """Raises unless each option has one of its values."""
    for name, given, known in (
        ("form", form, FORMS),
        ("flips", flips, FLIPS),
        ("positive", positive, ("exact", "estimated")),
    ):
        if given not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {given!r}")


def require_convex(form: str, flips: str, label_cost: float, anybody_moves: bool) -> None:
    """Raises unless form, flips and label cost make a convex problem together."""
    if form == "printed" and np.isinf(label_cost):
        raise ValueError('form="printed" needs a finite label_cost, got inf')
    if flips != "none" and np.isinf(label_cost):
        raise ValueError(f"flips={flips!r} needs a finite label_cost, got {label_cost}")
    if flips == "both" and anybody_moves:
        raise ValueError(
            "labels that flip both ways give a convex problem only where nobody moves; use "
            'flips="one-way", or a population without a response'
        )
    if form == "printed" and flips != "one-way":
        raise ValueError('form="printed" is the paper\'s one-way problem; leave out flips')


def require_bounded(form: str, radius: float, least: float) -> None:
    """Raises if the printed form is unbounded below; `least` is the smallest radius that works."""
    if form == "printed" and radius < least * (1 - 1e-12):
        raise ValueError(
            f"the printed form is unbounded below at radius {radius}: it is the exact form with "
            f"radius {radius - least:.6g}; the smallest radius that works is {least:.6g}, or use "
            'form="exact"'
        )


def require_moderate(
    population: Population, model: KnownResponse | None, cost: Vector, numbers: dict[str, float]
) -> None:
    """Raises if a number would overflow when it is multiplied with others."""
    for name, value in (
        ("X", population.largest),
        *numbers.items(),
        ("feature_cost", float(np.where(np.isinf(cost), 0.0, cost).max())),
        ("1 / feature_cost", 1 / float(cost.min())),
        ("power", 0.0) if model is None else model.largest,
    ):
        if value > LARGEST:
            raise ValueError(
                f"{name} must be at most {LARGEST:g}, got {value:g}: products of larger "
                "numbers overflow"
            )


def at_least_zero(name: str, value: float, finite: bool = False) -> float:
    """A number of at least 0, and a finite one on request; raises for anything else."""
    number = as_number(name, value)
    if not number >= 0 or (finite and np.isinf(number)):
        wanted = "finite and at least 0" if finite else "at least 0"
        raise ValueError(f"{name} must be {wanted}, got {value}")
    return number


def default_flips(label_cost: float) -> Flips:
    """The flips of a problem for which none are given."""
    return "none" if np.isinf(label_cost) else "one-way"
