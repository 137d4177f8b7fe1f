"""What a run returns, and what it shows of itself on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gameproof.core.arguments import Vector
from gameproof.minmax.state import State
from gameproof.minmax.trace import Trace

Reason = Literal["epochs", "queries", "tolerance", "callback", "interrupted"]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A run as a callback sees it: copies, read-only."""

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
    """x and y are the output the solver's average gives; last_x and last_y the last iterate.

    status is a sentence, reason its one-word form. n_queries counts values received, n_deployments
    the points at which they were asked. `state` goes on where this stopped.
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
