"""`Imperfect`: people who change the answers of another response, for simulations.

`imperfect_moves` has people whose moves are cut, clipped or rounded. `imperfect_answers` has people
who answer with errors, not at all, or to an older theta. A learner sees answers but not
the response function. `assumptions` says which assumption of the model is violated.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.responses import Response, Sight


@dataclass(frozen=True, eq=False)
class Imperfect(Response):
    """The answers of `base`, changed."""

    base: Response

    sight = Sight.ANSWERS
    best_response = False

    def __post_init__(self) -> None:
        if not isinstance(self.base, Response) or self.base.sight < Sight.ANSWERS:
            raise TypeError(f"base must be a response whose answers are seen, got {self.base!r}")

    def fit(self, n: int, d: int) -> None:
        self.base.fit(n, d)

    def renewed(self) -> Response:
        return replace(self, base=self.base.renewed())

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        return self.change(self.base.answers(theta, features, agents), theta, features, agents)

    @property
    @abstractmethod
    def effect(self) -> str:
        """What is changed, and which assumption that violates, in a sentence."""

    @property
    def assumptions(self) -> str:
        return f"{self.effect} Before that: {self.base.assumptions}"

    @abstractmethod
    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        """The changed answers."""
