"""Where a run starts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector
from gameproof.core.errors import StartProjectedWarning, warn
from gameproof.minmax.plan import Plan
from gameproof.minmax.problem import Problem
from gameproof.minmax.sets.convex_set import projected, projected_on_shrunk
from gameproof.minmax.sets.product import primitive_sets
from gameproof.minmax.sets.simplex import Simplex
from gameproof.minmax.solver import Solver


def starting_point(
    problem: Problem, start: tuple[ArrayLike, ArrayLike] | None
) -> tuple[Vector, Vector]:
    """The given (x, y), moved into the sets with a warning where it lies outside; by default the
    problem's own start."""
    if start is None:
        return problem.start
    if not isinstance(start, (tuple, list)) or len(start) != 2:
        raise TypeError(f"start must be a pair (x, y), got {start!r}")
    x, y = problem.point(*start)
    inside = projected(problem.x_set, x), projected(problem.y_set, y)
    outside = [
        name
        for name, whole, point in zip("xy", (problem.x_set, problem.y_set), (x, y), strict=True)
        if not whole.contains(point)
    ]
    if outside:
        warn(
            f"the start lies outside the set of {' and of '.join(outside)}; "
            "the run starts at the nearest point inside",
            StartProjectedWarning,
        )
    return inside


def warn_of_fixed_zeros(problem: Problem, point: tuple[Vector, Vector]) -> None:
    """Warns if multiplicative steps can never leave a face of their simplex."""
    for name, whole, u in zip("xy", (problem.x_set, problem.y_set), point, strict=True):
        first = 0
        for part in primitive_sets(whole):
            own = u[first : first + part.dim]
            first += part.dim
            if isinstance(part, Simplex) and part.entropy and not own.all():
                warn(
                    f"the start has coordinates of {name} that are 0, and multiplicative steps on "
                    f"{part!r} never change them; give positive ones"
                )


def feasible_start(
    problem: Problem, solver: Solver, plan: Plan, point: tuple[Vector, Vector]
) -> tuple[Vector, Vector]:
    """The start. If queries must be feasible, it is moved inside so that the first ones are."""
    reach, perturbed = plan.method.reach, plan.perturbed
    if not np.isfinite(reach):
        return point
    shrink = 1.0 - min(float(solver.by_epoch(0, 1)[1][0]) / reach, 0.5)
    x, y = point
    if perturbed.x > 0:
        x = projected_on_shrunk(problem.x_set, x, shrink)
    return x, projected_on_shrunk(problem.y_set, y, shrink) if perturbed.y else y
