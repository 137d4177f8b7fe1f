"""The step, as one loop that every run goes through.

With J the current samples, K the previous ones, v directions and P the projection, each phase does

    deploy     POINT <- BASE + eps v               for every direction, then BASE or BASE - eps v
    estimate   NEW <- estimate over J at BASE, OLD <- estimate over K at BASE
    move       BASE <- P(origin -/+ eta scale (a NEW + b OLD + c KEPT))     minus on x, plus on y

and after the last phase `commit` makes BASE the iterate. `counts[STAGE]` says how far a step is.
Where a part is not compiled (values from Python, a user's estimate or set), `run` returns and says
what it needs; Python provides it, sets the stage and calls `run` again. So compiled runs and runs
that ask and tell go through the same arithmetic, and a state saved by one resumes in the other.
"""

import numpy as np
from numba import types
from numba.extending import overload

from gameproof.kernels.batches import draw_order, open_step, source_of
from gameproof.kernels.estimation import (
    clear_perturbed,
    draw_directions,
    estimate,
    write_point,
)
from gameproof.kernels.jit import cached, inlined
from gameproof.kernels.layout import (
    ANSWERED,
    ASKED,
    ASKED_CURRENT,
    ASKED_LIST,
    ASKING,
    ASKS,
    BAD_GRADIENT,
    BAD_VALUE,
    BASE,
    BATCH,
    COMPLETE,
    COSTLY,
    COUNTED,
    DEPLOYMENTS,
    DONE,
    DRAWN,
    EPOCH,
    ESTIMATED,
    ETA,
    EXACT_DONE,
    EXTERNAL,
    IDLE,
    KNOWN,
    MOVED,
    N_CURRENT,
    N_PREVIOUS,
    NEED_DIRECTIONS,
    NEED_ESTIMATE,
    NEED_GRADIENTS,
    NEED_MOVE,
    NEED_ORDER,
    NEED_VALUES,
    NEW,
    OBSERVED,
    OPEN,
    ORDERED,
    OUT_OF_QUERIES,
    PHASE,
    POINT,
    POINT_NO,
    POINTS,
    POSITION,
    QUERIES,
    RADIUS,
    SLOT,
    STAGE,
    STEP,
)
from gameproof.kernels.memory import borrowed, prefetch
from gameproof.kernels.motion import commit, move
from gameproof.kernels.samples import add_gradient, prefetch_sample, sample_value
from gameproof.kernels.vectors import LARGEST, all_finite

AHEAD = 8  # steps between the prefetch of a sample and its use
FEW = 2000  # so few samples stay in the cache anyway


@inlined
def count(method, memory, i):
    """One more value or answer of sample i."""
    memory.counts[QUERIES] += 1
    if method.tally.size > 0:
        method.tally[i] += 1


def answer(data, method, memory):
    """Evaluates the samples still missing at the deployed point, inside compiled code. Returns
    DONE, BAD_VALUE, or NEED_VALUES if the samples are not compiled."""
    raise TypeError("answer is called from compiled code only")


@overload(answer, jit_options={"forceinline": True})
def _choose_answer(data, method, memory):
    if isinstance(data, types.NoneType):

        def wait(data, method, memory):
            missing = memory.counts[ANSWERED] < memory.counts[ASKED]
            return NEED_VALUES if missing else DONE

        return wait

    def evaluate(data, method, memory):
        counts, samples = memory.counts, memory.samples
        x, y = memory.x[POINT], memory.y[POINT if method.y_perturbed else BASE]
        answers = memory.answers[counts[POINT_NO]]
        place = 0
        for which in range(2 if method.asks_previous else 1):
            for m in range(counts[N_CURRENT + which]):
                i = samples[BATCH, which * method.batch + m]
                source = source_of(method.sources, i)
                if source == KNOWN:
                    continue
                if place >= counts[ANSWERED]:
                    at = samples[SLOT, which * method.batch + m] if method.private else i
                    value = sample_value(data, i, x, y, at)
                    answers[place] = value
                    if not abs(value) <= LARGEST:
                        return BAD_VALUE
                    if source == COUNTED:
                        count(method, memory, i)
                    counts[ANSWERED] = place + 1
                place += 1
        return DONE

    return evaluate


def exact_gradients(data, method, memory):
    """Overwrites the exact part of NEW and OLD, inside compiled code. The estimate adds the
    perturbed coordinates of samples asked. Returns DONE, BAD_GRADIENT or NEED_GRADIENTS."""
    raise TypeError("exact_gradients is called from compiled code only")


@overload(exact_gradients, jit_options={"forceinline": True})
def _choose_gradients(data, method, memory):
    if isinstance(data, types.NoneType):
        return lambda data, method, memory: NEED_GRADIENTS

    def compute(data, method, memory):
        counts, samples = memory.counts, memory.samples
        x, y, good = memory.x[BASE], memory.y[BASE], True
        estimated = method.x_stop > method.x_start
        for which in range(2 if method.asks_previous and counts[N_PREVIOUS] > 0 else 1):
            gx, gy = memory.x[NEW + which], memory.y[NEW + which]
            gx[:] = 0.0
            gy[:] = 0.0
            asked = counts[ASKED_CURRENT] if which == 0 else counts[ASKED] - counts[ASKED_CURRENT]
            for known in range(
                0 if asked > 0 else 1, 2 if asked < counts[N_CURRENT + which] else 1
            ):
                for m in range(counts[N_CURRENT + which]):
                    i = samples[BATCH, which * method.batch + m]
                    if (source_of(method.sources, i) == KNOWN) == (known == 1):
                        at = samples[SLOT, which * method.batch + m] if method.private else i
                        whole = known == 1 or not estimated
                        add_gradient(data, i, x, y, at, method.share, gx, gy, whole)
                if known == 0:
                    clear_perturbed(method, memory.x, memory.y, NEW + which)
            good &= all_finite(gx) and all_finite(gy)
        if method.offset == OBSERVED:
            counts[DEPLOYMENTS] += counts[ASKED] > 0
            for m in range(counts[ASKED]):
                count(method, memory, samples[ASKED_LIST, m])
        return DONE if good else BAD_GRADIENT

    return compute


def prefetch_ahead(data, method, memory):
    """Starts loading what the step AHEAD of this one will read, inside compiled code."""
    raise TypeError("prefetch_ahead is called from compiled code only")


@overload(prefetch_ahead, jit_options={"forceinline": True})
def _choose_prefetch(data, method, memory):
    if isinstance(data, types.NoneType):
        return lambda data, method, memory: None

    def ahead(data, method, memory):
        first = memory.counts[POSITION] + AHEAD * method.batch
        for place in range(first, min(first + method.batch, method.n)):
            i = int(memory.order[place])
            prefetch_sample(data, i)
            if method.private:
                prefetch(memory.own, 2 * i)
            if method.tally.size > 0:
                prefetch(method.tally, i)

    return ahead


@inlined
def most_queries(method, counts):
    """How many values or answers the next step needs at most."""
    samples = min(method.batch, method.n - counts[POSITION])
    if method.asks_previous:
        samples += counts[N_PREVIOUS]
    return samples * method.queries_per_sample


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
            if method.n > FEW:
                prefetch_ahead(data, method, memory)
            open_step(method, memory)
            stage = OPEN
        plan, weights = method.plan[counts[PHASE]], method.weights[counts[PHASE]]
        n_points = plan[POINTS] if counts[ASKED] > 0 else 0
        if stage == OPEN:
            if n_points > 0:
                if method.drawn == EXTERNAL:
                    return leave(counts, stage, NEED_DIRECTIONS)
                draw_directions(memory.directions, plan, method.drawn, method.flat, rng)
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
            if method.some_exact and plan[ASKS]:
                counts[STAGE] = stage
                code = exact_gradients(data, method, memory)
                if code != DONE:
                    return leave(counts, stage, code)
            stage = EXACT_DONE
        if stage == EXACT_DONE:
            if n_points > 0:
                if method.drawn == EXTERNAL:
                    return leave(counts, stage, NEED_ESTIMATE)
                estimate(method, memory, plan, weights)
            stage = ESTIMATED
        if stage == ESTIMATED:
            if method.moves == EXTERNAL:
                return leave(counts, stage, NEED_MOVE)
            move(method, memory, plan, weights, x_set, y_set)
            stage = MOVED
        counts[POINT_NO] = counts[ANSWERED] = 0
        counts[PHASE] += 1
        stage = OPEN
        if counts[PHASE] == method.plan.shape[0]:
            commit(method, memory)
            counts[PHASE] = 0
            stage = IDLE


# For calls from Python.


@cached
def known_gradients(data, method, memory):
    """`exact_gradients`."""
    return exact_gradients(data, method, memory)


@cached
def clear_row(method, x, y, row):
    """`clear_perturbed`."""
    clear_perturbed(method, x, y, row)
