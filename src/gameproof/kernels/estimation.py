"""From directions to deployed points, and from their values to estimates of the gradient."""

import numpy as np

from gameproof.kernels.jit import inlined, not_inlined, stay_apart
from gameproof.kernels.layout import (
    ASKED,
    ASKED_CURRENT,
    BASE,
    BASELINE,
    BASIS,
    CENTRE,
    CORRECTS,
    DIRECTIONS,
    DRAWN_AS,
    EXTERNAL,
    FACTOR,
    FIRST,
    FROM,
    GAUSSIAN,
    LAST,
    MEAN,
    MEAN_COUNT,
    MIRROR,
    MOVES_X,
    MOVES_Y,
    N_PREVIOUS,
    NEW,
    OFFSET,
    ORTHONORMAL,
    POINT,
    POINTS,
    RADIUS,
    RESIDUAL,
    SNAPSHOT,
    TO,
)
from gameproof.kernels.memory import section
from gameproof.kernels.random import draw_normals
from gameproof.kernels.vectors import add_scaled, dot


@inlined
def draw_directions(directions, plan, flat, rng):
    """Overwrites the directions of a phase with random ones, unless they are a basis."""
    drawn, start, stop = plan[DRAWN_AS], plan[FROM], plan[TO]
    if drawn == BASIS:
        return
    for k in range(plan[DIRECTIONS]):
        v = section(directions[k], start, stop)
        draw_normals(v, rng)
        for g in range(flat.shape[0]):
            if flat[g, 0] >= start and flat[g, 1] <= stop:
                subtract_mean(section(directions[k], flat[g, 0], flat[g, 1]))
        if drawn == ORTHONORMAL:
            orthogonalise(directions, k, start, stop)
        if drawn != GAUSSIAN:
            scale = 1.0 / np.sqrt(dot(v, v))
            for c in range(v.size):
                v[c] *= scale


@not_inlined
def subtract_mean(v):
    """Overwrites v with v - mean(v): a direction within the affine hull of a simplex."""
    stay_apart()
    total = 0.0
    for c in range(v.size):
        total += v[c]
    for c in range(v.size):
        v[c] -= total / v.size


@not_inlined
def orthogonalise(directions, k, start, stop):
    """Makes direction k orthogonal to the earlier ones; twice, against rounding."""
    stay_apart()
    v = section(directions[k], start, stop)
    for _ in range(2):
        for j in range(k):
            other = section(directions[j], start, stop)
            overlap = dot(v, other)
            for c in range(v.size):
                v[c] -= overlap * other[c]


@inlined
def base_row(method, plan, point):
    """The row around which the point of this number lies."""
    return SNAPSHOT if method.snapshots and point >= plan[POINTS] else BASE


@inlined
def write_point(method, memory, plan, point):
    """Overwrites POINT with the point of this number: BASE + eps v for each direction v, then BASE,
    or BASE - eps v for each. Points beyond plan[POINTS] are the same around the snapshot."""
    row = base_row(method, plan, point)
    if row == SNAPSHOT:
        point -= plan[POINTS]
    eps, number, k = memory.numbers[RADIUS], plan[DIRECTIONS], point
    if plan[DRAWN_AS] == EXTERNAL:  # a user's estimate gives the offsets themselves
        eps = 1.0
    if point >= number:
        k = point - number if plan[OFFSET] == MIRROR else 0
        eps = -eps if plan[OFFSET] == MIRROR else 0.0
    v, width = memory.directions[plan[FIRST] + k], method.x_perturbed
    shift(memory.x[POINT], memory.x[row], eps if plan[MOVES_X] else 0.0, section(v, 0, width))
    if method.y_perturbed:
        v = section(v, width, v.size)
        shift(memory.y[POINT], memory.y[row], eps if plan[MOVES_Y] else 0.0, v)


@inlined
def shift(point, base, eps, v):
    """Overwrites point with base + eps v; v may be shorter."""
    for c in range(v.size):
        point[c] = base[c] + eps * v[c]
    for c in range(v.size, point.size):
        point[c] = base[c]


@inlined
def difference(answers, numbers, offset, number, k, start, stop, first):
    """The sum over answers start .. stop of the value at direction k minus its offset. The answers
    at the first point are in the row `first`."""
    total, common = 0.0, 0.0
    if offset == BASELINE:
        common = numbers[MEAN]
    elif offset == RESIDUAL:
        common = numbers[LAST]
    here, other = first + k, first + (number if offset == CENTRE else number + k)
    for m in range(start, stop):
        total += answers[here, m] - (answers[other, m] if offset >= CENTRE else common)
    return total


@inlined
def clear_estimates(method, memory):
    """NEW <- 0, and OLD <- 0 if the previous samples are used again."""
    for which in range(2 if method.asks_previous and memory.counts[N_PREVIOUS] > 0 else 1):
        gx, gy = memory.x[NEW + which], memory.y[NEW + which]
        for c in range(gx.size):
            gx[c] = 0.0
        for c in range(gy.size):
            gy[c] = 0.0


@inlined
def estimate(method, memory, plan, weights):
    """Adds (factor / eps) sum_k difference_k v_k to the perturbed coordinates of NEW and OLD, which
    hold exact gradients or zeros; then remembers the values.

    Sums are over the size of a full batch: every sample of an epoch weighs the same, also in a
    smaller last batch.
    """
    counts, numbers, answers = memory.counts, memory.numbers, memory.answers
    width, number, offset = method.x_perturbed, plan[DIRECTIONS], plan[OFFSET]
    factor = weights[FACTOR] * method.share / numbers[RADIUS]
    first, last = 0, counts[ASKED_CURRENT]
    for which in range(2 if method.asks_previous and counts[N_PREVIOUS] > 0 else 1):
        gx, gy = memory.x[NEW + which], memory.y[NEW + which]
        for k in range(number):
            v = memory.directions[plan[FIRST] + k]
            change = difference(answers, numbers, offset, number, k, first, last, 0)
            if method.snapshots and plan[CORRECTS]:
                points = plan[POINTS]
                change -= difference(answers, numbers, offset, number, k, first, last, points)
            gain = factor * change
            if plan[MOVES_X]:
                add_scaled(gx, gain, section(v, 0, width))
            if plan[MOVES_Y] and method.y_perturbed:
                add_scaled(gy, gain, section(v, width, v.size))
        first, last = last, counts[ASKED]
    if counts[ASKED_CURRENT] > 0 and offset in (BASELINE, RESIDUAL):
        steps_per_epoch = (method.n + method.batch - 1) // method.batch
        remember(answers, numbers, counts[ASKED_CURRENT], steps_per_epoch)


@inlined
def remember(answers, numbers, current, steps_per_epoch):
    """Overwrites the offsets of the next step: the last value, and the mean over about an epoch."""
    value = 0.0
    for m in range(current):
        value += answers[0, m]
    value /= current
    numbers[MEAN_COUNT] = min(numbers[MEAN_COUNT] + 1.0, float(steps_per_epoch))
    numbers[MEAN] += (value - numbers[MEAN]) / numbers[MEAN_COUNT]
    numbers[LAST] = value
