"""From directions to deployed points, and from their values to estimates of the gradient."""

import numpy as np

from gameproof.kernels import layout as at
from gameproof.kernels.batches import n_estimates
from gameproof.kernels.jit import inlined, not_inlined, stay_apart
from gameproof.kernels.memory import section
from gameproof.kernels.random import draw_normals
from gameproof.kernels.snapshots import corrects
from gameproof.kernels.vectors import add_scaled, dot


@inlined
def draw_directions(directions, plan, flat, rng):
    """Overwrites the directions of a phase with random ones, unless they are a basis."""
    drawn, start, stop = plan[at.DRAWN_AS], plan[at.FROM], plan[at.TO]
    if drawn == at.BASIS:
        return
    for k in range(plan[at.DIRECTIONS]):
        v = section(directions[k], start, stop)
        draw_normals(v, rng)
        for g in range(flat.shape[0]):
            if flat[g, 0] >= start and flat[g, 1] <= stop:
                subtract_mean(section(directions[k], flat[g, 0], flat[g, 1]))
        if drawn == at.ORTHONORMAL:
            orthogonalise(directions, k, start, stop)
        if drawn != at.GAUSSIAN:
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
            add_scaled(v, -dot(v, other), other)


@inlined
def base_row(method, plan, point):
    """The row around which the point of this number lies."""
    return at.SNAPSHOT if method.snapshots and point >= plan[at.POINTS] else at.BASE


@inlined
def write_point(method, memory, plan, point):
    """Overwrites POINT with the point of this number: BASE + eps v for each direction v, then BASE,
    or BASE - eps v for each. Points beyond plan[POINTS] are the same around the snapshot."""
    row = base_row(method, plan, point)
    if row == at.SNAPSHOT:
        point -= plan[at.POINTS]
    eps, number, k = memory.numbers[at.RADIUS], plan[at.DIRECTIONS], point
    if plan[at.DRAWN_AS] == at.EXTERNAL:  # a user's estimate gives the offsets themselves
        eps = 1.0
    if point >= number:
        k = point - number if plan[at.OFFSET] == at.MIRROR else 0
        eps = -eps if plan[at.OFFSET] == at.MIRROR else 0.0
    v, width = memory.directions[plan[at.FIRST] + k], method.x_perturbed
    shift(memory.x[at.POINT], memory.x[row], eps if plan[at.MOVES_X] else 0.0, section(v, 0, width))
    if method.y_perturbed:
        v = section(v, width, v.size)
        shift(memory.y[at.POINT], memory.y[row], eps if plan[at.MOVES_Y] else 0.0, v)


@inlined
def shift(point, base, eps, v):
    """Overwrites point with base + eps v; v may be shorter."""
    for c in range(v.size):
        point[c] = base[c] + eps * v[c]
    for c in range(v.size, point.size):
        point[c] = base[c]


@inlined
def clear_estimates(method, memory):
    """NEW <- 0, and OLD <- 0 if it is estimated too."""
    for row in range(at.NEW, at.NEW + n_estimates(method, memory.counts)):
        for c in range(memory.x.shape[1]):
            memory.x[row, c] = 0.0
        for c in range(memory.y.shape[1]):
            memory.y[row, c] = 0.0


@inlined
def estimate(method, memory, plan, weights):
    """Adds (factor / eps) sum_k difference_k v_k to the perturbed coordinates of NEW and OLD, which
    hold exact gradients or zeros; then remembers the values.

    Sums are over the size of a full batch: every sample of an epoch weighs the same, also in a
    smaller last batch.
    """
    counts, width = memory.counts, method.x_perturbed
    factor = weights[at.FACTOR] * method.share / memory.numbers[at.RADIUS]
    start, stop = 0, counts[at.ASKED_CURRENT]
    for row in range(at.NEW, at.NEW + n_estimates(method, counts)):
        for k in range(plan[at.DIRECTIONS]):
            change = difference(memory, plan, k, start, stop, 0)
            if corrects(method, plan):
                change -= difference(memory, plan, k, start, stop, plan[at.POINTS])
            v, gain = memory.directions[plan[at.FIRST] + k], factor * change
            if plan[at.MOVES_X]:
                add_scaled(memory.x[row], gain, section(v, 0, width))
            if plan[at.MOVES_Y] and method.y_perturbed:
                add_scaled(memory.y[row], gain, section(v, width, v.size))
        start, stop = stop, counts[at.ASKED]
    if plan[at.OFFSET] == at.BASELINE or plan[at.OFFSET] == at.RESIDUAL:
        remember(method, memory)


@inlined
def difference(memory, plan, k, start, stop, first):
    """The sum over answers start .. stop of the value at direction k minus its offset. The answers
    at the first point are in the row `first`."""
    answers, offset = memory.answers, plan[at.OFFSET]
    total, common = 0.0, 0.0
    if offset == at.BASELINE:
        common = memory.numbers[at.MEAN]
    elif offset == at.RESIDUAL:
        common = memory.numbers[at.LAST]
    here, other = first + k, first + plan[at.DIRECTIONS] + (k if offset == at.MIRROR else 0)
    for m in range(start, stop):
        total += answers[here, m] - (answers[other, m] if offset >= at.CENTRE else common)
    return total


@inlined
def remember(method, memory):
    """Overwrites the offsets of the next step: the last value, and the mean over about an epoch."""
    numbers, current, value = memory.numbers, memory.counts[at.ASKED_CURRENT], 0.0
    if current == 0:
        return
    for m in range(current):
        value += memory.answers[0, m]
    value /= current
    steps_per_epoch = (method.n + method.batch - 1) // method.batch
    numbers[at.MEAN_COUNT] = min(numbers[at.MEAN_COUNT] + 1.0, float(steps_per_epoch))
    numbers[at.MEAN] += (value - numbers[at.MEAN]) / numbers[at.MEAN_COUNT]
    numbers[at.LAST] = value
