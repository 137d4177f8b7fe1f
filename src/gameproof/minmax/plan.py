"""`plan`: a solver on a problem, as compiled code takes it, or an error if the two do not fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Matrix, as_count, as_number
from gameproof.kernels import layout
from gameproof.kernels.layout import (
    EXTERNAL,
    KNOWN,
    MIRROR,
    NO,
    NO_VALUES,
    OBSERVED,
    YES,
    Choice,
    Method,
)
from gameproof.kernels.sets import EncodedBox, EncodedInterval
from gameproof.minmax.blocks import NOTHING, Perturbed
from gameproof.minmax.estimates.gradient import Gradient, Space, require_blocks
from gameproof.minmax.problem import Problem
from gameproof.minmax.sets.product import primitive_sets
from gameproof.minmax.sets.simplex import Simplex
from gameproof.minmax.solver import Solver
from gameproof.minmax.updates.update import Phase, Update

# Stands for a set that Python projects on.
NO_SET = EncodedInterval(1, 0.0, 0.0)


class Plan(NamedTuple):
    """What a run needs to know before it begins."""

    method: Method
    x_set: Any
    y_set: Any
    perturbed: Perturbed
    gradients: tuple[Gradient, ...]  # the estimate of each phase
    spaces: tuple[Space, ...]  # what each phase perturbs
    directions: Matrix  # room for random directions, then a basis
    n_points: int  # the most that a phase deploys


def perturbed_by(gradient: Gradient, problem: Problem) -> Perturbed:
    """The coordinates that an estimate perturbs on this problem, or an error."""
    if gradient.code.offset == OBSERVED:
        problem.queries.check(gradient)
        return NOTHING
    if gradient.code.offset == NO_VALUES:
        missing = sorted({"x", "y"} - problem.known)
        if missing:
            raise ValueError(
                f"{gradient!r} needs the gradient of {' and '.join(missing)}, and {problem.name} "
                "does not give it; pass gradient= to the problem, or use an estimate from values "
                "such as OnePoint()"
            )
        return NOTHING
    require_blocks(gradient.blocks)
    if gradient.blocks is None:
        return problem.estimated
    for other in {"x", "y"} - {gradient.blocks} if gradient.blocks != "all" else ():
        if other not in problem.known:
            raise ValueError(
                f"{gradient!r} estimates {gradient.blocks} alone, so {problem.name} must give the "
                f"exact gradient of {other}, and it does not; pass gradient= to the problem, or "
                "estimate all blocks"
            )
    width = problem.x_set.dim if gradient.blocks != "y" else 0
    return Perturbed(int(width), gradient.blocks != "x")


def plan(problem: Problem, solver: Solver) -> Plan:
    """The method on this problem."""
    n, gradient, update = int(problem.n), solver.gradient, solver.update
    solver.order.check(n)
    perturbed, batch = perturbed_by(gradient, problem), min(solver.batch, n)
    x_set, y_set = problem.x_set.encoded, problem.y_set.encoded
    projects = x_set is not None and y_set is not None
    moves = 0 if projects and update.is_compiled else EXTERNAL
    space, width = _space(problem, perturbed), int(perturbed.x)
    phases = [_phase_space(phase, space, width) for phase in checked_phases(update)]
    every, gradients = gradient.snapshot_every, [gradient] * len(phases)
    rows = [
        _row(phase, gradient, first, own, space, corrects=every > 0 and phase.asks)
        for phase, (first, own) in zip(update.phases, phases, strict=True)
    ]
    if every:
        gradients.append(gradient.at_snapshot)
        phases.append((0, space))
        rows.append(_row(Phase(), gradient.at_snapshot, 0, space, space, corrects=False))
    table = np.array([integers for integers, _ in rows], dtype=np.int64)
    directions = _directions(table, space)
    sources = problem.queries.sources(perturbed)
    everything = perturbed == (problem.x_set.dim, True)
    x_scale, y_scale = solver.scales(problem)
    method = Method(
        n=n,
        batch=batch,
        share=1.0 / batch,
        order=solver.order.code,
        observes=gradient.code.offset == OBSERVED,
        moves=moves,
        phases=len(update.phases),
        snapshots=YES if every else NO,
        snapshot_every=every,
        plan=table,
        weights=np.array([numbers for _, numbers in rows]),
        queries_per_sample=_queries(update.phases, gradient, table),
        flat=np.array(space.fixed_sums, dtype=np.int64).reshape(-1, 2),
        asks_previous=update.asks_previous,
        x_perturbed=width,
        y_perturbed=bool(perturbed.y),
        some_exact=not everything or KNOWN in (sources.if_clear, sources.if_set),
        private=NO if every else _private(problem, perturbed, moves, update.phases),
        x_scale=float(x_scale),
        y_scale=float(y_scale),
        reach=_reach(problem, gradient, perturbed),
        sources=sources,
        tally=problem.queries.tally,
    )
    n_points = int(deployed_points(table).max(initial=0))
    if not projects:
        x_set = y_set = NO_SET
    spaces = tuple(own for _, own in phases)
    return Plan(method, x_set, y_set, perturbed, tuple(gradients), spaces, directions, n_points)


def _directions(table: Any, space: Space) -> Matrix:
    """Room for the random directions of a phase, then a basis if a phase needs one. Overwrites the
    first direction of such a phase."""
    fixed = table[:, layout.DRAWN_AS] == layout.BASIS
    random = int(table[~fixed, layout.DIRECTIONS].max(initial=0))
    table[fixed, layout.FIRST] += random
    basis = space.basis() if fixed.any() else np.empty((0, space.size))
    return np.vstack([np.zeros((random, space.size)), basis])


def _space(problem: Problem, perturbed: Perturbed) -> Space:
    """The perturbed coordinates, those of x first."""
    size = perturbed.x
    inside = [(a, b) for a, b in problem.x_set.fixed_sums if b <= size]
    if perturbed.y:
        inside += [(a + size, b + size) for a, b in problem.y_set.fixed_sums]
        size += problem.y_set.dim
    return Space(int(size), tuple((int(a), int(b)) for a, b in inside))


def checked_phases(update: Update) -> tuple[Phase, ...]:
    """The phases of an update, or an error that says what is wrong with them."""
    phases = update.phases
    if not isinstance(phases, tuple) or not phases:
        raise ValueError(f"{update!r} needs a tuple of at least one Phase, got phases={phases!r}")
    for phase in phases:
        if not isinstance(phase, Phase):
            raise TypeError(f"each phase of {update!r} must be a Phase, got {phase!r}")
        if phase.blocks not in ("x", "y", "both"):
            raise ValueError(f'blocks of a phase must be "x", "y" or "both", got {phase.blocks!r}')
        weights = [as_number("the weight of a phase", w) for w in phase[:3]]
        if not np.isfinite(weights).all():
            raise ValueError(f"the weights of a phase must be finite, got {phase!r}")
    return phases


def _phase_space(phase: Phase, space: Space, width: int) -> tuple[int, Space]:
    """Where the coordinates that a phase perturbs begin, and what they are."""
    start = width if phase.blocks == "y" else 0
    stop = width if phase.blocks == "x" else space.size
    sums = [(a - start, b - start) for a, b in space.fixed_sums if start <= a and b <= stop]
    return start, Space(stop - start, tuple(sums))


def _row(
    phase: Phase, gradient: Gradient, start: int, own: Space, space: Space, corrects: bool
) -> tuple[list[int], list[float]]:
    """One row of `Method.plan` and of `Method.weights`."""
    dim, stop = own.dim, start + own.size
    asks = phase.asks and gradient.uses_values and dim > 0
    before = start - sum(b <= start for _, b in space.fixed_sums)
    mirrored = 0.5 if gradient.code.offset == MIRROR else 1.0
    integers = [
        int(phase.asks),
        int(phase.from_base),
        int(phase.anchored),
        int(phase.blocks != "y"),
        int(phase.blocks != "x"),
        start,
        stop,
        gradient.n_directions(dim) if asks else 0,
        int(before) if gradient.code.drawn == layout.BASIS else 0,
        as_count(f"n_points of {gradient!r}", gradient.n_points(dim)) if asks else 0,
        int(corrects),
        max(gradient.code.offset, layout.PLAIN),
        gradient.code.drawn,
    ]
    factor = gradient.factor(dim) * mirrored if asks else 0.0
    return integers, [phase.new, phase.previous, phase.kept, factor]


def _queries(phases: tuple[Phase, ...], gradient: Gradient, table: Any) -> int:
    """Values, or observed answers, per sample in a step."""
    if gradient.code.offset == OBSERVED:
        return sum(phase.asks for phase in phases)
    return int(deployed_points(table[: len(phases)]).sum())


def deployed_points(table: Any) -> Any:
    """How many points each phase deploys."""
    return table[:, layout.POINTS] * (1 + table[:, layout.CORRECTS])


def _private(
    problem: Problem, perturbed: Perturbed, moves: int, phases: tuple[Phase, ...]
) -> Choice:
    """YES if a step need touch no coordinates of y but those of its samples."""
    box = isinstance(problem.y_set.encoded, (EncodedInterval, EncodedBox))
    plain = not any(phase.anchored for phase in phases) and moves != EXTERNAL
    own = problem.private_y and problem.data is not None and not perturbed.y
    return YES if own and box and plain else NO


def _reach(problem: Problem, gradient: Gradient, perturbed: Perturbed) -> float:
    """The radius of a ball inside the perturbed sets, if queries must be feasible."""
    if not gradient.feasible:
        return float("inf")
    asked = (problem.x_set, perturbed.x > 0), (problem.y_set, perturbed.y)
    sets = [whole for whole, perturbs in asked if perturbs]
    for part in (inner for whole in sets for inner in primitive_sets(whole)):
        if isinstance(part, Simplex) and part.entropy:
            raise ValueError(
                f"{gradient!r} keeps queries feasible on a smaller set, which {part!r} cannot "
                "shrink to with multiplicative steps; use a Simplex without entropy"
            )
        if not part.inner_radius > 0:
            raise ValueError(
                f"{gradient!r} needs a ball inside {part!r}, and its inner_radius is "
                f"{part.inner_radius:g}; define inner_radius, or leave out feasible=True"
            )
    # A little less than the radius: rounding must not push a query out of the sets.
    return (1 - 1e-6) * float(min((whole.inner_radius for whole in sets), default=np.inf))
