"""The compiled solver follows the paper's listings, step by step."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import gameproof as gp
from listings import Listing, Vector, run_listing
from methods import ALGORITHMS, ESTIMATES

STEPS = 1000
ETA, EPS = gp.Power(0.01, 0.76), gp.Power(0.5, 0.25)


class Dense:
    """A quadratic game in NumPy, everything estimated."""

    game = gp.QuadraticGame.random(n=23, dx=4, dy=3, seed=5)
    n, dx = 23, 4

    def value(self, i: int, u: Vector) -> float:
        a, b, p, q = (part[i] for part in self.game.data)
        s, t = a @ u[:4], b @ u[4:]
        return float(s * s / 2 + s * t - t * t / 2 + p @ u[:4] - q @ u[4:])

    def gradient(self, i: int, u: Vector) -> Vector:
        a, b, p, q = (part[i] for part in self.game.data)
        s, t = a @ u[:4], b @ u[4:]
        return np.concatenate([(s + t) * a + p, (s - t) * b - q])

    def project(self, u: Vector) -> Vector:
        blocks = np.split(u, [4])
        return np.concatenate([w * min(1.0, 3.0 / np.linalg.norm(w)) for w in blocks])

    def perturbed(self) -> Vector:
        return np.ones(7, dtype=bool)


class Private:
    """Robust least squares in NumPy: y_i belongs to sample i and is exact, x is estimated."""

    game = gp.RobustLeastSquares.random(n=23, dx=4, seed=5)
    n, dx = 23, 4

    def value(self, i: int, u: Vector) -> float:
        a, b, penalty = self.game.data
        residual = a[i] @ u[:4] - b[i] - u[4 + i]
        return float(residual**2 - penalty * u[4 + i] ** 2) / 2

    def gradient(self, i: int, u: Vector) -> Vector:
        a, b, penalty = self.game.data
        residual = a[i] @ u[:4] - b[i] - u[4 + i]
        gradient = np.zeros_like(u)
        gradient[:4] = residual * a[i]
        gradient[4 + i] = -residual - penalty * u[4 + i]
        return gradient

    def project(self, u: Vector) -> Vector:
        x = u[:4] * min(1.0, 3.0 / np.linalg.norm(u[:4]))
        return np.concatenate([x, np.clip(u[4:], -10.0, 10.0)])

    def perturbed(self) -> Vector:
        return np.arange(27) < 4


def compare(
    problem: Dense | Private,
    make: Callable[..., gp.Solver],
    optimistic: bool,
    reshuffle: bool,
    estimate: str,
    scale: tuple[float, float] | None,
    batch: int,
    blocks: str | None = None,
) -> None:
    """Runs both for STEPS steps and holds iterate, average and count against each other."""
    part = ESTIMATES[estimate] if blocks is None else type(ESTIMATES[estimate])(blocks=blocks)
    solver = make(gradient=part, step=ETA, radius=EPS, scale=scale, batch=batch)
    run = gp.Run(problem.game, solver, seed=11)
    everything = np.ones_like(problem.perturbed())
    listing = Listing(
        n=problem.n,
        dx=problem.dx,
        value=problem.value,
        gradient=problem.gradient,
        project=problem.project,
        perturbed=problem.perturbed() if blocks is None else everything,
        optimistic=optimistic,
        reshuffle=reshuffle,
        estimate=estimate,
        eta=ETA,
        eps=EPS,
        scale=scale or (1.0, 1.0),
        batch=batch,
    )
    start = np.concatenate(run.state.last)
    rng = np.random.default_rng(11)
    slow = run_listing(listing, start, epochs=STEPS, rng=rng)
    for step, (u, average, asked) in zip(range(1, STEPS + 1), slow, strict=False):
        run.advance(step, max_queries=10**9, compiled=True)
        if step % 97 and step not in (1, 2, STEPS):
            continue
        np.testing.assert_allclose(np.concatenate(run.state.last), u, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(np.concatenate(run.recommend()), average, rtol=1e-10, atol=1e-12)
        assert run.state.queries == asked
    assert run.state.steps == STEPS
    assert run.state.epoch >= STEPS // 23


@pytest.mark.parametrize(
    ("algorithm", "estimate", "scale", "batch"),
    list(product(ALGORITHMS, ESTIMATES, [None, (0.5, 3.0)], [1, 7])),
)
def test_compiled_trajectory_equals_the_listing(
    algorithm: str, estimate: str, scale: tuple[float, float] | None, batch: int
) -> None:
    compare(Dense(), *ALGORITHMS[algorithm], estimate, scale, batch)


@pytest.mark.parametrize(
    ("algorithm", "estimate", "batch"), list(product(ALGORITHMS, ESTIMATES, [1, 7]))
)
def test_private_coordinates_follow_the_listing(algorithm: str, estimate: str, batch: int) -> None:
    compare(Private(), *ALGORITHMS[algorithm], estimate, (1.0, 3.0), batch)


@pytest.mark.parametrize("estimate", ["plain", "two-point", "residual"])
def test_private_problem_with_all_blocks_estimated_follows_the_listing(estimate: str) -> None:
    compare(Private(), *ALGORITHMS["OGDA-RR"], estimate, None, 7, blocks="all")


GAMES = {
    "matrix": gp.MatrixGame.random(n=13, dx=3, dy=4, seed=2),
    "bilinear": gp.BilinearGame.random(n=13, dim=3, seed=2),
    "quadratic": Dense.game,
    "private": Private.game,
}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("update", [gp.OGDA(), gp.SGDA(), gp.Extragradient()])
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_ask_tell_equals_compiled_bit_for_bit(game: str, update: gp.Update, estimate: str) -> None:
    for order, batch in ((gp.Reshuffle(), 1), (gp.WithReplacement(), 7), (gp.ShuffleOnce(), 4)):
        solver = gp.Solver(
            update=update,
            gradient=ESTIMATES[estimate],
            order=order,
            step=ETA,
            radius=EPS,
            batch=batch,
            average=gp.Suffix(),
        )
        one = gp.solve(GAMES[game], solver, epochs=5, seed=3)
        other = gp.solve(GAMES[game], solver, epochs=5, seed=3, compiled=False)
        for name, ours in one.state.memory._asdict().items():
            assert np.array_equal(ours, getattr(other.state.memory, name)), name
        assert np.array_equal(one.x, other.x)
        assert np.array_equal(one.y, other.y)
        assert one.state.rng.bit_generator.state == other.state.rng.bit_generator.state


@pytest.mark.parametrize("estimate", ["plain", "two-point", "exact"])
def test_extragradient_equals_its_formula(estimate: str) -> None:
    problem, rng = Dense(), np.random.default_rng(4)
    solver = gp.Solver(
        update=gp.Extragradient(), gradient=ESTIMATES[estimate], order=gp.WithReplacement(),
        step=0.01, radius=0.5, scale=None,
    )  # fmt: skip
    run = gp.Run(problem.game, solver, seed=4)
    u, sign = np.concatenate(run.state.last), np.repeat([1.0, -1.0], [4, 3])

    def operator(i: int, point: Vector) -> Vector:
        if estimate == "exact":
            return sign * problem.gradient(i, point)
        v = rng.standard_normal(7)
        v /= np.linalg.norm(v)
        offset = problem.value(i, point) if estimate == "two-point" else 0.0
        return sign * 7 / 0.5 * (problem.value(i, point + 0.5 * v) - offset) * v

    order = np.empty(0)
    for step in range(1, 201):
        if (step - 1) % 23 == 0:
            order = rng.integers(0, 23, size=23)
        i = int(order[(step - 1) % 23])
        ahead = problem.project(u - 0.01 * operator(i, u))
        u = problem.project(u - 0.01 * operator(i, ahead))
        run.advance(step, max_queries=10**9, compiled=True)
    np.testing.assert_allclose(np.concatenate(run.state.last), u, rtol=1e-10)
    points = {"plain": 1, "two-point": 2, "exact": 0}[estimate]
    assert run.state.deployments == 200 * 2 * points
