"""How a classifier's problem is solved: exactly, or by asking people."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gameproof.arguments import Vector
from gameproof.errors import CapWarning
from gameproof.exact.reference import saddle_point
from gameproof.problem.problem import Saddle
from gameproof.problem.strategic import StrategicProblem
from gameproof.solver.method import Solver
from gameproof.solver.result import Result
from gameproof.solver.solve import solve


def solved_exactly(problem: StrategicProblem, bound: float) -> Saddle:
    """The certified saddle point."""
    if not problem.has_duality_gap:
        raise TypeError(
            "these people can only be asked, since their response is no PowerCost; say how, such "
            "as solver=gp.ogda_rr(gradient=gp.TwoPoint()), and how often, such as queries=5000"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CapWarning)  # ours names the classifier's parameter
        saddle = saddle_point(problem)
    _warn_of_bounds(problem, saddle.x, bound)
    return saddle


def solved_by_asking(
    problem: StrategicProblem,
    solver: Any,
    start: tuple[Vector, Vector] | None,
    seed: int,
    **limits: int | None,
) -> Result:
    """The result of a solver, or of one chosen for the problem."""
    if isinstance(solver, str) and solver == "auto" and hasattr(Solver, "auto"):
        solver = Solver.auto(problem, seed=seed)
    if not isinstance(solver, Solver):
        raise TypeError(f"solver must be a Solver such as ogda_rr(), or None, got {solver!r}")
    return solve(problem, solver, seed=seed, start=start, progress=False, **limits)  # type: ignore[arg-type]


def _warn_of_bounds(problem: StrategicProblem, x: Vector, bound: float) -> None:
    theta, alpha = problem.split(x)
    reached = [(problem.loss.K + problem.loss.s) * float(np.linalg.norm(theta))]
    reached.append(abs(problem.offset(x)))
    if problem.radius > 0:
        reached.append(alpha)
    if max(reached) >= (1 - 1e-4) * problem.alpha_max:
        warnings.warn(
            f"bound = {bound:g} is all that keeps the classifier finite: the classes can be told "
            "apart without error, or features are far from unit size; a larger radius bounds it "
            "for a reason, or give a larger bound",
            CapWarning,
            stacklevel=4,
        )
