"""The step, as one loop that every run goes through.

With J the current samples, K the previous ones, v directions and P the projection, each phase does

    deploy     POINT <- BASE + eps v               for every direction, then BASE or BASE - eps v
    estimate   NEW <- estimate over J at BASE, OLD <- estimate over K at BASE
    move       BASE <- P(origin -/+ eta scale (a NEW + b OLD + c KEPT))     minus on x, plus on y

and after the last phase `commit` makes BASE the iterate. A variance-reduced run estimates the mean
over all samples first (`snapshots`).

`counts[STAGE]` says how far a step is. Where a part is not compiled (values from Python, a user's
estimate or set), `run` returns and says what it needs; Python provides it, sets the stage and calls
`run` again. Compiled runs and runs that ask and tell use the same arithmetic, and a state saved by
one resumes in the other.
"""

import numpy as np

from gameproof.kernels.batches import draw_order, open_step
from gameproof.kernels.estimation import clear_estimates, draw_directions, estimate, write_point
from gameproof.kernels.evaluation import answer, exact_gradients, prefetch_ahead
from gameproof.kernels.jit import cached, inlined
from gameproof.kernels.layout import (
    ANSWERED,
    ASKED,
    ASKING,
    ASKS,
    COMPLETE,
    CORRECTED,
    CORRECTS,
    COSTLY,
    DEPLOYMENTS,
    DONE,
    DRAWN,
    DRAWN_AS,
    EPOCH,
    ESTIMATED,
    ETA,
    EXACT_DONE,
    EXTERNAL,
    IDLE,
    MOVED,
    N_PREVIOUS,
    NEED_DIRECTIONS,
    NEED_ESTIMATE,
    NEED_MOVE,
    NEED_ORDER,
    OPEN,
    ORDERED,
    OUT_OF_QUERIES,
    PHASE,
    POINT_NO,
    POINTS,
    POSITION,
    QUERIES,
    RADIUS,
    READY,
    STAGE,
    STEP,
)
from gameproof.kernels.memory import borrowed
from gameproof.kernels.motion import commit, move
from gameproof.kernels.snapshots import (
    add_snapshot_mean,
    add_to_snapshot,
    begin_snapshot,
    is_due,
)

FEW = 2000  # so few samples stay in the cache anyway


@inlined
def most_queries(method, counts):
    """How many values or answers the next step needs at most."""
    samples = min(method.batch, method.n - counts[POSITION])
    if method.asks_previous:
        samples += counts[N_PREVIOUS]
    queries = samples * method.queries_per_sample
    if is_due(method, counts):
        queries += method.n * method.plan[method.phases, POINTS]
    return queries


@inlined
def leave(counts, stage, code):
    """Keeps the stage for the next call."""
    counts[STAGE] = stage
    return code


@cached
def run(data, method, x_set, y_set, memory, rng, etas, radii, first, by_step, limits):
    """Steps until limits[0] steps are done, or the next one could exceed limits[1] queries, or
    Python has to do something; returns which.

    etas and radii are the schedules, by epoch or by step, from the epoch or step `first` on.
    """
    data, method, memory = borrowed(data), borrowed(method), borrowed(memory)
    x_set, y_set, rng = borrowed(x_set), borrowed(y_set), borrowed(rng)
    counts, numbers, stage = memory.counts, memory.numbers, memory.counts[STAGE]
    while True:
        if stage == IDLE:
            if counts[STEP] >= limits[0]:
                return leave(counts, stage, DONE)
            if limits[1] - counts[QUERIES] < most_queries(method, counts):
                return leave(counts, stage, OUT_OF_QUERIES)
            numbers[ETA] = etas[counts[STEP if by_step[0] else EPOCH] - first[0]]
            radius = radii[counts[STEP if by_step[1] else EPOCH] - first[1]]
            if method.reach < np.inf:
                # Half a set is left to move in, and iterates stay inside when the radius changes.
                radius = min(radius, 0.5 * method.reach)
                if counts[STEP] > 0:
                    radius = min(radius, numbers[RADIUS])
            numbers[RADIUS] = radius
            if counts[POSITION] == 0:
                if method.order == EXTERNAL:
                    return leave(counts, stage, NEED_ORDER)
                draw_order(method.order, counts[EPOCH], memory.order, rng)
            stage = ORDERED
        if stage == ORDERED:
            if is_due(method, counts):
                begin_snapshot(memory.x, memory.y, counts, method.phases)
            stage = READY
        if stage == READY:
            if method.n > FEW:
                prefetch_ahead(data, method, memory)
            open_step(method, memory)
            stage = OPEN
        plan, weights = method.plan[counts[PHASE]], method.weights[counts[PHASE]]
        corrects = plan[CORRECTS] != 0 if method.snapshots else False
        n_points = plan[POINTS] * (2 if corrects else 1) if counts[ASKED] > 0 else 0
        if stage == OPEN:
            if n_points > 0:
                if plan[DRAWN_AS] == EXTERNAL:
                    return leave(counts, stage, NEED_DIRECTIONS)
                draw_directions(memory.directions, plan, method.flat, rng)
            stage = DRAWN
        if stage == DRAWN:
            stage = COMPLETE
            if counts[POINT_NO] < n_points:
                write_point(method, memory, plan, counts[POINT_NO])
                counts[ANSWERED] = 0
                counts[DEPLOYMENTS] += counts[COSTLY] > 0
                stage = ASKING
        if stage == ASKING:
            counts[STAGE] = stage  # a user's function may raise
            code = answer(data, method, memory)
            if code != DONE:
                return leave(counts, stage, code)
            counts[POINT_NO] += 1
            stage = DRAWN if counts[POINT_NO] < n_points else COMPLETE
        if stage == DRAWN:
            continue
        if stage == COMPLETE:
            if plan[ASKS]:
                clear_estimates(method, memory)
                if method.some_exact:
                    counts[STAGE] = stage
                    code = exact_gradients(data, method, memory)
                    if code != DONE:
                        return leave(counts, stage, code)
            stage = EXACT_DONE
        if stage == EXACT_DONE:
            if n_points > 0:
                if plan[DRAWN_AS] == EXTERNAL:
                    return leave(counts, stage, NEED_ESTIMATE)
                estimate(method, memory, plan, weights)
            stage = ESTIMATED
        if method.snapshots and stage == ESTIMATED and counts[PHASE] == method.phases:
            add_to_snapshot(memory.x, memory.y, counts, method.batch, method.n)
            stage = READY
            continue
        if stage == ESTIMATED:
            if corrects:
                previous = method.asks_previous and counts[N_PREVIOUS] > 0
                add_snapshot_mean(memory.x, memory.y, 2 if previous else 1)
            stage = CORRECTED
        if stage == CORRECTED:
            if method.moves == EXTERNAL:
                return leave(counts, stage, NEED_MOVE)
            move(method, memory, plan, weights, x_set, y_set)
            stage = MOVED
        counts[POINT_NO] = counts[ANSWERED] = 0
        counts[PHASE] += 1
        stage = OPEN
        if counts[PHASE] == method.phases:
            commit(method, memory)
            counts[PHASE] = 0
            stage = IDLE


# For calls from Python.


@cached
def known_gradients(data, method, memory):
    """`exact_gradients`."""
    return exact_gradients(data, method, memory)
