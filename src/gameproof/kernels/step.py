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

from gameproof.kernels import layout as at
from gameproof.kernels import snapshots
from gameproof.kernels.batches import draw_order, n_estimates, open_step
from gameproof.kernels.estimation import clear_estimates, draw_directions, estimate, write_point
from gameproof.kernels.evaluation import answer, exact_gradients, prefetch_ahead
from gameproof.kernels.jit import cached, inlined
from gameproof.kernels.memory import borrowed
from gameproof.kernels.motion import commit, move

PREFETCHED = 2000  # fewer samples stay in the cache anyway


@inlined
def most_queries(method, counts):
    """How many values or answers the next step needs at most."""
    samples = min(method.batch, method.n - counts[at.POSITION])
    if method.asks_previous:
        samples += counts[at.N_PREVIOUS]
    queries = samples * method.queries_per_sample
    if snapshots.is_due(method, counts):
        queries += method.n * method.plan[method.phases, at.POINTS]
    return queries


@inlined
def leave(counts, stage, code):
    """Keeps the stage for the next call."""
    counts[at.STAGE] = stage
    return code


@inlined
def schedule(method, memory, etas, radii, first, by_step):
    """Overwrites eta and eps with those of the next step."""
    counts, numbers = memory.counts, memory.numbers
    numbers[at.ETA] = etas[counts[at.STEP if by_step[0] else at.EPOCH] - first[0]]
    radius = radii[counts[at.STEP if by_step[1] else at.EPOCH] - first[1]]
    if method.reach < np.inf:
        # Half a set is left to move in, and iterates stay inside when the radius changes.
        radius = min(radius, 0.5 * method.reach)
        if counts[at.STEP] > 0:
            radius = min(radius, numbers[at.RADIUS])
    numbers[at.RADIUS] = radius


@cached
def run(data, method, x_set, y_set, memory, rng, etas, radii, first, by_step, limits):
    """Steps until limits[0] steps are done, or the next one could exceed limits[1] queries, or
    Python has to do something; returns which.

    etas and radii are the schedules, by epoch or by step, from the epoch or step `first` on.
    """
    data, method, memory = borrowed(data), borrowed(method), borrowed(memory)
    x_set, y_set, rng = borrowed(x_set), borrowed(y_set), borrowed(rng)
    counts, stage = memory.counts, memory.counts[at.STAGE]
    while True:
        if stage == at.IDLE:
            if counts[at.STEP] >= limits[0]:
                return leave(counts, stage, at.DONE)
            if limits[1] - counts[at.QUERIES] < most_queries(method, counts):
                return leave(counts, stage, at.OUT_OF_QUERIES)
            schedule(method, memory, etas, radii, first, by_step)
            if counts[at.POSITION] == 0:
                if method.order == at.EXTERNAL:
                    return leave(counts, stage, at.NEED_ORDER)
                draw_order(method.order, counts[at.EPOCH], memory.order, rng)
            stage = at.ORDERED
        if stage == at.ORDERED:
            if snapshots.is_due(method, counts):
                snapshots.begin(memory.x, memory.y, counts, method.phases)
            stage = at.READY
        if stage == at.READY:
            if method.n > PREFETCHED:
                prefetch_ahead(data, method, memory)
            open_step(method, memory)
            stage = at.OPEN
        plan, weights = method.plan[counts[at.PHASE]], method.weights[counts[at.PHASE]]
        n_points = plan[at.POINTS] if counts[at.ASKED] > 0 else 0
        if snapshots.corrects(method, plan):
            n_points *= 2
        if stage == at.OPEN:
            if n_points > 0:
                if plan[at.DRAWN_AS] == at.EXTERNAL:
                    return leave(counts, stage, at.NEED_DIRECTIONS)
                draw_directions(memory.directions, plan, method.flat, rng)
            stage = at.DRAWN
        if stage == at.DRAWN:
            stage = at.COMPLETE
            if counts[at.POINT_NO] < n_points:
                write_point(method, memory, plan, counts[at.POINT_NO])
                counts[at.ANSWERED] = 0
                counts[at.DEPLOYMENTS] += counts[at.COSTLY] > 0
                stage = at.ASKING
        if stage == at.ASKING:
            counts[at.STAGE] = stage  # a user's function may raise
            code = answer(data, method, memory)
            if code != at.DONE:
                return leave(counts, stage, code)
            counts[at.POINT_NO] += 1
            stage = at.DRAWN if counts[at.POINT_NO] < n_points else at.COMPLETE
        if stage == at.DRAWN:
            continue
        if stage == at.COMPLETE:
            if plan[at.ASKS]:
                clear_estimates(method, memory)
                if method.some_exact:
                    counts[at.STAGE] = stage
                    code = exact_gradients(data, method, memory)
                    if code != at.DONE:
                        return leave(counts, stage, code)
            stage = at.EXACT_DONE
        if stage == at.EXACT_DONE:
            if n_points > 0:
                if plan[at.DRAWN_AS] == at.EXTERNAL:
                    return leave(counts, stage, at.NEED_ESTIMATE)
                estimate(method, memory, plan, weights)
            stage = at.ESTIMATED
        if stage == at.ESTIMATED and snapshots.in_pass(method, counts):
            snapshots.add_batch(memory.x, memory.y, counts, method.batch, method.n)
            stage = at.READY
            continue
        if stage == at.ESTIMATED:
            if snapshots.corrects(method, plan):
                snapshots.add_mean(memory.x, memory.y, n_estimates(method, counts))
            stage = at.CORRECTED
        if stage == at.CORRECTED:
            if method.moves == at.EXTERNAL:
                return leave(counts, stage, at.NEED_MOVE)
            move(method, memory, plan, weights, x_set, y_set)
            stage = at.MOVED
        counts[at.POINT_NO] = counts[at.ANSWERED] = 0
        counts[at.PHASE] += 1
        stage = at.OPEN
        if counts[at.PHASE] == method.phases:
            commit(method, memory)
            counts[at.PHASE] = 0
            stage = at.IDLE


@cached
def known_gradients(data, method, memory):
    """`exact_gradients`, for calls from Python."""
    return exact_gradients(data, method, memory)
