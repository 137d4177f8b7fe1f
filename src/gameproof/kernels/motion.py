"""From estimates to the next iterate: the move, the projection, the average."""

import numpy as np

from gameproof.kernels.jit import inlined
from gameproof.kernels.layout import (
    ANCHOR,
    ANCHORED,
    ASKS,
    BASE,
    BATCH,
    BY_KEPT,
    BY_NEW,
    BY_OLD,
    CENTER,
    EPOCH,
    ETA,
    FROM_BASE,
    KEPT,
    MOVES_X,
    MOVES_Y,
    N_CURRENT,
    N_PREVIOUS,
    NEW,
    OLD,
    OWN_DUE,
    OWN_U,
    POINT,
    POSITION,
    RADIUS,
    SLOT,
    STEP,
    TOTAL,
    WEIGHT,
    U,
)
from gameproof.kernels.sets import bounds_of, take_step
from gameproof.kernels.vectors import clip


@inlined
def pull(rows, k, weights):
    """a NEW + b OLD + c KEPT, at coordinate k."""
    a, b, c = weights
    return a * rows[NEW, k] + b * rows[OLD, k] + c * rows[KEPT, k]


@inlined
def move_block(encoded, rows, plan, step, weights, number, shrink):
    """BASE <- P(origin - step (a NEW + b OLD + c KEPT)).

    The origin is U, or BASE, or a point near ANCHOR. Where queries must be feasible, P projects on
    the shrunk set center + shrink (set - center), so that BASE + eps v is in the set.
    """
    base, origin, move = rows[BASE], rows[BASE if plan[FROM_BASE] else U], rows[POINT]
    if plan[ANCHORED] != 0:
        anchor = rows[ANCHOR]
        for k in range(base.size):
            base[k] = origin[k] + (anchor[k] - origin[k]) / (number + 2.0)
        origin = base
    new, old, kept = rows[NEW], rows[OLD], rows[KEPT]
    a, b, c = weights
    for k in range(base.size):
        move[k] = step * (a * new[k] + b * old[k] + c * kept[k])
    if shrink == 1.0:
        take_step(encoded, base, origin, move)
        return
    center = rows[CENTER]
    for k in range(base.size):
        base[k] = center[k] + (origin[k] - move[k] - center[k]) / shrink
        move[k] = 0.0
    take_step(encoded, base, base, move)
    for k in range(base.size):
        base[k] = center[k] + shrink * (base[k] - center[k])


@inlined
def move_private(y, y_set, plan, step, weights, samples, width, current, previous):
    """The move of a private y: each coordinate is projected by itself, and one without a pull is
    left unchanged."""
    row = BASE if plan[FROM_BASE] else U
    for which in range(2):
        for m in range(current if which == 0 else previous):
            place = which * width + m
            s = samples[SLOT, place]
            if s == place:
                origin, by = y[row, s], step * pull(y, s, weights)
                if by != 0.0:
                    lower, upper = bounds_of(y_set, samples[BATCH, place])
                    origin = clip(origin - by, lower, upper)
                y[BASE, s] = origin


@inlined
def move(method, memory, plan, weights, x_set, y_set):
    """Overwrites BASE with the end of a phase. The first step has no earlier estimates; the new one
    takes their place."""
    counts, numbers, number = memory.counts, memory.numbers, memory.counts[STEP]
    by = (weights[BY_NEW], weights[BY_OLD], weights[BY_KEPT])
    if counts[N_PREVIOUS] == 0:
        by = ((by[0] + by[1] + by[2]) * plan[ASKS], 0.0, 0.0)
    shrink = 1.0
    if method.reach < np.inf:
        shrink = 1.0 - min(numbers[RADIUS] / method.reach, 0.5)
    if plan[MOVES_X] != 0:
        step, own = numbers[ETA] * method.x_scale, shrink if method.x_perturbed > 0 else 1.0
        move_block(x_set, memory.x, plan, step, by, number, own)
    if plan[MOVES_Y] != 0:
        step = -numbers[ETA] * method.y_scale
        if method.private:
            samples, current, previous = memory.samples, counts[N_CURRENT], counts[N_PREVIOUS]
            width = method.batch
            move_private(memory.y, y_set, plan, step, by, samples, width, current, previous)
        else:
            own = shrink if method.y_perturbed else 1.0
            move_block(y_set, memory.y, plan, step, by, number, own)


@inlined
def commit_block(rows, eta):
    """U <- BASE, KEPT <- NEW, and the average."""
    base, u, total, new, kept = rows[BASE], rows[U], rows[TOTAL], rows[NEW], rows[KEPT]
    for k in range(base.size):
        u[k] = base[k]
        total[k] += eta * base[k]
        kept[k] = new[k]


@inlined
def commit_private(own, y, samples, width, current, previous, weight):
    """Copies the block y back to `own`. KEPT moves to the columns of the next K."""
    for which in range(2):
        for m in range(current if which == 0 else previous):
            place = which * width + m
            s = samples[SLOT, place]
            if s == place and y[BASE, s] != y[U, s]:
                i = samples[BATCH, place]
                own[i, OWN_DUE] += (y[U, s] - y[BASE, s]) * weight
                own[i, OWN_U] = y[BASE, s]
    for m in range(current):
        y[KEPT, width + m] = y[NEW, m] if samples[SLOT, m] == m else 0.0


@inlined
def commit(method, memory):
    """Makes BASE the iterate: the average, the kept estimate and the counts move on."""
    counts, numbers, samples = memory.counts, memory.numbers, memory.samples
    current, width = counts[N_CURRENT], method.batch
    commit_block(memory.x, numbers[ETA])
    if method.private:
        previous, weight = counts[N_PREVIOUS], numbers[WEIGHT]
        commit_private(memory.own, memory.y, samples, width, current, previous, weight)
    else:
        commit_block(memory.y, numbers[ETA])
    numbers[WEIGHT] += numbers[ETA]
    for m in range(current):
        samples[BATCH, width + m] = samples[BATCH, m]
    counts[N_PREVIOUS] = current
    counts[STEP] += 1
    counts[POSITION] += current
    if counts[POSITION] == method.n:
        counts[POSITION] = 0
        counts[EPOCH] += 1
