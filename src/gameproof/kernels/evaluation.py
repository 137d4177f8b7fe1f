"""What a step asks of the samples: values at the deployed point, and exact gradients."""

from numba import types
from numba.extending import overload

from gameproof.kernels.batches import source_of
from gameproof.kernels.estimation import base_row
from gameproof.kernels.jit import inlined
from gameproof.kernels.layout import (
    ANSWERED,
    ASKED,
    ASKED_LIST,
    BAD_GRADIENT,
    BAD_VALUE,
    BASE,
    BATCH,
    CORRECTS,
    COUNTED,
    DEPLOYMENTS,
    DONE,
    KNOWN,
    N_CURRENT,
    N_PREVIOUS,
    NEED_GRADIENTS,
    NEED_VALUES,
    NEW,
    PHASE,
    POINT,
    POINT_NO,
    POSITION,
    QUERIES,
    SLOT,
    SNAPSHOT,
)
from gameproof.kernels.memory import prefetch
from gameproof.kernels.samples import add_gradient, prefetch_sample, sample_value
from gameproof.kernels.vectors import LARGEST, all_finite

AHEAD = 8  # steps between the prefetch of a sample and its use


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
        base = base_row(method, method.plan[counts[PHASE]], counts[POINT_NO])
        x, y = memory.x[POINT], memory.y[POINT if method.y_perturbed else base]
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
    """Adds exact gradients to NEW and OLD, less those at the snapshot, inside compiled code: all
    coordinates of samples that are not asked, and the coordinates of the others that are not
    perturbed. Returns DONE, BAD_GRADIENT or NEED_GRADIENTS."""
    raise TypeError("exact_gradients is called from compiled code only")


@overload(exact_gradients, jit_options={"forceinline": True})
def _choose_gradients(data, method, memory):
    if isinstance(data, types.NoneType):
        return lambda data, method, memory: NEED_GRADIENTS

    def compute(data, method, memory):
        counts, samples = memory.counts, memory.samples
        good, corrects = True, False
        if method.snapshots:
            corrects = method.plan[counts[PHASE], CORRECTS] != 0
        for which in range(2 if method.asks_previous and counts[N_PREVIOUS] > 0 else 1):
            gx, gy = memory.x[NEW + which], memory.y[NEW + which]
            for m in range(counts[N_CURRENT + which]):
                i = samples[BATCH, which * method.batch + m]
                at = samples[SLOT, which * method.batch + m] if method.private else i
                from_x, from_y = method.x_perturbed, gy.size if method.y_perturbed else 0
                if source_of(method.sources, i) == KNOWN:
                    from_x = from_y = 0
                for k in range(2 if corrects else 1):
                    base, weight = (SNAPSHOT, -method.share) if k else (BASE, method.share)
                    x, y = memory.x[base], memory.y[base]
                    add_gradient(data, i, x, y, at, weight, gx, gy, from_x, from_y)
            good &= all_finite(gx) and all_finite(gy)
        if method.observes:
            counts[DEPLOYMENTS] += counts[ASKED] > 0
            for m in range(counts[ASKED]):
                count(method, memory, samples[ASKED_LIST, m])
        return DONE if good else BAD_GRADIENT

    return compute


def prefetch_ahead(data, method, memory):
    """Starts loading what the step that is AHEAD steps later will read, inside compiled code."""
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
