"""`AnswerRecords`: what a population keeps about the answers it has asked for.

A question is claimed before anybody is asked: that reserves its answers in the budget. Then its
answers are kept, or the claim is given back. `counted_answers` keeps counts in memory, `journal`
keeps every answer on disk.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.core.errors import BudgetExceeded
from gameproof.strategic.feature_mask import Mask


@dataclass
class QuestionClaim:
    """A question to some agents, all with label -1, and the answers to it so far."""

    theta: Vector
    agents: Indices
    answers: Matrix  # one row per agent, or one score; undefined where not answered
    answered: Mask
    mine: Mask  # agents whom the caller of `claim` has to ask now
    ids: list[int] = field(default_factory=list)  # of the questions, in a journal

    @classmethod
    def of(cls, theta: Vector, agents: Indices, shape: tuple[int, ...]) -> QuestionClaim:
        """A claim to answers of this shape, none of which is known."""
        nobody = np.zeros(agents.size, dtype=bool)
        answers = np.empty((agents.size, *shape))
        return cls(theta.copy(), agents.copy(), answers, nobody, nobody.copy())


class AnswerRecords(ABC):
    """Counts, the budget, and whatever answers are stored."""

    stored: ClassVar[bool] = False  # whether answers outlive the process

    def __init__(self, budget: int | None) -> None:
        self.budget = budget

    # --- counts

    @property
    @abstractmethod
    def by_agent(self) -> NDArray[np.int32]:
        """The number of answers of each agent."""

    @property
    @abstractmethod
    def n_answers(self) -> int:
        """The number of answers that people have given."""

    @property
    @abstractmethod
    def n_received(self) -> int:
        """The number of answers that this object has received, from people or from a journal."""

    @property
    @abstractmethod
    def n_deployments(self) -> int:
        """The number of deployments."""

    @property
    @abstractmethod
    def remaining(self) -> int | None:
        """The number of answers that people may still be asked for, or None."""

    @property
    def obtainable(self) -> int | None:
        """`remaining`, and the stored answers that this object has not received yet."""
        return self.remaining

    # --- questions

    @abstractmethod
    def claim(self, theta: Vector, agents: Indices, shape: tuple[int, ...]) -> QuestionClaim:
        """Finds stored answers and reserves the others, or raises BudgetExceeded."""

    def retry(self, claim: QuestionClaim) -> None:  # noqa: B027
        """Looks again for answers that were being asked for elsewhere."""

    @abstractmethod
    def keep(self, claim: QuestionClaim, answers: Matrix, usable: Mask) -> None:
        """Records the answers of the agents that were asked, usable or not."""

    @abstractmethod
    def discard(self, claim: QuestionClaim) -> None:
        """Records that the agents asked have answered, but not in a form that can be kept."""

    @abstractmethod
    def release(self, claim: QuestionClaim) -> None:
        """Gives back what was reserved and not answered."""

    @abstractmethod
    def note(self, theta: Vector, agents: Indices) -> None:
        """Counts answers that were obtained without asking this population."""

    def keep_answers_of(self, other: AnswerRecords) -> None:  # noqa: B027
        """Takes over the usable answers to a question that failed in part, from the records of the
        same people. Stored answers need not be taken over."""

    # --- runs

    def turn(self) -> AbstractContextManager[int | None]:
        """While open, nobody else uses up the budget. Compiled code, which counts by itself, needs
        it."""
        return nullcontext()

    def count_deployments(self, number: int) -> None:  # noqa: B027
        """Counts deployments of compiled code."""

    @property
    def position(self) -> int:
        """How far a journal has been read."""
        return 0

    def resume_at(self, position: int) -> None:  # noqa: B027
        """Takes the answers up to this position of the journal as received."""

    def refuse(self, number: int, left: int) -> BudgetExceeded:
        """The error for a question that exceeds the budget."""
        return BudgetExceeded(
            f"the question needs {number} answer{'s' if number > 1 else ''} and the budget of "
            f"{self.budget} has {left} left; "
            "nobody was asked"
        )
