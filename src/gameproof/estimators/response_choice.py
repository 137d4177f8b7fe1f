"""How people move: from a classifier's parameters to a response in the units of the fit.

Budgets say what people can change in the table, so they go through the preparation and then
through the units of the fit: bounds of a box are divided by the scale, and so are the steps of
levels that can be claimed. Any other response lives in the units of the fit, or is a black box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector, as_number
from gameproof.estimators.column_positions import positions
from gameproof.estimators.features import Features
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.scaling import Units
from gameproof.estimators.table_budgets import Budgets, Moves
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.power_costs import DEFAULT_POWER, PowerCost, QuadraticCost
from gameproof.strategic.responses import KnownResponse, Response


@final
@dataclass(frozen=True, eq=False)
class ResponseChoice:
    """The parameters that say how people move, the preparation, and how many columns it makes."""

    budgets: Any
    response: Any
    power: Any
    features: Any
    preparation: FittedPreparation
    width: int

    def __post_init__(self) -> None:
        if self.budgets is not None:
            for name in ("response", "power", "features"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"budgets and {name} both say how people move; give one of them"
                    )
            return
        if self.response is None:
            return
        if not isinstance(self.response, Response):
            raise TypeError(
                f"response must be a Response such as QuadraticCost, got {self.response!r}; a "
                "function of your own becomes one as BlackBox(function)"
            )
        if self.power is not None:
            raise ValueError("power is that of the default response; a response has its own")
        own = isinstance(self.response, PowerCost) and self.response.features is None
        if self.features is not None and not own:
            raise ValueError(
                "features says what the default response, or a cost without features of its own, "
                f"can move; {self.response!r} says so itself"
            )

    @property
    def knows(self) -> Any:
        """What knows how people answer."""
        return self.power if self.response is None else self.response

    def answering(self) -> Response:
        """The response that the parameters give where there are no budgets."""
        if self.response is None:
            power = DEFAULT_POWER if self.power is None else self.power
            return QuadraticCost(power, features=self._places())
        if self.features is None:
            given: Response = self.response
            return given
        limited: Response = replace(self.response, features=self._places())
        return limited

    def movable(self, response: Response) -> Indices:
        """Positions of the prepared columns that people can move, as far as a model says."""
        if isinstance(response, KnownResponse):
            return np.flatnonzero(response.movable(self.width))
        own = getattr(response, "features", None)
        return np.arange(self.width) if own is None else np.sort(np.asarray(own, dtype=np.int64))

    def _places(self) -> list[int]:
        chosen = positions(self.features, self.preparation.known_names, self.preparation.d)
        if chosen is None:
            return list(range(self.width))
        found: list[int] = self.preparation.places(chosen, self.width).tolist()
        return found


def as_budgets(given: Any, features: Features, X: Matrix, weights: Vector | None = None) -> Budgets:
    """Budgets from what a user gave, for a table with these columns; defaults come from the rows
    of X, by weight."""
    if not isinstance(given, Budgets):
        return Budgets.of(given, features, X, weights)
    if given.features.names != features.names or given.features.levels != features.levels:
        raise ValueError(
            f"these budgets are for the columns {', '.join(given.features.names)}, and the table "
            f"has {', '.join(features.names)}, or other levels"
        )
    return given


def as_box_budget(moves: Moves, units: Units) -> BoxBudget:
    """Moves of the prepared columns in the units of the fit."""
    claims = tuple(
        claim._replace(
            steps=claim.steps / np.where(claim.columns >= 0, units.scale[claim.columns], 1.0)
        )
        for claim in moves.claims
    )
    return BoxBudget(moves.lower / units.scale, moves.upper / units.scale, claims)


def scale_response(response: Response, multiple: float) -> Response:
    """The response of people who can gain this many times as much."""
    if as_number("multiple", multiple) == 1:
        return response
    if not (np.isfinite(multiple) and multiple >= 0):
        raise ValueError(f"multiple must be finite and at least 0, got {multiple}")
    if not isinstance(response, KnownResponse):
        raise TypeError(
            f"{response!r} answers for itself, and has no multiples: multiple must be 1, got "
            f"{multiple:g}"
        )
    return response.scaled(multiple)
