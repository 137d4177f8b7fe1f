"""Variance reduction: F_J(w) - F_J(s) + mean F(s), with the same directions at w and at s.

s is the snapshot. A pass over all samples in batches, before an epoch begins, makes BASE the
snapshot and estimates the mean there. Each phase then deploys its points around BASE and around the
snapshot, and `estimation` and `evaluation` subtract the second estimate from the first.
"""

from gameproof.kernels.jit import inlined, not_inlined, stay_apart
from gameproof.kernels.layout import (
    ANSWERED,
    BASE,
    EPOCH,
    N_CURRENT,
    N_PREVIOUS,
    NEW,
    PHASE,
    POINT_NO,
    POSITION,
    SNAPSHOT,
    SNAPSHOT_MEAN,
)


@inlined
def is_due(method, counts):
    """True if a pass comes before the next step."""
    if not method.snapshots or counts[POSITION] > 0:
        return False
    return counts[EPOCH] % method.snapshot_every == 0


@not_inlined
def begin_snapshot(x, y, counts, phases):
    """Makes BASE the snapshot. The step after the pass has no earlier estimates, like the first
    step of a run: the kept estimate was corrected by another snapshot."""
    stay_apart()
    for rows in (x, y):
        rows[SNAPSHOT] = rows[BASE]
        rows[SNAPSHOT_MEAN] = 0.0
    counts[N_PREVIOUS] = 0
    counts[PHASE] = phases


@not_inlined
def add_to_snapshot(x, y, counts, batch, n):
    """Adds the estimate over a batch of the pass to the mean. After the last batch, the epoch can
    begin."""
    stay_apart()
    for rows in (x, y):
        rows[SNAPSHOT_MEAN] += batch / n * rows[NEW]
    counts[POINT_NO] = counts[ANSWERED] = 0
    counts[POSITION] += counts[N_CURRENT]
    if counts[POSITION] == n:
        counts[POSITION] = counts[PHASE] = 0


@not_inlined
def add_snapshot_mean(x, y, number):
    """NEW += mean F(s), and OLD if number is 2."""
    stay_apart()
    for rows in (x, y):
        for row in range(NEW, NEW + number):
            rows[row] += rows[SNAPSHOT_MEAN]
