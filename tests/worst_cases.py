"""The adversary's answer from linear programs over distributions and from duality.

The programs know nothing of breakpoints or of who should flip: each agent's mass is spread over a
list of points, with both labels where they may flip, at most the radius is spent, and the risk is
maximised. Every such distribution is on the ball, so the program's value is a lower bound of the
worst case; its list reaches so far along theta that it comes within 1e-4. From above, any price of
a unit of budget gives a bound, and the best one is searched for numerically.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

import gameproof as gp
from gameproof.strategic.worst_case import WorstCase

Array = NDArray[np.float64]

FAR = 1e6
LOSSES = [gp.Logistic(), gp.HuberHinge(), gp.HuberHinge(0.3), gp.PseudoHuberHinge()]
STEPS = np.concatenate([[0.0], np.geomspace(0.01, FAR, 33), -np.geomspace(0.01, FAR, 33)])


def people(seed: int, n: int = 10, d: int = 3, power: float = 0.2) -> gp.Population:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(n))
    y[0], y[1] = 1, -1
    return gp.Population(X, y, gp.QuadraticCost(power, features=[0, 1]) if power else None)


def theta_of(seed: int, d: int = 3) -> Array:
    return np.random.default_rng([seed, 1]).standard_normal(d)


def answered(problem: gp.StrategicProblem, theta: Array) -> Array:
    """The answers, by their definition in math: x + power * (movable part of theta)."""
    population = problem.population
    response: Any = population.response
    moves = np.outer(population.y < 0, theta * [1, 1, 0][: theta.size])
    return population.X + float(response.power) * moves


def labels_allowed(problem: gp.StrategicProblem, label: float) -> list[float]:
    if problem.flips == "none" or (problem.flips == "one-way" and label < 0):
        return [label]
    return [1.0, -1.0]


def linear_program(problem: gp.StrategicProblem, theta: Array, intercept: float) -> float:
    """The largest risk among distributions on the list of points.

    A mass m that goes to a point of cost k enters as m max(1, k), so that far points, which get
    little mass, do not vanish in the solver's tolerances.
    """
    rng = np.random.default_rng(0)
    norm = np.linalg.norm(theta)
    along = np.outer(STEPS, theta / norm if norm else np.eye(theta.size)[0])
    offsets = np.vstack([along, 0.5 * rng.standard_normal((20, theta.size))])
    agents, gains, costs = [], [], []
    for i, (x, y) in enumerate(zip(answered(problem, theta), problem.population.y, strict=True)):
        for label in labels_allowed(problem, y):
            flip = 0.0 if label == y else 2 * problem.label_cost
            for offset in offsets:
                z = np.float64((x + offset) @ theta + intercept)
                agents.append(i)
                gains.append(float(problem.loss.phi(z) - problem.loss.s * label * z))
                costs.append(float(np.linalg.norm(offset)) + flip)
    scale = np.maximum(1.0, costs)
    mass = np.zeros((problem.n, len(agents)))
    mass[agents, np.arange(len(agents))] = 1 / scale
    found = linprog(
        -np.array(gains) / scale,
        A_ub=[np.array(costs) / scale],
        b_ub=[problem.radius],
        A_eq=mass,
        b_eq=np.full(problem.n, 1 / problem.n),
    )
    assert found.success
    return float(-found.fun)


def bound_from_above(problem: gp.StrategicProblem, theta: Array, intercept: float) -> float:
    """The least over alpha of alpha radius + the mean of the suprema, each over all labels and
    over distances 0 and FAR, between which the function is convex; searched for in alpha."""
    scores = answered(problem, theta) @ theta + intercept
    norm, loss = float(np.linalg.norm(theta)), problem.loss
    least = (loss.K + loss.s) * norm

    def bound(alpha: float) -> float:
        total = 0.0
        for z, y in zip(scores, problem.population.y, strict=True):
            total += max(
                float(loss.phi(z + t * norm) - loss.s * label * (z + t * norm))
                - alpha * (abs(t) + (0 if label == y else 2 * problem.label_cost))
                for label in labels_allowed(problem, y)
                for t in (0.0, FAR, -FAR)
            )
        return alpha * problem.radius + total / problem.n

    low, high = least, least + 1.0
    while bound(2 * high) < bound(high) and high < 1e6:
        high *= 2
    high *= 2
    for _ in range(100):
        third = (high - low) / 3
        if bound(low + third) <= bound(high - third):
            high -= third
        else:
            low += third
    return min(bound(low), bound(high))


def transport_cost(problem: gp.StrategicProblem, theta: Array, worst: WorstCase) -> float:
    """By the definition, from the atoms; checks on the way that each agent has mass 1/n."""
    spread = worst.distribution
    mass = np.bincount(spread.agent, spread.weights, minlength=problem.n)
    np.testing.assert_allclose(mass, 1 / problem.n, rtol=1e-12)
    assert (spread.weights > 0).all()
    away = np.linalg.norm(spread.features - answered(problem, theta)[spread.agent], axis=1)
    turned = spread.labels != problem.population.y[spread.agent]
    prices = np.where(turned, 2 * problem.label_cost, 0.0)
    return float(spread.weights @ (away + prices))


def risk(problem: gp.StrategicProblem, theta: Array, intercept: float, worst: WorstCase) -> float:
    spread = worst.distribution
    z = spread.features @ theta + intercept
    return float(spread.weights @ (problem.loss.phi(z) - problem.loss.s * spread.labels * z))


CASES = [
    (flips, kappa, delta, intercept)
    for flips in ("one-way", "both", "none")
    for kappa in (0.0, 0.05, 0.5, 2.0)
    for delta in (0.0, 0.02, 0.1, 0.4)
    for intercept in (0.0, 0.7)
    if flips != "none" or kappa == 0.5
]


def case(number: int) -> tuple[gp.StrategicProblem, Array, float]:
    flips, kappa, delta, intercept = CASES[number]
    power = 0.0 if flips == "both" else 0.2
    problem = gp.StrategicProblem(
        people(number, n=8 + number % 5, power=power),
        radius=delta,
        label_cost=kappa,
        loss=LOSSES[number % len(LOSSES)],
        flips=flips,  # type: ignore[arg-type]
        intercept=2.0,
    )
    return problem, theta_of(number), intercept
