"""The contract of responses in closed form.

Write G(theta) for an agent's gain and b(theta) - x for its move. Then G(theta) = <b - x, theta>, G
is homogeneous of degree q, and q (b - x) is a subgradient of the convex function G:

    G(t2) >= G(t1) + q <b(t1) - x, t2 - t1>   for all t1, t2.

`scaled`, `of_agents` and the compiled form must describe the same gains.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.contract_checks import claim, claim_everywhere
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.robust_problem import StrategicProblem

TOLERANCE = 1e-8
FACTOR = 1.7  # by which theta, and the response, are scaled


def check_known(
    response: KnownResponse, people: Population, agents: Indices, thetas: Matrix, moves: Matrix
) -> None:
    """Raises AssertionError unless answers, gains, gradients and the compiled form agree."""
    gains = np.array([response.gains(theta, agents) for theta in thetas])
    claim(gains.shape == moves.shape[:2], "gains(theta, agents) is one number per agent")
    name, size = response.largest
    claim(isinstance(name, str) and size >= 0, "largest is a name and a size of at least 0")
    rounding = 64 * np.finfo(np.float64).eps * np.abs(people.X[agents]).max(axis=1)
    for theta, gain, move in zip(thetas, gains, moves, strict=True):
        slack = np.abs(theta).sum() * rounding
        claim_everywhere(
            _close(gain, move @ theta, slack), "gains are <answers - x, theta>", agents, theta
        )
        _check_gains(response, agents, theta, gain)
    _check_gradients(response, agents, thetas, gains, moves, rounding)
    for theta, gain in zip(thetas, gains, strict=True):
        _check_compiled(people, agents, theta, gain)


def _check_gains(response: KnownResponse, agents: Indices, theta: Vector, gain: Vector) -> None:
    q = response.conjugate_degree
    larger = response.gains(FACTOR * theta, agents)
    claim_everywhere(
        _close(larger, FACTOR**q * gain),
        f"gains are homogeneous of degree q = {q:g} in theta, with 1/degree + 1/q = 1",
        agents,
        theta,
    )
    scaled = response.scaled(FACTOR).gains(theta, agents)
    claim_everywhere(
        _close(scaled, FACTOR * gain), "scaled(c) has c times the gains", agents, theta
    )
    some = np.arange(agents.size)[::2]
    fewer = response.of_agents(agents[some]).gains(theta, np.arange(some.size))
    claim_everywhere(
        _close(fewer, gain[some]),
        "of_agents(agents) has the gains of these agents",
        agents[some],
        theta,
    )


def _check_gradients(
    response: KnownResponse,
    agents: Indices,
    thetas: Matrix,
    gains: Matrix,
    moves: Matrix,
    rounding: Vector,
) -> None:
    """The subgradient inequality at every pair of theta."""
    q = response.conjugate_degree
    for a, one in enumerate(thetas):
        for b, other in enumerate(thetas):
            bound = gains[a] + q * moves[a] @ (other - one)
            size = np.abs(gains[[a, b]]).max(axis=0)
            slack = TOLERANCE * size + q * np.abs(other - one).sum() * rounding
            claim_everywhere(
                gains[b] >= bound - slack,
                "q (answers - x) is a subgradient of the gains, with 1/degree + 1/q = 1",
                agents,
                one,
                other,
            )


def _check_compiled(people: Population, agents: Indices, theta: Vector, gain: Vector) -> None:
    """Compiled code sees the same scores."""
    y, checked = people.y.copy(), agents
    if (y < 0).all():  # a problem needs both labels
        y[agents[0]], checked, gain = 1.0, agents[1:], gain[1:]
    if not checked.size:
        return
    problem = StrategicProblem(Population(people.X, y, people.response), radius=0.0)
    x = problem.join(theta, 0.0)
    losses = np.fromiter(problem.evaluate(checked, x, np.zeros(people.n)), dtype=np.float64)
    scores = people.X[checked] @ theta + gain
    expected = problem.loss.value(scores, np.full(checked.size, -1.0))
    claim_everywhere(
        _close(losses, expected, 1e-12 * np.abs(scores)),
        "the compiled form (encoded) has the same gains",
        checked,
        theta,
    )


def _close(found: Vector, expected: Vector, slack: Vector | float = 0.0) -> Mask:
    limit = TOLERANCE * np.maximum(np.abs(found), np.abs(expected)) + slack
    return np.abs(found - expected) <= limit
