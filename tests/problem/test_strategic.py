"""The strategic problem against its formulas in plain NumPy, its counts against outside tallies."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from listings import Listing, Vector, permutation, run_listing
from methods import ALGORITHMS
from methods import ESTIMATES as ALL_ESTIMATES

N, D = 23, 4
ETA, EPS = gp.Power(0.01, 0.76), gp.Power(1.0, 0.25)
ESTIMATES = {name: gradient for name, gradient in ALL_ESTIMATES.items() if name != "exact"}


def people(seed: int = 5, n: int = N) -> tuple[Vector, Vector]:
    """Features and labels, two in three of them positive."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, D)), np.where(np.arange(n) % 3 == 1, -1.0, 1.0)


# --- the formulas, transcribed


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

    def response(self) -> gp.PowerCost:
        return gp.PowerCost(self.zeta, self.degree, self.norm, self.mask)

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
        """b_i = x_i + grad g*(theta), written out for the power costs."""
        part = np.zeros(D)
        part[self.chosen] = theta[self.chosen]
        if self.y[i] > 0 or not part.any():
            return self.X[i]
        dual, q = self.norm / (self.norm - 1), self.degree / (self.degree - 1)
        length = (np.abs(part) ** dual).sum() ** (1 / dual)
        shape = np.sign(part) * np.abs(part) ** (dual - 1)
        return self.X[i] + self.zetas[i] * length ** (q - dual) * shape

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


CASES: dict[str, dict[str, Any]] = {
    "exact": {},
    "printed": {"form": "printed"},
    "no flip": {"flips": "none"},
    "both ways": {"flips": "both", "zeta": 0.0},
    "label for nothing": {"kappa": 0.0},
    "radius 0": {"delta": 0.0},
    "everything moves": {"mask": None},
    "nothing moves": {"mask": ()},
    "power by agent": {"zeta": np.arange(N) / N},
    "norm 1.5": {"norm": 1.5},
    "norm 3": {"norm": 3.0},
    "degree 1.5": {"degree": 1.5},
    "degree 3": {"degree": 3.0},
    "norm 4, degree 1.2": {"norm": 4.0, "degree": 1.2, "zeta": np.linspace(0, 0.5, N)},
    "norm 1.2, degree 3": {"norm": 1.2, "degree": 3.0, "mask": None},
}


@pytest.mark.parametrize("intercept", [None, 2.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_equal_the_formulas(
    case: str, loss: str, intercept: float | None
) -> None:
    plain = Plain(**CASES[case], loss=loss, intercept=intercept)
    problem, rng = plain.problem(), np.random.default_rng(1)
    for _ in range(3):
        u = plain.random_point(rng)
        x, gamma = np.split(u, [plain.dx])
        expected = [plain.value(i, u) for i in range(N)]
        np.testing.assert_allclose(problem.values(range(N), x, gamma), expected, rtol=1e-12)
        assert problem.value(x, gamma) == pytest.approx(np.mean(expected), rel=1e-12)
        for i in range(N):
            found = np.concatenate(problem.gradient(i, x, gamma))
            np.testing.assert_allclose(found, plain.gradient(i, u), rtol=1e-6, atol=2e-8)


@pytest.mark.parametrize("norm", [1.0, np.inf])
def test_score_under_norms_one_and_infinity_has_the_dual_norm(norm: float) -> None:
    plain, rng = Plain(norm=norm, mask=None), np.random.default_rng(2)
    problem, dual = plain.problem(), np.inf if norm == 1 else 1
    u = plain.random_point(rng)
    theta, i = plain.theta(u), 1
    z = plain.X[i] @ theta + plain.zeta * np.linalg.norm(theta, dual) ** 2
    expected = plain.alpha(u) * plain.slope() + logistic(z) + z / 2
    x, gamma = np.split(u, [plain.dx])
    assert problem.values([i], x, gamma)[0] == pytest.approx(expected, rel=1e-12)
    gx, _ = problem.gradient(i, x, gamma)
    for c in range(plain.dx):
        step = 1e-6 * (np.arange(plain.dx) == c)
        two = [problem.values([i], x + sign * step, gamma)[0] for sign in (1, -1)]
        assert gx[c] == pytest.approx((two[0] - two[1]) / 2e-6, rel=1e-6, abs=1e-8)


def test_gradient_at_theta_zero_is_finite_and_that_of_people_who_stay() -> None:
    for norm, degree in product((1.0, 1.5, 2.0, 3.0, np.inf), (1.2, 2.0, 4.0)):
        plain = Plain(norm=norm, degree=degree)
        x, gamma = plain.problem().start
        for i in range(N):
            found, _ = plain.problem().gradient(i, x, gamma)
            slope = (0.0 if plain.y[i] > 0 else plain.s) * plain.X[i]
            np.testing.assert_allclose(found, [*slope, plain.slope()], atol=1e-14)


def test_values_far_from_zero_are_finite_and_linear() -> None:
    for loss in LOSSES:
        plain = Plain(loss=loss, zeta=0.0)
        problem = plain.problem()
        x = np.array([1e6, 0, 0, 0, 1e6])
        values = problem.values(range(N), x, np.zeros(N))
        linear = problem.values(range(N), 2 * x, np.zeros(N))
        assert np.isfinite(values).all()
        np.testing.assert_allclose(linear, 2 * values, rtol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("case", CASES)
def test_values_are_convex_in_x_and_linear_in_gamma_along_segments(case: str, loss: str) -> None:
    plain, rng = Plain(**CASES[case], loss=loss, intercept=2.0), np.random.default_rng(3)
    problem, everyone = plain.problem(), np.arange(N)
    bent = 0.0
    for _ in range(30):
        (a, gamma), (b, other) = (np.split(plain.random_point(rng), [plain.dx]) for _ in range(2))
        t = rng.random()
        ends = [problem.values(everyone, point, gamma) for point in (a, b)]
        between = problem.values(everyone, (1 - t) * a + t * b, gamma)
        chord = (1 - t) * ends[0] + t * ends[1]
        assert (between <= chord + 1e-12 * (1 + np.abs(chord))).all()
        bent = max(bent, float((chord - between).max()))
        mixed = problem.values(everyone, a, (1 - t) * gamma + t * other)
        straight = (1 - t) * ends[0] + t * problem.values(everyone, a, other)
        np.testing.assert_allclose(mixed, straight, rtol=1e-12, atol=1e-12)
    assert bent > 0.01


def test_gamma_of_agents_without_a_choice_of_label_does_nothing() -> None:
    rng = np.random.default_rng(4)
    for case, silent in (("exact", people()[1] < 0), ("no flip", np.ones(N, dtype=bool))):
        plain = Plain(**CASES[case])
        problem, (x, gamma) = plain.problem(), np.split(plain.random_point(rng), [plain.dx])
        changed = np.where(silent, rng.uniform(-1, 1, N), gamma)
        before, after = (problem.values(range(N), x, g) for g in (gamma, changed))
        assert np.array_equal(before, after)
        assert np.array_equal(problem.has_gamma, ~silent)
        assert not problem.best_gamma(x)[silent].any()


@pytest.mark.parametrize("case", ["exact", "printed", "no flip", "both ways"])
def test_robust_value_is_the_largest_over_the_corners(case: str) -> None:
    plain, rng = Plain(**CASES[case], intercept=2.0), np.random.default_rng(5)
    problem = plain.problem()
    for _ in range(5):
        u = plain.random_point(rng)
        x = u[: plain.dx]
        best = [
            max(plain.value(i, np.concatenate([x, np.full(N, g)])) for g in (-1.0, 0.0, 1.0))
            for i in range(N)
        ]
        assert problem.robust_value(x) == pytest.approx(np.mean(best), rel=1e-12)


def rough_and_smooth(case: dict[str, Any]) -> tuple[gp.StrategicProblem, gp.StrategicProblem]:
    """A case with every gamma maximised out, and as it is."""
    smooth = Plain(**case).problem()
    rough = gp.StrategicProblem(
        smooth.population,
        smooth.radius,
        smooth.label_cost,
        smooth.loss,
        form=smooth.form,
        flips=smooth.flips,
        alpha_max=smooth.alpha_max,
        smooth=False,
    )
    return rough, smooth


@pytest.mark.parametrize("case", CASES)
def test_non_smooth_form_is_the_maximum_over_gamma_whatever_y(case: str) -> None:
    rough, smooth = rough_and_smooth(CASES[case])
    rng, plain = np.random.default_rng(4), Plain(**CASES[case])
    for _ in range(5):
        u = plain.random_point(rng)
        x, y = u[: plain.dx], u[plain.dx :]
        assert rough.value(x, y) == pytest.approx(smooth.robust_value(x), rel=1e-12)
        for i in range(N):
            # Danskin: the gradient at the best gamma, and none in gamma.
            gx, gy = rough.gradient(i, x, y)
            expected, _ = smooth.gradient(i, x, smooth.best_gamma(x))
            np.testing.assert_allclose(gx, expected, rtol=1e-12, atol=1e-14)
            assert not gy.any()


def test_non_smooth_form_leads_to_the_same_minimum() -> None:
    rough, smooth = rough_and_smooth({"delta": 0.05})
    solver = gp.ogda_rr(gradient=gp.Exact(), step=gp.Power(0.3, 0.5), scale=None)
    result = gp.solve(rough, solver, epochs=300, seed=0)
    least = gp.saddle_point(smooth).value
    assert least - 1e-9 <= smooth.robust_value(result.x) < least + 3e-3
    assert not result.y.any()


def test_printed_form_is_the_exact_form_at_a_smaller_radius() -> None:
    plain, rng = Plain(form="printed"), np.random.default_rng(6)
    less = plain.kappa * (1 - plain.share)
    x, gamma = np.split(plain.random_point(rng), [plain.dx])
    other = Plain(form="exact", delta=plain.delta - less)
    expected = other.problem().values(range(N), x, gamma)
    np.testing.assert_allclose(plain.problem().values(range(N), x, gamma), expected, rtol=1e-12)


# --- trajectories


def listed(
    plain: Plain, algorithm: str, estimate: str, scale: Any, batch: int, everything: bool
) -> Listing:
    _, optimistic, reshuffle = ALGORITHMS[algorithm]
    size = plain.dx + N
    return Listing(
        n=N,
        dx=plain.dx,
        value=plain.value,
        gradient=plain.linear_gradient,
        project=plain.project,
        perturbed=np.arange(size) < (size if everything else plain.dx - 1),
        optimistic=optimistic,
        reshuffle=reshuffle,
        estimate=estimate,
        eta=ETA,
        eps=EPS,
        scale=scale or (1.0, 1.0),
        batch=batch,
    )


def hold_to_the_listing(
    plain: Plain,
    algorithm: str,
    estimate: str,
    scale: tuple[float, float] | None,
    batch: int,
    steps: int = 500,
    blocks: Any = None,
) -> None:
    """Iterate, average, and the values of -1 agents, which alone are counted."""
    part = ESTIMATES[estimate] if blocks is None else type(ESTIMATES[estimate])(blocks=blocks)
    make = ALGORITHMS[algorithm][0]
    problem = plain.problem()
    solver = make(gradient=part, step=ETA, radius=EPS, scale=scale, batch=batch)
    run = gp.Run(problem, solver, seed=11)
    listing = listed(plain, algorithm, estimate, scale, batch, blocks == "all")
    start = np.concatenate([plain.problem().start[0], np.zeros(N)])
    slow = run_listing(listing, start, steps, np.random.default_rng(11))
    asked, position = np.zeros(N, dtype=int), 0
    for step in range(1, steps + 1):
        plain.log.clear()
        u, average, _ = next(slow)
        size = min(batch, N - position)
        position = (position + size) % N
        # The listing evaluates the current samples once more, for its offsets.
        np.add.at(asked, [i for i in plain.log[:-size] if plain.y[i] < 0], 1)
        if step % 83 and step not in (1, 2, steps):
            continue
        run.advance(step, max_queries=10**9, compiled=True)
        np.testing.assert_allclose(np.concatenate(run.state.last), u, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(np.concatenate(run.recommend()), average, rtol=1e-10, atol=1e-12)
        assert run.state.queries == asked.sum()
        assert np.array_equal(problem.population.answers_by_agent, asked)
    assert run.state.steps == steps
    moved = np.abs(np.concatenate(run.state.last) - start)
    assert moved[: plain.dx].min() > 1e-5
    assert (moved[plain.dx :] > 0).any()


@pytest.mark.parametrize(
    ("algorithm", "estimate", "scale", "batch"),
    list(
        product(
            ALGORITHMS,
            ["plain", "baseline", "two-point", "residual"],
            [(1.0, 1000.0), None],
            [1, 7],
        )
    ),
)
def test_trajectory_equals_the_listing(
    algorithm: str, estimate: str, scale: tuple[float, float] | None, batch: int
) -> None:
    plain = Plain(positive="estimated")
    hold_to_the_listing(plain, algorithm, estimate, scale, batch)


@pytest.mark.parametrize(
    "case",
    [
        {"intercept": 2.0},
        {"form": "printed"},
        {"flips": "both", "zeta": 0.0},
        {"loss": "huber", "norm": 1.5, "degree": 3.0},
        {"loss": "pseudo-huber", "zeta": np.arange(N) / N, "intercept": 0.1},
    ],
    ids=str,
)
def test_trajectory_of_variants_equals_the_listing(case: dict[str, Any]) -> None:
    plain = Plain(**case, positive="estimated")
    hold_to_the_listing(plain, "OGDA-RR", "plain", (1.0, 1000.0), 7, steps=200)


@pytest.mark.parametrize("positive", ["exact", "estimated"])
def test_trajectory_with_all_blocks_estimated_equals_the_listing(positive: str) -> None:
    plain = Plain(positive=positive)
    hold_to_the_listing(plain, "OGDA-RR", "plain", None, 7, blocks="all")


@pytest.mark.parametrize("estimate", ["plain", "baseline", "two-point", "residual"])
@pytest.mark.parametrize("optimistic", [True, False])
@pytest.mark.parametrize("batch", [1, 7])
def test_exact_positive_agents_follow_their_formula(
    estimate: str, optimistic: bool, batch: int
) -> None:
    """Known agents give their gradient; nobody is deployed to where only they are in the batch."""
    plain, rng = Plain(intercept=2.0), np.random.default_rng(7)
    problem = plain.problem()
    make = gp.ogda_rr if optimistic else gp.sgda_rr
    part = ESTIMATES[estimate]
    solver = make(gradient=part, step=ETA, radius=EPS, scale=(1.0, 50.0), batch=batch)
    run = gp.Run(problem, solver, seed=7)
    u = np.concatenate(run.state.last)
    d = plain.dx - 1
    sign = np.where(np.arange(u.size) < plain.dx, 1.0, -50.0)
    mean, seen, last = 0.0, 0, 0.0
    kept, previous = np.zeros_like(u), []
    queries = deployments = 0
    points = 2 if estimate == "two-point" else 1

    def operator(samples: list[int], v: Vector, eps: float) -> Vector:
        total = np.zeros_like(u)
        for i in samples:
            if plain.y[i] > 0:
                total += plain.positive_gradient(i, u)
                continue
            centre = plain.value(i, u) if estimate == "two-point" else 0.0
            offset = {"baseline": mean, "residual": last}.get(estimate, centre)
            total += plain.linear_gradient(i, u)
            total += d / eps * (plain.value(i, u + eps * v) - offset) * v
        return total / batch

    for epoch in range(6):
        eta, eps, order = ETA(epoch), EPS(epoch), permutation(rng, N)
        for at in range(0, N, batch):
            current = order[at : at + batch]
            asked = [i for i in current + (previous if optimistic else []) if plain.y[i] < 0]
            v = np.zeros_like(u)
            if asked:
                draw = rng.standard_normal(d)
                v[:d] = draw / np.linalg.norm(draw)
                deployments += points
                queries += points * len(asked)
            new = operator(current, v, eps)
            step = new
            if optimistic and previous:
                step = new + operator(previous, v, eps) - kept
            own = [plain.value(i, u + eps * v) for i in current if plain.y[i] < 0]
            if own:
                last = float(np.mean(own))
                seen = min(seen + 1, -(-N // batch))
                mean += (last - mean) / seen
            u = plain.project(u - eta * sign * step)
            kept, previous = new, current
    run.advance(6 * run.steps_an_epoch, max_queries=10**9, compiled=True)
    np.testing.assert_allclose(np.concatenate(run.state.last), u, rtol=1e-10, atol=1e-12)
    assert (run.state.queries, run.state.deployments) == (queries, deployments)
    assert problem.population.n_answers == queries
    assert problem.population.n_deployments == deployments


def assert_same_run(one: gp.Result, other: gp.Result) -> None:
    for name, ours in one.state.memory._asdict().items():
        assert np.array_equal(ours, getattr(other.state.memory, name)), name
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(one.y, other.y)
    assert one.state.rng.bit_generator.state == other.state.rng.bit_generator.state
    assert (one.n_queries, one.n_deployments) == (other.n_queries, other.n_deployments)


SOLVERS: list[Callable[..., gp.Solver]] = [
    lambda **parts: gp.ogda_rr(batch=1, **parts),
    lambda **parts: gp.sgda_wr(batch=7, **parts),
    lambda **parts: gp.Solver(update=gp.Extragradient(), batch=4, **parts),
]


@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("make", SOLVERS)
def test_ask_tell_equals_compiled_bit_for_bit(
    make: Callable[..., gp.Solver], estimate: str, positive: str
) -> None:
    plain = Plain(positive=positive, norm=3.0, intercept=2.0)
    solver = make(gradient=ESTIMATES[estimate], step=ETA, radius=EPS)
    one, other = plain.problem(), plain.problem()
    fast = gp.solve(one, solver, epochs=5, seed=3)
    slow = gp.solve(other, solver, epochs=5, seed=3, compiled=False)
    assert_same_run(fast, slow)
    ours, theirs = one.population.answers_by_agent, other.population.answers_by_agent
    assert np.array_equal(ours, theirs)
    assert ours.sum() == fast.n_queries > 0


def test_exact_run_asks_nobody_and_is_the_same_in_python() -> None:
    for positive in ("exact", "estimated"):
        plain = Plain(positive=positive)
        one, other = plain.problem(), plain.problem()
        solver = gp.ogda_rr(gradient=gp.Exact(), step=ETA, batch=4)
        fast = gp.solve(one, solver, epochs=5, seed=3)
        assert_same_run(fast, gp.solve(other, solver, epochs=5, seed=3, compiled=False))
        assert fast.n_queries == one.population.n_answers == other.population.n_answers == 0
        assert one.population.n_deployments == fast.n_deployments == 0


# --- black boxes and counts


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


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_built_in_response_and_the_same_black_box_give_one_trajectory(
    estimate: str, positive: str, scores: bool
) -> None:
    plain = Plain(positive=positive, norm=1.5, degree=3.0, intercept=2.0)
    crowd = Crowd(plain, scores)
    solver = gp.ogda_rr(gradient=ESTIMATES[estimate], step=ETA, radius=EPS, batch=3)
    one = gp.solve(plain.problem(), solver, epochs=10, seed=1)
    other = gp.solve(crowd.problem(), solver, epochs=10, seed=1)
    for name in ("x", "y", "last_x", "last_y"):
        ours, theirs = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert (one.n_queries, one.n_deployments) == (other.n_queries, other.n_deployments)
    assert np.abs(one.last_y).max() > 0.1


@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("make", SOLVERS)
def test_queries_counted_are_queries_made_and_positive_agents_are_never_asked(
    make: Callable[..., gp.Solver], estimate: str, positive: str
) -> None:
    plain = Plain(positive=positive)
    crowd = Crowd(plain)
    problem, model = crowd.problem(), plain.problem()
    solver = make(gradient=ESTIMATES[estimate], step=ETA, radius=EPS)
    result = gp.solve(problem, solver, epochs=4, seed=2)
    compiled = gp.solve(model, solver, epochs=4, seed=2)
    assert not crowd.tally[plain.y > 0].any()
    assert crowd.tally.sum() == result.n_queries == problem.population.n_answers > 0
    assert np.array_equal(crowd.tally, problem.population.answers_by_agent)
    assert np.array_equal(crowd.tally, model.population.answers_by_agent)
    assert compiled.n_queries == result.n_queries


@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("estimate", ["plain", "two-point"])
def test_deployments_counted_are_the_points_at_which_somebody_was_asked(
    estimate: str, positive: str
) -> None:
    plain = Plain(positive=positive)
    crowd = Crowd(plain)
    problem, model = crowd.problem(), plain.problem()
    solver = gp.ogda_rr(gradient=ESTIMATES[estimate], step=ETA, radius=EPS)
    gp.solve(problem, solver, epochs=4, seed=2)
    compiled = gp.solve(model, solver, epochs=4, seed=2)
    assert problem.population.n_deployments == len(crowd.thetas)
    assert model.population.n_deployments == len(crowd.thetas)
    if positive == "exact":  # where +1 agents are estimated, they alone may make a point
        assert compiled.n_deployments == len(crowd.thetas)


@pytest.mark.parametrize("as_box", [True, False])
@pytest.mark.parametrize("budget", [0, 1, 13, 100])
@pytest.mark.parametrize("batch", [1, 7])
def test_budget_is_never_exceeded_and_used_up_to_a_step(
    budget: int, as_box: bool, batch: int
) -> None:
    plain = Plain()
    crowd = Crowd(plain)
    problem = crowd.problem(budget=budget) if as_box else plain.problem(budget=budget)
    solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=ETA, radius=EPS, batch=batch)
    result = gp.solve(problem, solver, epochs=1000, seed=4)
    assert result.reason == "queries"
    assert result.n_queries == problem.population.n_answers <= budget
    assert budget - result.n_queries < 4 * batch
    assert problem.population.remaining == budget - result.n_queries
    if as_box:
        assert crowd.tally.sum() == result.n_queries
    again = gp.solve(problem, solver, epochs=1000, resume=result.state)
    assert again.n_queries == result.n_queries


def test_smaller_of_population_budget_and_queries_ends_the_run() -> None:
    for budget, queries in ((50, 200), (200, 50)):
        problem = Plain().problem(budget=budget)
        solver = gp.sgda_rr(step=ETA, radius=EPS)
        result = gp.solve(problem, solver, queries=queries, seed=4)
        assert result.n_queries == problem.population.n_answers == 50


def test_budget_carries_over_to_a_second_run() -> None:
    plain = Plain()
    problem = plain.problem(budget=60)
    solver = gp.sgda_rr(step=ETA, radius=EPS)
    first = gp.solve(problem, solver, queries=40, seed=4)
    second = gp.solve(problem, solver, epochs=1000, seed=5)
    assert (first.n_queries, second.n_queries) == (40, 20)
    assert problem.population.remaining == 0


# --- going on


@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("kind", ["model", "box"])
def test_resumed_run_equals_uninterrupted_run(kind: str, positive: str, tmp_path: Path) -> None:
    plain = Plain(positive=positive, intercept=2.0)

    def make() -> gp.StrategicProblem:
        return plain.problem() if kind == "model" else Crowd(plain).problem()

    estimate = gp.OnePoint(baseline=True)
    solver = gp.ogda_rr(gradient=estimate, step=ETA, radius=EPS, batch=3, average=gp.Suffix())
    whole_problem, problem = make(), make()
    whole = gp.solve(whole_problem, solver, epochs=9, seed=6)
    half = gp.solve(problem, solver, queries=37, seed=6, checkpoint=tmp_path / "state")
    assert 0 < half.n_queries <= 37
    for resume in (half.state, tmp_path / "state"):
        assert_same_run(gp.solve(make(), solver, epochs=9, resume=resume), whole)
    gp.solve(problem, solver, epochs=9, resume=half.state)
    ours, theirs = problem.population, whole_problem.population
    assert np.array_equal(ours.answers_by_agent, theirs.answers_by_agent)


FAULTS: dict[str, Callable[[Vector], Any]] = {
    "nan": lambda given: given * np.nan,
    "too few rows": lambda given: given[:-1],
    "a column short": lambda given: given[:, :-1],
    "raised": lambda given: given[999],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_run_goes_on_after_a_bad_answer_as_if_nothing_had_happened(fault: str) -> None:
    plain = Plain()
    good, bad = Crowd(plain), Crowd(plain)
    bad.fail_at[9] = FAULTS[fault]
    solver = gp.ogda_rr(step=ETA, radius=EPS, batch=7)
    whole = gp.solve(good.problem(), solver, epochs=5, seed=8)
    problem = bad.problem()
    with pytest.raises(gp.EvaluationError, match=r"deployment 9, agents? ") as caught:
        gp.solve(problem, solver, epochs=5, seed=8)
    assert caught.value.state.queries == bad.tally.sum() > 0
    result = gp.solve(problem, solver, epochs=5, resume=caught.value.state)
    assert_same_run(result, whole)
    assert np.array_equal(bad.tally, good.tally)
    assert problem.population.n_deployments == whole.n_deployments


def test_state_of_one_treatment_of_positive_agents_is_refused_by_the_other() -> None:
    solver = gp.ogda_rr(step=ETA, radius=EPS)
    state = gp.solve(Plain().problem(), solver, epochs=1, seed=0).state
    with pytest.raises(gp.StateFileError, match="another problem"):
        gp.solve(Plain(positive="estimated").problem(), solver, epochs=2, resume=state)


@pytest.mark.parametrize(
    "change",
    [
        {"delta": 0.46},
        {"kappa": 0.51},
        {"loss": "huber"},
        {"flips": "none"},
        {"zeta": 0.31},
        {"norm": 3.0},
        {"degree": 3.0},
        {"mask": None},
        {"cap": 4.0},
        {"intercept": 1.0},
    ],
    ids=str,
)
def test_state_of_another_strategic_problem_is_refused(change: dict[str, Any]) -> None:
    solver = gp.ogda_rr(step=ETA, radius=EPS)
    state = gp.solve(Plain().problem(), solver, epochs=1, seed=0).state
    with pytest.raises(gp.StateFileError, match="another problem"):
        gp.solve(Plain(**change).problem(), solver, epochs=2, resume=state)


# --- bad input


def make_problem(**changed: Any) -> gp.StrategicProblem:
    X, y = people()
    response = changed.pop("response", gp.QuadraticCost(0.1))
    parts = {"radius": 0.1, "label_cost": 0.5} | changed
    return gp.StrategicProblem(gp.Population(X, y, response), **parts)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"radius": -0.1}, "radius must not be negative, got -0.1"),
        ({"radius": float("nan")}, "radius must .*got nan"),
        ({"radius": float("inf")}, "radius must .*got inf"),
        ({"label_cost": -1.0}, "label_cost must not be negative, got -1.0"),
        ({"label_cost": float("nan")}, "label_cost must .*got nan"),
        ({"form": "precise"}, "form must be one of exact, printed, got 'precise'"),
        ({"flips": "some"}, "flips must be one of one-way, none, both, got 'some'"),
        ({"positive": "known"}, "positive must be one of exact, estimated, got 'known'"),
        ({"alpha_max": 0.0}, "alpha_max must be positive"),
        ({"alpha_max": float("inf")}, "alpha_max must be positive and finite"),
        ({"intercept": -1.0}, "intercept must be positive"),
        ({"flips": "both"}, "only where nobody moves"),
        ({"flips": "one-way", "label_cost": float("inf")}, "needs a finite label_cost"),
        ({"flips": "both", "label_cost": float("inf")}, "needs a finite label_cost"),
        ({"form": "printed", "flips": "none", "radius": 1.0}, "printed"),
    ],
    ids=str,
)
def test_bad_numbers_and_names_are_refused_with_a_sentence(
    changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_problem(**changed)


def test_flips_both_ways_are_refused_for_a_black_box() -> None:
    box = gp.BlackBox(lambda theta, agents: people()[0][agents])
    with pytest.raises(ValueError, match="only where nobody moves"):
        make_problem(response=box, flips="both")


@pytest.mark.parametrize("given", [None, np.zeros((3, 2)), gp.QuadraticCost(0.1)])
def test_what_is_not_a_population_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="population must be a Population, got"):
        gp.StrategicProblem(given, 0.1, 0.5)


def test_printed_form_is_refused_where_unbounded_naming_the_smallest_radius() -> None:
    X, y = people()
    population = gp.Population(X, y)
    least = 0.5 * float(np.mean(y < 0))
    with pytest.raises(ValueError, match=f"smallest radius that works is {least:.6g}"):
        gp.StrategicProblem(population, least - 1e-3, 0.5, form="printed")
    at_least = gp.StrategicProblem(population, least, 0.5, form="printed")
    assert at_least.robust_value([0, 0, 0, 0, 20.0]) == pytest.approx(np.log(2))
    # The oracle: below that radius the risk of theta = 0 falls with alpha for ever.
    below = Plain(form="printed", delta=least - 1e-3, zeta=0.0)
    risks = []
    for alpha in (10.0, 1000.0):
        ends = [np.concatenate([np.zeros(D), [alpha], np.full(N, g)]) for g in (-1.0, 1.0)]
        risks.append(np.mean([max(below.value(i, u) for u in ends) for i in range(N)]))
    assert risks[1] < risks[0] - 0.9


@pytest.mark.parametrize("scores", [False, True])
def test_exact_gradients_of_a_black_box_are_refused_before_the_first_query(scores: bool) -> None:
    crowd = Crowd(Plain(), scores)
    with pytest.raises(ValueError, match=r"Exact\(\) needs the gradient of x, and .* does not"):
        gp.solve(crowd.problem(), gp.ogda_rr(gradient=gp.Exact()), epochs=1, seed=0)
    assert crowd.calls == 0


def test_gradient_of_a_black_box_is_none_where_it_is_unknown() -> None:
    crowd = Crowd(Plain())
    problem = crowd.problem()
    x, gamma = np.split(Plain().random_point(np.random.default_rng(0)), [D + 1])
    asked, _ = problem.gradient(1, x, gamma)
    assert crowd.plain.y[1] < 0
    assert asked is None


@pytest.mark.parametrize("what", ["value", "robust_value", "duality_gap", "best_gamma"])
def test_whole_risk_of_a_black_box_is_refused_with_a_sentence(what: str) -> None:
    crowd = Crowd(Plain())
    problem = crowd.problem()
    x, gamma = problem.start
    arguments = (x,) if what in ("robust_value", "best_gamma") else (x, gamma)
    with pytest.raises(TypeError, match=r"needs .*response function|needs an answer"):
        getattr(problem, what)(*arguments)
    assert crowd.calls == 0


def test_tolerance_without_a_score_is_refused_for_a_black_box_before_the_first_query() -> None:
    crowd = Crowd(Plain())
    with pytest.raises((TypeError, ValueError), match=r"score|response function"):
        gp.solve(crowd.problem(), gp.ogda_rr(step=ETA, radius=EPS), tolerance=0.1, seed=0)
    assert crowd.calls == 0


def test_points_of_the_wrong_size_are_refused() -> None:
    problem = make_problem()
    with pytest.raises(ValueError, match="x has 3 coordinates, the set has 5"):
        problem.value(np.zeros(3), np.zeros(N))
    with pytest.raises(ValueError, match="y has 2 coordinates, the set has 23"):
        problem.value(np.zeros(5), np.zeros(2))
    with pytest.raises(IndexError, match="samples 0 to 22, got 23"):
        problem.gradient(23, *problem.start)


def test_parts_of_x_come_apart_and_together() -> None:
    for intercept in (None, 2.0):
        problem = make_problem(intercept=intercept)
        x = problem.join([1.0, 2.0, 3.0, 4.0], 5.0, 0.5)
        assert x.tolist() == ([] if intercept is None else [0.5]) + [1, 2, 3, 4, 5]
        theta, alpha = problem.split(x)
        assert (theta.tolist(), alpha) == ([1, 2, 3, 4], 5.0)


def test_run_starts_at_theta_zero_alpha_one_gamma_zero_with_steps_scaled_by_twice_n() -> None:
    for cap, alpha in ((20.0, 1.0), (0.5, 0.5)):
        problem = make_problem(alpha_max=cap)
        x, gamma = problem.start
        assert x.tolist() == [0, 0, 0, 0, alpha]
        assert not gamma.any()
        assert problem.scale == (1.0, 2.0 * N)


def test_status_names_the_budget_that_ended_the_run() -> None:
    X, y = gp.synthetic_people(n=40, d=2, seed=0)
    people = gp.Population(X, y, gp.BlackBox(lambda theta, agents: X[agents]), budget=20)
    problem = gp.StrategicProblem(people, radius=0.1, label_cost=0.5)
    result = gp.solve(problem, gp.ogda_rr(gradient=gp.TwoPoint()), queries=100, seed=0)
    assert "what is left of the population's budget" in result.status
    again = gp.solve(problem, gp.ogda_rr(gradient=gp.TwoPoint()), queries=1, seed=0)
    assert "the budget of 1 values" in again.status


def test_points_may_be_of_any_kind_of_numbers_but_not_of_any_length() -> None:
    X = np.arange(12.0).reshape(4, 3)
    problem = gp.StrategicProblem(gp.Population(X, [1, -1, 1, -1]), radius=0.1, label_cost=0.5)
    x, y = np.array([0, 1, 2, 3]), np.arange(problem.n) % 2
    expected = problem.gradient(0, x.astype(float), y.astype(float))
    for found in (
        problem.gradient(0, x, y),
        problem.gradient(0, x.astype(np.float32), y.astype(np.float32)),
        problem.gradient(0, np.repeat(x.astype(float), 2)[::2], y.astype(float)),
    ):
        assert all(map(np.array_equal, found, expected))
    with pytest.raises(ValueError, match="x has 3 coordinates, the set has 4"):
        problem.gradient(0, x[:3].astype(float), y.astype(float))
    with pytest.raises(ValueError, match="x has 5 coordinates, the set has 4"):
        problem.evaluate(np.arange(2), np.zeros(5), y.astype(float))
