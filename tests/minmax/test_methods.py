"""Every update, estimate, schedule and set as its paper prints it, the same bits in both loops.

The cases cover every pair of parts that share code, not all combinations.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from plain_methods import Plain, Vector, by_entropy, on_ball, on_interval, on_simplex

UPDATES = {
    "SGDA": gp.SGDA(),
    "OGDA": gp.OGDA(),
    "EG": gp.Extragradient(),
    "PEG": gp.PastExtragradient(),
    "EAG": gp.Anchored(),
    "AltGDA1": gp.Alternating(),
    "AltGDA2": gp.Alternating(ascent_steps=2),
}
ESTIMATES: dict[str, Callable[..., gp.Gradient]] = {
    "plain": gp.OnePoint,
    "baseline": lambda **parts: gp.OnePoint(baseline=True, **parts),
    "residual": gp.Residual,
    "two-point": gp.TwoPoint,
    "two-point symmetric": lambda **parts: gp.TwoPoint(symmetric=True, **parts),
    "gaussian": gp.Gaussian,
    "gaussian symmetric": lambda: gp.Gaussian(symmetric=True),
    "directions": gp.Directions,
    "directions symmetric": lambda **parts: gp.Directions(k=3, symmetric=True, **parts),
    "coordinates": gp.Coordinates,
    "coordinates symmetric": lambda **parts: gp.Coordinates(symmetric=True, **parts),
    "exact": gp.Exact,
}
REDUCED = "reduced, every "
N, EPOCHS = 7, 4


def balls() -> tuple[gp.Problem, dict[str, Any]]:
    game = gp.QuadraticGame.random(n=N, dx=3, dy=2, seed=5)
    return game, {"x_step": on_ball(3.0), "y_step": on_ball(3.0)}


def ball_and_interval() -> tuple[gp.Problem, dict[str, Any]]:
    game = gp.QuadraticGame.random(n=N, dx=3, dy=2, seed=5)
    game.y_set = gp.Box([-0.5, -0.5], [0.5, 0.5])
    return game, {"x_step": on_ball(3.0), "y_step": on_interval(0.5)}


def simplices() -> tuple[gp.Problem, dict[str, Any]]:
    game = gp.MatrixGame.random(n=N, dx=3, dy=4, seed=2)
    return game, {"x_step": on_simplex, "y_step": on_simplex, "simplices": True}


def entropy() -> tuple[gp.Problem, dict[str, Any]]:
    game = gp.MatrixGame.random(n=N, dx=3, dy=4, seed=2)
    game.x_set, game.y_set = gp.Simplex(3, entropy=True), gp.Simplex(4, entropy=True)
    return game, {"x_step": by_entropy, "y_step": by_entropy, "simplices": True}


def private() -> tuple[gp.Problem, dict[str, Any]]:
    game = gp.RobustLeastSquares.random(n=N, dx=3, seed=5)
    return game, {"x_step": on_ball(3.0), "y_step": on_interval(10.0), "y_known": True}


SETS = {f.__name__: f for f in (balls, ball_and_interval, simplices, entropy, private)}
# Update, estimate, sets, batch; then "per step" or "feasible".
CASES = [
    ("SGDA", "plain", "balls", 1, ""),
    ("SGDA", "gaussian", "simplices", 3, ""),
    ("SGDA", "directions", "entropy", 1, ""),
    ("SGDA", "coordinates symmetric", "ball_and_interval", 3, "feasible"),
    ("SGDA", "residual", "private", 1, "per step"),
    ("OGDA", "plain", "simplices", 3, "per step"),
    ("OGDA", "baseline", "entropy", 1, ""),
    ("OGDA", "directions symmetric", "balls", 3, "feasible"),
    ("OGDA", "gaussian symmetric", "private", 3, ""),
    ("OGDA", "residual", "ball_and_interval", 1, ""),
    ("EG", "two-point", "simplices", 1, "feasible"),
    ("EG", "coordinates", "balls", 3, "per step"),
    ("EG", "gaussian", "private", 1, ""),
    ("EG", "baseline", "ball_and_interval", 3, ""),
    ("EG", "exact", "entropy", 1, ""),
    ("PEG", "plain", "balls", 3, "feasible"),
    ("PEG", "two-point symmetric", "private", 1, ""),
    ("PEG", "coordinates", "simplices", 1, ""),
    ("PEG", "gaussian symmetric", "ball_and_interval", 1, "per step"),
    ("PEG", "directions symmetric", "entropy", 3, ""),
    ("PEG", "exact", "balls", 1, ""),
    ("EAG", "residual", "simplices", 3, ""),
    ("EAG", "directions", "balls", 1, "per step"),
    ("EAG", "coordinates symmetric", "entropy", 3, ""),
    ("EAG", "two-point", "ball_and_interval", 1, "feasible"),
    ("EAG", "plain", "private", 3, ""),
    ("AltGDA1", "directions", "simplices", 3, "feasible"),
    ("AltGDA1", "gaussian", "entropy", 1, "per step"),
    ("AltGDA1", "coordinates", "private", 3, ""),
    ("AltGDA1", "baseline", "balls", 1, ""),
    ("AltGDA1", "exact", "ball_and_interval", 3, ""),
    ("AltGDA2", "residual", "balls", 3, "per step"),
    ("AltGDA2", "two-point symmetric", "entropy", 1, ""),
    ("AltGDA2", "coordinates", "simplices", 1, ""),
    ("AltGDA2", "directions", "private", 1, ""),
    ("AltGDA2", "plain", "ball_and_interval", 3, "feasible"),
    ("SGDA", "reduced, every 1 exact", "simplices", 1, ""),
    ("SGDA", "reduced, every 2 two-point", "balls", 3, "feasible"),
    ("OGDA", "reduced, every 2 two-point symmetric", "simplices", 1, ""),
    ("OGDA", "reduced, every 1 coordinates symmetric", "ball_and_interval", 3, ""),
    ("OGDA", "reduced, every 1 two-point", "private", 3, "per step"),
    ("EG", "reduced, every 1 gaussian", "ball_and_interval", 1, "per step"),
    ("EG", "reduced, every 3 exact", "private", 3, ""),
    ("PEG", "reduced, every 2 directions", "balls", 1, ""),
    ("EAG", "reduced, every 1 coordinates", "simplices", 3, ""),
    ("AltGDA2", "reduced, every 1 directions symmetric", "entropy", 3, ""),
]


def estimate_of(name: str, **parts: Any) -> gp.Gradient:
    """By its name, such as "two-point" or "reduced, every 2 two-point"."""
    if not name.startswith(REDUCED):
        return ESTIMATES[name](**parts)
    every, _, inner = name.removeprefix(REDUCED).partition(" ")
    return gp.VarianceReduced(ESTIMATES[inner](**parts), every=int(every))


def schedule(more: str, initial: float) -> tuple[Any, Callable[[int, int], float]]:
    power = gp.Power(initial, 0.3)
    if more == "per step":
        return gp.PerStep(power), lambda epoch, step: power(step)
    return power, lambda epoch, step: power(epoch)


@pytest.mark.parametrize(("update", "estimate", "sets", "batch", "more"), CASES)
def test_method_is_the_printed_one_and_the_same_in_both_loops(
    update: str, estimate: str, sets: str, batch: int, more: str, same_memory: Any
) -> None:
    problem, described = SETS[sets]()
    step, eta = schedule(more, 0.05)
    radius, eps = schedule(more, 0.1)
    feasible = {"feasible": True} if more == "feasible" else {}
    solver = gp.Solver(
        update=UPDATES[update],
        gradient=estimate_of(estimate, **feasible),
        step=step,
        radius=radius,
        scale=(1.0, 1.5),
        batch=batch,
    )
    compiled = gp.solve(problem, solver, epochs=EPOCHS, seed=11)
    python = gp.solve(problem, solver, epochs=EPOCHS, seed=11, compiled=False)
    same_memory(compiled.state, python.state)

    dx, dy = problem.x_set.dim, problem.y_set.dim
    radii = problem.x_set.inner_radius, problem.y_set.inner_radius

    def value(i: int, u: Vector) -> float:
        return float(problem.values([i], u[:dx], u[dx:])[0])

    def gradient(i: int, u: Vector) -> Vector:
        return np.concatenate(problem.gradient(i, u[:dx], u[dx:]))

    every, _, inner = estimate.removeprefix(REDUCED).partition(" ")
    reduced = estimate.startswith(REDUCED)
    estimate = inner if reduced else estimate
    plain = Plain(
        n=N,
        dx=dx,
        dy=dy,
        value=value,
        gradient=gradient,
        estimate=estimate,
        every=int(every) if reduced else 0,
        k=3 if estimate == "directions symmetric" else 2,
        eta=eta,
        eps=eps,
        scale=(1.0, 1.5),
        batch=batch,
        reach=(1 - 1e-6) * min(radii) if feasible else np.inf,
        rng=np.random.default_rng(11),
        **described,
    )
    *_, u = plain.run(update, np.concatenate(problem.start), EPOCHS)
    found = np.concatenate([compiled.last_x, compiled.last_y])
    np.testing.assert_allclose(found, u, rtol=1e-8, atol=1e-10)
    assert compiled.n_queries == plain.asked


def test_first_argument_of_an_estimate_is_its_own() -> None:
    assert gp.Directions(3) == gp.Directions(k=3)
    assert gp.Gaussian(True) == gp.Gaussian(symmetric=True)
