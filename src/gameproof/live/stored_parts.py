"""Solvers and losses as JSON: the names of their parts, and the numbers that these were given."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from gameproof.minmax.averages import Last, StepWeighted, Suffix
from gameproof.minmax.estimates.coordinates import Coordinates
from gameproof.minmax.estimates.directions import Directions
from gameproof.minmax.estimates.gaussian import Gaussian
from gameproof.minmax.estimates.one_point import OnePoint
from gameproof.minmax.estimates.residual import Residual
from gameproof.minmax.estimates.two_point import TwoPoint
from gameproof.minmax.orders.reshuffle import Reshuffle
from gameproof.minmax.orders.shuffle_once import ShuffleOnce
from gameproof.minmax.orders.with_replacement import WithReplacement
from gameproof.minmax.schedules import Constant, PerStep, Power
from gameproof.minmax.solver import Solver
from gameproof.minmax.updates.alternating import Alternating
from gameproof.minmax.updates.anchored import Anchored
from gameproof.minmax.updates.extragradient import Extragradient
from gameproof.minmax.updates.ogda import OGDA
from gameproof.minmax.updates.past_extragradient import PastExtragradient
from gameproof.minmax.updates.sgda import SGDA
from gameproof.strategic.envelope import Envelope
from gameproof.strategic.losses.huber_hinge import HuberHinge
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.losses.pseudo_huber_hinge import PseudoHuberHinge

_PARTS: tuple[type, ...] = (
    *(Solver, OGDA, SGDA, Extragradient, PastExtragradient, Anchored, Alternating),
    *(OnePoint, TwoPoint, Residual, Gaussian, Coordinates, Directions, Envelope),
    *(Reshuffle, ShuffleOnce, WithReplacement, Power, Constant, PerStep),
    *(StepWeighted, Suffix, Last, Logistic, HuberHinge, PseudoHuberHinge),
)
_BY_NAME = {part.__name__: part for part in _PARTS}
# Not part of a method: see `Solver`.
_LEFT_OUT = {"start", "why", "settled"}


def part_to_json(part: Any) -> Any:
    """A part as JSON. Raises TypeError for a part of the user's own, which cannot be stored."""
    if part is None or isinstance(part, (bool, int, float, str)):
        return part
    if isinstance(part, tuple):
        return [part_to_json(each) for each in part]
    if type(part) not in _PARTS or not is_dataclass(part):
        raise TypeError(
            f"a study cannot store {part!r}; use a built-in part, such as {_examples(part)}"
        )
    names = [field.name for field in fields(part) if field.init and field.name not in _LEFT_OUT]
    return {
        "part": type(part).__name__,
        **{name: part_to_json(getattr(part, name)) for name in names},
    }


def part_from_json(stored: Any) -> Any:
    """The part that `part_to_json` stored."""
    if isinstance(stored, list):
        return tuple(part_from_json(each) for each in stored)
    if not isinstance(stored, dict):
        return stored
    given = {name: part_from_json(each) for name, each in stored.items() if name != "part"}
    return _BY_NAME[stored["part"]](**given)


def _examples(part: Any) -> str:
    return "Logistic()" if hasattr(part, "phi") else "TwoPoint() or Power(0.01, 0.5)"
