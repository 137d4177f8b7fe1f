"""The arrays of a run: what is fixed during it (`Method`) and what changes (`Memory`).

**Blocks.** x and y are matrices with one row for each vector that a step needs; the rows are named
below. Where sample i alone sees the coordinate y_i (a *private* y), a step touches only the
coordinates of its samples. `Memory.own` then holds all coordinates, and the block y has one column
for each sample of the step: see `batches.gather`. A step costs O(dim x + batch), whatever the
length of y.
"""

from typing import NamedTuple

import numpy as np

# Rows of a block. TOTAL is the sum of eta U. ANCHOR is the start, for anchored updates; CENTER the
# point towards which the sets are shrunk, for feasible queries. A variance-reduced run has two
# more: the snapshot, and the mean estimate over all samples there.
BASE, U, TOTAL, POINT, NEW, OLD, KEPT, ANCHOR, CENTER = range(9)
ROWS = 9
SNAPSHOT, SNAPSHOT_MEAN = range(ROWS, ROWS + 2)
SNAPSHOT_ROWS = 2
# Columns of `Memory.own`: the iterate, and the sum of eta U less U times the sum of eta, which
# changes only when U does.
OWN_U, OWN_DUE = range(2)
OWN_COLUMNS = 2
# Rows of `Memory.samples`: the current samples J from column 0 and the previous samples K from
# column `batch` on; the columns of their private coordinates; the samples asked, J's and then K's.
BATCH, SLOT, ASKED_LIST = range(3)
SAMPLE_ROWS = 3
# Entries of `Memory.counts`.
EPOCH, POSITION, STEP, QUERIES, DEPLOYMENTS, STAGE, PHASE, POINT_NO, ANSWERED = range(9)
N_CURRENT, N_PREVIOUS, ASKED_CURRENT, ASKED, COSTLY = range(9, 14)
N_COUNTS = 14
# Values of counts[STAGE], in the order of a step.
IDLE, ORDERED, READY, OPEN, DRAWN, ASKING = range(6)
COMPLETE, EXACT_DONE, ESTIMATED, CORRECTED, MOVED = range(6, 11)
# Entries of `Memory.numbers`.
ETA, RADIUS, WEIGHT, MEAN, MEAN_COUNT, LAST = range(6)
N_NUMBERS = 6
# Columns of `Method.plan`, one row per phase: whether the phase uses new estimates; whether it
# starts at BASE rather than U, and near the anchor; which blocks move; which coordinates of a
# direction are perturbed; how many directions there are, and the first of them; how many points are
# deployed; whether they are deployed around the snapshot too; what is subtracted from values, and
# how directions are drawn.
ASKS, FROM_BASE, ANCHORED, MOVES_X, MOVES_Y = range(5)
FROM, TO, DIRECTIONS, FIRST, POINTS, CORRECTS, OFFSET, DRAWN_AS = range(5, 13)
PLAN_COLUMNS = 13
# Columns of `Method.weights`: of NEW, OLD and KEPT; the factor of the estimate.
BY_NEW, BY_OLD, BY_KEPT, FACTOR = range(4)
WEIGHT_COLUMNS = 4

# What an estimate subtracts from a perturbed value: nothing, the mean of earlier values, the value
# before, the value at the centre, the value at the mirrored point. NO_VALUES: gradients are exact.
# OBSERVED: they are exact thanks to one observed answer per sample, which is counted.
PLAIN, BASELINE, RESIDUAL, CENTRE, MIRROR, NO_VALUES, OBSERVED = range(7)
# How directions are drawn. A BASIS is fixed.
SPHERE, GAUSSIAN, ORTHONORMAL, BASIS = range(4)
RESHUFFLE, WITH_REPLACEMENT, SHUFFLE_ONCE = range(3)
# The code of a part that is not compiled: `run` returns, and Python does it.
EXTERNAL = -1
# How the gradient of a sample is obtained: from values that are counted; from values that cost
# nothing; exactly, on all coordinates.
COUNTED, FREE, KNOWN = range(3)
# Why `run` returned: it is done, or out of queries; a number is not finite; or Python has to give
# an order, directions, values, exact gradients, estimates or the next point.
DONE, OUT_OF_QUERIES, BAD_VALUE, BAD_GRADIENT = range(4)
NEED_ORDER, NEED_DIRECTIONS, NEED_VALUES, NEED_GRADIENTS, NEED_ESTIMATE, NEED_MOVE = range(4, 10)


# A choice that is fixed by type: an empty tuple is false and another one true. The compiler drops
# what a run does not need.
NO, YES = (), (True,)
Choice = tuple[()] | tuple[bool]


class Sources(NamedTuple):
    """How the gradient of each sample is obtained: by a bit per sample, or one way for all."""

    bits: np.ndarray  # packed; empty if all samples have their bit clear
    if_clear: int  # COUNTED, FREE or KNOWN
    if_set: int

    def how_many(self, source: int, n: int) -> int:
        """How many of n samples have this source."""
        with_bit = int(np.unpackbits(self.bits).sum())
        return with_bit * (self.if_set == source) + (n - with_bit) * (self.if_clear == source)


ALL_COUNTED = Sources(np.empty(0, np.uint8), COUNTED, COUNTED)


class Method(NamedTuple):
    """What stays the same during a run."""

    n: int
    batch: int
    share: float  # 1 / batch
    order: int
    observes: bool  # gradients come from observed answers
    moves: int  # 0, or EXTERNAL
    phases: int  # of the update
    snapshots: Choice  # YES if the estimate is variance-reduced; the last row of `plan` is for it
    snapshot_every: int  # epochs between two snapshots, or 0
    plan: np.ndarray  # (phases or phases + 1, PLAN_COLUMNS)
    weights: np.ndarray  # (the same, WEIGHT_COLUMNS)
    queries_per_sample: int  # in a step, at most
    flat: np.ndarray  # (groups, 2): coordinates of a direction whose sum is made 0
    asks_previous: bool
    x_perturbed: int  # how many coordinates of x are perturbed, the first ones
    y_perturbed: bool
    some_exact: bool  # some coordinate or sample has an exact gradient
    private: Choice
    x_scale: float
    y_scale: float
    reach: float  # the radius of a ball inside the sets, for feasible queries; else infinite
    sources: Sources
    tally: np.ndarray  # how often each sample was asked; empty if nobody counts


class Memory(NamedTuple):
    """What changes during a run. With the generator's state, this is the run."""

    x: np.ndarray
    y: np.ndarray
    own: np.ndarray  # (n, OWN_COLUMNS) for a private y, else empty
    directions: np.ndarray  # one per row, on the perturbed coordinates of x and then y
    order: np.ndarray  # the samples of the epoch
    samples: np.ndarray  # (SAMPLE_ROWS, 2 batch)
    answers: np.ndarray  # (points, 2 batch): values
    counts: np.ndarray
    numbers: np.ndarray
