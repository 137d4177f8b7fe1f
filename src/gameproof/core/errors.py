"""What can go wrong, as exceptions and warnings; exceptions of a run carry it along.

Wrong arguments are plain ``ValueError`` or ``TypeError``, raised before the first query. What goes
wrong later must lose nothing: an `EvaluationError` carries the state at which to go on.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class GameproofError(Exception):
    """The base of this package's own exceptions."""


class EvaluationError(GameproofError):
    """A value could not be obtained: it was not finite, or the function that gives it raised.

    `state` is the run up to the last good answer. Mend the cause and go on with
    ``solve(problem, solver, resume=error.state, …)``: no answer before the failure is asked again.
    """

    def __init__(self, message: str, state: Any) -> None:
        super().__init__(message)
        self.state = state

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.state)


class DivergedError(GameproofError, FloatingPointError):
    """The iterate is no longer finite."""


class AnswerError(GameproofError):
    """People answered with something that cannot be used; agents and deployment are named."""


class BudgetExceeded(GameproofError):
    """A question was not asked because its answers would exceed the budget."""


class StateFileError(GameproofError):
    """A state file that cannot be used: cut short, altered, newer, or of another run."""


class ModelFileError(GameproofError, ValueError):
    """A model file that cannot be used: cut short, altered, newer, or of another program."""


class DataError(GameproofError, ValueError):
    """A table that is not what it should be: cut short, altered, or another one."""


class DataNotFound(GameproofError, FileNotFoundError):
    """A data set that is not in the data folder; the message says how to get it."""


class StartProjectedWarning(UserWarning):
    """The start point lay outside the sets and was moved to the nearest point inside."""


class CapWarning(UserWarning):
    """The bound on theta binds, so that what is found is not the best there is."""


class BudgetWarning(UserWarning):
    """A budget that is larger than the whole range of its column."""


class IgnoresDataWarning(UserWarning):
    """The radius is so large that the best robust classifier is theta = 0."""


def warn(message: str, kind: type[Warning] = UserWarning) -> None:
    """Warns of the line that called this package, however deep inside it was found out."""
    frame, level = sys._getframe(1), 2  # as warnings.warn counts
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gameproof."):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    warnings.warn(message, kind, stacklevel=level)
