"""Variance reduction: F_J(w) - F_J(s) + mean F(s), with the same directions at w and at s.

s is the snapshot. A pass over all samples in batches, before an epoch begins, makes BASE the
snapshot and estimates the mean there. Each phase then deploys its points around BASE and around the
snapshot, and `estimation` and `evaluation` subtract the second estimate from the first.
"""

from gameproof.kernels import layout as at
from gameproof.kernels.jit import inlined, not_inlined, stay_apart


@inlined
def is_due(method, counts):
    """True if a pass comes before the next step."""
    if not method.snapshots or counts[at.POSITION] > 0:
        return False
    return counts[at.EPOCH] % method.snapshot_every == 0


@inlined
def in_pass(method, counts):
    """True during the pass over all samples."""
    return counts[at.PHASE] == method.phases if method.snapshots else False


@inlined
def corrects(method, plan):
    """True if a phase subtracts the estimate at the snapshot."""
    return plan[at.CORRECTS] != 0 if method.snapshots else False


@not_inlined
def begin(x, y, counts, phases):
    """Makes BASE the snapshot. The step after the pass has no earlier estimates, like the first
    step of a run: the kept estimate was corrected by another snapshot."""
    stay_apart()
    for rows in (x, y):
        rows[at.SNAPSHOT] = rows[at.BASE]
        rows[at.SNAPSHOT_MEAN] = 0.0
    counts[at.N_PREVIOUS] = 0
    counts[at.PHASE] = phases


@not_inlined
def add_batch(x, y, counts, batch, n):
    """Adds the estimate over a batch of the pass to the mean. After the last batch, the epoch can
    begin."""
    stay_apart()
    for rows in (x, y):
        rows[at.SNAPSHOT_MEAN] += batch / n * rows[at.NEW]
    counts[at.POINT_NO] = counts[at.ANSWERED] = 0
    counts[at.POSITION] += counts[at.N_CURRENT]
    if counts[at.POSITION] == n:
        counts[at.POSITION] = counts[at.PHASE] = 0


@not_inlined
def add_mean(x, y, number):
    """NEW += mean F(s), and OLD if number is 2."""
    stay_apart()
    for rows in (x, y):
        for row in range(at.NEW, at.NEW + number):
            rows[row] += rows[at.SNAPSHOT_MEAN]
