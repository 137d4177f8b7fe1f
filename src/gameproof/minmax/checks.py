"""Contract tests for parts of your own.

Each raises an AssertionError that says what is wrong, and returns None if nothing is. The built-in
parts pass the same tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gameproof.core.contracts import check_that, require_kind
from gameproof.minmax.averages import Last
from gameproof.minmax.estimates.gradient import Context, Gradient, Space
from gameproof.minmax.games.quadratic_game import QuadraticGame
from gameproof.minmax.orders.order import Order
from gameproof.minmax.plan import checked_phases
from gameproof.minmax.problem import Problem
from gameproof.minmax.solve import solve
from gameproof.minmax.solver import Solver
from gameproof.minmax.updates.update import Estimates, Update


def check_gradient(gradient: Gradient, *, dim: int = 3, draws: int = 20_000, seed: int = 0) -> None:
    """Tests an estimate: shapes, and that its mean is the gradient of a linear function.

    Offsets must depend on the given generator alone. The mean over `draws` is compared with a
    tolerance of six standard errors: a correct estimate fails about once in 10^8 checks.

    Parameters
    ----------
    gradient
        The estimate.
    dim
        How many coordinates to perturb.
    draws
        How many estimates to average.
    seed
        Seed of the draws.

    Raises
    ------
    AssertionError
        If the estimate breaks the contract.

    Examples
    --------
    >>> import gameproof as gp
    >>> gp.check_gradient(gp.TwoPoint())
    """
    require_kind(gradient, Gradient)
    rng, space, radius = np.random.default_rng(seed), Space(dim), 0.5
    number = gradient.n_points(dim)
    slope, level = np.arange(1.0, dim + 1), 0.7
    offsets, again = (
        np.asarray(gradient.offsets(np.random.default_rng(seed), space, radius)) for _ in range(2)
    )
    check_that(
        offsets.shape == (number, dim),
        f"offsets must have shape {(number, dim)}, n_points by coordinates, got {offsets.shape}",
    )
    same = np.array_equal(offsets, again)
    check_that(same, "the same generator must give the same offsets")
    if number == 0:
        return
    context, found = Context(dim, level, level), np.empty((draws, dim))
    for k in range(draws):
        offsets = np.asarray(gradient.offsets(rng, space, radius))
        found[k] = gradient.estimate(level + offsets @ slope, offsets, radius, context)
    check_that(np.isfinite(found).all(), "estimates must be finite")
    error = np.abs(found.mean(axis=0) - slope)
    allowed = 6 * found.std(axis=0) / np.sqrt(draws) + 1e-9
    check_that(
        (error <= allowed).all(),
        f"the mean estimate of the gradient {slope} is {found.mean(axis=0)}, off by {error} where "
        f"chance allows {allowed}",
    )


def check_order(order: Order, *, n: int = 10, epochs: int = 3, seed: int = 0) -> None:
    """Tests an order: n sample numbers per epoch, and the same ones for the same seed.

    Parameters
    ----------
    order
        The order.
    n, epochs
        How many samples and epochs to draw.
    seed
        Seed of the draws.

    Raises
    ------
    AssertionError
        If the order breaks the contract.

    Examples
    --------
    >>> import gameproof as gp
    >>> gp.check_order(gp.Reshuffle())
    """
    require_kind(order, Order)
    first, second = np.random.default_rng(seed), np.random.default_rng(seed)
    for epoch in range(epochs):
        drawn = np.asarray(order.draw(first, n, epoch))
        check_that(drawn.shape == (n,), f"an epoch must have {n} samples, got shape {drawn.shape}")
        check_that(drawn.dtype.kind in "iu", f"samples must be integers, got {drawn.dtype}")
        inside = (drawn >= 0).all() and (drawn < n).all()
        check_that(inside, f"samples must lie between 0 and {n - 1}, got {drawn}")
        again = np.asarray(order.draw(second, n, epoch))
        check_that((drawn == again).all(), "the same generator must give the same order")


def check_update(update: Update, *, seed: int = 0) -> None:
    """Tests an update: shapes, that it keeps no hidden state, and that a run resumes exactly.

    Parameters
    ----------
    update
        The update.
    seed
        Seed of the estimates.

    Raises
    ------
    AssertionError
        If the update breaks the contract.

    Examples
    --------
    >>> import gameproof as gp
    >>> gp.check_update(gp.Extragradient())
    """
    require_kind(update, Update)
    try:
        checked_phases(update)
    except (TypeError, ValueError) as error:
        raise AssertionError(str(error)) from error
    rng, size = np.random.default_rng(seed), 5
    for phase in range(len(update.phases)):
        arrays = {name: rng.standard_normal(size) for name in update.arrays}
        estimates = Estimates(*rng.standard_normal((3, size)))
        moves = [
            np.asarray(
                update.move(phase, estimates, {name: a.copy() for name, a in arrays.items()}, 3)
            )
            for _ in range(2)
        ]
        check_that(
            moves[0].shape == (size,), f"move must have shape {(size,)}, got {moves[0].shape}"
        )
        check_that(np.isfinite(moves[0]).all(), "move must be finite")
        same = np.array_equal(moves[0], moves[1])
        check_that(same, "move must depend on its arguments alone; keep state in `arrays`")
    game = QuadraticGame.random(n=4, seed=0)
    solver = Solver(update=update, step=0.01, radius=0.1, average=Last())
    whole = solve(game, solver, epochs=4, seed=seed, progress=False)
    half = solve(game, solver, epochs=2, seed=seed, progress=False)
    rest = solve(game, solver, epochs=4, resume=half.state, progress=False)
    check_that(np.array_equal(whole.x, rest.x), "a resumed run must equal an uninterrupted one")


def check_problem(problem: Problem, *, points: int = 20, seed: int = 0) -> None:
    """Tests a problem: finite values, convex in x, concave in y, gradients that fit the values.

    Convexity is tested at midpoints of random points of the sets; a problem with people behind it
    is asked for values, which are counted.

    Parameters
    ----------
    problem
        The problem.
    points
        How many pairs of points to test.
    seed
        Seed of the points.

    Raises
    ------
    AssertionError
        If the problem breaks the contract.

    Examples
    --------
    >>> import gameproof as gp
    >>> gp.check_problem(gp.QuadraticGame.random(n=3, seed=0))
    """
    require_kind(problem, Problem)
    rng = np.random.default_rng(seed)
    for _ in range(points):
        i = rng.integers(problem.n, size=1)
        x, x2 = (np.asarray(problem.x_set.sample(rng)) for _ in range(2))
        y, y2 = (np.asarray(problem.y_set.sample(rng)) for _ in range(2))

        def value(x: Any, y: Any, i: Any = i) -> float:
            return float(problem.values(i, x, y)[0])

        ends = [value(x, y), value(x2, y), value(x, y2)]
        check_that(np.isfinite(ends).all(), f"sample {i[0]} gave a value that is not finite")
        room = 1e-7 * (1 + max(map(abs, ends)))
        check_that(
            value((x + x2) / 2, y) <= (ends[0] + ends[1]) / 2 + room,
            f"sample {i[0]} is not convex in x between {x} and {x2}",
        )
        check_that(
            value(x, (y + y2) / 2) >= (ends[0] + ends[2]) / 2 - room,
            f"sample {i[0]} is not concave in y between {y} and {y2}",
        )
        _check_gradients(problem, int(i[0]), (x, y), (x2, y2), room)


def _check_gradients(
    problem: Problem, i: int, point: tuple[Any, Any], other: tuple[Any, Any], room: float
) -> None:
    """A convex function lies above its tangents, a concave one below."""
    here = float(problem.values([i], *point)[0])
    for k, (block, part) in enumerate(zip("xy", problem.gradient(i, *point), strict=True)):
        if part is None:
            missing = f"the problem declares a gradient of {block} and returns none"
            check_that(block not in problem.known, missing)
            continue
        check_that(np.shape(part) == point[k].shape, f"the gradient of {block} has a wrong shape")
        pair = (other[0], point[1]) if k == 0 else (point[0], other[1])
        sign = 1 if k == 0 else -1
        tangent = here + float(part @ (other[k] - point[k]))
        above = sign * (float(problem.values([i], *pair)[0]) - tangent)
        check_that(above >= -room, f"the gradient of sample {i} in {block} does not fit its values")
