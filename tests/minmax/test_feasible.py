"""Queries within the sets: on a simplex in its hull, and with feasible=True in the sets."""

from typing import Any

import numpy as np
import pytest

import gameproof as gp
from momentum import Momentum

ESTIMATES = [
    gp.OnePoint(feasible=True),
    gp.TwoPoint(symmetric=True, feasible=True),
    gp.Directions(feasible=True),
    gp.Coordinates(symmetric=True, feasible=True),
]
SETS = {
    "balls": (gp.Ball([1.0, -1.0], 0.8), gp.Ball([0.0, 2.0], 0.5)),
    "boxes": (gp.Box([0.0, -1.0], [1.0, 2.0]), gp.Box([-1.0, -1.0], [1.0, 1.0])),
    "simplices": (gp.Simplex(3), gp.Simplex(2, 2.0)),
    "product": (gp.Product(gp.L1Ball([0.0, 1.0], 1.0), gp.Simplex(3)), gp.Cone(3, 1.0, 2.0)),
}


class Outside(Exception):
    """A query outside the sets."""


def guarded(x_set: gp.ConvexSet, y_set: gp.ConvexSet, seen: list[Any]) -> gp.SaddleProblem:
    """A problem that is defined on its sets only."""

    def value(i: int, x: Any, y: Any) -> float:
        if not (x_set.contains(x) and y_set.contains(y)):
            raise Outside(f"{x} {y}")
        seen.append((x, y))
        k = min(x.size, y.size)
        pull = float(x[:k] @ y[:k])
        return 3 * float(x @ x) - 5 * float(x.sum()) + pull - 3 * float(y @ y) + (i + 1) * y[0]

    return gp.SaddleProblem(value, n=5, x_set=x_set, y_set=y_set)


@pytest.mark.parametrize("update", [gp.OGDA(), gp.Extragradient(), gp.Alternating()], ids=repr)
@pytest.mark.parametrize("gradient", ESTIMATES, ids=lambda part: type(part).__name__)
@pytest.mark.parametrize("sets", SETS)
def test_feasible_queries_stay_in_the_sets(
    sets: str, gradient: gp.Gradient, update: gp.Update
) -> None:
    seen: list[Any] = []
    problem = guarded(*SETS[sets], seen)
    # Large steps reach the boundary; the radius shrinks from epoch to epoch.
    solver = gp.Solver(update=update, gradient=gradient, step=0.3, radius=gp.Power(0.1, 0.25))
    gp.solve(problem, solver, epochs=6, seed=0)
    assert len(seen) >= 30


def test_queries_leave_the_sets_unless_they_must_be_feasible() -> None:
    problem = guarded(*SETS["balls"], [])
    with pytest.raises(gp.EvaluationError, match="raised Outside"):
        gp.solve(problem, gp.ogda_rr(step=0.3, radius=0.3), epochs=20, seed=0)


CORNER = {"start": ([1.8, -1.0], [0.0, 2.5])}


@pytest.mark.parametrize(
    ("radius", "options"),
    [(0.1, CORNER), (0.4, {}), (2.0, {}), (lambda t: 0.05 * (t + 1), {})],
    ids=["start on the boundary", "large radius", "radius beyond the set", "growing radius"],
)
def test_feasible_queries_stay_in_the_sets_in_hard_cases(radius: Any, options: Any) -> None:
    problem = guarded(*SETS["balls"], [])
    solver = gp.ogda_rr(gradient=gp.OnePoint(feasible=True), step=0.3, radius=radius)
    gp.solve(problem, solver, epochs=6, seed=0, **options)


class OwnBall(gp.ConvexSet):
    """A ball whose projection is in Python."""

    dim, diameter, center, inner_radius = 2, 1.6, np.array([1.0, -1.0]), 0.8

    def project(self, point: Any) -> Any:
        from_center = np.asarray(point) - self.center
        return self.center + from_center / max(1.0, np.linalg.norm(from_center) / 0.8)

    def sample(self, rng: np.random.Generator) -> Any:
        return self.project(self.center + rng.uniform(-1, 1, 2))


@pytest.mark.parametrize("own", ["set", "update"])
def test_feasible_queries_stay_in_the_sets_with_parts_in_python(own: str) -> None:
    x_set = OwnBall() if own == "set" else gp.Ball([1.0, -1.0], 0.8)
    problem = guarded(x_set, gp.Ball([0.0, 2.0], 0.5), [])
    update = Momentum() if own == "update" else gp.OGDA()
    solver = gp.Solver(
        update=update, gradient=gp.OnePoint(feasible=True), step=0.3, radius=gp.Power(0.1, 0.25)
    )
    gp.solve(problem, solver, epochs=6, seed=0)


@pytest.mark.parametrize(
    ("x_set", "gradient", "said"),
    [
        (gp.Simplex(2, entropy=True), gp.OnePoint(feasible=True), "Simplex without entropy"),
        (gp.Box([0.0, 1.0], [1.0, 1.0]), gp.TwoPoint(feasible=True), "inner_radius is 0"),
    ],
)
def test_sets_without_room_are_rejected_before_the_first_query(
    x_set: gp.ConvexSet, gradient: gp.Gradient, said: str
) -> None:
    seen: list[Any] = []
    problem = guarded(x_set, gp.Ball([0.0, 2.0], 0.5), seen)
    with pytest.raises(ValueError, match=said):
        gp.solve(problem, gp.ogda_rr(gradient=gradient), epochs=1)
    assert not seen


def test_gaussian_directions_cannot_be_feasible() -> None:
    with pytest.raises(ValueError, match=r"use TwoPoint\(feasible=True\)"):
        gp.Gaussian(feasible=True)


@pytest.mark.parametrize(
    "gradient",
    [gp.OnePoint(), gp.TwoPoint(), gp.Gaussian(), gp.Directions(), gp.Coordinates()],
    ids=lambda part: type(part).__name__,
)
@pytest.mark.parametrize("update", [gp.OGDA(), gp.Alternating()], ids=repr)
def test_queries_on_simplices_lie_in_their_hull(gradient: gp.Gradient, update: gp.Update) -> None:
    game = gp.MatrixGame.random(n=4, dx=3, dy=4, seed=0)
    run = gp.Run(game, gp.Solver(update=update, gradient=gradient, step=0.1, radius=0.5), seed=0)
    moved = 0
    while run.state.steps < 8:
        question = run.ask()
        assert question.x.sum() == pytest.approx(1.0, abs=1e-12)
        assert question.y.sum() == pytest.approx(1.0, abs=1e-12)
        moved += question.x.min() < 0 or question.y.min() < 0
        run.tell(question, game.values(question.indices, question.x, question.y))
    assert moved


@pytest.mark.parametrize(("entropy", "step"), [(False, 0.3), (True, 0.6)])
def test_matrix_game_of_value_5_3_is_solved_from_2000_values(entropy: bool, step: float) -> None:
    game = gp.MatrixGame([[[3.0, 1.0], [1.0, 2.0]]])
    game.x_set, game.y_set = (gp.Simplex(2, entropy=entropy) for _ in range(2))
    assert game.saddle.value == pytest.approx(5 / 3, rel=1e-12)
    solver = gp.Solver(
        update=gp.PastExtragradient(),
        gradient=gp.Coordinates(symmetric=True),
        step=step,
        radius=0.1,
        average=gp.Last(),
    )
    result = gp.solve(game, solver, queries=2_000, seed=0, start=([0.9, 0.1], [0.2, 0.8]))
    assert result.n_queries <= 2_000
    assert game.duality_gap(result.x, result.y) < 1e-6
    assert game.value(result.x, result.y) == pytest.approx(5 / 3, abs=1e-6)
