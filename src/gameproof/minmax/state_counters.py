"""Checks the counters of a state: each is in its range, and they agree with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gameproof.kernels.layout import (
    ANSWERED,
    ASKED,
    ASKED_CURRENT,
    ASKING,
    COSTLY,
    DEPLOYMENTS,
    DRAWN,
    EPOCH,
    IDLE,
    MOVED,
    N_CURRENT,
    N_PREVIOUS,
    OPEN,
    ORDERED,
    PHASE,
    POINT_NO,
    POSITION,
    QUERIES,
    READY,
    STAGE,
    STEP,
    Method,
)
from gameproof.minmax.plan import Plan, deployed_points, steps_per_epoch

# Counters are compared with floats, which hold integers up to here.
LARGEST = 2**53


def wrong_counters(counts: list[int], plan: Plan) -> Iterator[str]:
    """What is wrong with the counters."""
    method = plan.method
    n, batch = method.n, method.batch
    yield from _outside(counts, {"epoch": EPOCH, "step": STEP}, LARGEST)
    yield from _outside(counts, {"queries": QUERIES, "deployments": DEPLOYMENTS}, LARGEST)
    yield from _outside(counts, {"position": POSITION}, n - 1)
    yield from _outside(counts, {"stage": STAGE}, MOVED)
    yield from _outside(counts, {"phase": PHASE}, len(method.plan) - 1)
    steps = counts[EPOCH] * steps_per_epoch(n, batch)
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
    points = int(deployed_points(plan.method.plan)[phase]) if counts[ASKED] > 0 else 0
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
