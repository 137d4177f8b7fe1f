"""The samples of a step: the order, the batch, whom to ask, and private coordinates."""

from gameproof.kernels import layout as at
from gameproof.kernels.jit import inlined, not_inlined, stay_apart
from gameproof.kernels.memory import bit
from gameproof.kernels.random import draw_with_replacement, shuffle
from gameproof.kernels.snapshots import in_pass


@inlined
def source_of(sources, i):
    """How the gradient of sample i is obtained."""
    has_bit = sources.bits.size > 0 and bit(sources.bits, i)
    return sources.if_set if has_bit else sources.if_clear


@inlined
def draw_order(kind, epoch, order, rng):
    """Overwrites the order of an epoch."""
    if kind == at.RESHUFFLE or (kind == at.SHUFFLE_ONCE and epoch == 0):
        shuffle(order, rng)
    elif kind == at.WITH_REPLACEMENT:
        draw_with_replacement(order, rng)


@inlined
def n_samples(method, counts):
    """How many samples a step evaluates: J, and K if it is evaluated again."""
    return counts[at.N_CURRENT] + (counts[at.N_PREVIOUS] if method.asks_previous else 0)


@inlined
def n_estimates(method, counts):
    """How many estimates a step has: NEW, and OLD if K is evaluated again."""
    return 2 if method.asks_previous and counts[at.N_PREVIOUS] > 0 else 1


@inlined
def column(k, current, width):
    """The column of sample k of a step: first come those of J, then those of K."""
    return k if k < current else width + k - current


@inlined
def sample_at(method, memory, k):
    """Sample k of a step, and where a private coordinate of it is in the block y."""
    m = column(k, memory.counts[at.N_CURRENT], method.batch)
    i = memory.samples[at.BATCH, m]
    return i, memory.samples[at.SLOT, m] if method.private else i


@inlined
def open_step(method, memory):
    """Overwrites J with the next samples of the order, and the list of samples that are asked."""
    counts, samples, position = memory.counts, memory.samples, memory.counts[at.POSITION]
    current = min(method.batch, method.n - position)  # the last batch of an epoch may be smaller
    counts[at.N_CURRENT] = current
    in_turn = in_pass(method, counts)
    for m in range(current):
        samples[at.BATCH, m] = position + m if in_turn else memory.order[position + m]
    total, costly = 0, 0
    for k in range(n_samples(method, counts)):
        i = samples[at.BATCH, column(k, current, method.batch)]
        source = source_of(method.sources, i)
        samples[at.ASKED_LIST, total] = i  # stays only if the sample is asked; a branch would be
        total += source != at.KNOWN  # mispredicted half of the time
        costly += source == at.COUNTED
        if k < current:
            counts[at.ASKED_CURRENT] = total
    counts[at.ASKED], counts[at.COSTLY] = total, costly
    if method.private:
        gather(method, memory)


@inlined
def gather(method, memory):
    """Copies the private coordinates of a step to the block y. A sample that occurs twice has one
    column; SLOT names it. `commit_private` has put KEPT into the columns of K."""
    counts, samples, y = memory.counts, memory.samples, memory.y
    current, both = counts[at.N_CURRENT], counts[at.N_CURRENT] + counts[at.N_PREVIOUS]
    for k in range(both):
        m = column(k, current, method.batch)
        samples[at.SLOT, m] = m
    # Within an epoch without replacement, no sample occurs twice.
    repeats = method.order == at.WITH_REPLACEMENT or method.order == at.EXTERNAL
    if repeats or counts[at.POSITION] == 0:
        merge_slots(samples, method.batch, current, both)
    for k in range(both):
        m = column(k, current, method.batch)
        s = samples[at.SLOT, m]
        y[at.U, s] = y[at.BASE, s] = memory.own[samples[at.BATCH, m], at.OWN_U]
        if k < current:
            y[at.KEPT, s] = 0.0
        elif s != m:
            y[at.KEPT, s] += y[at.KEPT, m]
            y[at.KEPT, m] = 0.0


@not_inlined
def merge_slots(samples, width, current, both):
    """Gives every sample of a step the column of its first occurrence."""
    stay_apart()
    for a in range(both):
        s = column(a, current, width)
        for b in range(a):
            t = column(b, current, width)
            if samples[at.BATCH, s] == samples[at.BATCH, t]:
                samples[at.SLOT, s] = samples[at.SLOT, t]
                break
