"""Exceptions and warnings.

Wrong arguments raise plain ``ValueError`` or ``TypeError`` before the first query. A later failure
must lose nothing: an `EvaluationError` carries the state from which the run can be resumed.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

from gameproof.core.naming import escaped

if TYPE_CHECKING:
    from typing import Any


class GameproofError(Exception):
    """Base class of all exceptions that gameproof defines.

    Examples
    --------
    >>> import gameproof as gp
    >>> issubclass(gp.ModelFileError, gp.GameproofError)
    True
    """

    def __str__(self) -> str:
        return escaped(super().__str__())  # it may quote a name or a cell of a file


class EvaluationError(GameproofError):
    """A value was not finite, or the function that computes it raised an exception.

    Parameters
    ----------
    message : str
        What failed, and where.
    state : State
        The state of the run after the last valid answer. Fix the cause, then resume with
        ``solve(problem, solver, resume=error.state, …)``: no earlier answer is requested again.

    Examples
    --------
    >>> import gameproof as gp
    >>> def value(i, x, y):
    ...     return float("nan")
    >>> problem = gp.SaddleProblem(value, n=5, x_set=gp.Box([-1], [1]), y_set=gp.Box([-1], [1]))
    >>> try:
    ...     result = gp.solve(problem, gp.ogda_rr(), epochs=1, seed=0)
    ... except gp.EvaluationError as error:
    ...     type(error.state).__name__
    'State'
    """

    def __init__(self, message: str, state: Any) -> None:
        super().__init__(message)
        self.state = state

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.state)


class DivergedError(GameproofError, FloatingPointError):
    """The iterate is no longer finite.

    Examples
    --------
    >>> import gameproof as gp
    >>> issubclass(gp.DivergedError, FloatingPointError)
    True
    """


class AnswerError(GameproofError):
    """A population's answer cannot be used; the message names the agents and the deployment.

    Examples
    --------
    >>> import gameproof as gp
    >>> issubclass(gp.AnswerError, gp.GameproofError)
    True
    """


class BudgetExceeded(GameproofError):
    """A question was not asked because its answers would exceed the query budget.

    Examples
    --------
    >>> import gameproof as gp
    >>> issubclass(gp.BudgetExceeded, gp.GameproofError)
    True
    """


class JournalError(GameproofError):
    """A journal is damaged, belongs to other people, or cannot be read or written.

    Examples
    --------
    >>> import gameproof as gp
    >>> issubclass(gp.JournalError, gp.GameproofError)
    True
    """


class StateFileError(GameproofError):
    """A state file is truncated, altered, written by a newer version, from another run, or in use.

    Examples
    --------
    >>> import gameproof as gp
    >>> issubclass(gp.StateFileError, gp.GameproofError)
    True
    """


class ModelFileError(GameproofError, ValueError):
    """A model file is truncated, altered, or written by a newer version or another program.

    Examples
    --------
    >>> import gameproof as gp
    >>> issubclass(gp.ModelFileError, ValueError)
    True
    """


class DataError(GameproofError, ValueError):
    """A table is truncated, altered, or not the expected one.

    Examples
    --------
    >>> import gameproof as gp
    >>> issubclass(gp.DataError, ValueError)
    True
    """


class ClusterError(GameproofError, ConnectionError):
    """A cluster was lost, or could not be reached.

    Examples
    --------
    >>> str(ClusterError("the scheduler cannot be reached"))
    'the scheduler cannot be reached'
    """


class DataNotFound(GameproofError, FileNotFoundError):
    """A data set is not in the data folder; the message says how to get it.

    Examples
    --------
    >>> import gameproof as gp
    >>> issubclass(gp.DataNotFound, FileNotFoundError)
    True
    """


class StartProjectedWarning(UserWarning):
    """The start point was outside the sets and was projected onto them.

    Examples
    --------
    >>> import warnings
    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=5, dx=1, dy=1, seed=0)
    >>> far = [100.0], [0.0]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = gp.solve(game, gp.ogda_rr(step=0.02, radius=0.5), epochs=1, seed=0, start=far)
    >>> print(caught[0].message)
    the start lies outside the set of x; the run starts at the nearest point inside
    """


class CapWarning(UserWarning):
    """The bound on theta is active, so a larger bound would give a better solution.

    Examples
    --------
    >>> import warnings
    >>> import gameproof as gp
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = gp.StrategicLogisticRegression(power=0.0).fit([[-1.0], [1.0]], [0, 1])
    >>> str(caught[0].message).partition(":")[0]
    'only the bound of 20 keeps the classifier finite'
    """


class BudgetWarning(UserWarning):
    """A budget is larger than the range of its column, or a default budget is unreliable.

    Examples
    --------
    >>> import warnings
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=100, d=2, seed=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = gp.StrategicLogisticRegression(budgets={0: (0, 100)}).fit(X, y)
    >>> str(caught[0].message).partition(" range")[0]
    "the budget of 'x0', 0 to +100, exceeds the column's whole"
    """


class IgnoresDataWarning(UserWarning):
    """The radius is so large that the best robust classifier is theta = 0.

    Examples
    --------
    >>> import warnings
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=100, d=2, seed=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = gp.RobustStrategicClassifier(radius=5.0).fit(X, y)
    >>> caught[0].category.__name__, model.coef_.tolist()
    ('IgnoresDataWarning', [[0.0, 0.0]])
    """


def warn(message: str, kind: type[Warning] = UserWarning) -> None:
    """Issues a warning that points at the line that called gameproof."""
    frame, level = sys._getframe(1), 2  # as warnings.warn counts
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gameproof."):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    warnings.warn(escaped(message), kind, stacklevel=level)
