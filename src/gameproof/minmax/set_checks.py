"""`check_set`: the contract test for sets of your own."""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.contracts import check_that, require_kind
from gameproof.minmax.estimates.gradient import Space
from gameproof.minmax.sets.convex_set import ConvexSet

# Rounding, in units of the size of the set.
ROUNDING = 1e-7


def check_set(whole: ConvexSet, *, points: int = 200, seed: int = 0) -> None:
    """Tests a set: that `project` is the projection, and that the other members agree with it.

    Parameters
    ----------
    whole
        The set.
    points
        How many random points to project.
    seed
        Seed of the points.

    Raises
    ------
    AssertionError
        If the set breaks the contract.

    Examples
    --------
    >>> import gameproof as gp
    >>> gp.check_set(gp.Simplex(3))
    """
    require_kind(whole, ConvexSet)
    rng, dim, center = np.random.default_rng(seed), whole.dim, np.asarray(whole.center)
    check_that(isinstance(dim, (int, np.integer)), f"dim must be an integer, got {dim!r}")
    check_that(np.isfinite(whole.diameter), f"diameter must be finite, got {whole.diameter}")
    size = max(whole.diameter, 1e-6 * float(np.linalg.norm(center)), 1e-12)  # above rounding
    check_that(center.shape == (dim,), f"center must have {dim} coordinates, got {center.shape}")
    check_that(whole.contains(center, ROUNDING), "center must be in the set")
    inside = _samples(whole, size, seed)
    for _ in range(points):
        _check_projection(whole, center + size * rng.standard_normal(dim), inside, size)
    for point in inside:
        _check_steps(whole, point, size * rng.standard_normal(dim), size)
    _check_inner_radius(whole, center, rng.standard_normal((points, dim)))


def _samples(whole: ConvexSet, size: float, seed: int) -> list[Vector]:
    """Some samples, checked."""
    drawn: list[list[Vector]] = []
    for _ in range(2):
        rng = np.random.default_rng(seed)
        drawn.append([np.asarray(whole.sample(rng)) for _ in range(20)])
    inside, again = drawn
    for point in inside:
        check_that(whole.contains(point, ROUNDING), f"sample gave {point}, which project moves")
        far = np.linalg.norm(point - inside[0])
        check_that(
            far <= size * (1 + ROUNDING), f"two points are {far} apart, more than the diameter"
        )
    check_that(np.array_equal(inside, again), "the same generator must give the same sample")
    return inside


def _check_projection(whole: ConvexSet, point: Vector, inside: list[Vector], size: float) -> None:
    """The angle between point - nearest and other - nearest is never acute."""
    given = point.copy()
    nearest = np.asarray(whole.project(given))
    check_that(np.array_equal(given, point), "project must not change its argument")
    check_that(
        nearest.shape == point.shape, f"project must give {point.size} numbers, got {nearest.shape}"
    )
    for other in inside:
        acute = (point - nearest) @ (other - nearest)
        check_that(
            acute <= ROUNDING * size**2,
            f"{nearest} is not the nearest point to {point}: {other} is in that direction",
        )
    center = np.asarray(whole.center)
    for start, stop in whole.fixed_sums:
        same = abs(nearest[start:stop].sum() - center[start:stop].sum()) <= ROUNDING * size
        check_that(same, f"coordinates {start} to {stop} do not have a constant sum")


def _check_steps(whole: ConvexSet, origin: Vector, move: Vector, size: float) -> None:
    """A step minimises <move, u> plus a distance from the origin, whatever the mirror map."""
    still, moved = (np.asarray(whole.step(origin.copy(), m)) for m in (0 * move, move.copy()))
    check_that(
        moved.shape == origin.shape, f"step must give {origin.size} numbers, got {moved.shape}"
    )
    check_that(whole.contains(moved, ROUNDING), f"a step leads out of the set, to {moved}")
    near = np.linalg.norm(still - origin) <= ROUNDING * size
    check_that(near, f"a step with move 0 must stay at {origin}, and leads to {still}")
    along = move @ (moved - origin)
    check_that(
        along <= ROUNDING * size * np.linalg.norm(move),
        f"a step must lead against its move: from {origin} with move {move} it leads to {moved}",
    )


def _check_inner_radius(whole: ConvexSet, center: Vector, directions: Vector) -> None:
    """Points at this distance from the centre, within the affine hull, are in the set."""
    radius, space = whole.inner_radius, Space(whole.dim, whole.fixed_sums)
    if space.dim == 0 or radius == 0:
        return
    check_that(0 < radius < np.inf, f"inner_radius must be at least 0 and finite, got {radius}")
    for v in space.flatten(directions):
        point = center + radius * v / np.linalg.norm(v)
        check_that(
            whole.contains(point, ROUNDING),
            f"{point} is outside the set, and no farther from center than inner_radius, {radius}",
        )
