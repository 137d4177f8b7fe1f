"""A game, sets and a seed for the tests of `solve`."""

from collections.abc import Callable

import gameproof as gp

# The fixture `same_state`.
SameState = Callable[[gp.State, gp.State], None]
SEED = 3
GAME = gp.QuadraticGame.random(n=16, dx=3, dy=2, seed=1)
SETS = {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}
