"""What the tests of `solve` share: games, sets, a seed, and runs that fail."""

from collections.abc import Callable
from typing import Any

import pytest

import gameproof as gp

# The fixture `same_state`.
SameState = Callable[[gp.State, gp.State], None]
SEED, EPOCHS = 3, 4
N = 16
GAME = gp.QuadraticGame.random(n=N, dx=3, dy=2, seed=1)
GAMES = {"dense": GAME, "private": gp.RobustLeastSquares.random(n=N, dx=3, seed=1)}
SETS = {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}
HARD = {"n": 7} | SETS


class Sour(Exception):
    """What a user's function raises."""


def raising(error: BaseException) -> Callable[[], Any]:
    def fault() -> Any:
        raise error

    return fault


def failure_of(problem: gp.Problem, solver: gp.Solver, **options: Any) -> gp.EvaluationError:
    with pytest.raises(gp.EvaluationError) as caught:
        gp.solve(problem, solver, **({"epochs": EPOCHS} | options))
    return caught.value
