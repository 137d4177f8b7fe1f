"""Six people, and a black box for them that keeps its own tally of who was asked what."""

import numpy as np
from numpy.typing import NDArray

from gameproof import Population, Response

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

X = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.0], [2.0, 2.0], [-1.0, 1.0], [0.0, 0.3]])
Y = np.array([1, -1, -1, 1, -1, -1])
MOVING = [1, 2, 4, 5]
THETA = np.array([0.5, -1.0])
ZETA = 0.3


class Tally:
    """People who move by ZETA theta and write down every question."""

    def __init__(self, scores: bool = False) -> None:
        self.asked: list[tuple[list[float], list[int]]] = []
        self.scores = scores

    def __call__(self, theta: Array, indices: Indices) -> Array:
        self.asked.append((theta.tolist(), indices.tolist()))
        moved = X[indices] + ZETA * theta
        return np.asarray(moved @ theta if self.scores else moved)

    @property
    def agents(self) -> list[int]:
        return [agent for _, agents in self.asked for agent in agents]

    @property
    def deployments(self) -> int:
        thetas = [theta for theta, _ in self.asked]
        return sum(k == 0 or thetas[k] != thetas[k - 1] for k in range(len(thetas)))

    def by_agent(self) -> list[int]:
        return np.bincount(np.array(self.agents, dtype=int), minlength=len(X)).tolist()


def people(response: Response | None = None, budget: int | None = None) -> Population:
    return Population(X, Y, response, budget=budget)
