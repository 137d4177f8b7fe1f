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
def write_origin(rows, plan, step):
    """Overwrites BASE with the point from which a phase starts."""
    base, u, anchor = rows[BASE], rows[U], rows[ANCHOR]
    if plan[FROM_BASE] == 0:
        for c in range(base.size):
            base[c] = u[c]
    if plan[ANCHORED] != 0:
        for c in range(base.size):
            base[c] += (anchor[c] - base[c]) / (step + 2.0)


@inlined
def move_block(encoded, rows, shrink):
    """BASE <- P(BASE - POINT). Where queries must be feasible, P projects on the shrunk set
    center + shrink (set - center), so that BASE + eps v is in the set."""
    base, move = rows[BASE], rows[POINT]
    if shrink == 1.0:
        take_step(encoded, base, base, move)
        return
    center = rows[CENTER]
    for c in range(base.size):
        base[c] = center[c] + (base[c] - move[c] - center[c]) / shrink
        move[c] = 0.0
    take_step(encoded, base, base, move)
    for c in range(base.size):
        base[c] = center[c] + shrink * (base[c] - center[c])


@inlined
def move_private(y, y_set, samples, width, current, previous):
    """The move of a private y: each coordinate is projected by itself, and one that nothing pulls
    on is left alone."""
    for which in range(2):
        for m in range(current if which == 0 else previous):
            place = which * width + m
            s = samples[SLOT, place]
            if s == place and y[POINT, s] != 0.0:
                lower, upper = bounds_of(y_set, samples[BATCH, place])
                y[BASE, s] = clip(y[BASE, s] - y[POINT, s], lower, upper)


@inlined
def write_move(rows, step, a, b, c):
    """Overwrites POINT with step (a NEW + b OLD + c KEPT)."""
    out, new, old, kept = rows[POINT], rows[NEW], rows[OLD], rows[KEPT]
    for k in range(out.size):
        out[k] = step * (a * new[k] + b * old[k] + c * kept[k])


@inlined
def move(method, memory, plan, weights, x_set, y_set):
    """Overwrites BASE with the end of a phase. In the first step there is nothing before it, and
    every estimate stands for the new one."""
    x, y, counts, numbers = memory.x, memory.y, memory.counts, memory.numbers
    a, b, c = weights[BY_NEW], weights[BY_OLD], weights[BY_KEPT]
    if counts[N_PREVIOUS] == 0:
        a, b, c = (a + b + c) * plan[ASKS], 0.0, 0.0
    shrink = 1.0
    if method.reach < np.inf:
        shrink = 1.0 - min(numbers[RADIUS] / method.reach, 0.5)
    if plan[MOVES_X] != 0:
        write_move(x, numbers[ETA] * method.x_scale, a, b, c)
        write_origin(x, plan, counts[STEP])
        move_block(x_set, x, shrink if method.x_stop > method.x_start else 1.0)
    if plan[MOVES_Y] != 0:
        write_move(y, -numbers[ETA] * method.y_scale, a, b, c)
        write_origin(y, plan, counts[STEP])
        if method.private:
            samples, width = memory.samples, method.batch
            move_private(y, y_set, samples, width, counts[N_CURRENT], counts[N_PREVIOUS])
        else:
            move_block(y_set, y, shrink if method.y_perturbed else 1.0)


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
