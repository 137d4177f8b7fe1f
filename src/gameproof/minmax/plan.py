"""`plan`: a solver on a problem, as compiled code takes it, or an error if the two do not fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix, Vector, as_count, as_number
from gameproof.kernels import layout as at
from gameproof.kernels.layout import Choice, Method
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
    if gradient.code.offset == at.OBSERVED:
        problem.queries.check(gradient)
        return NOTHING
    if gradient.code.offset == at.NO_VALUES:
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


class PhaseTables(NamedTuple):
    """One entry per phase, and a last one for the pass at a snapshot, if there are snapshots."""

    plan: NDArray[np.int64]  # `Method.plan`
    weights: Matrix  # `Method.weights`
    gradients: tuple[Gradient, ...]
    spaces: tuple[Space, ...]


def plan(problem: Problem, solver: Solver) -> Plan:
    """The method on this problem."""
    solver.order.check(int(problem.n))
    perturbed = perturbed_by(solver.gradient, problem)
    space = _space(problem, perturbed)
    tables = _phase_tables(solver.update, solver.gradient, space, int(perturbed.x))
    directions = _directions(tables.plan, space)
    x_set, y_set = problem.x_set.encoded, problem.y_set.encoded
    projects = x_set is not None and y_set is not None
    moves = 0 if projects and solver.update.is_compiled else at.EXTERNAL
    if not projects:
        x_set = y_set = NO_SET
    return Plan(
        method=_method(problem, solver, perturbed, space, tables, moves),
        x_set=x_set,
        y_set=y_set,
        perturbed=perturbed,
        gradients=tables.gradients,
        spaces=tables.spaces,
        directions=directions,
        n_points=int(deployed_points(tables.plan).max(initial=0)),
    )


def _phase_tables(update: Update, gradient: Gradient, space: Space, width: int) -> PhaseTables:
    """What each phase does. `width` is how many coordinates of x are perturbed."""
    phases, every = checked_phases(update), gradient.snapshot_every
    places = [_phase_space(phase, space, width) for phase in phases]
    rows = [
        _row(phase, gradient, start, own, space, corrects=every > 0 and phase.asks)
        for phase, (start, own) in zip(phases, places, strict=True)
    ]
    gradients, spaces = [gradient] * len(phases), [own for _, own in places]
    if every:
        rows.append(_row(Phase(), gradient.at_snapshot, 0, space, space, corrects=False))
        gradients.append(gradient.at_snapshot)
        spaces.append(space)
    integers, weights = zip(*rows, strict=True)
    return PhaseTables(np.array(integers), np.array(weights), tuple(gradients), tuple(spaces))


def _method(
    problem: Problem,
    solver: Solver,
    perturbed: Perturbed,
    space: Space,
    tables: PhaseTables,
    moves: int,
) -> Method:
    """What stays the same during a run."""
    n, gradient, update = int(problem.n), solver.gradient, solver.update
    batch, every = min(solver.batch, n), gradient.snapshot_every
    sources = problem.queries.sources(perturbed)
    everything = perturbed == (problem.x_set.dim, True)
    x_scale, y_scale = solver.scales(problem)
    return Method(
        n=n,
        batch=batch,
        share=1.0 / batch,
        order=solver.order.code,
        observes=gradient.code.offset == at.OBSERVED,
        moves=moves,
        phases=len(update.phases),
        snapshots=at.YES if every else at.NO,
        snapshot_every=every,
        plan=tables.plan,
        weights=tables.weights,
        queries_per_sample=_queries(update.phases, gradient, tables.plan),
        flat=np.array(space.fixed_sums, dtype=np.int64).reshape(-1, 2),
        asks_previous=update.asks_previous,
        x_perturbed=int(perturbed.x),
        y_perturbed=bool(perturbed.y),
        some_exact=not everything or at.KNOWN in (sources.if_clear, sources.if_set),
        private=at.NO if every else _private(problem, perturbed, moves, update.phases),
        x_scale=float(x_scale),
        y_scale=float(y_scale),
        reach=_reach(problem, gradient, perturbed),
        sources=sources,
        tally=problem.queries.tally,
    )


def _directions(table: Any, space: Space) -> Matrix:
    """Room for the random directions of a phase, then a basis if a phase needs one. Overwrites the
    first direction of such a phase."""
    fixed = table[:, at.DRAWN_AS] == at.BASIS
    random = int(table[~fixed, at.DIRECTIONS].max(initial=0))
    table[fixed, at.FIRST] += random
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
) -> tuple[NDArray[np.int64], Vector]:
    """One row of `Method.plan` and of `Method.weights`."""
    dim, code = own.dim, gradient.code
    asks = phase.asks and gradient.uses_values and dim > 0
    row = np.zeros(at.PLAN_COLUMNS, np.int64)
    row[at.ASKS] = phase.asks
    row[at.FROM_BASE] = phase.from_base
    row[at.ANCHORED] = phase.anchored
    row[at.MOVES_X] = phase.blocks != "y"
    row[at.MOVES_Y] = phase.blocks != "x"
    row[at.FROM], row[at.TO] = start, start + own.size
    row[at.CORRECTS] = corrects
    # A user's own estimate has the offset EXTERNAL: it subtracts what it likes in Python, and
    # compiled code subtracts nothing.
    row[at.OFFSET] = max(code.offset, at.PLAIN)
    row[at.DRAWN_AS] = code.drawn
    weights = np.zeros(at.WEIGHT_COLUMNS)
    weights[at.BY_NEW], weights[at.BY_OLD] = phase.new, phase.previous
    weights[at.BY_KEPT] = phase.kept
    if asks:
        row[at.DIRECTIONS] = gradient.n_directions(dim)
        row[at.POINTS] = as_count(f"n_points of {gradient!r}", gradient.n_points(dim))
        # The difference of two mirrored values is twice that of a value and the centre.
        weights[at.FACTOR] = gradient.factor(dim) * (0.5 if code.offset == at.MIRROR else 1.0)
    if code.drawn == at.BASIS:
        # One direction of the basis per coordinate, less one per range with a constant sum.
        row[at.FIRST] = start - sum(b <= start for _, b in space.fixed_sums)
    return row, weights


def _queries(phases: tuple[Phase, ...], gradient: Gradient, table: Any) -> int:
    """Values, or observed answers, per sample in a step."""
    if gradient.code.offset == at.OBSERVED:
        return sum(phase.asks for phase in phases)
    return int(deployed_points(table[: len(phases)]).sum())


def steps_per_epoch(n: int, batch: int) -> int:
    """How many batches n samples are; the last one may be smaller."""
    return -(-n // batch)


def deployed_points(table: Any) -> Any:
    """How many points each phase deploys."""
    return table[:, at.POINTS] * (1 + table[:, at.CORRECTS])


def _private(
    problem: Problem, perturbed: Perturbed, moves: int, phases: tuple[Phase, ...]
) -> Choice:
    """YES if a step need touch no coordinates of y but those of its samples."""
    box = isinstance(problem.y_set.encoded, (EncodedInterval, EncodedBox))
    plain = not any(phase.anchored for phase in phases) and moves != at.EXTERNAL
    own = problem.private_y and problem.data is not None and not perturbed.y
    return at.YES if own and box and plain else at.NO


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
