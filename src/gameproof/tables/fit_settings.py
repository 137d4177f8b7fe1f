"""`FitSettings`: how to fit and evaluate the classifiers, apart from the radius."""

from __future__ import annotations

from math import inf
from typing import Literal, NamedTuple

import numpy as np

from gameproof.core.arguments import as_count, as_number, as_share
from gameproof.estimators.measures import as_measure
from gameproof.tables.defaults import LABEL_COST, POWER, TEST_SHARE


class FitSettings(NamedTuple):
    """What the functions `fit_table` and `compare_table` were asked for."""

    label_cost: float = LABEL_COST
    power: float = POWER
    test_share: float = TEST_SHARE
    seed: int = 0
    cost_accept_bad: float = 1.0
    cost_refuse_good: float = 1.0
    measure: str | None = None
    balanced: bool | None = None
    threshold: float | None = None
    approve: float | None = None
    train_for: float | Literal["auto"] = 1.0

    def checked(self) -> FitSettings:
        """These settings, or an error that names the first one that is out of range."""
        if self.threshold is not None and self.approve is not None:
            raise ValueError(
                "threshold (--threshold) and approve (--approve) both say whom to approve; give "
                "one of them"
            )
        costs = (
            _at_least_0("cost_accept_bad", self.cost_accept_bad),
            _at_least_0("cost_refuse_good", self.cost_refuse_good),
        )
        if self.measure is not None:
            as_measure(self.measure, np.empty(0, dtype=bool), *costs)
        return FitSettings(
            inf if self.label_cost == inf else _at_least_0("label_cost", self.label_cost),
            _at_least_0("power", self.power),
            as_share("test_share", self.test_share),
            as_count("seed", self.seed, least=0),
            *costs,
            self.measure,
            self.balanced,
            None if self.threshold is None else as_share("threshold", self.threshold),
            None if self.approve is None else as_share("approve", self.approve),
            checked_multiple(self.train_for),
        )


def checked_radius(radius: float | Literal["auto"]) -> float | Literal["auto"]:
    """A radius of at least 0, or "auto"."""
    return _or_auto("radius", radius)


def checked_multiple(multiple: float | Literal["auto"]) -> float | Literal["auto"]:
    """A multiple of the budgets of at least 0, or "auto"."""
    return _or_auto("train_for", multiple)


def _or_auto(name: str, given: float | Literal["auto"]) -> float | Literal["auto"]:
    if isinstance(given, str):
        if given != "auto":
            raise ValueError(f'{name} must be "auto" or a number of at least 0, got {given!r}')
        return "auto"
    return _at_least_0(name, given)


def _at_least_0(name: str, value: float) -> float:
    number = as_number(name, value)
    if not 0 <= number < inf:
        raise ValueError(f"{name} must be finite and at least 0, got {value}")
    return number
