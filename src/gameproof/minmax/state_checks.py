"""Checks that a state can be resumed, before compiled code sees it.

Compiled code does not check bounds: a forged counter or index would make it read and write beyond
its arrays, and a generator that repeats one number would keep it in a loop. What can be recomputed
(the size of a batch, who is asked) must be equal to what the state says. Other numbers must be in
their range and finite. Estimates may be infinite: steps within a box stay finite nevertheless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.errors import StateFileError
from gameproof.kernels.layout import (
    ANCHOR,
    ANSWERED,
    ASKED,
    ASKED_CURRENT,
    ASKED_LIST,
    ASKING,
    BASIS,
    BATCH,
    CENTER,
    CORRECTS,
    COSTLY,
    COUNTED,
    DEPLOYMENTS,
    DIRECTIONS,
    DRAWN,
    DRAWN_AS,
    EPOCH,
    ETA,
    EXTERNAL,
    IDLE,
    KNOWN,
    MEAN_COUNT,
    MOVED,
    N_COUNTS,
    N_CURRENT,
    N_NUMBERS,
    N_PREVIOUS,
    OPEN,
    ORDERED,
    OWN_COLUMNS,
    PHASE,
    POINT_NO,
    POINTS,
    POSITION,
    QUERIES,
    RADIUS,
    READY,
    ROWS,
    SAMPLE_ROWS,
    SLOT,
    SNAPSHOT,
    SNAPSHOT_ROWS,
    STAGE,
    STEP,
    TOTAL,
    WEIGHT,
    WITH_REPLACEMENT,
    Memory,
    Method,
    U,
)
from gameproof.minmax.averages import Mark
from gameproof.minmax.plan import Plan

# Counters are compared with floats, which hold integers up to here.
LARGEST = 2**53
Layout = Mapping[str, tuple[tuple[int, ...], type]]
# The shape of each array of `Memory` on any problem, None where it depends on the problem.
KINDS: dict[str, tuple[tuple[int | None, ...], type]] = {
    "x": ((None, None), np.float64),
    "y": ((None, None), np.float64),
    "own": ((None, OWN_COLUMNS), np.float64),
    "directions": ((None, None), np.float64),
    "order": ((None,), np.uint32),
    "samples": ((SAMPLE_ROWS, None), np.int64),
    "answers": ((None, None), np.float64),
    "counts": ((N_COUNTS,), np.int64),
    "numbers": ((N_NUMBERS,), np.float64),
}


def check_kinds(memory: Memory) -> None:
    """Rejects arrays that no run on any problem can have."""
    for name, array in memory._asdict().items():
        shape, kind = KINDS[name]
        fits = len(shape) == array.ndim and all(
            size in (None, found) for size, found in zip(shape, array.shape, strict=True)
        )
        if name in ("x", "y"):
            fits = fits and len(array) in (ROWS, ROWS + SNAPSHOT_ROWS)
        if not fits or array.dtype != kind:
            sizes = ", ".join("any" if size is None else str(size) for size in shape)
            raise StateFileError(
                f"{name} has shape {array.shape} and type {array.dtype}, expected ({sizes}) and "
                f"{np.dtype(kind)}"
            )


def check_layout(found: Mapping[str, NDArray[Any]], expected: Layout, name: str) -> None:
    """Rejects arrays of another shape or type than a run on the problem `name` has."""
    for part, (shape, kind) in expected.items():
        array = found.get(part, np.empty(0))
        fits = array.shape == shape and array.dtype == kind and array.flags.carray
        if not fits:
            raise StateFileError(
                f"this state does not fit {name}: {part} has shape {array.shape} and type "
                f"{array.dtype}, expected {shape} and {np.dtype(kind)}, row by row; resume with "
                "the problem and the solver that the run was started with"
            )
    for part in found.keys() - expected.keys():
        raise StateFileError(
            f"this state does not fit {name}: it has the unknown part {part}; resume with the "
            "solver that the run was started with"
        )


def check_memory(memory: Memory, plan: Plan) -> None:
    """Rejects arrays of the right layout that no run on this plan can have."""
    # One after the other: each relies on what the ones before have checked.
    for complaint in chain(
        _wrong_counts(memory.counts.tolist(), plan),
        _wrong_samples(memory, plan.method),
        _wrong_order(memory, plan.method),
        _wrong_numbers(memory, plan),
    ):
        raise StateFileError(
            f"this state is damaged: {complaint}; resume from another file, or start anew"
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
        sound = 0 <= mark.epoch <= memory.counts[EPOCH] and mark.weight >= 0
        if not sound or not all(np.isfinite(part).all() for part in mark[1:]):
            raise StateFileError(f"this state is damaged: the mark of epoch {mark.epoch} is wrong")


def _wrong_counts(counts: list[int], plan: Plan) -> Iterator[str]:
    """What is wrong with the counters."""
    method = plan.method
    n, batch = method.n, method.batch
    yield from _outside(counts, {"epoch": EPOCH, "step": STEP}, LARGEST)
    yield from _outside(counts, {"queries": QUERIES, "deployments": DEPLOYMENTS}, LARGEST)
    yield from _outside(counts, {"position": POSITION}, n - 1)
    yield from _outside(counts, {"stage": STAGE}, MOVED)
    yield from _outside(counts, {"phase": PHASE}, len(method.plan) - 1)
    steps = counts[EPOCH] * -(-n // batch)
    steps += 0 if _is_pass(counts, method) else counts[POSITION] // batch
    if counts[POSITION] % batch or counts[STEP] != steps:
        yield (
            f"epoch {counts[EPOCH]} and position {counts[POSITION]} do not belong to step "
            f"{counts[STEP]}"
        )
    before = _samples_before(counts, method)
    if counts[N_PREVIOUS] != before:
        yield f"the step before had {before} samples, not {counts[N_PREVIOUS]}"
    yield from _outside(counts, {"size of the batch": N_CURRENT}, batch)
    yield from _outside(counts, {"samples asked": ASKED}, 2 * batch)
    yield from _outside(
        counts,
        {"answers": ANSWERED, "costly samples": COSTLY, "current samples asked": ASKED_CURRENT},
        max(counts[ASKED], 0),
    )
    yield from _wrong_progress(counts, plan)


def _is_pass(counts: list[int], method: Method) -> bool:
    """True within a pass over all samples that estimates the mean at a snapshot."""
    return counts[PHASE] == method.phases


def _samples_before(counts: list[int], method: Method) -> int:
    """The size of the batch before this one; a pass starts anew."""
    every, end = method.snapshot_every, counts[POSITION] or method.n
    after_pass = every > 0 and counts[POSITION] == 0 and counts[EPOCH] % every == 0
    starts = counts[STEP] == 0 or (after_pass and counts[STAGE] > ORDERED)
    if starts or _is_pass(counts, method):
        return 0
    return end - (end - 1) // method.batch * method.batch


def _wrong_progress(counts: list[int], plan: Plan) -> Iterator[str]:
    """What is wrong with the progress within a step."""
    stage, point = counts[STAGE], counts[POINT_NO]
    if stage in (IDLE, ORDERED) and (counts[PHASE] or point or counts[ANSWERED]):
        yield "it is between two steps, and within one"
    every = plan.method.snapshot_every
    if _is_pass(counts, plan.method) and not (every and counts[EPOCH] % every == 0):
        yield f"epoch {counts[EPOCH]} has no pass over all samples"
    phase = min(max(counts[PHASE], 0), len(plan.method.plan) - 1)
    row = plan.method.plan[phase]
    points = int(row[POINTS] * (1 + row[CORRECTS])) if counts[ASKED] > 0 else 0
    if stage > READY and counts[N_CURRENT] != min(
        plan.method.batch, plan.method.n - counts[POSITION]
    ):
        yield f"the batch has {counts[N_CURRENT]} samples"
    least, most = {
        IDLE: (0, 0),
        ORDERED: (0, 0),
        READY: (0, 0),
        OPEN: (0, 0),
        DRAWN: (0, points),
        ASKING: (0, points - 1),
    }.get(stage, (points, points))
    if not least <= point <= most:
        yield f"it is at point {point} of {points} in stage {stage}"


def _outside(counts: list[int], places: Mapping[str, int], most: int) -> Iterator[str]:
    for name, place in places.items():
        if not 0 <= counts[place] <= most:
            yield f"{name} is {counts[place]}, expected 0 to {most}"


def _wrong_samples(memory: Memory, method: Method) -> Iterator[str]:
    """What is wrong with the lists of samples."""
    n, batch, samples = method.n, method.batch, memory.samples
    for row, name, most in (
        (BATCH, "the batch", n),
        (ASKED_LIST, "the list of samples asked", n),
        (SLOT, "the list of columns", 2 * batch),
    ):
        if samples[row].min() < 0 or samples[row].max() >= most:
            yield f"{name} holds a number outside 0 to {most - 1}"
            return
    counts = memory.counts
    if counts[STAGE] <= READY:
        return
    current = samples[BATCH, : counts[N_CURRENT]]
    places = np.arange(counts[POSITION], counts[POSITION] + counts[N_CURRENT])
    due = places if counts[PHASE] == method.phases else memory.order[places]
    if not np.array_equal(current, due):
        yield "the batch is not the one that the order names"
    previous = samples[BATCH, batch : batch + counts[N_PREVIOUS]]
    groups = (current, previous if method.asks_previous else previous[:0])
    sources = [_sources(method, group) for group in groups]
    asked = np.concatenate([group[of != KNOWN] for group, of in zip(groups, sources, strict=True)])
    expected = (
        int((sources[0] != KNOWN).sum()),
        len(asked),
        sum(int((of == COUNTED).sum()) for of in sources),
    )
    found = tuple(counts[[ASKED_CURRENT, ASKED, COSTLY]].tolist())
    if found != expected or not np.array_equal(samples[ASKED_LIST, : len(asked)], asked):
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
    drawn = counts[STEP] > 0 or counts[STAGE] > IDLE
    if drawn and method.order not in (WITH_REPLACEMENT, EXTERNAL):
        seen = np.zeros(method.n, dtype=np.bool_)
        seen[order] = True
        if not seen.all():
            yield "the order is not a permutation of the samples"


def _wrong_numbers(memory: Memory, plan: Plan) -> Iterator[str]:
    """What is wrong with the numbers."""
    numbers, counts, method = memory.numbers, memory.counts, plan.method
    rows = [U, TOTAL, ANCHOR, CENTER, *([SNAPSHOT] if method.snapshot_every else [])]
    kept = {"x": memory.x[rows], "y": memory.y[rows], "own": memory.own}
    for name, values in {**kept, "numbers": numbers, "directions": memory.directions}.items():
        if not np.isfinite(values).all():
            yield f"{name} holds a number that is not finite"
    begun = counts[STEP] > 0 or counts[STAGE] > IDLE
    if numbers[[ETA, WEIGHT, MEAN_COUNT]].min() < 0 or (begun and not numbers[RADIUS] > 0):
        yield "a step size, a radius or a weight is negative"
    fixed = method.plan[:, DRAWN_AS] == BASIS
    drawn = int(method.plan[~fixed, DIRECTIONS].max(initial=0))
    if not np.array_equal(memory.directions[drawn:], plan.directions[drawn:]):
        yield "the directions are not the basis"
    point, answered = int(counts[POINT_NO]), int(counts[ANSWERED])
    answers = memory.answers[:point, : counts[ASKED]]
    if not np.isfinite(answers).all() or (
        counts[STAGE] == ASKING and not np.isfinite(memory.answers[point, :answered]).all()
    ):
        yield "an answer is not finite"
