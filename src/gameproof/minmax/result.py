"""`Result`: what a run returns. `Snapshot`: what a callback sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gameproof.core.arguments import Vector
from gameproof.minmax.state import State
from gameproof.minmax.trace import Trace

Reason = Literal["epochs", "queries", "tolerance", "callback", "interrupted", "settled"]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A run as a callback sees it: read-only copies.

    Attributes
    ----------
    epoch, steps, queries, seconds, score
        How far the run is.
    x, y, last_x, last_y
        The output so far, and the last iterate.

    Examples
    --------
    >>> import gameproof as gp
    >>> game, seen = gp.QuadraticGame.random(n=5, seed=0), []
    >>> result = gp.solve(game, gp.ogda_rr(step=0.01), epochs=2, callback=seen.append, seed=0)
    >>> [snapshot.epoch for snapshot in seen]
    [1.0, 2.0]
    """

    epoch: float
    steps: int
    queries: int
    seconds: float
    score: float
    x: Vector
    y: Vector
    last_x: Vector
    last_y: Vector


@dataclass(frozen=True, eq=False)
class Result:
    """What a run found.

    Attributes
    ----------
    x, y
        The output: the solver's average.
    last_x, last_y
        The last iterate.
    status, reason
        Why the run ended, as a sentence and as a word.
    n_queries, n_deployments
        Values received, and points at which they were asked.
    n_steps, epochs, seconds
        How far the run went, and how long it took.
    trace
        Records along the way.
    state
        The state, to resume from.

    Examples
    --------
    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=5, seed=0)
    >>> gp.solve(game, gp.ogda_rr(step=0.01), epochs=2, seed=0).reason
    'epochs'
    """

    x: Vector
    y: Vector
    last_x: Vector
    last_y: Vector
    status: str
    reason: Reason
    n_queries: int
    n_deployments: int
    n_steps: int
    epochs: float
    seconds: float
    trace: Trace
    state: State

    def __repr__(self) -> str:
        return (
            f"Result: {self.status}\n  {self.epochs:g} epochs, {self.n_steps} steps, "
            f"{self.n_queries} values at {self.n_deployments} points, {self.seconds:.2f} s"
        )
