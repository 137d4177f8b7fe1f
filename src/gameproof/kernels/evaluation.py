"""What a step asks of the samples: values at the deployed point, and exact gradients."""

from numba import types

from gameproof.kernels import layout as at
from gameproof.kernels.batches import n_estimates, n_samples, sample_at, source_of
from gameproof.kernels.estimation import base_row
from gameproof.kernels.jit import by_type, inlined
from gameproof.kernels.memory import prefetch
from gameproof.kernels.samples import add_gradient, prefetch_sample, sample_value
from gameproof.kernels.snapshots import corrects
from gameproof.kernels.vectors import LARGEST, all_finite

AHEAD = 8  # steps between the prefetch of a sample and its use


@inlined
def count(method, memory, i):
    """One more value or answer of sample i."""
    memory.counts[at.QUERIES] += 1
    if method.tally.size > 0:
        method.tally[i] += 1


@by_type
def answer(data, method, memory):
    """Evaluates the samples still missing at the deployed point. Returns DONE, BAD_VALUE, or
    NEED_VALUES if the samples are not compiled."""
    if isinstance(data, types.NoneType):

        def wait(data, method, memory):
            missing = memory.counts[at.ANSWERED] < memory.counts[at.ASKED]
            return at.NEED_VALUES if missing else at.DONE

        return wait

    def evaluate(data, method, memory):
        counts = memory.counts
        base = base_row(method, method.plan[counts[at.PHASE]], counts[at.POINT_NO])
        x, y = memory.x[at.POINT], memory.y[at.POINT if method.y_perturbed else base]
        answers = memory.answers[counts[at.POINT_NO]]
        place = 0
        for k in range(n_samples(method, counts)):
            i, slot = sample_at(method, memory, k)
            source = source_of(method.sources, i)
            if source == at.KNOWN:
                continue
            if place >= counts[at.ANSWERED]:
                value = sample_value(data, i, x, y, slot)
                answers[place] = value
                if not abs(value) <= LARGEST:
                    return at.BAD_VALUE
                if source == at.COUNTED:
                    count(method, memory, i)
                counts[at.ANSWERED] = place + 1
            place += 1
        return at.DONE

    return evaluate


@by_type
def exact_gradients(data, method, memory):
    """Adds exact gradients to NEW and OLD, less those at the snapshot: all coordinates of samples
    that are not asked, and the coordinates of the others that are not perturbed. Returns DONE,
    BAD_GRADIENT or NEED_GRADIENTS."""
    if isinstance(data, types.NoneType):
        return lambda data, method, memory: at.NEED_GRADIENTS

    def compute(data, method, memory):
        counts, good = memory.counts, True
        bases = 2 if corrects(method, method.plan[counts[at.PHASE]]) else 1
        for k in range(n_samples(method, counts)):
            i, slot = sample_at(method, memory, k)
            row = at.NEW if k < counts[at.N_CURRENT] else at.OLD
            gx, gy = memory.x[row], memory.y[row]
            from_x, from_y = method.x_perturbed, gy.size if method.y_perturbed else 0
            if source_of(method.sources, i) == at.KNOWN:
                from_x = from_y = 0
            for b in range(bases):
                base, weight = (at.SNAPSHOT, -method.share) if b else (at.BASE, method.share)
                x, y = memory.x[base], memory.y[base]
                add_gradient(data, i, x, y, slot, weight, gx, gy, from_x, from_y)
        for row in range(at.NEW, at.NEW + n_estimates(method, counts)):
            good &= all_finite(memory.x[row]) and all_finite(memory.y[row])
        if method.observes:
            counts[at.DEPLOYMENTS] += counts[at.ASKED] > 0
            for m in range(counts[at.ASKED]):
                count(method, memory, memory.samples[at.ASKED_LIST, m])
        return at.DONE if good else at.BAD_GRADIENT

    return compute


@by_type
def prefetch_ahead(data, method, memory):
    """Starts loading what the step that is AHEAD steps later will read."""
    if isinstance(data, types.NoneType):
        return lambda data, method, memory: None

    def ahead(data, method, memory):
        first = memory.counts[at.POSITION] + AHEAD * method.batch
        for place in range(first, min(first + method.batch, method.n)):
            i = int(memory.order[place])
            prefetch_sample(data, i)
            if method.private:
                prefetch(memory.own, at.OWN_COLUMNS * i)
            if method.tally.size > 0:
                prefetch(method.tally, i)

    return ahead
