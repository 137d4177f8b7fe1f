"""Checks the counters of a state: each is in its range, and they agree with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gameproof.kernels import layout as at
from gameproof.kernels.layout import Method
from gameproof.minmax.plan import Plan, deployed_points, steps_per_epoch

# Counters are compared with floats, which hold integers up to here.
LARGEST = 2**53


def wrong_counters(counts: list[int], plan: Plan) -> Iterator[str]:
    """What is wrong with the counters."""
    method = plan.method
    n, batch = method.n, method.batch
    yield from _outside(counts, {"epoch": at.EPOCH, "step": at.STEP}, LARGEST)
    yield from _outside(counts, {"queries": at.QUERIES, "deployments": at.DEPLOYMENTS}, LARGEST)
    yield from _outside(counts, {"position": at.POSITION}, n - 1)
    yield from _outside(counts, {"stage": at.STAGE}, at.MOVED)
    yield from _outside(counts, {"phase": at.PHASE}, len(method.plan) - 1)
    steps = counts[at.EPOCH] * steps_per_epoch(n, batch)
    steps += 0 if _is_pass(counts, method) else counts[at.POSITION] // batch
    if counts[at.POSITION] % batch or counts[at.STEP] != steps:
        yield (
            f"epoch {counts[at.EPOCH]} and position {counts[at.POSITION]} do not belong to step "
            f"{counts[at.STEP]}"
        )
    before = _samples_before(counts, method)
    if counts[at.N_PREVIOUS] != before:
        yield f"the step before had {before} samples, not {counts[at.N_PREVIOUS]}"
    yield from _outside(counts, {"size of the batch": at.N_CURRENT}, batch)
    yield from _outside(counts, {"samples asked": at.ASKED}, 2 * batch)
    yield from _outside(
        counts,
        {
            "answers": at.ANSWERED,
            "costly samples": at.COSTLY,
            "current samples asked": at.ASKED_CURRENT,
        },
        max(counts[at.ASKED], 0),
    )
    yield from _wrong_progress(counts, plan)


def _is_pass(counts: list[int], method: Method) -> bool:
    """True within a pass over all samples that estimates the mean at a snapshot."""
    return counts[at.PHASE] == method.phases


def _samples_before(counts: list[int], method: Method) -> int:
    """The size of the batch before this one; a pass starts anew."""
    every, end = method.snapshot_every, counts[at.POSITION] or method.n
    after_pass = every > 0 and counts[at.POSITION] == 0 and counts[at.EPOCH] % every == 0
    starts = counts[at.STEP] == 0 or (after_pass and counts[at.STAGE] > at.ORDERED)
    if starts or _is_pass(counts, method):
        return 0
    return end - (end - 1) // method.batch * method.batch


def _wrong_progress(counts: list[int], plan: Plan) -> Iterator[str]:
    """What is wrong with the progress within a step."""
    stage, point = counts[at.STAGE], counts[at.POINT_NO]
    if stage in (at.IDLE, at.ORDERED) and (counts[at.PHASE] or point or counts[at.ANSWERED]):
        yield "it is between two steps, and within one"
    every = plan.method.snapshot_every
    if _is_pass(counts, plan.method) and not (every and counts[at.EPOCH] % every == 0):
        yield f"epoch {counts[at.EPOCH]} has no pass over all samples"
    phase = min(max(counts[at.PHASE], 0), len(plan.method.plan) - 1)
    points = int(deployed_points(plan.method.plan)[phase]) if counts[at.ASKED] > 0 else 0
    if stage > at.READY and counts[at.N_CURRENT] != min(
        plan.method.batch, plan.method.n - counts[at.POSITION]
    ):
        yield f"the batch has {counts[at.N_CURRENT]} samples"
    least, most = {
        at.IDLE: (0, 0),
        at.ORDERED: (0, 0),
        at.READY: (0, 0),
        at.OPEN: (0, 0),
        at.DRAWN: (0, points),
        at.ASKING: (0, points - 1),
    }.get(stage, (points, points))
    if not least <= point <= most:
        yield f"it is at point {point} of {points} in stage {stage}"


def _outside(counts: list[int], places: Mapping[str, int], most: int) -> Iterator[str]:
    for name, place in places.items():
        if not 0 <= counts[place] <= most:
            yield f"{name} is {counts[place]}, expected 0 to {most}"
