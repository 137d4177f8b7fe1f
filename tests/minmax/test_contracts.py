"""The contract tests: every built-in part passes, and broken parts fail with the reason."""

from typing import Any

import numpy as np
import pytest

import gameproof as gp
from convex_sets import LIBRARY
from momentum import Momentum
from strategic_problems import make

GRADIENTS = [
    gp.OnePoint(),
    gp.OnePoint(baseline=True),
    gp.Residual(),
    gp.TwoPoint(),
    gp.TwoPoint(symmetric=True),
    gp.Gaussian(),
    gp.Gaussian(symmetric=True),
    gp.Directions(),
    gp.Directions(k=9, symmetric=True),
    gp.Coordinates(),
    gp.Coordinates(symmetric=True),
    gp.Exact(),
    gp.Envelope(),
    gp.VarianceReduced(),
    gp.VarianceReduced(gp.Exact()),
]
UPDATES = [
    gp.SGDA(),
    gp.OGDA(),
    gp.Extragradient(),
    gp.PastExtragradient(),
    gp.Anchored(),
    gp.Alternating(),
    gp.Alternating(ascent_steps=3),
]
ORDERS = [gp.Reshuffle(), gp.ShuffleOnce(), gp.WithReplacement()]
SETS = LIBRARY | {"entropy": gp.Simplex(3, entropy=True)}
PROBLEMS = {
    "matrix": lambda: gp.MatrixGame.random(n=3, seed=0),
    "bilinear": lambda: gp.BilinearGame.random(n=3, seed=0),
    "quadratic": lambda: gp.QuadraticGame.random(n=3, seed=0),
    "least squares": lambda: gp.RobustLeastSquares.random(n=3, seed=0),
    "strategic": lambda: make(n=12),
}


@pytest.mark.parametrize("gradient", GRADIENTS, ids=repr)
def test_built_in_estimates_pass(gradient: gp.Gradient) -> None:
    gp.check_gradient(gradient, draws=3_000)


@pytest.mark.parametrize("update", UPDATES, ids=repr)
def test_built_in_updates_pass(update: gp.Update) -> None:
    gp.check_update(update)


@pytest.mark.parametrize("order", ORDERS, ids=repr)
def test_built_in_orders_pass(order: gp.Order) -> None:
    gp.check_order(order)


@pytest.mark.parametrize("whole", SETS.values(), ids=SETS)
def test_built_in_sets_pass(whole: gp.ConvexSet) -> None:
    gp.check_set(whole, points=50)


@pytest.mark.parametrize("name", PROBLEMS)
def test_built_in_problems_pass(name: str) -> None:
    gp.check_problem(PROBLEMS[name]())


# --- broken parts


UNSEEDED = np.random.default_rng(0)


class Estimate(gp.Gradient):
    """A correct two-point estimate, to be broken in one place."""

    factor_of = 1.0

    def n_points(self, dim: int) -> int:
        return 2

    def offsets(self, rng: np.random.Generator, space: Any, radius: float) -> Any:
        v = rng.standard_normal(space.size)
        return np.vstack([radius * v / np.linalg.norm(v), np.zeros(space.size)])

    def estimate(self, values: Any, offsets: Any, radius: float, context: Any) -> Any:
        d = offsets.shape[1]
        return self.factor_of * d * (values[0] - values[1]) / radius**2 * offsets[0]


class TooLong(Estimate):
    factor_of = 1.1


class OnePointOnly(Estimate):
    def n_points(self, dim: int) -> int:
        return 1


class NotFinite(Estimate):
    factor_of = np.nan


class DrawsItsOwn(Estimate):
    """Ignores the generator that it is given."""

    def offsets(self, rng: np.random.Generator, space: Any, radius: float) -> Any:
        return super().offsets(UNSEEDED, space, radius)


class HiddenMomentum(gp.Update):
    """Keeps its velocity where no state is saved."""

    def __init__(self) -> None:
        self.velocity = 0.0

    def move(self, phase: int, estimates: Any, arrays: Any, step: int) -> Any:
        self.velocity = 0.5 * self.velocity + estimates.new
        return self.velocity


class Halved(gp.Update):
    def move(self, phase: int, estimates: Any, arrays: Any, step: int) -> Any:
        return estimates.new[:2]


class NoPhase(gp.Update):
    phases = ()


class NotAPhase(gp.Update):
    phases = (1.0,)  # type: ignore[assignment]


class Drawn(gp.Order):
    """An order from a function of (rng, n)."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def draw(self, rng: np.random.Generator, n: int, epoch: int) -> Any:
        return self._draw(rng, n)


class Square(gp.ConvexSet):
    """[-1, 1]^2, to be broken in one place."""

    dim, diameter, center = 2, 2 * np.sqrt(2), np.zeros(2)

    def project(self, point: Any) -> Any:
        return np.clip(point, -1.0, 1.0)

    def sample(self, rng: np.random.Generator) -> Any:
        return rng.uniform(-1, 1, 2)


class Small(Square):
    diameter = 1.0


class OffCenter(Square):
    center = np.array([2.0, 0.0])


class Radial(Square):
    """Shrinks towards 0, which is not the nearest point."""

    def project(self, point: Any) -> Any:
        return np.asarray(point) / max(1.0, np.abs(point).max())


class Wide(Square):
    def sample(self, rng: np.random.Generator) -> Any:
        return rng.uniform(-3, 3, 2)


class Summed(Square):
    fixed_sums = ((0, 2),)


class Endless(Square):
    diameter = np.inf


class InPlace(Square):
    def project(self, point: Any) -> Any:
        return np.clip(point, -1.0, 1.0, out=point)


class Haphazard(Square):
    def sample(self, rng: np.random.Generator) -> Any:
        return UNSEEDED.uniform(-1, 1, 2)


class Roomy(Square):
    inner_radius = 1.5


class Leaving(Square):
    def step(self, origin: Any, move: Any) -> Any:
        return origin - move


class Drifting(Square):
    def step(self, origin: Any, move: Any) -> Any:
        return self.project(origin / 2 - move)


class Ascending(Square):
    def step(self, origin: Any, move: Any) -> Any:
        return self.project(origin + move)


BROKEN = {
    "biased estimate": (gp.check_gradient, TooLong(), "the mean estimate of the gradient"),
    "offsets of another shape": (gp.check_gradient, OnePointOnly(), "offsets must have shape"),
    "estimate not finite": (gp.check_gradient, NotFinite(), "estimates must be finite"),
    "estimate of its own chance": (
        gp.check_gradient,
        DrawsItsOwn(),
        "the same generator must give the same offsets",
    ),
    "hidden state": (gp.check_update, HiddenMomentum(), "keep state in `arrays`"),
    "move of another shape": (gp.check_update, Halved(), "move must have shape"),
    "no phase": (gp.check_update, NoPhase(), "at least one Phase"),
    "no Phase": (gp.check_update, NotAPhase(), "must be a Phase, got 1.0"),
    "short order": (gp.check_order, Drawn(lambda rng, n: np.arange(n - 1)), "must have 10 samples"),
    "order of floats": (gp.check_order, Drawn(lambda rng, n: rng.random(n)), "must be integers"),
    "order beyond the end": (
        gp.check_order,
        Drawn(lambda rng, n: 1 + np.arange(n)),
        "must lie between 0 and 9",
    ),
    "order of its own chance": (
        gp.check_order,
        Drawn(lambda rng, n: UNSEEDED.integers(0, n, n)),
        "the same generator must give the same order",
    ),
    "diameter": (gp.check_set, Small(), "more than the diameter"),
    "center": (gp.check_set, OffCenter(), "center must be in the set"),
    "projection": (gp.check_set, Radial(), "is not the nearest point"),
    "sample": (gp.check_set, Wide(), "which project moves"),
    "fixed sums": (gp.check_set, Summed(), "do not have a constant sum"),
    "infinite diameter": (gp.check_set, Endless(), "diameter must be finite"),
    "projection in place": (gp.check_set, InPlace(), "project must not change its argument"),
    "sample of its own chance": (
        gp.check_set,
        Haphazard(),
        "the same generator must give the same sample",
    ),
    "inner radius": (gp.check_set, Roomy(), "inner_radius"),
    "step out of the set": (gp.check_set, Leaving(), "step leads out of the set"),
    "step without a move": (gp.check_set, Drifting(), "a step with move 0 must stay"),
    "step in the wrong direction": (gp.check_set, Ascending(), "must lead against its move"),
}


def test_parts_that_the_broken_ones_vary_pass() -> None:
    gp.check_gradient(Estimate(), draws=3_000)
    gp.check_update(Momentum())
    gp.check_order(Drawn(lambda rng, n: rng.permutation(n)))
    gp.check_set(Square())


@pytest.mark.parametrize(("check", "part", "reason"), BROKEN.values(), ids=BROKEN)
def test_broken_parts_fail_with_the_reason(check: Any, part: Any, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        check(part)


SETTINGS = {"n": 2, "x_set": gp.Ball([0.0], 1.0), "y_set": gp.Ball([0.0], 1.0)}
BAD_PROBLEMS = {
    "concave in x": (lambda i, x, y: -(x[0] ** 2), None, "is not convex in x"),
    "convex in y": (lambda i, x, y: y[0] ** 2, None, "is not concave in y"),
    "not finite": (lambda i, x, y: np.inf, None, "not finite"),
    "gradient of x": (
        lambda i, x, y: x[0] ** 2 - y[0] ** 2,
        (lambda i, x, y: -2 * x, lambda i, x, y: -2 * y),
        "in x does not fit its values",
    ),
    "gradient of y": (
        lambda i, x, y: x[0] ** 2 - y[0] ** 2,
        (None, lambda i, x, y: 2 * y),
        "in y does not fit its values",
    ),
    "shape of a gradient": (
        lambda i, x, y: x[0] ** 2 - y[0] ** 2,
        (lambda i, x, y: np.zeros(2), None),
        "the gradient of x has a wrong shape",
    ),
}


@pytest.mark.parametrize(("value", "gradient", "reason"), BAD_PROBLEMS.values(), ids=BAD_PROBLEMS)
def test_broken_problems_fail_with_the_reason(value: Any, gradient: Any, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        gp.check_problem(gp.SaddleProblem(value, gradient=gradient, **SETTINGS))


@pytest.mark.parametrize(
    "check", [gp.check_gradient, gp.check_update, gp.check_order, gp.check_set, gp.check_problem]
)
def test_part_of_another_kind_is_rejected(check: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a .*, got 'RR'"):
        check("RR")
