"""The samples of a step: the order, the batch, whom to ask, and private coordinates."""

from gameproof.kernels.jit import inlined, not_inlined, stay_apart
from gameproof.kernels.layout import (
    ASKED,
    ASKED_CURRENT,
    ASKED_LIST,
    BASE,
    BATCH,
    COSTLY,
    COUNTED,
    KEPT,
    KNOWN,
    N_CURRENT,
    N_PREVIOUS,
    OWN_U,
    PHASE,
    POSITION,
    RESHUFFLE,
    SHUFFLE_ONCE,
    SLOT,
    WITH_REPLACEMENT,
    U,
)
from gameproof.kernels.memory import bit
from gameproof.kernels.random import draw_with_replacement, shuffle


@inlined
def source_of(sources, i):
    """How the gradient of sample i is obtained."""
    if sources.bits.size == 0:
        return sources.if_clear
    return sources.if_set if bit(sources.bits, i) else sources.if_clear


@inlined
def draw_order(kind, epoch, order, rng):
    """Overwrites the order of an epoch."""
    if kind == RESHUFFLE or (kind == SHUFFLE_ONCE and epoch == 0):
        shuffle(order, rng)
    elif kind == WITH_REPLACEMENT:
        draw_with_replacement(order, rng)


@inlined
def take_batch(method, counts, samples, order):
    """Overwrites the current samples and the list of samples that are asked."""
    position, width = counts[POSITION], method.batch
    current = min(width, method.n - position)  # the last batch of an epoch may be smaller
    counts[N_CURRENT] = current
    all_in_turn = counts[PHASE] == method.phases if method.snapshots else False
    for m in range(current):
        samples[BATCH, m] = position + m if all_in_turn else order[position + m]
    total, costly = 0, 0
    for which in range(2 if method.asks_previous else 1):
        for m in range(counts[N_CURRENT + which]):
            i = samples[BATCH, which * width + m]
            source = source_of(method.sources, i)
            samples[ASKED_LIST, total] = i  # stays only if the sample is asked; a branch would
            total += source != KNOWN  # be mispredicted half of the time
            costly += source == COUNTED
        if which == 0:
            counts[ASKED_CURRENT] = total
    counts[ASKED], counts[COSTLY] = total, costly


@inlined
def gather(own, y, samples, width, current, previous, may_repeat):
    """Copies the private coordinates of a step to the block y: sample m of J to column m, sample m
    of K to column width + m. A sample that occurs twice has one column; SLOT names it. KEPT stands
    in the columns of K already."""
    for which in range(2):
        for m in range(current if which == 0 else previous):
            samples[SLOT, which * width + m] = which * width + m
    if may_repeat:
        merge_slots(samples, width, current, previous)
    for m in range(current):
        s = samples[SLOT, m]
        y[U, s] = y[BASE, s] = own[samples[BATCH, m], OWN_U]
        y[KEPT, s] = 0.0
    for m in range(width, width + previous):
        s = samples[SLOT, m]
        y[U, s] = y[BASE, s] = own[samples[BATCH, m], OWN_U]
        if s != m:
            y[KEPT, s] += y[KEPT, m]
            y[KEPT, m] = 0.0


@not_inlined
def merge_slots(samples, width, current, previous):
    """Gives every sample of a step the column of its first occurrence."""
    stay_apart()
    for a in range(current + previous):
        s = a if a < current else width + a - current
        for b in range(a):
            t = b if b < current else width + b - current
            if samples[BATCH, s] == samples[BATCH, t]:
                samples[SLOT, s] = samples[SLOT, t]
                break


@inlined
def open_step(method, memory):
    """Draws the samples of a step from the order."""
    counts = memory.counts
    take_batch(method, counts, memory.samples, memory.order)
    if method.private:
        # Within an epoch without replacement, no sample occurs twice.
        may_repeat = method.order == WITH_REPLACEMENT or method.order < 0 or counts[POSITION] == 0
        current, previous = counts[N_CURRENT], counts[N_PREVIOUS]
        gather(memory.own, memory.y, memory.samples, method.batch, current, previous, may_repeat)
