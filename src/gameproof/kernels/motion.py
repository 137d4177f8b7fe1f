"""From estimates to the next iterate: the move, the projection, the average."""

import numpy as np

from gameproof.kernels import layout as at
from gameproof.kernels.batches import column
from gameproof.kernels.jit import inlined
from gameproof.kernels.sets import bounds_of, take_step
from gameproof.kernels.vectors import clip


@inlined
def pull(rows, k, weights):
    """a NEW + b OLD + c KEPT, at coordinate k."""
    a, b, c = weights
    return a * rows[at.NEW, k] + b * rows[at.OLD, k] + c * rows[at.KEPT, k]


@inlined
def move_block(encoded, rows, plan, step, weights, number, shrink):
    """BASE <- P(origin - step (a NEW + b OLD + c KEPT)).

    The origin is U or BASE, or the point 1/(k + 2) of the way from there to ANCHOR in step k. Where
    queries must be feasible, P projects on the shrunk set center + shrink (set - center), so that
    BASE + eps v is in the set.
    """
    base, move, center = rows[at.BASE], rows[at.POINT], rows[at.CENTER]
    origin = base if plan[at.FROM_BASE] else rows[at.U]
    if plan[at.ANCHORED]:
        for k in range(base.size):
            base[k] = origin[k] + (rows[at.ANCHOR, k] - origin[k]) / (number + 2.0)
        origin = base
    for k in range(base.size):
        move[k] = step * pull(rows, k, weights)
    if shrink < 1.0:
        for k in range(base.size):
            base[k] = center[k] + (origin[k] - move[k] - center[k]) / shrink
            move[k] = 0.0
        origin = base
    take_step(encoded, base, origin, move)
    if shrink < 1.0:
        for k in range(base.size):
            base[k] = center[k] + shrink * (base[k] - center[k])


@inlined
def move_private(method, memory, plan, step, weights, y_set):
    """The move of a private y: each coordinate is projected by itself, and one without a pull is
    left unchanged."""
    counts, samples, y = memory.counts, memory.samples, memory.y
    row = at.BASE if plan[at.FROM_BASE] else at.U
    for k in range(counts[at.N_CURRENT] + counts[at.N_PREVIOUS]):
        m = column(k, counts[at.N_CURRENT], method.batch)
        if samples[at.SLOT, m] == m:
            origin, by = y[row, m], step * pull(y, m, weights)
            if by != 0.0:
                lower, upper = bounds_of(y_set, samples[at.BATCH, m])
                origin = clip(origin - by, lower, upper)
            y[at.BASE, m] = origin


@inlined
def move(method, memory, plan, weights, x_set, y_set):
    """Overwrites BASE with the end of a phase. The first step has no earlier estimates; the new one
    takes their place."""
    numbers, number = memory.numbers, memory.counts[at.STEP]
    by = (weights[at.BY_NEW], weights[at.BY_OLD], weights[at.BY_KEPT])
    if memory.counts[at.N_PREVIOUS] == 0:
        by = ((by[0] + by[1] + by[2]) * plan[at.ASKS], 0.0, 0.0)
    shrink = 1.0
    if method.reach < np.inf:
        shrink = 1.0 - min(numbers[at.RADIUS] / method.reach, 0.5)
    if plan[at.MOVES_X]:
        step, own = numbers[at.ETA] * method.x_scale, shrink if method.x_perturbed > 0 else 1.0
        move_block(x_set, memory.x, plan, step, by, number, own)
    if plan[at.MOVES_Y]:
        step, own = -numbers[at.ETA] * method.y_scale, shrink if method.y_perturbed else 1.0
        if method.private:
            move_private(method, memory, plan, step, by, y_set)
        else:
            move_block(y_set, memory.y, plan, step, by, number, own)


@inlined
def commit_block(rows, eta):
    """U <- BASE, KEPT <- NEW, and the average."""
    for k in range(rows.shape[1]):
        rows[at.U, k] = rows[at.BASE, k]
        rows[at.TOTAL, k] += eta * rows[at.BASE, k]
        rows[at.KEPT, k] = rows[at.NEW, k]


@inlined
def commit_private(method, memory):
    """Copies the block y back to `own`. KEPT moves to the columns of the next K."""
    counts, samples, y, own = memory.counts, memory.samples, memory.y, memory.own
    for k in range(counts[at.N_CURRENT] + counts[at.N_PREVIOUS]):
        m = column(k, counts[at.N_CURRENT], method.batch)
        if samples[at.SLOT, m] == m and y[at.BASE, m] != y[at.U, m]:
            i = samples[at.BATCH, m]
            own[i, at.OWN_DUE] += (y[at.U, m] - y[at.BASE, m]) * memory.numbers[at.WEIGHT]
            own[i, at.OWN_U] = y[at.BASE, m]
    for m in range(counts[at.N_CURRENT]):
        y[at.KEPT, method.batch + m] = y[at.NEW, m] if samples[at.SLOT, m] == m else 0.0


@inlined
def commit(method, memory):
    """Makes BASE the iterate: the average, the kept estimate and the counts move on."""
    counts, numbers, samples = memory.counts, memory.numbers, memory.samples
    commit_block(memory.x, numbers[at.ETA])
    if method.private:
        commit_private(method, memory)
    else:
        commit_block(memory.y, numbers[at.ETA])
    numbers[at.WEIGHT] += numbers[at.ETA]
    for m in range(counts[at.N_CURRENT]):
        samples[at.BATCH, method.batch + m] = samples[at.BATCH, m]
    counts[at.N_PREVIOUS] = counts[at.N_CURRENT]
    counts[at.STEP] += 1
    counts[at.POSITION] += counts[at.N_CURRENT]
    if counts[at.POSITION] == method.n:
        counts[at.POSITION] = 0
        counts[at.EPOCH] += 1
