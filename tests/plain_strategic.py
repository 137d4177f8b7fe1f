"""The strategic problem from its formulas, an agent at a time, and its people as a black box."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gameproof as gp
from listings import Vector

N, D = 23, 4
LOWER, UPPER = np.array([-0.5, 0.0, -0.2, 0.0]), np.array([0.0, 0.4, 0.3, 0.0])
PRICES = (1.0, 0.5, np.inf, 2.0)
ETA, EPS = gp.Power(0.01, 0.76), gp.Power(1.0, 0.25)


def people(seed: int = 5, n: int = N) -> tuple[Vector, Vector]:
    """Features and labels, two in three of them positive."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, D)), np.where(np.arange(n) % 3 == 1, -1.0, 1.0)


def logistic(z: float) -> float:
    return float(np.logaddexp(0.0, z) - z / 2)


def huber(width: float) -> Callable[[float], float]:
    return lambda z: z * z / (2 * width) if abs(z) <= width else abs(z) - width / 2


def pseudo_huber(z: float) -> float:
    return float(np.sqrt(1 + z * z))


LOSSES: dict[str, tuple[gp.Loss, Callable[[float], float], float]] = {
    "logistic": (gp.Logistic(), logistic, 0.5),
    "huber": (gp.HuberHinge(0.7), huber(0.7), 1.0),
    "pseudo-huber": (gp.PseudoHuberHinge(), pseudo_huber, 1.0),
}


@dataclass
class Plain:
    """Section 4 of the mathematics, an agent at a time; x = (intercept, theta, alpha)."""

    loss: str = "logistic"
    form: str = "exact"
    flips: str = "one-way"
    kappa: float = 0.5
    delta: float = 0.45
    zeta: Any = 0.3
    norm: float = 2.0
    degree: float = 2.0
    mask: tuple[int, ...] | None = (0, 2, 3)
    budget: str = ""  # "box" or "prices", in place of a cost; with an infinite degree it is a ball
    intercept: float | None = None
    cap: float = 3.0
    positive: str = "exact"
    log: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.X, self.y = people()
        _, self.phi, self.s = LOSSES[self.loss]
        self.start = 0 if self.intercept is None else 1
        self.dx = self.start + D + 1
        self.share = float(np.mean(self.y > 0))
        self.zetas = np.broadcast_to(self.zeta, N)
        self.chosen = list(range(D)) if self.mask is None else list(self.mask)

    def response(self) -> gp.Response:
        if self.budget == "box":
            return gp.BoxBudget(LOWER, UPPER if np.ndim(self.zeta) == 0 else self.by_agent())
        if self.budget == "prices":
            return gp.PriceBudget(self.zeta, PRICES)
        if np.isinf(self.degree):
            return gp.BallBudget(self.zeta, self.mask, self.norm)
        return gp.PowerCost(self.zeta, self.degree, self.norm, self.mask)

    def by_agent(self) -> Vector:
        """Upper bounds that differ by agent."""
        return np.outer(self.zetas, UPPER)

    def problem(self, response: gp.Response | None = None, **more: Any) -> gp.StrategicProblem:
        population = gp.Population(self.X, self.y, response or self.response(), **more)
        return gp.StrategicProblem(
            population,
            self.delta,
            np.inf if self.flips == "none" else self.kappa,
            LOSSES[self.loss][0],
            form=self.form,
            flips=self.flips,
            alpha_max=self.cap,
            intercept=self.intercept,
            positive=self.positive,
        )

    def theta(self, u: Vector) -> Vector:
        return u[self.start : self.start + D]

    def alpha(self, u: Vector) -> float:
        return float(u[self.dx - 1])

    def answer(self, i: int, theta: Vector) -> Vector:
        """b_i = x_i + grad g*(theta), written out for the power costs, balls, boxes and prices."""
        if self.budget:
            return self.X[i] + (self.move(i, theta) if self.y[i] < 0 else 0.0)
        part = np.zeros(D)
        part[self.chosen] = theta[self.chosen]
        if self.y[i] > 0 or not part.any():
            return self.X[i]
        dual = self.norm / (self.norm - 1)
        q = 1.0 if np.isinf(self.degree) else self.degree / (self.degree - 1)
        length = (np.abs(part) ** dual).sum() ** (1 / dual)
        shape = np.sign(part) * np.abs(part) ** (dual - 1)
        return self.X[i] + self.zetas[i] * length ** (q - dual) * shape

    def move(self, i: int, theta: Vector) -> Vector:
        """The best corner of the box, or all of the budget on the feature that gains most."""
        if self.budget == "box":
            upper = UPPER if np.ndim(self.zeta) == 0 else self.by_agent()[i]
            ends = zip(LOWER, upper, theta, strict=True)
            return np.array([max((low, 0.0, high), key=lambda v: v * t) for low, high, t in ends])
        gains = [abs(t) / price for t, price in zip(theta, PRICES, strict=True)]
        best, move = int(np.argmax(gains)), np.zeros(D)
        move[best] = np.sign(theta[best]) * self.zetas[i] / PRICES[best]
        return move

    def score(self, i: int, u: Vector) -> float:
        own = 0.0 if self.intercept is None else u[0]
        return float(self.answer(i, self.theta(u)) @ self.theta(u) + own)

    def slope(self) -> float:
        if self.flips == "none":
            return self.delta
        whole = self.form == "printed" or self.flips == "both"
        return self.delta - self.kappa * (1.0 if whole else self.share)

    def pull(self, i: int, u: Vector, z: float) -> float | None:
        """What gamma_i multiplies, or None."""
        if self.flips == "none" or (self.flips == "one-way" and self.y[i] < 0):
            return None
        return float(self.s * z - self.y[i] * self.kappa * self.alpha(u))

    def value(self, i: int, u: Vector) -> float:
        self.log.append(i)
        z = self.score(i, u)
        pull = self.pull(i, u, z)
        last = -self.s * self.y[i] * z if pull is None else u[self.dx + i] * pull
        return self.alpha(u) * self.slope() + self.phi(z) + last

    def gradient(self, i: int, u: Vector) -> Vector:
        """theta and the intercept by central differences; alpha and gamma are linear."""
        found = np.zeros_like(u)
        for c in range(self.dx - 1):
            step = np.zeros_like(u)
            step[c] = 1e-6
            found[c] = (self.value(i, u + step) - self.value(i, u - step)) / 2e-6
        return found + self.linear_gradient(i, u)

    def linear_gradient(self, i: int, u: Vector) -> Vector:
        found, pull = np.zeros_like(u), self.pull(i, u, self.score(i, u))
        found[self.dx - 1] = self.slope()
        if pull is not None:
            found[self.dx - 1] -= u[self.dx + i] * self.y[i] * self.kappa
            found[self.dx + i] = pull
        return found

    def positive_gradient(self, i: int, u: Vector) -> Vector:
        """Of an agent that does not move, logistic: in closed form."""
        assert self.loss == "logistic"
        assert self.y[i] > 0
        z = self.score(i, u)
        by_score = 1 / (1 + np.exp(-z)) - 0.5 + self.s * u[self.dx + i]
        found = self.linear_gradient(i, u)
        found[self.start : self.start + D] = by_score * self.X[i]
        if self.intercept is not None:
            found[0] = by_score
        return found

    def project(self, u: Vector) -> Vector:
        out, c = u.copy(), 2 * self.s
        if self.intercept is not None:
            out[0] = np.clip(u[0], -self.intercept, self.intercept)
        theta, alpha = self.theta(u), self.alpha(u)
        length = float(np.linalg.norm(theta))
        if length <= alpha / c:
            t, a = length, alpha
        elif alpha <= -length / c:
            t, a = 0.0, 0.0
        else:
            t = (length + c * alpha) / (1 + c * c)
            a = c * t
        if a > self.cap:
            t, a = min(length, self.cap / c), self.cap
        out[self.start : self.start + D] = theta * (t / length if length > 0 else 0.0)
        out[self.dx - 1] = a
        out[self.dx :] = np.clip(u[self.dx :], -1, 1)
        return out

    def random_point(self, rng: np.random.Generator) -> Vector:
        theta = rng.standard_normal(D)
        head = [] if self.intercept is None else [rng.uniform(-1, 1)]
        alpha = 2 * self.s * np.linalg.norm(theta) + rng.exponential()
        return np.concatenate([head, theta, [alpha], rng.uniform(-1, 1, N)])


class Crowd:
    """The response of a plain problem, as a black box that keeps its own tally."""

    def __init__(self, plain: Plain, scores: bool = False) -> None:
        self.plain, self.scores = plain, scores
        self.tally = np.zeros(N, dtype=int)
        self.thetas: list[bytes] = []
        self.fail_at: dict[int, Callable[[Vector], Any]] = {}
        self.calls = 0

    def __call__(self, theta: Vector, agents: Vector) -> Any:
        self.calls += 1
        given = np.array([self.plain.answer(int(i), theta) for i in agents])
        given = given @ theta if self.scores else given
        if self.calls in self.fail_at:
            return self.fail_at[self.calls](given)
        np.add.at(self.tally, agents, 1)
        if not self.thetas or self.thetas[-1] != theta.tobytes():
            self.thetas.append(theta.tobytes())
        return given

    def problem(self, **more: Any) -> gp.StrategicProblem:
        return self.plain.problem(gp.BlackBox(self, scores=self.scores), **more)


SOLVERS: list[Callable[..., gp.Solver]] = [
    lambda **parts: gp.ogda_rr(batch=1, **parts),
    lambda **parts: gp.sgda_wr(batch=7, **parts),
    lambda **parts: gp.Solver(update=gp.Extragradient(), batch=4, **parts),
]
