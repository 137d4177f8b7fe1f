"""Checks that a state can be resumed, before compiled code sees it.

Compiled code does not check bounds: a forged counter or index would make it read and write beyond
its arrays, and a generator that repeats one number would keep it in a loop. What can be recomputed
(the size of a batch, who is asked) must be equal to what the state says. Other numbers must be in
their range and finite. Estimates may be infinite: steps within a box stay finite nevertheless.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from gameproof.core.errors import StateFileError
from gameproof.kernels import layout as at
from gameproof.kernels.layout import Memory, Method
from gameproof.minmax.averages import Mark
from gameproof.minmax.plan import Plan
from gameproof.minmax.state_counters import wrong_counters


def check_memory(memory: Memory, plan: Plan) -> None:
    """Rejects arrays of the right layout that no run on this plan can have."""
    # One after the other: each relies on what the ones before have checked.
    for complaint in chain(
        wrong_counters(memory.counts.tolist(), plan),
        _wrong_samples(memory, plan.method),
        _wrong_order(memory, plan.method),
        _wrong_numbers(memory, plan),
    ):
        raise StateFileError(
            f"this state is damaged: {complaint}; resume from another file, or start a new run"
        )


def check_marks(marks: list[Mark], memory: Memory, dims: tuple[int, int]) -> None:
    """Rejects marks that no run can have made."""
    for mark in marks:
        shapes = tuple(part.shape for part in (mark.x, mark.y))
        numbers = all(part.dtype == np.float64 for part in (mark.x, mark.y))
        if shapes != ((dims[0],), (dims[1],)) or not numbers:
            raise StateFileError(
                f"this state is damaged: a mark holds vectors of shapes {shapes}, expected {dims}"
            )
        sound = 0 <= mark.epoch <= memory.counts[at.EPOCH] and mark.weight >= 0
        if not sound or not all(np.isfinite(part).all() for part in mark[1:]):
            raise StateFileError(f"this state is damaged: the mark of epoch {mark.epoch} is wrong")


def _wrong_samples(memory: Memory, method: Method) -> Iterator[str]:
    """What is wrong with the lists of samples."""
    n, batch, samples = method.n, method.batch, memory.samples
    for row, name, most in (
        (at.BATCH, "the batch", n),
        (at.ASKED_LIST, "the list of samples asked", n),
        (at.SLOT, "the list of columns", 2 * batch),
    ):
        if samples[row].min() < 0 or samples[row].max() >= most:
            yield f"{name} holds a number outside 0 to {most - 1}"
            return
    counts = memory.counts
    if counts[at.STAGE] <= at.READY:
        return
    current = samples[at.BATCH, : counts[at.N_CURRENT]]
    places = np.arange(counts[at.POSITION], counts[at.POSITION] + counts[at.N_CURRENT])
    due = places if counts[at.PHASE] == method.phases else memory.order[places]
    if not np.array_equal(current, due):
        yield "the batch is not the one that the order names"
    previous = samples[at.BATCH, batch : batch + counts[at.N_PREVIOUS]]
    groups = (current, previous if method.asks_previous else previous[:0])
    sources = [_sources(method, group) for group in groups]
    pairs = zip(groups, sources, strict=True)
    asked = np.concatenate([group[of != at.KNOWN] for group, of in pairs])
    expected = (
        int((sources[0] != at.KNOWN).sum()),
        len(asked),
        sum(int((of == at.COUNTED).sum()) for of in sources),
    )
    found = tuple(counts[[at.ASKED_CURRENT, at.ASKED, at.COSTLY]].tolist())
    if found != expected or not np.array_equal(samples[at.ASKED_LIST, : len(asked)], asked):
        yield "the samples asked are not those of the batch"


def _sources(method: Method, samples: NDArray[np.int64]) -> NDArray[np.int64]:
    """How the gradient of each sample is obtained."""
    sources = method.sources
    if not sources.bits.size:
        return np.full(samples.size, sources.if_clear)
    is_set = (sources.bits[samples >> 3] >> (samples & 7)) & 1 == 1
    return np.where(is_set, sources.if_set, sources.if_clear)


def _wrong_order(memory: Memory, method: Method) -> Iterator[str]:
    """What is wrong with the order of the epoch."""
    order, counts = memory.order, memory.counts
    if order.max(initial=0) >= method.n:
        yield f"the order names a sample outside 0 to {method.n - 1}"
        return
    drawn = counts[at.STEP] > 0 or counts[at.STAGE] > at.IDLE
    if drawn and method.order not in (at.WITH_REPLACEMENT, at.EXTERNAL):
        seen = np.zeros(method.n, dtype=np.bool_)
        seen[order] = True
        if not seen.all():
            yield "the order is not a permutation of the samples"


def _wrong_numbers(memory: Memory, plan: Plan) -> Iterator[str]:
    """What is wrong with the numbers."""
    numbers, counts, method = memory.numbers, memory.counts, plan.method
    rows = [at.U, at.TOTAL, at.ANCHOR, at.CENTER, *([at.SNAPSHOT] if method.snapshot_every else [])]
    kept = {"x": memory.x[rows], "y": memory.y[rows], "own": memory.own}
    for name, values in {**kept, "numbers": numbers, "directions": memory.directions}.items():
        if not np.isfinite(values).all():
            yield f"{name} holds a number that is not finite"
    begun = counts[at.STEP] > 0 or counts[at.STAGE] > at.IDLE
    negative = numbers[[at.ETA, at.WEIGHT, at.MEAN_COUNT]].min() < 0
    if negative or (begun and not numbers[at.RADIUS] > 0):
        yield "a step size, a radius or a weight is negative"
    fixed = method.plan[:, at.DRAWN_AS] == at.BASIS
    drawn = int(method.plan[~fixed, at.DIRECTIONS].max(initial=0))
    if not np.array_equal(memory.directions[drawn:], plan.directions[drawn:]):
        yield "the directions are not the basis"
    point, answered = int(counts[at.POINT_NO]), int(counts[at.ANSWERED])
    answers = memory.answers[:point, : counts[at.ASKED]]
    if not np.isfinite(answers).all() or (
        counts[at.STAGE] == at.ASKING and not np.isfinite(memory.answers[point, :answered]).all()
    ):
        yield "an answer is not finite"
