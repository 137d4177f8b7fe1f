"""Sets and gradients of one's own in plain Python run as the built-in ones."""

from typing import Any

import numpy as np
import pytest

import gameproof as gp
from solving import SEED


def test_problem_with_a_part_in_python_cannot_run_compiled(
    teller: Any, compiled_functions: Any
) -> None:
    part_compiled = teller(gradient=(None, compiled_functions.y_gradient)).problem
    own_set = gp.QuadraticGame.random(n=5, dx=2, dy=2, seed=0)
    own_set.x_set = OwnBall(2, 3.0)
    for problem in (teller().problem, part_compiled, own_set):
        with pytest.raises(ValueError, match=r"cannot run compiled: .* plain Python; leave out"):
            gp.solve(problem, epochs=1, compiled=True)


class OwnBall(gp.ConvexSet):
    """The ball around 0, with a projection in Python."""

    def __init__(self, dim: int, radius: float) -> None:
        self.dim, self.radius = dim, radius

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    @property
    def center(self) -> Any:
        return np.zeros(self.dim)

    def project(self, point: Any) -> Any:
        vector = np.array(point, dtype=float)
        return vector * min(1.0, self.radius / np.linalg.norm(vector))

    def sample(self, rng: np.random.Generator) -> Any:
        return self.project(rng.standard_normal(self.dim))


@pytest.mark.parametrize("gradient", [gp.OnePoint(), gp.TwoPoint(), gp.Exact()], ids=str)
def test_set_of_ones_own_runs_as_the_built_in_one(gradient: Any) -> None:
    # Steps long enough that the projections are active.
    solver = gp.Solver(update=gp.Extragradient(), gradient=gradient, step=0.3, radius=0.5, batch=7)
    results = []
    for own in (False, True):
        game = gp.QuadraticGame.random(n=16, dx=3, dy=2, seed=1)
        if own:
            game.x_set, game.y_set = OwnBall(3, 3.0), OwnBall(2, 3.0)
        results.append(gp.solve(game, solver, epochs=5, seed=SEED))
    assert np.linalg.norm(results[0].last_x) > 2.9 or not isinstance(gradient, gp.OnePoint)
    for name in ("x", "y", "last_x", "last_y"):
        ours, theirs = (getattr(result, name) for result in results)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


class Grid(gp.Box):  # type: ignore[misc]
    """A box whose projections are rounded."""

    def project(self, point: Any) -> Any:
        return np.round(super().project(point), 1)


def test_projection_that_overrides_a_built_in_one_is_used(teller: Any) -> None:
    grid = Grid([-1.0, -1.0], [1.0, 1.0])
    for x_set in (grid, gp.Product(grid)):
        solver = gp.ogda_rr(step=0.1, radius=0.5)
        found = gp.solve(teller(x_set=x_set).problem, solver, epochs=3, seed=SEED).last_x
        np.testing.assert_array_equal(found, np.round(found, 1))


def test_set_of_ones_own_in_a_product_runs_as_the_built_in_one(teller: Any, schedules: Any) -> None:
    half = gp.Box([-1.0], [1.0])
    xs = [
        gp.solve(
            teller(x_set=gp.Product(first, half)).problem,
            gp.ogda_rr(step=1.0, radius=0.5),
            epochs=5,
            seed=SEED,
        ).x
        for first in (OwnBall(1, 0.25), gp.Ball([0.0], 0.25))
    ]
    np.testing.assert_allclose(xs[0], xs[1], rtol=0, atol=1e-12)


def test_gradient_of_one_block_leaves_only_the_other_to_be_asked_about(
    teller: Any, schedules: Any
) -> None:
    for block in ("x", "y"):
        gradient = (teller.x_gradient, None) if block == "x" else (None, teller.y_gradient)
        told, moved = teller(gradient=gradient), []
        run = gp.Run(told.problem, gp.sgda_rr(**schedules), seed=SEED)
        while run.state.epoch < 2:
            x, y = run.state.last
            question = run.ask()
            moved.append((np.linalg.norm(question.x - x), np.linalg.norm(question.y - y)))
            # One step by hand: the known block moves along its gradient, up for y, down for x.
            eta, i = schedules["step"](run.state.epoch), int(question.indices[0])
            run.step()
            if block == "x":
                after, expected = run.state.last[0], x - eta * teller.x_gradient(i, x, y)
                expected *= min(1.0, 2.0 / np.linalg.norm(expected))
            else:
                after, expected = run.state.last[1], y + eta * teller.y_gradient(i, x, y)
                expected = np.clip(expected, -1.0, 1.0)
            np.testing.assert_allclose(after, expected, rtol=0, atol=1e-12)
        radii = [schedules["radius"](t) for t in (0, 1) for _ in range(7)]
        known, asked = np.array(moved).T if block == "x" else np.array(moved).T[::-1]
        assert known.max() == 0.0
        np.testing.assert_allclose(asked, radii)


class Lost(OwnBall):
    """Once, at the given call, a projection that cannot be used."""

    def __init__(self, at: int, found: Any) -> None:
        super().__init__(2, 2.0)
        self.calls, self.at, self.found = 0, at, found

    def project(self, point: Any) -> Any:
        self.calls += 1
        return self.found if self.calls == self.at else super().project(point)


def test_projection_that_is_not_finite_is_refused_and_the_run_can_resume(teller: Any) -> None:
    solver = gp.sgda_rr(step=0.05, radius=0.3)
    whole = gp.solve(teller(x_set=OwnBall(2, 2.0)).problem, solver, epochs=3, seed=SEED)
    lost = teller(x_set=Lost(5, np.full(2, np.nan))).problem  # at its fifth call only
    with pytest.raises(ValueError, match="<Lost> gave a point that is not finite") as failed:
        gp.solve(lost, solver, epochs=3, seed=SEED)
    state = failed.value.state  # type: ignore[attr-defined]
    again = gp.solve(lost, solver, epochs=3, resume=state)
    np.testing.assert_array_equal(again.x, whole.x)


def test_start_is_projected_to_a_point_of_its_shape(teller: Any) -> None:
    problem = teller(x_set=Lost(1, np.zeros((2, 1)))).problem
    with pytest.raises(ValueError, match=r"<Lost> gave a point of shape \(2, 1\), expected \(2,\)"):
        gp.Run(problem, gp.sgda_rr(), start=([9.0, 9.0], [0.0]))


class Tilted(gp.QuadraticGame):
    """A ready game with a term of one's own: the sum of x."""

    def evaluate(self, indices: Any, x: Any, y: Any) -> Any:
        return [value + x.sum() for value in super().evaluate(indices, x, y)]


class TiltedGradient(gp.QuadraticGame):
    """The same, for exact gradients."""

    def gradient(self, i: int, x: Any, y: Any) -> Any:
        by_x, by_y = super().gradient(i, x, y)
        return by_x + 1.0, by_y


@pytest.mark.parametrize(("kind", "known"), [(Tilted, False), (TiltedGradient, True)])
def test_a_class_derived_from_a_ready_game_uses_its_own_samples(kind: Any, known: bool) -> None:
    gradient: Any = gp.Exact() if known else gp.TwoPoint()
    solver = gp.sgda_rr(step=0.05, radius=0.1, gradient=gradient)
    ready, own = (each.random(n=5, seed=0) for each in (gp.QuadraticGame, kind))
    by = [gp.solve(each, solver, epochs=1, seed=SEED).x.sum() for each in (ready, own)]
    assert by[1] < by[0] - 0.1
