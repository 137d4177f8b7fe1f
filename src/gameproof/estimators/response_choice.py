"""The response that a classifier's parameters describe, in the units of the fit.

Budgets are stated in the units of the table. They pass through the preparation and are then divided
by the scale of the fit, and so are the steps of levels that can be claimed. Any other response is
stated in the units of the fit, or is a black box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from gameproof.core.arguments import Indices, as_number
from gameproof.estimators.column_positions import column_positions
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.parameters import ClassifierParameters
from gameproof.estimators.scaling import Units
from gameproof.estimators.table_budgets import MoveBounds
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.power_costs import DEFAULT_POWER, PowerCost, QuadraticCost
from gameproof.strategic.responses import KnownResponse, Response


@final
@dataclass(frozen=True, eq=False)
class ResponseChoice:
    """The parameters that say how people move, and the prepared table that they refer to.

    `width` is the number of prepared columns.
    """

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
                f"response must be a Response such as QuadraticCost, got {self.response!r}; wrap a "
                "function of your own as BlackBox(function)"
            )
        if self.power is not None:
            raise ValueError("power belongs to the default response; a response has its own")
        open_cost = isinstance(self.response, PowerCost) and self.response.features is None
        if self.features is not None and not open_cost:
            raise ValueError(
                "features applies to the default response, or to a cost without features of its "
                f"own; {self.response!r} already says what people can move"
            )

    @classmethod
    def of(cls, model: ClassifierParameters) -> ResponseChoice:
        """What the parameters of a classifier say, which may have been set after its fit."""
        features = None if isinstance(model.budgets, str) else model.features  # part of "auto"
        parameters = model.budgets, model.response, model.power, features
        return cls(*parameters, FittedPreparation.of(model), model.units_.mean.size)

    @property
    def keyed(self) -> Any:
        """The parameter that may be keyed by row: individual powers, or the response."""
        return self.power if self.response is None else self.response

    def chosen_response(self) -> Response:
        """The response that the parameters give if there are no budgets."""
        if self.response is None:
            power = DEFAULT_POWER if self.power is None else self.power
            return QuadraticCost(power, features=self._prepared_positions())
        if self.features is None:
            given: Response = self.response
            return given
        limited: Response = replace(self.response, features=self._prepared_positions())
        return limited

    def movable(self, response: Response) -> Indices:
        """Positions of the prepared columns that people can move under `response`.

        All columns count as movable under a response that does not say which it moves.
        """
        if isinstance(response, KnownResponse):
            return np.flatnonzero(response.movable(self.width))
        own = getattr(response, "features", None)
        return np.arange(self.width) if own is None else np.sort(np.asarray(own, dtype=np.int64))

    def _prepared_positions(self) -> list[int]:
        chosen = column_positions(self.features, self.preparation.known_names, self.preparation.d)
        if chosen is None:
            return list(range(self.width))
        found: list[int] = self.preparation.places(chosen, self.width).tolist()
        return found


def as_box_budget(moves: MoveBounds, units: Units) -> BoxBudget:
    """Moves of the prepared columns, in the units of the fit."""
    claims = tuple(
        claim._replace(
            steps=claim.steps / np.where(claim.columns >= 0, units.scale[claim.columns], 1.0)
        )
        for claim in moves.claims
    )
    return BoxBudget(moves.lower / units.scale, moves.upper / units.scale, claims)


def scale_response(response: Response, multiple: float) -> Response:
    """The response of people who can gain `multiple` times as much."""
    if as_number("multiple", multiple) == 1:
        return response
    if not (np.isfinite(multiple) and multiple >= 0):
        raise ValueError(f"multiple must be finite and at least 0, got {multiple}")
    if not isinstance(response, KnownResponse):
        raise TypeError(
            f"{response!r} is not a formula that can be multiplied: multiple must be 1, got "
            f"{multiple:g}"
        )
    return response.scaled(multiple)
