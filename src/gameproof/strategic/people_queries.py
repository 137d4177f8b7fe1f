"""`PeopleQueries`: whom a strategic problem asks, and what it counts.

Agents with label +1 never move, so their gradient is known and they are never asked.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, final

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector, as_numbers
from gameproof.core.errors import AnswerError, BudgetExceeded
from gameproof.kernels.jit import for_data
from gameproof.kernels.layout import ASKED, COUNTED, FREE, KNOWN, Memory, Method, Sources
from gameproof.kernels.observation import observed_gradients
from gameproof.kernels.samples import has_user_functions
from gameproof.kernels.strategic import Strategic
from gameproof.minmax.blocks import NOTHING, Perturbed
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.queries import Queries
from gameproof.strategic.envelope import Envelope
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse, Sight


@final
class PeopleQueries(Queries):
    """The people behind a strategic problem, as a run asks them."""

    def __init__(
        self,
        population: Population,
        data: Strategic,
        theta: slice,
        estimated: Perturbed,
        estimates_positive: bool,
    ) -> None:
        self._population, self._data, self._theta = population, data, theta
        self._estimated, self._estimates_positive = estimated, estimates_positive
        self.tally = population.answers_by_agent

    def sources(self, perturbed: Perturbed) -> Sources:
        """+1 agents are known, unless a perturbed coordinate has a derivative they could give."""
        own = perturbed == self._estimated and not self._estimates_positive
        positive = KNOWN if perturbed == NOTHING or own else FREE
        return Sources(self._data.labels, if_clear=COUNTED, if_set=positive)

    @property
    def remaining(self) -> int | None:
        return self._population.records.obtainable

    def turn(self) -> AbstractContextManager[Any]:
        return self._population.records.turn()

    @property
    def repeatable(self) -> bool:
        return self._population.journal is not None

    @property
    def position(self) -> int:
        return self._population.records.position

    def resume_at(self, position: int) -> None:
        self._population.records.resume_at(position)

    def count_deployments(self, number: int) -> None:
        self._population.records.count_deployments(number)

    def require(self, number: int) -> None:
        left = self._population.remaining
        if left is not None and number > left:
            raise BudgetExceeded(
                f"{number} answers are asked for and the budget of {self._population.budget} has "
                f"{left} left; nobody was asked"
            )

    def record(self, x: Vector, samples: Indices) -> None:
        self._population.note(x[self._theta], samples)

    def check(self, gradient: Gradient) -> None:
        people = self._population
        if people.sight < Sight.ANSWERS:
            raise TypeError(
                f"{type(gradient).__name__}() needs to see the answered features, and this "
                "population shows scores only; use an estimate from values such as TwoPoint()"
            )
        response, degree = people.response, getattr(gradient, "degree", None)
        known = isinstance(response, KnownResponse) and response.moves(people.d)
        if known and response.degree != degree:  # type: ignore[attr-defined]
            own = response.degree  # type: ignore[attr-defined]
            raise ValueError(
                f"Envelope(degree={degree}) does not fit people whose cost has degree {own}; use "
                f"Envelope(degree={own})"
            )

    def observe(self, samples: Indices, x: Vector) -> Matrix:
        return self._population.ask(x[self._theta], samples)

    def observed_gradients(
        self, method: Method, memory: Memory, answers: Any, gradient: Gradient
    ) -> None:
        assert isinstance(gradient, Envelope)
        given = as_numbers("answers", answers)
        asked = int(memory.counts[ASKED])
        if asked and given.shape != (asked, self._population.d):
            raise AnswerError(
                f"answers have shape {given.shape}, expected {(asked, self._population.d)}: one "
                "row of features per agent asked"
            )
        if not np.isfinite(given).all():
            raise AnswerError("an answer is not finite")
        kernel = for_data(observed_gradients, has_user_functions(self._data))
        kernel(
            self._data, method, memory, given.reshape(asked, self._population.d), gradient.conjugate
        )
