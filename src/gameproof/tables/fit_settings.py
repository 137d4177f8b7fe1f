"""`FitSettings`: how to fit and evaluate the classifiers, apart from the radius."""

from __future__ import annotations

from math import inf
from typing import Literal, NamedTuple

from gameproof.core.arguments import as_count, as_number
from gameproof.tables.defaults import LABEL_COST, POWER, TEST_SHARE


class FitSettings(NamedTuple):
    """What the functions `fit_table` and `compare_table` were asked for."""

    label_cost: float = LABEL_COST
    power: float = POWER
    test_share: float = TEST_SHARE
    seed: int = 0
    cost_accept_bad: float = 1.0
    cost_refuse_good: float = 1.0

    def checked(self) -> FitSettings:
        """These settings, or an error that names the first one that is out of range."""
        share = as_number("test_share", self.test_share)
        if not 0 < share < 1:
            raise ValueError(f"test_share must lie between 0 and 1, got {self.test_share}")
        return FitSettings(
            inf if self.label_cost == inf else _at_least_0("label_cost", self.label_cost),
            _at_least_0("power", self.power),
            share,
            as_count("seed", self.seed, least=0),
            _at_least_0("cost_accept_bad", self.cost_accept_bad),
            _at_least_0("cost_refuse_good", self.cost_refuse_good),
        )


def checked_radius(radius: float | Literal["auto"]) -> float | Literal["auto"]:
    """A radius of at least 0, or "auto"."""
    if isinstance(radius, str):
        if radius != "auto":
            raise ValueError(f'radius must be "auto" or a number of at least 0, got {radius!r}')
        return "auto"
    return _at_least_0("radius", radius)


def _at_least_0(name: str, value: float) -> float:
    number = as_number(name, value)
    if not 0 <= number < inf:
        raise ValueError(f"{name} must be finite and at least 0, got {value}")
    return number
