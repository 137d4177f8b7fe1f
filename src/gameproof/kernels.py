"""Every compiled function of the package.

They stand in one file because of how Numba's disk cache works: an entry is renewed when the file of
the function changes, not when the file of a function it calls does. Kernels take arrays, numbers,
NamedTuples of those and a NumPy ``Generator``, so all of them are cached; where a problem holds a
user's own compiled function, which no cache can know again, `suited` gives their uncached twins.
Taking a field out of a NamedTuple counts a reference, so loops use local names.

**The step.** With J the current samples, K the ones before, v a direction and P the projection:

    deploy     POINT <- BASE + eps v               (then BASE or BASE - eps v, for a second point)
    estimate   NEW <- estimate over J at BASE, OLD <- estimate over K at BASE
    propose    BASE <- U -/+ eta scale (a NEW + b OLD + c KEPT)     minus on x, plus on y
    project    BASE <- P(BASE)
    commit     U <- BASE, KEPT <- NEW, average

The loop of `run` and the ask/tell loop in Python call these same functions in the same order; that
is why they agree to the last bit. An update with several phases goes through them once a phase and
commits after the last.

**Layout.** Each block, x and y, is a matrix whose rows are named below. Where sample i alone sees
the coordinate y_i (a *private* y), a step touches only the coordinates of J and K, and what there
is of each lies side by side: samples come in random order, and every further place is one more to
wait for. y is then a matrix whose columns are named below, its estimates are one number a sample
(`Memory.slots`), and a step costs O(dim x + batch), whatever the length of y.
"""

import warnings
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, typeof, types, vectorize
from numba.core.cgutils import alloca_once, create_struct_proxy, for_range_slice, get_null_value
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array
from numba.np.random._constants import fi_double, ki_double, wi_double
from numba.np.random._constants import ziggurat_nor_inv_r as INVERSE_TAIL
from numba.np.random._constants import ziggurat_nor_r as TAIL
from numba.np.random.distributions import random_standard_normal
from numba.np.random.generator_core import next_double, next_uint32, next_uint64


def cached(function: Any, **options: Any) -> Any:
    """Compiled, with the disk cache if there is a place for one."""
    try:
        return njit(cache=True, error_model="numpy", **options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        warnings.warn(
            "there is no writable folder for compiled code, so that every process compiles anew; "
            "name one in the environment variable NUMBA_CACHE_DIR",
            stacklevel=2,
        )
        return njit(error_model="numpy", **options)(function)


def compiled(function: Any) -> Any:
    """Small functions make the step readable; inlining them makes it one loop again."""
    return cached(function, forceinline=True)


def apart(function: Any) -> Any:
    """For what is long and rarely called, or only by some problems: in the step it would be in the
    way."""
    return cached(function)


def elementwise(function: Any) -> Any:
    """A compiled function of one number as one of arrays."""
    return vectorize(["f8(f8)"])(function.py_func)


def inlined(function: Any) -> Any:
    """As `compiled`, for what takes a problem's data: not cached, for those may hold a user's
    functions, and each process would add to the cache what no other can use."""
    return njit(error_model="numpy", forceinline=True)(function)


# Rows of a block; TOTAL is sum eta U.
BASE, U, TOTAL, POINT, NEW, OLD, KEPT = range(7)
ROWS = 7
# Columns of a private y: BASE, which between steps is U; DUE, which is sum eta U less U sum eta:
# it changes only where U does.
OWN_BASE, OWN_DUE = range(2)
OWN_COLUMNS = 2
# Rows of `Memory.slots`: the private counterparts of NEW, OLD and KEPT; while a step moves BASE,
# two for J and K of U at their coordinates, and two of which places count: see `note_private`.
SLOT_NEW, SLOT_OLD, SLOT_KEPT = range(3)
SLOT_U, SLOT_COUNTS, SLOTS = 3, 5, 7
# Rows of `Memory.batch`: the samples J and K; so many are in counts[N_CURRENT] and the next.
CURRENT, PREVIOUS = range(2)
# Entries of `Memory.counts`.
EPOCH, POSITION, STEP, QUERIES, DEPLOYMENTS, STAGE, PHASE, POINT_NO, ANSWERED = range(9)
N_CURRENT, N_PREVIOUS, ASKED_CURRENT, ASKED, COSTLY = range(9, 14)
N_COUNTS = 14
# Values of counts[STAGE]: between steps; samples drawn but no direction yet; a point is deployed.
IDLE, TURN, ASKING = range(3)
# Entries of `Memory.numbers`.
ETA, RADIUS, WEIGHT, MEAN, MEAN_COUNT, LAST = range(6)
N_NUMBERS = 6

# What is subtracted from a perturbed value: nothing, the running mean of earlier values, the value
# before, the value at the centre, the value at the mirrored point. Or no values are asked at all:
# gradients are exact, as they are, or thanks to one observed answer a sample.
PLAIN, BASELINE, RESIDUAL, CENTRE, MIRROR, EXACT, ENVELOPE = range(7)
RESHUFFLE, WITH_REPLACEMENT, SHUFFLE_ONCE = range(3)
BALL, BOX, INTERVAL, SIMPLEX, L1_BALL, CONE, SCALED_CONE = range(7)
# How the gradient of a sample is had: from values that are counted; from values that cost nothing;
# exactly, on all coordinates.
COUNTED, FREE, KNOWN = range(3)
LOGISTIC, HUBER, PSEUDO_HUBER = range(3)
ONE_WAY, NO_FLIP, BOTH_WAYS = range(3)
# The ziggurat of normal draws: by layer the width of a unit of size, the sizes below which a draw
# is accepted at sight, and the density at the edge; and where the parts of 64 random bits lie.
WIDTHS, SURE, HEIGHTS = wi_double, ki_double.astype(np.int64), fi_double
ONE, LAYER, SIZE = np.uint64(1), np.uint64(2**8 - 1), np.uint64(2**52 - 1)
SIGN_FROM, SIZE_FROM = np.uint64(8), np.uint64(9)
# Of 64-bit numbers whose halves are told apart.
TWO_32, LOW_HALF = np.uint64(2**32), np.uint64(2**32 - 1)
LARGEST = np.finfo(np.float64).max
HALVINGS = 200  # at which an interval of numbers has none left inside
NOT_NEGATIVE = 2**63 - 1  # a mask that tells the compiler so
# Why `run` came back.
DONE, OUT_OF_QUERIES, BAD_VALUE, BAD_GRADIENT = range(4)


class Pieces(NamedTuple):
    """A product of sets: piece p has kind kinds[p] and coordinates starts[p] .. starts[p + 1]."""

    kinds: np.ndarray
    starts: np.ndarray
    numbers: np.ndarray  # (pieces, 2): radius; bounds of an interval; slope and cap of a cone
    first: np.ndarray  # centre or lower bound by coordinate; empty where no piece has one
    second: np.ndarray  # upper bound by coordinate; likewise


class Kinds(NamedTuple):
    """How the gradients of samples are had, by their labels; without labels, all by one kind.

    The labels are the problem's own array: a step reads them anyway, and samples come in random
    order, where every further array is one more place to wait for.
    """

    labels: np.ndarray  # as in `Strategic`
    negative: int  # COUNTED, FREE or KNOWN
    positive: int

    def how_many(self, kind: int, n: int) -> int:
        """How many of n samples are of a kind."""
        positive = int(np.unpackbits(self.labels).sum())
        return positive * (self.positive == kind) + (n - positive) * (self.negative == kind)


ALL_COUNTED = Kinds(np.empty(0, np.uint8), COUNTED, COUNTED)


class Method(NamedTuple):
    """What stays the same during a run."""

    n: int
    batch: int
    order: int
    offset: int
    combine: np.ndarray  # (phases, 3): weights of NEW, OLD and KEPT
    asks_previous: bool
    x_start: int  # the perturbed coordinates of x are x_start .. x_stop
    x_stop: int
    y_perturbed: bool
    some_exact: bool  # some coordinate outside the perturbed ones has an exact gradient
    private: bool
    quick: bool  # private, one sample a step, one phase, no user's functions: see `quick_steps`
    x_scale: float
    y_scale: float
    kinds: Kinds
    tally: np.ndarray  # how often each sample was asked; empty where nobody keeps it


class Memory(NamedTuple):
    """What changes during a run, all of it: with the generator's state, this is the run."""

    x: np.ndarray
    y: np.ndarray
    slots: np.ndarray  # (SLOTS, batch) of a private y, else empty
    direction: np.ndarray  # v on the d perturbed coordinates, x's and then y's
    order: np.ndarray
    batch: np.ndarray
    asked: np.ndarray  # (2 * batch): the samples asked at the deployed point, J's and then K's
    answers: np.ndarray  # (2 points, 2 * batch): their values
    counts: np.ndarray
    numbers: np.ndarray


# --- Borrowed arrays ---------------------------------------------------------------------------


@intrinsic
def borrowed(typing_context, value):
    """The same array or generator, or tuple of such, without an owner.

    Numba counts references to an array whenever a function takes it, a view is made of it or a
    tuple holds it, and a step does these by the dozen: counting is most of its time. Of a generator
    it counts at every draw, which takes longer than the draw. A loop whose caller keeps them alive
    can do without.
    """

    def strip(context, builder, kind, bare):
        if isinstance(kind, types.Array):
            array = create_struct_proxy(kind)(context, builder, value=bare)
            array.meminfo = get_null_value(array.meminfo.type)
            array.parent = get_null_value(array.parent.type)
            return array._getvalue()
        if isinstance(kind, types.NumPyRandomGeneratorType):
            generator = create_struct_proxy(kind)(context, builder, value=bare)
            generator.meminfo = get_null_value(generator.meminfo.type)
            return generator._getvalue()
        if isinstance(kind, types.BaseTuple):
            for k, part in enumerate(kind):
                inner = strip(context, builder, part, builder.extract_value(bare, k))
                bare = builder.insert_value(bare, inner, k)
        return bare

    def generate(context, builder, signature, arguments):
        return strip(context, builder, signature.args[0], arguments[0])

    return value(value), generate


def _is_contiguous(kind, ndim):
    return isinstance(kind, types.Array) and (kind.ndim, kind.layout) == (ndim, "C")


def _borrowed_vector(context, builder, array, kind, start, size):
    """Part of a contiguous array as a vector of its own, from the number at place `start` on."""
    view = make_array(kind)(context, builder)
    each = context.get_constant(
        types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype))
    )
    place = builder.gep(array.data, [start])
    populate_array(view, place, shape=[size], strides=[each], itemsize=each, meminfo=None)
    return view._getvalue()


@intrinsic
def section(typing_context, v, start, stop):
    """v[start:stop] of a contiguous vector, borrowed, where 0 <= start <= stop <= v.size: a slice
    that may be otherwise looks twenty times whether it is."""

    def generate(context, builder, signature, arguments):
        whole = make_array(signature.args[0])(context, builder, arguments[0])
        size = builder.sub(arguments[2], arguments[1])
        kind = signature.return_type
        return _borrowed_vector(context, builder, whole, kind, arguments[1], size)

    return (v(v, types.intp, types.intp), generate) if _is_contiguous(v, 1) else None


@intrinsic
def line(typing_context, matrix, i):
    """matrix[i] of a contiguous matrix, borrowed, where 0 <= i < len(matrix)."""

    def generate(context, builder, signature, arguments):
        whole = make_array(signature.args[0])(context, builder, arguments[0])
        width = builder.extract_value(whole.shape, 1)
        start, kind = builder.mul(arguments[1], width), signature.return_type
        return _borrowed_vector(context, builder, whole, kind, start, width)

    fits = _is_contiguous(matrix, 2)
    return (matrix.copy(ndim=1)(matrix, types.intp), generate) if fits else None


# --- Sums and combinations of vectors -----------------------------------------------------------
# Written in the compiler's own terms, four coordinates at a time. Left to itself it asks before
# every loop whether the vectors overlap and how often to repeat the loop, which for a dozen
# coordinates takes longer than the loop; and where it may reorder a sum it does so in one caller
# and not in another.

NUMBER, INDEX = ir.DoubleType(), ir.IntType(64)
FOUR = ir.VectorType(NUMBER, 4)


def _by_fours(builder, size, body):
    """Emits body(c, kind) for all coordinates: kind is FOUR for c, …, c + 3, or NUMBER for the rest
    of a size that is no multiple of four."""
    whole = builder.and_(size, INDEX(-4))
    for kind, start, stop, step in ((FOUR, INDEX(0), whole, 4), (NUMBER, whole, size, 1)):
        with for_range_slice(builder, start, stop, INDEX(step), inc=True) as (c, _):
            body(c, kind)


def _at(builder, vector, c, kind):
    return builder.bitcast(builder.gep(vector.data, [c]), kind.as_pointer())


def _vectors(context, builder, kinds, values):
    return [make_array(kind)(context, builder, v) for kind, v in zip(kinds, values, strict=True)]


def _size(builder, vector):
    return builder.extract_value(vector.shape, 0)


def _are_vectors(*kinds):
    """Whether code that looks at addresses only may take them."""
    return all(_is_contiguous(k, 1) and k.dtype == types.float64 for k in kinds)


def _sum_of_products(context, builder, signature, arguments):
    """Four sums, which the processor adds to at once; the rest goes to the first of them."""
    factors = _vectors(context, builder, signature.args, arguments)
    sums = {kind: alloca_once(builder, kind) for kind in (FOUR, NUMBER)}
    for kind, zero in ((FOUR, [0.0] * 4), (NUMBER, 0.0)):
        builder.store(kind(zero), sums[kind])

    def add(c, kind):
        product = None
        for vector in factors:
            factor = builder.load(_at(builder, vector, c, kind), align=8)
            product = builder.fmul(product, factor) if product else factor
        builder.store(builder.fadd(builder.load(sums[kind]), product), sums[kind])

    _by_fours(builder, _size(builder, factors[0]), add)
    fours = builder.load(sums[FOUR])
    first, second, third, fourth = (builder.extract_element(fours, INDEX(k)) for k in range(4))
    first = builder.fadd(first, builder.load(sums[NUMBER]))
    return builder.fadd(builder.fadd(first, second), builder.fadd(third, fourth))


@intrinsic
def dot(typing_context, a, b):
    """<a, b>."""
    return (types.float64(a, b), _sum_of_products) if _are_vectors(a, b) else None


@intrinsic
def dot_of_three(typing_context, a, b, c):
    """The sum of a_k b_k c_k."""
    return (types.float64(a, b, c), _sum_of_products) if _are_vectors(a, b, c) else None


@intrinsic
def combine(typing_context, out, weights, vectors):
    """Overwrites out with weights[0] vectors[0] + weights[1] vectors[1] + …; out may be one of
    the vectors."""

    def generate(context, builder, signature, arguments):
        (target,) = _vectors(context, builder, signature.args[:1], arguments[:1])
        given = [builder.extract_value(arguments[2], k) for k in range(len(vectors))]
        terms = _vectors(context, builder, list(signature.args[2]), given)
        scales = [builder.extract_value(arguments[1], k) for k in range(len(weights))]
        none = FOUR(ir.Undefined)
        each = ir.VectorType(ir.IntType(32), 4)([0] * 4)
        spread = [
            builder.shuffle_vector(builder.insert_element(none, w, INDEX(0)), none, each)
            for w in scales
        ]

        def put(c, kind):
            total = None
            for weight, vector in zip(spread if kind == FOUR else scales, terms, strict=True):
                term = builder.load(_at(builder, vector, c, kind), align=8)
                term = builder.fmul(weight, term)
                total = builder.fadd(total, term) if total else term
            builder.store(total, _at(builder, target, c, kind), align=8)

        _by_fours(builder, _size(builder, target), put)
        return context.get_dummy_value()

    floats = types.UniTuple(types.float64, len(weights))
    return (types.void(out, floats, vectors), generate) if _are_vectors(out, *vectors) else None


# --- Memory ahead of its use --------------------------------------------------------------------
# Samples come in random order, so that with many of them each is far from all caches. The order is
# known ahead, and what a step will read can be on its way while others are taken.

AHEAD = 8  # steps
# Samples: so few that they are near anyway; so many that to find out where they lie takes longer
# than a step, and is better done for several at once.
FEW, MANY = 2000, 2**22
DRAWN = 32  # places of an order that is shuffled; a power of 2
LINE, LINES = 8, 4  # numbers that come together; after some in a row the processor goes on alone


@intrinsic
def fetch(typing_context, array, k):
    """Has the number at place k of a contiguous array brought near; changes nothing."""

    def generate(context, builder, signature, arguments):
        numbers = create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(numbers.data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        builder.call(prefetch, [place, word(0), word(3), word(1)])  # to read, for all caches, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@compiled
def fetch_row(matrix, i):
    """The beginning of row i."""
    width = matrix.shape[1]
    for c in range(0, min(width, LINE * LINES), LINE):
        fetch(matrix, i * width + c)


@compiled
def is_positive(labels, i):
    """Whether bit i is set, that of a label +1."""
    return (labels[i >> 3] >> (i & 7)) & 1 != 0


@compiled
def kind_of(kinds, i):
    """How the gradient of sample i is had."""
    if kinds.labels.size > 0 and is_positive(kinds.labels, i):
        return kinds.positive
    return kinds.negative


@njit(error_model="numpy")  # neither inlined, which slows down the step, nor cached: see `inlined`
def fetch_samples(data, kinds, tally, y, order, first, count):
    """What the steps of `count` samples, order[first] and on, will read of long arrays.

    Whether they will depends on labels, and a branch on one goes the wrong way half of the time. So
    there is none: where nothing will be read, the place is 0, which is near.
    """
    if_negative, if_positive = kinds.negative == COUNTED, kinds.positive == COUNTED
    has_tally, has_labels = tally.size > 0, kinds.labels.size > 0
    for m in range(first, min(first + count, order.size)):
        i = np.int64(order[m])
        fetch_sample(data, i)
        fetch(y, i * OWN_COLUMNS * pulls_on_y(data, i))
        if has_tally:
            positive = is_positive(kinds.labels, i) if has_labels else False
            fetch(tally, i * ((positive & if_positive) | ((not positive) & if_negative)))


def fetch_sample(data, i):
    """The data of sample i, inside compiled code."""
    raise TypeError("fetch_sample is called from compiled code only")


@overload(fetch_sample)
def _choose_fetch(data, i):
    if data.instance_class is Strategic:
        return lambda data, i: fetch_row(data.features, i)

    def row(data, i):
        fetch(data.b, i)
        fetch_row(data.a, i)

    return row


def pulls_on_y(data, i):
    """Whether L_i depends on y_i at all, inside compiled code."""
    raise TypeError("pulls_on_y is called from compiled code only")


@overload(pulls_on_y)
def _choose_pull(data, i):
    if data.instance_class is Strategic:
        return lambda data, i: has_gamma(data, i)
    return lambda data, i: True


# --- Projections -------------------------------------------------------------------------------


@compiled
def norm(v):
    """|v|, also where its square would overflow or vanish."""
    total = dot(v, v)
    if 1e-280 < total < 1e280:
        return np.sqrt(total)
    return scaled_norm(v)


@apart
def scaled_norm(v):
    """The same, of v over its largest coordinate."""
    total, largest = 0.0, 0.0
    for c in range(v.size):
        largest = max(largest, abs(v[c]))
    if largest == 0.0:
        return 0.0
    for c in range(v.size):
        total += (v[c] / largest) ** 2
    return largest * np.sqrt(total)


@compiled
def project_ball(v, centre, radius):
    """Overwrites v: centre + (v - centre) min(1, radius / |v - centre|)."""
    total, largest = 0.0, 0.0
    for c in range(v.size):
        total += (v[c] - centre[c]) ** 2
        largest = max(largest, abs(v[c] - centre[c]))
    distance = np.sqrt(total)
    if not 1e-280 < total < 1e280 and largest > 0.0:
        distance = norm(v - centre)
    if distance > radius:
        for c in range(v.size):
            v[c] = centre[c] + (v[c] - centre[c]) * (radius / distance)


@compiled
def clip(value, lower, upper):
    return min(max(value, lower), upper)


@apart
def project_simplex(v, total):
    """Overwrites v: max(v - t, 0) with t such that the sum is `total` (sort and scan).

    Shifting v by a constant shifts t alike, so v is first shifted to have maximum 0: the entries
    that stay positive are then of the size of `total`, and nothing is lost to cancellation.
    """
    shift = v.max()
    descending = np.sort(v - shift)[::-1]
    running, threshold = 0.0, 0.0
    for k in range(v.size):
        running += descending[k]
        candidate = (running - total) / (k + 1)
        if k > 0 and descending[k] <= candidate:
            break
        threshold = candidate
    for c in range(v.size):
        v[c] = max(v[c] - shift - threshold, 0.0)


@apart
def project_l1_ball(v, centre, radius):
    """Overwrites v: the signs of v - centre on the projection of |v - centre| on a simplex."""
    total = 0.0
    for c in range(v.size):
        total += abs(v[c] - centre[c])
    if total <= radius:
        return
    size = np.empty(v.size)
    for c in range(v.size):
        size[c] = abs(v[c] - centre[c])
    project_simplex(size, radius)
    for c in range(v.size):
        v[c] = centre[c] + (size[c] if v[c] >= centre[c] else -size[c])


@compiled
def project_cone(v, slope, cap):
    """Overwrites v = (theta, alpha): the nearest point with |theta| <= alpha / slope, alpha <= cap.

    First the cone; if its alpha exceeds the cap, the cap is active and only the disc of radius
    cap / slope is left.
    """
    last = v.size - 1
    length, alpha = norm(section(v, 0, last)), v[last]
    if length > alpha / slope:
        if alpha <= -length / slope:
            for c in range(v.size):
                v[c] = 0.0
            return
        shrunk = (length + slope * alpha) / (1.0 + slope * slope)
        alpha = slope * shrunk
    else:
        shrunk = length
    if alpha > cap:
        alpha = cap
        shrunk = min(length, cap / slope)
    if shrunk < length:
        for c in range(last):
            v[c] *= shrunk / length
    v[last] = alpha


@compiled
def shrunk_length(v, weights, by):
    """|weights theta| for theta_c = v_c / (1 + by weights_c^2)."""
    total = 0.0
    for c in range(v.size - 1):
        part = weights[c] * v[c] / (1.0 + by * weights[c] * weights[c])
        total += part * part
    return np.sqrt(total)


@apart
def project_scaled_cone(v, weights, slope, cap):
    """Overwrites v = (theta, alpha): the nearest point with |weights theta| <= alpha / slope and
    alpha <= cap; a theta_c without a weight is bounded by cap / slope alone.

    Off the cone, the nearest point with t = |weights theta| has alpha = slope t and
    theta_c = v_c / (1 + by weights_c^2) with by = slope^2 - slope v_alpha / t, so that t is where
    |weights theta(t)| = t. If alpha exceeds the cap, by is where |weights theta| = cap / slope.
    """
    last = v.size - 1
    length, alpha, rim = shrunk_length(v, weights, 0.0), v[last], cap / slope
    by = 0.0
    if length > alpha / slope:
        far = 0.0
        for c in range(last):
            if weights[c] > 0.0:
                far += (v[c] / weights[c]) ** 2
        if alpha <= -np.sqrt(far) / slope:
            for c in range(v.size):
                v[c] = clip(v[c], -rim, rim) if c < last and weights[c] == 0.0 else 0.0
            return
        low, high = max(alpha / slope, 0.0), length
        for _ in range(HALVINGS):
            t = 0.5 * (low + high)
            if t <= low or t >= high:
                break
            if shrunk_length(v, weights, slope * slope - slope * alpha / t) > t:
                low = t
            else:
                high = t
        by = slope * slope - slope * alpha / high
        alpha = slope * high
    if alpha > cap:
        alpha, by = cap, 0.0
        if length > rim:
            low, high = 0.0, 1.0
            while shrunk_length(v, weights, high) > rim:
                high *= 4.0
            for _ in range(HALVINGS):
                by = 0.5 * (low + high)
                if by <= low or by >= high:
                    break
                if shrunk_length(v, weights, by) > rim:
                    low = by
                else:
                    high = by
            by = high
    for c in range(last):
        if weights[c] > 0.0:
            v[c] /= 1.0 + by * weights[c] * weights[c]
        else:
            v[c] = clip(v[c], -rim, rim)
    v[last] = alpha


@compiled
def project(pieces, v):
    """Overwrites v with its projection on the product of the pieces."""
    for p in range(pieces.kinds.size):
        start, stop = pieces.starts[p], pieces.starts[p + 1]
        part = section(v, start, stop)
        kind, number = pieces.kinds[p], pieces.numbers[p, 0]
        if kind == BALL:
            project_ball(part, pieces.first[start:stop], number)
        elif kind == BOX:
            for c in range(start, stop):
                v[c] = clip(v[c], pieces.first[c], pieces.second[c])
        elif kind == INTERVAL:
            for c in range(start, stop):
                v[c] = clip(v[c], number, pieces.numbers[p, 1])
        elif kind == SIMPLEX:
            project_simplex(part, number)
        elif kind == L1_BALL:
            project_l1_ball(part, pieces.first[start:stop], number)
        elif kind == CONE:
            project_cone(part, number, pieces.numbers[p, 1])
        else:
            project_scaled_cone(part, pieces.first[start:stop], number, pieces.numbers[p, 1])


@compiled
def projected_coordinate(pieces, value, c):
    """The projection of coordinate c alone; the set is one box."""
    if pieces.kinds[0] == INTERVAL:
        return clip(value, pieces.numbers[0, 0], pieces.numbers[0, 1])
    return clip(value, pieces.first[c], pieces.second[c])


# --- Sample losses -----------------------------------------------------------------------------
# A problem that runs compiled is a NamedTuple of arrays with two functions: the value of L_i, and
# its gradient, added with a weight. `sample_value` and `add_gradient` choose them by type when the
# caller is compiled. Of a private y they take the sample's own part, whose first number it is and
# which is far away: read only where it plays a part; `at` is where its derivative goes. Other
# problems take all of y, and fill all of gy.


class Bilinear(NamedTuple):
    """L_i = x' A_i y + p_i' x + q_i' y."""

    matrices: np.ndarray  # (n, dim x, dim y)
    p: np.ndarray
    q: np.ndarray


class RankOne(NamedTuple):
    """L_i = (a_i'x)^2 / 2 + (a_i'x)(b_i'y) - (b_i'y)^2 / 2 + p_i'x - q_i'y."""

    a: np.ndarray
    b: np.ndarray
    p: np.ndarray
    q: np.ndarray


class LeastSquares(NamedTuple):
    """L_i = (a_i'x - b_i - y_i)^2 / 2 - penalty y_i^2 / 2; y_i is private."""

    a: np.ndarray
    b: np.ndarray
    penalty: float


class Claims(NamedTuple):
    """Categories whose level agents can change, one after the other: level k of category c is at
    starts[c] + k, and agent i is at level current[c, i]; see `population.budgets`."""

    starts: np.ndarray
    columns: np.ndarray  # of a level, -1 for one without a column
    steps: np.ndarray
    allowed: np.ndarray
    current: np.ndarray


def no_claims() -> Claims:
    """No category can be changed."""
    none = np.zeros(0, dtype=np.int64)
    nobody = np.zeros((0, 0), dtype=np.int64)
    return Claims(np.zeros(1, np.int64), none, np.zeros(0), np.zeros(0, np.bool_), nobody)


class Strategic(NamedTuple):
    """Robust strategic classification; see `problem.strategic`. x = (intercept, theta, alpha) with
    theta from `start` on (1 with an intercept, else 0), y = gamma, private."""

    features: np.ndarray
    labels: np.ndarray  # bits, set for +1: samples come in random order, and so few bytes stay near
    zeta: np.ndarray  # one number an agent, or one for all
    movable: np.ndarray  # the weight of each feature in the norm, 0 for those that cannot move
    start: int
    slope: float  # of alpha
    kappa: float
    s: float
    loss: Any  # a code, or a UserLoss
    width: float
    dual_norm: float
    degree: float  # q, of the conjugate of the cost
    lower: np.ndarray  # bounds of moves: a row an agent, one for all, or none without a box
    upper: np.ndarray
    claims: Claims
    flips: int
    smooth: bool  # else every gamma is maximised out of its sample
    weights: np.ndarray  # with the mean 1, or empty where all agents count the same


class UserLoss(NamedTuple):
    """phi and its slope, of one number each, from a user's compiled functions."""

    phi: Any
    slope: Any


class UserFunction(NamedTuple):
    """L_i from a user's compiled functions; those that are missing are None."""

    value: Any
    gradient: Any  # (i, x, y) -> (gx, gy)
    x_gradient: Any  # (i, x, y) -> gx
    y_gradient: Any


@compiled
def add_scaled(out, weight, v):
    combine(out, (1.0, weight), (out, v))


@compiled
def add_checked(out, weight, v):
    """As add_scaled for a user's v, of any kind of numbers; one of another length, which is a
    mistake, gives NaN."""
    if v.size != out.size:
        out[:] = np.nan
    else:
        for c in range(v.size):
            out[c] += weight * v[c]


@inlined
def bilinear_value(data, i, x, y):
    total = dot(data.p[i], x) + dot(data.q[i], y)
    for r in range(x.size):
        total += x[r] * dot(data.matrices[i, r], y)
    return total


@inlined
def bilinear_gradient(data, i, x, y, weight, gx, gy, at, whole):
    add_scaled(gx, weight, data.p[i])
    add_scaled(gy, weight, data.q[i])
    for r in range(x.size):
        gx[r] += weight * dot(data.matrices[i, r], y)
        add_scaled(gy, weight * x[r], data.matrices[i, r])


@inlined
def rank_one_value(data, i, x, y):
    s, t = dot(data.a[i], x), dot(data.b[i], y)
    return 0.5 * s * s + s * t - 0.5 * t * t + dot(data.p[i], x) - dot(data.q[i], y)


@inlined
def rank_one_gradient(data, i, x, y, weight, gx, gy, at, whole):
    s, t = dot(data.a[i], x), dot(data.b[i], y)
    add_scaled(gx, weight * (s + t), data.a[i])
    add_scaled(gx, weight, data.p[i])
    add_scaled(gy, weight * (s - t), data.b[i])
    add_scaled(gy, -weight, data.q[i])


@inlined
def least_squares_value(data, i, x, own):
    residual = dot(line(data.a, i), x) - data.b[i] - own[0]
    return 0.5 * (residual * residual - data.penalty * own[0] * own[0])


@inlined
def least_squares_gradient(data, i, x, own, weight, gx, gy, at, whole):
    residual = dot(line(data.a, i), x) - data.b[i] - own[0]
    add_scaled(gx, weight * residual, line(data.a, i))
    gy[at] += weight * (-residual - data.penalty * own[0])


@inlined
def built_in_phi(data, z):
    if data.loss == LOGISTIC:
        return 0.5 * abs(z) + np.log1p(np.exp(-abs(z)))
    if data.loss == PSEUDO_HUBER:
        return np.sqrt(1.0 + z * z)
    inside = min(abs(z), data.width)
    return inside * inside / (2.0 * data.width) + (abs(z) - inside)


@inlined
def built_in_slope(data, z):
    if data.loss == LOGISTIC:
        # As a hyperbolic tangent, but in half the time; an error of 1e-16 is lost beside s.
        small = np.exp(-abs(z))
        return np.copysign(0.5 * (1.0 - small) / (1.0 + small), z)
    if data.loss == PSEUDO_HUBER:
        return z / np.sqrt(1.0 + z * z)
    return clip(z / data.width, -1.0, 1.0)


def phi(data, z):
    """phi of the loss, inside compiled code."""
    raise TypeError("phi is called from compiled code only; see Loss.phi")


@overload(phi)
def _choose_phi(data, z):
    if _has_user_loss(data):
        return lambda data, z: data.loss.phi(z)
    return lambda data, z: built_in_phi(data, z)


def phi_slope(data, z):
    """Its derivative, inside compiled code."""
    raise TypeError("phi_slope is called from compiled code only; see Loss.slope")


@overload(phi_slope)
def _choose_slope(data, z):
    if _has_user_loss(data):
        return lambda data, z: data.loss.slope(z)
    return lambda data, z: built_in_slope(data, z)


def _has_user_loss(kind: types.NamedTuple) -> bool:
    """Whether a Strategic of this type has a UserLoss."""
    return isinstance(kind.types[kind.fields.index("loss")], types.BaseTuple)


@inlined
def dual_length(data, theta):
    """|theta|_{p*} of the movable part of theta."""
    if data.dual_norm == 2.0:
        return np.sqrt(dot_of_three(data.movable, theta, theta))
    return general_length(data.movable, theta, data.dual_norm)


@apart
def general_length(mask, theta, p):
    """|mask theta|_p for any p."""
    largest = 0.0
    for c in range(theta.size):
        largest = max(largest, mask[c] * abs(theta[c]))
    if np.isinf(p) or largest == 0.0:
        return largest
    total = 0.0
    for c in range(theta.size):
        if mask[c] > 0:
            total += (mask[c] * abs(theta[c]) / largest) ** p
    return largest * total ** (1.0 / p)


@inlined
def gain_of_moving(data, theta):
    """|theta|_{p*}^q: what an agent of unit power adds to its score."""
    if data.dual_norm == 2.0 and data.degree == 2.0:  # the paper's: no root to be squared again
        return dot_of_three(data.movable, theta, theta)
    return raised(dual_length(data, theta), data.degree)


@compiled
def raised(length, exponent):
    """length^exponent; the paper's exponents do not wait for a general power."""
    if exponent == 2.0:
        return length * length
    if exponent == 1.0:
        return length
    return length**exponent


@inlined
def theta_of(data, x):
    """The part of x that is theta."""
    return section(x, data.start, data.start + data.features.shape[1])


@inlined
def power_of(data, i):
    """zeta of agent i."""
    return data.zeta[i if data.zeta.size > 1 else 0]


@inlined
def score(data, i, x):
    """z_i = <b_i(theta), theta> + intercept."""
    theta = theta_of(data, x)
    z = dot(line(data.features, i), theta)
    if data.start == 1:
        z += x[0]
    if is_positive(data.labels, i):
        return z
    if data.lower.shape[0] > 0:
        z += gain_in_box(data.lower, data.upper, data.claims, i, theta)
    elif power_of(data, i) > 0.0:
        z += power_of(data, i) * gain_of_moving(data, theta)
    return z


@apart
def gain_in_box(lower, upper, claims, i, theta):
    """What moves between the bounds of agent i, and levels that it can claim, add to its score."""
    row, gain = (i if lower.shape[0] > 1 else 0), 0.0
    for c in range(theta.size):
        gain += max(lower[row, c] * theta[c], upper[row, c] * theta[c])
    for k in range(claims.starts.size - 1):
        own, best = claimed_levels(claims, k, i, theta)
        gain += value_of_level(claims, best, theta) - value_of_level(claims, own, theta)
    return gain


@compiled
def value_of_level(claims, level, theta):
    """What a level of a category adds to a score."""
    column = claims.columns[level]
    return claims.steps[level] * theta[column] if column >= 0 else 0.0


@compiled
def claimed_levels(claims, k, i, theta):
    """The level of agent i in category k, and the one that it claims: its own unless another one
    gains more, else the first of the best."""
    own = claims.starts[k] + claims.current[k, i]
    best = own
    for level in range(claims.starts[k], claims.starts[k + 1]):
        if claims.allowed[level] and (
            value_of_level(claims, level, theta) > value_of_level(claims, best, theta)
        ):
            best = level
    return own, best


@apart
def add_gain_in_box(lower, upper, claims, i, theta, weight, out):
    """out += weight times the move of agent i, which is the gradient of its gain."""
    row = i if lower.shape[0] > 1 else 0
    for c in range(theta.size):
        if theta[c] > 0.0:
            out[c] += weight * upper[row, c]
        elif theta[c] < 0.0:
            out[c] += weight * lower[row, c]
    for k in range(claims.starts.size - 1):
        own, best = claimed_levels(claims, k, i, theta)
        if best != own:
            if claims.columns[best] >= 0:
                out[claims.columns[best]] += weight * claims.steps[best]
            if claims.columns[own] >= 0:
                out[claims.columns[own]] -= weight * claims.steps[own]


@inlined
def label_of(data, i):
    """y_i, +1 or -1."""
    return 1.0 if is_positive(data.labels, i) else -1.0


@inlined
def has_gamma(data, i):
    """Whether the label of agent i can be turned, so that gamma_i plays a part; found without a
    branch, as `fetch_samples` needs it."""
    return (data.flips == BOTH_WAYS) | ((data.flips == ONE_WAY) & is_positive(data.labels, i))


@inlined
def strategic_value(data, i, x, gamma):
    return value_at_score(data, i, score(data, i, x), x, gamma)


@inlined
def value_at_score(data, i, z, x, gamma):
    """L_i where the score is known: the model of the response plays no part."""
    alpha, label, common = x[x.size - 1], label_of(data, i), data.slope * x[x.size - 1]
    weight = data.weights[i] if data.weights.size else 1.0
    value = phi(data, z)
    if not has_gamma(data, i):
        return common + weight * (value - data.s * label * z)
    pull = data.s * z - label * data.kappa * alpha
    return common + weight * (value + (gamma[0] * pull if data.smooth else abs(pull)))


@inlined
def add_score_gradient(data, i, x, weight, gx):
    """gx += weight dz_i/dx."""
    theta, by_theta = theta_of(data, x), theta_of(data, gx)
    if data.start == 1:
        gx[0] += weight
    add_scaled(by_theta, weight, line(data.features, i))
    if is_positive(data.labels, i):
        return
    if data.lower.shape[0] > 0:
        add_gain_in_box(data.lower, data.upper, data.claims, i, theta, weight, by_theta)
        return
    zeta = power_of(data, i)
    if zeta == 0.0:
        return
    if data.dual_norm == 2.0 and data.degree == 2.0:  # d/dtheta zeta |theta|^2
        common = weight * 2.0 * zeta
        for c in range(theta.size):
            by_theta[c] += common * data.movable[c] * theta[c]
    else:
        add_general_gain(data.movable, theta, data.dual_norm, data.degree, weight * zeta, by_theta)


@apart
def add_general_gain(mask, theta, p, q, weight, out):
    """out += weight d/dtheta |theta|^q, which is
    q |theta|^(q-1) sign(theta_c) (|theta_c| / |theta|)^(p-1) on the movable coordinates."""
    length = (
        np.sqrt(dot_of_three(mask, theta, theta)) if p == 2.0 else general_length(mask, theta, p)
    )
    if length == 0.0:
        return
    common = weight * q * raised(length, q - 1.0)
    for c in range(theta.size):
        if mask[c] > 0 and theta[c] != 0.0:
            share = mask[c] * abs(theta[c]) / length
            if not np.isinf(p):
                out[c] += common * mask[c] * np.sign(theta[c]) * raised(share, p - 1.0)
            elif mask[c] * abs(theta[c]) == length:
                out[c] += common * mask[c] * np.sign(theta[c])
                return


@inlined
def add_beside_score(data, i, z, x, gamma, weight, gx, gy, at):
    """The parts of the gradient of L_i that do not pass through the score z; returns weight times
    the derivative in z."""
    last, label = x.size - 1, label_of(data, i)
    by_score, by_alpha = phi_slope(data, z), 0.0
    own = weight * data.weights[i] if data.weights.size else weight
    if not has_gamma(data, i):
        by_score -= data.s * label
    else:
        pull = data.s * z - label * data.kappa * x[last]
        turn = gamma[0] if data.smooth else np.sign(pull)
        by_score += turn * data.s
        by_alpha -= turn * label * data.kappa
        if data.smooth:
            gy[at] += own * pull
    gx[last] += weight * data.slope + own * by_alpha
    return own * by_score


@inlined
def strategic_gradient(data, i, x, gamma, weight, gx, gy, at, whole):
    if not whole and not has_gamma(data, i):  # nothing but alpha is left
        gx[x.size - 1] += weight * data.slope
        return
    by_score = add_beside_score(data, i, score(data, i, x), x, gamma, weight, gx, gy, at)
    if whole:
        add_score_gradient(data, i, x, by_score, gx)


@inlined
def add_observed_gradient(data, i, answer, q, x, gamma, weight, gx, gy, at):
    """The same from an observed answer b alone: z = <b, theta> and dz/dtheta = x + q (b - x)."""
    features, start = data.features, data.start
    z = x[0] if start == 1 else 0.0
    for c in range(answer.size):
        z += answer[c] * x[start + c]
    by_score = add_beside_score(data, i, z, x, gamma, weight, gx, gy, at)
    if start == 1:
        gx[0] += by_score
    for c in range(answer.size):
        gx[start + c] += by_score * (features[i, c] + q * (answer[c] - features[i, c]))


BUILT_IN = {
    # A problem and its functions: the value of L_i, and its gradient.
    Bilinear: (bilinear_value, bilinear_gradient),
    RankOne: (rank_one_value, rank_one_gradient),
    LeastSquares: (least_squares_value, least_squares_gradient),
    Strategic: (strategic_value, strategic_gradient),
}
PRIVATE = (LeastSquares, Strategic)  # those whose sample i sees y_i alone


def seen_by(data, i, y):
    """What L_i depends on of a vector y, inside compiled code: all of it, or its own part."""
    raise TypeError("seen_by is called from compiled code only")


@overload(seen_by, jit_options={"forceinline": True})
def _choose_seen(data, i, y):
    if data.instance_class in PRIVATE:
        return lambda data, i, y: section(y, i, i + 1)
    return lambda data, i, y: y


def row_seen_by(data, i, y, row, private):
    """The same of a row of the block y; a private one has BASE alone."""
    raise TypeError("row_seen_by is called from compiled code only")


@overload(row_seen_by, jit_options={"forceinline": True})
def _choose_seen_row(data, i, y, row, private):
    if data.instance_class in PRIVATE:

        def own(data, i, y, row, private):
            return line(y, i) if private else section(line(y, row), i, i + 1)

        return own
    return lambda data, i, y, row, private: y[row]


def sample_value(data, i, x, y):
    """L_i(x, y), inside compiled code; y as `seen_by` sample i."""
    raise TypeError("sample_value is called from compiled code only; see values_at")


@overload(sample_value)
def _choose_value(data, i, x, y):
    if data.instance_class is UserFunction:
        return lambda data, i, x, y: data.value(i, x, y)
    value = BUILT_IN[data.instance_class][0]
    return lambda data, i, x, y: value(data, i, x, y)


def add_gradient(data, i, x, y, weight, gx, gy, at, whole):
    """gx += weight dL_i/dx, gy += weight dL_i/dy, inside compiled code; y as `seen_by` sample i.
    Where not `whole`, an estimate will overwrite the perturbed coordinates of x, and a problem may
    leave them out."""
    raise TypeError("add_gradient is called from compiled code only; see gradient_at")


@overload(add_gradient)
def _choose_gradient(data, i, x, y, weight, gx, gy, at, whole):
    if data.instance_class is not UserFunction:
        gradient = BUILT_IN[data.instance_class][1]
        return lambda data, i, x, y, weight, gx, gy, at, whole: gradient(
            data, i, x, y, weight, gx, gy, at, whole
        )
    has = {
        name
        for name, kind in zip(data.fields, data.types, strict=True)
        if not isinstance(kind, types.NoneType)
    }
    if "gradient" in has:

        def joint(data, i, x, y, weight, gx, gy, at, whole):
            found = data.gradient(i, x, y)
            add_checked(gx, weight, found[0])
            add_checked(gy, weight, found[1])

        return joint
    if {"x_gradient", "y_gradient"} <= has:

        def pair(data, i, x, y, weight, gx, gy, at, whole):
            add_checked(gx, weight, data.x_gradient(i, x, y))
            add_checked(gy, weight, data.y_gradient(i, x, y))

        return pair
    if "x_gradient" in has:

        def of_x(data, i, x, y, weight, gx, gy, at, whole):
            add_checked(gx, weight, data.x_gradient(i, x, y))

        return of_x
    if "y_gradient" in has:

        def of_y(data, i, x, y, weight, gx, gy, at, whole):
            add_checked(gy, weight, data.y_gradient(i, x, y))

        return of_y
    return lambda data, i, x, y, weight, gx, gy, at, whole: None


@compiled
def values_at(data, indices, x, y, out):
    """Overwrites out with L_i(x, y) for i in indices."""
    for m in range(indices.size):
        out[m] = sample_value(data, indices[m], x, seen_by(data, indices[m], y))


@compiled
def scores_at(data, x, out):
    """Overwrites out with the score of every agent."""
    for i in range(out.size):
        out[i] = score(data, i, x)


@compiled
def values_at_scores(data, indices, scores, x, y, out):
    """Overwrites out with L_i for i in indices, their scores given."""
    for m in range(indices.size):
        out[m] = value_at_score(data, indices[m], scores[m], x, seen_by(data, indices[m], y))


@compiled
def gradient_at(data, i, x, y, gx, gy):
    """Overwrites gx and gy with the gradient of L_i at (x, y)."""
    gx[:] = 0.0
    gy[:] = 0.0
    add_gradient(data, i, x, seen_by(data, i, y), 1.0, gx, gy, i, True)


@compiled
def mean_value(data, n, x, y):
    total = 0.0
    for i in range(n):
        total += sample_value(data, i, x, seen_by(data, i, y))
    return total / n


# --- The parts of a step -----------------------------------------------------------------------


@compiled
def batch_size(method, counts):
    """The last batch of an epoch may be smaller."""
    return min(method.batch, method.n - counts[POSITION])


@compiled
def below(rng, n):
    """rng.integers(0, n), the same draw by Lemire's method: Numba's makes an array for each."""
    if n >= 2**32:
        return rng.integers(0, n)
    if n == 1:  # there is nothing to draw
        return 0
    size = np.uint64(n)
    product = np.uint64(next_uint32(rng.bit_generator)) * size
    if product & LOW_HALF < size:
        threshold = (TWO_32 - size) % size
        while product & LOW_HALF < threshold:
            product = np.uint64(next_uint32(rng.bit_generator)) * size
    return np.int64(product >> np.uint64(32))


@apart
def shuffle(order, rng):
    """Overwrites order with a uniform permutation, from the draws rng.integers(0, i + 1) for
    i = n - 1, …, 1 (the generator's own shuffle takes long to compile). With whom a place changes
    is drawn some places ahead: in a long order that is far away, and is sent for."""
    n, rng, partners = order.size, borrowed(rng), np.empty(DRAWN, dtype=np.int64)
    for i in range(n):
        order[i] = i
    for drawn in range(n - 1, -DRAWN, -1):
        i, at = drawn + DRAWN, drawn & (DRAWN - 1)
        if i < n:
            j = partners[at]
            order[i], order[j] = order[j], order[i]
        if drawn > 0:
            partners[at] = below(rng, drawn + 1)
            fetch(order, partners[at])


@compiled
def draw_order(method, memory, rng):
    """Overwrites what of the order is random: the permutation of an epoch, or WR's samples."""
    counts, order = memory.counts, memory.order
    if method.order == WITH_REPLACEMENT:
        samples = memory.batch[CURRENT]
        for m in range(batch_size(method, counts)):
            samples[m] = below(rng, method.n)
    elif counts[POSITION] == 0 and (method.order == RESHUFFLE or counts[EPOCH] == 0):
        shuffle(order, rng)


@compiled
def draw_direction(direction, rng):
    """Overwrites direction with rng.standard_normal() for each coordinate; returns the sum of their
    squares, as `make_unit` would find it.

    The draws are the generator's, by its ziggurat: a layer, a sign and a size are cut from 64 bits,
    and in 99 of 100 cases that is all. Written out here for those, because Numba's takes half as
    long again: it compares integers as floats, and it branches on the sign.
    """
    bits, square = rng.bit_generator, 0.0
    for c in range(direction.size):
        drawn = next_uint64(bits)
        layer, size = np.int64(drawn & LAYER), np.int64((drawn >> SIZE_FROM) & SIZE)
        flip = -np.int64((drawn >> SIGN_FROM) & ONE)  # all ones, or none
        value = ((size ^ flip) - flip) * WIDTHS[layer]
        if size >= SURE[layer]:
            value = unsure_normal(bits, layer, size, value)
        direction[c] = value
        square += value * value
    return square


@apart
def unsure_normal(bits, layer, size, value):
    """The rest of the ziggurat: a draw in the tail, or at the edge of a layer, where it may be
    rejected and all begins anew."""
    if layer > 0:
        height = (HEIGHTS[layer - 1] - HEIGHTS[layer]) * next_double(bits) + HEIGHTS[layer]
        return value if height < np.exp(-0.5 * value * value) else random_standard_normal(bits)
    while True:
        beyond = -INVERSE_TAIL * np.log1p(-next_double(bits))
        against = -np.log1p(-next_double(bits))
        if against + against > beyond * beyond:
            return -(TAIL + beyond) if (size >> 8) & 1 else TAIL + beyond


@compiled
def list_asked(kinds, samples, size, listed, at):
    """Overwrites listed from `at` on with the samples that are asked; where it ends."""
    for m in range(size):
        if kind_of(kinds, samples[m]) != KNOWN:
            listed[at] = samples[m]
            at += 1
    return at


@compiled
def count_costly(kinds, listed, total):
    """How many of the samples asked are counted."""
    costly = 0
    for m in range(total):
        costly += kind_of(kinds, listed[m]) == COUNTED
    return costly


@compiled
def list_samples(method, memory):
    """Overwrites the list of samples asked: of J, then of K."""
    counts, batch, listed, kinds = memory.counts, memory.batch, memory.asked, method.kinds
    total = list_asked(kinds, batch[CURRENT], counts[N_CURRENT], listed, 0)
    counts[ASKED_CURRENT] = total
    if method.asks_previous:
        total = list_asked(kinds, batch[PREVIOUS], counts[N_PREVIOUS], listed, total)
    counts[ASKED], counts[COSTLY] = total, count_costly(kinds, listed, total)
    for m in range(total, listed.size):  # what was asked before does not show in a state
        listed[m] = 0


@compiled
def open_step(method, memory):
    """Overwrites the batch J, and the list of samples asked."""
    counts, batch, order = memory.counts, memory.batch, memory.order
    counts[N_CURRENT] = batch_size(method, counts)
    if method.order != WITH_REPLACEMENT:
        for m in range(counts[N_CURRENT]):
            batch[CURRENT, m] = order[counts[POSITION] + m]
    list_samples(method, memory)
    counts[STAGE] = TURN


@compiled
def make_unit(v):
    """Overwrites v, drawn from the normal distribution, with v / |v|."""
    square = 0.0
    for c in range(v.size):
        square += v[c] * v[c]
    divide(v, np.sqrt(square))


@compiled
def divide(v, by):
    for c in range(v.size):
        v[c] /= by


@compiled
def shift(point, base, by, v):
    """Overwrites point with base + by v."""
    combine(point, (1.0, by), (base, v))


@compiled
def deploy(method, memory):
    """Overwrites POINT with the next point at which values are asked."""
    counts, v, by = memory.counts, memory.direction, memory.numbers[RADIUS]
    if counts[POINT_NO] == 0:
        make_unit(v)
    elif method.offset == CENTRE:
        by = 0.0
    else:
        by = -by
    place(method, memory, by)


@compiled
def place(method, memory, by):
    """Overwrites POINT with BASE + by v, and waits for its values."""
    counts, x, y, v = memory.counts, memory.x, memory.y, memory.direction
    start, stop = method.x_start, method.x_stop
    shift(x[POINT, start:stop], x[BASE, start:stop], by, v[: stop - start])
    if method.y_perturbed:
        shift(y[POINT], y[BASE], by, v[stop - start :])
    counts[ANSWERED] = 0
    counts[DEPLOYMENTS] += counts[COSTLY] > 0
    counts[STAGE] = ASKING


@compiled
def points(method: Method) -> int:
    """How many points an estimate asks values at."""
    if method.offset >= EXACT:
        return 0
    return 2 if method.offset >= CENTRE else 1


@compiled
def step_cost(method, counts):
    """How many values or answers the next step asks, at most."""
    samples = batch_size(method, counts)
    if method.asks_previous:
        samples += counts[N_PREVIOUS]
    each = 1 if method.offset == ENVELOPE else points(method)
    return samples * each * method.combine.shape[0]


@compiled
def difference(method, answers, numbers, start, stop):
    """Sum over answers start .. stop of the value minus its offset, over the size of a full batch:
    so that a last batch that is smaller weighs less, and every sample of an epoch the same."""
    total, common = 0.0, 0.0
    if method.offset == BASELINE:
        common = numbers[MEAN]
    elif method.offset == RESIDUAL:
        common = numbers[LAST]
    for m in range(start, stop):
        total += answers[0, m] - (answers[1, m] if method.offset >= CENTRE else common)
    return total / method.batch


@compiled
def clear_perturbed(method, memory, row):
    """Overwrites the perturbed coordinates of a row with zeros."""
    x, y = memory.x, memory.y
    for c in range(method.x_start, method.x_stop):
        x[row, c] = 0.0
    if method.y_perturbed:
        for c in range(y.shape[1]):
            y[row, c] = 0.0


@compiled
def write_estimate(method, memory, row, change):
    """Adds (d / eps) change v to the perturbed coordinates of a row, which hold the exact part of
    samples that are not asked, or nothing."""
    x, y, v = memory.x, memory.y, memory.direction
    start, width = method.x_start, method.x_stop - method.x_start
    gain = v.size / memory.numbers[RADIUS] * change
    if method.offset == MIRROR:
        gain *= 0.5
    if not method.some_exact:
        clear_perturbed(method, memory, row)
    for c in range(width):
        x[row, start + c] += gain * v[c]
    for c in range(v.size - width):
        y[row, c] += gain * v[width + c]


@compiled
def remembers(method):
    """Whether values are compared with earlier ones."""
    return method.offset == BASELINE or method.offset == RESIDUAL


@compiled
def remember_value(method, answers, numbers, size):
    """Overwrites the offsets of the next step: the last value, and the mean of about an epoch."""
    value = 0.0
    for m in range(size):
        value += answers[0, m]
    steps_an_epoch = (method.n + method.batch - 1) // method.batch
    remember(numbers, value / size, steps_an_epoch)


@compiled
def remember(numbers, value, steps_an_epoch):
    numbers[MEAN_COUNT] = min(numbers[MEAN_COUNT] + 1.0, float(steps_an_epoch))
    numbers[MEAN] += (value - numbers[MEAN]) / numbers[MEAN_COUNT]
    numbers[LAST] = value


@compiled
def estimate(method, memory):
    """Completes the perturbed coordinates of NEW and OLD, and overwrites the offsets of the next
    step."""
    answers, numbers, counts = memory.answers, memory.numbers, memory.counts
    current, total = counts[ASKED_CURRENT], counts[ASKED]
    if method.offset >= EXACT or total == 0:
        return
    change = difference(method, answers, numbers, 0, current)
    write_estimate(method, memory, NEW, change)
    if method.asks_previous and counts[N_PREVIOUS] > 0:
        change = difference(method, answers, numbers, current, total)
        write_estimate(method, memory, OLD, change)
    if current > 0 and remembers(method):
        remember_value(method, answers, numbers, current)


@compiled
def propose_block(rows, step, a, b, c):
    """Overwrites BASE of a block: U - step (a NEW + b OLD + c KEPT)."""
    base = rows[BASE]
    combine(base, (a, b, c), (rows[NEW], rows[OLD], rows[KEPT]))
    combine(base, (1.0, -step), (rows[U], base))


@compiled
def note_private(y, slots, batch, counts):
    """Notes U at the coordinates of J and K. A sample may stand in both, or twice in one: each
    place leaves its number there, and the one whose number stays counts. `begin_private` takes
    the numbers away again."""
    width = slots.shape[1]
    for which in (CURRENT, PREVIOUS):
        for m in range(counts[N_CURRENT + which]):
            slots[SLOT_U + which, m] = y[batch[which, m], OWN_BASE]
    for which in (CURRENT, PREVIOUS):
        for m in range(counts[N_CURRENT + which]):
            y[batch[which, m], OWN_BASE] = which * width + m
    for which in (CURRENT, PREVIOUS):
        for m in range(counts[N_CURRENT + which]):
            stays = y[batch[which, m], OWN_BASE] == which * width + m
            slots[SLOT_COUNTS + which, m] = 1.0 if stays else 0.0


@compiled
def begin_private(y, slots, batch, counts):
    """BASE <- U at the coordinates of J and K."""
    for which in (CURRENT, PREVIOUS):
        for m in range(counts[N_CURRENT + which]):
            y[batch[which, m], OWN_BASE] = slots[SLOT_U + which, m]


@compiled
def propose_private(y, slots, batch, counts, step, a, b, c):
    """The same for a private y, where moves of one coordinate add up. What nothing pulls on is left
    alone: not even the sign of a zero changes."""
    if counts[PHASE] == 0:
        note_private(y, slots, batch, counts)
    begin_private(y, slots, batch, counts)
    for m in range(counts[N_CURRENT]):
        move = step * (a * slots[SLOT_NEW, m])
        if move != 0.0:
            y[batch[CURRENT, m], OWN_BASE] -= move
    for m in range(counts[N_PREVIOUS]):
        move = step * (b * slots[SLOT_OLD, m] + c * slots[SLOT_KEPT, m])
        if move != 0.0:
            y[batch[PREVIOUS, m], OWN_BASE] -= move


@compiled
def propose(method, memory):
    """Overwrites BASE with the step from U, not yet projected: descent in x, ascent in y."""
    counts, weights = memory.counts, method.combine
    eta, phase = memory.numbers[ETA], counts[PHASE]
    a, b, c = weights[phase, 0], weights[phase, 1], weights[phase, 2]
    if counts[N_PREVIOUS] == 0:  # no step before: every estimate is the new one
        a, b, c = a + b + c, 0.0, 0.0
    propose_block(memory.x, eta * method.x_scale, a, b, c)
    if method.private:
        step = -eta * method.y_scale
        propose_private(memory.y, memory.slots, memory.batch, counts, step, a, b, c)
    else:
        propose_block(memory.y, -eta * method.y_scale, a, b, c)


@compiled
def project_base(method, x_pieces, y_pieces, memory):
    """Overwrites BASE with its projection; only the touched coordinates of a private y."""
    project(x_pieces, memory.x[BASE])
    if not method.private:
        project(y_pieces, memory.y[BASE])
        return
    y, batch, counts = memory.y, memory.batch, memory.counts
    for which in (CURRENT, PREVIOUS):
        for m in range(counts[N_CURRENT + which]):
            k = batch[which, m]
            y[k, OWN_BASE] = projected_coordinate(y_pieces, y[k, OWN_BASE], k)


@compiled
def commit_block(rows, eta):
    for k in range(rows.shape[1]):
        rows[U, k] = rows[POINT, k] = rows[BASE, k]
        rows[TOTAL, k] += eta * rows[BASE, k]
        rows[KEPT, k] = rows[NEW, k]


@compiled
def commit_private(y, slots, batch, counts, weight):
    """U <- BASE, with what that makes of DUE; `weight` is sum eta before this step."""
    for which in (CURRENT, PREVIOUS):
        for m in range(counts[N_CURRENT + which]):
            k, noted = batch[which, m], slots[SLOT_U + which, m]
            if slots[SLOT_COUNTS + which, m] > 0.0:
                y[k, OWN_DUE] += (noted - y[k, OWN_BASE]) * weight
            slots[SLOT_U + which, m] = slots[SLOT_COUNTS + which, m] = 0.0
    for m in range(counts[N_CURRENT]):
        slots[SLOT_KEPT, m] = slots[SLOT_NEW, m]


@compiled
def commit(method, memory):
    """Ends the phase; after the last one the iterate, the average and the counts move on."""
    counts, numbers, batch, x = memory.counts, memory.numbers, memory.batch, memory.x
    counts[POINT_NO] = 0
    counts[PHASE] += 1
    if counts[PHASE] < method.combine.shape[0]:
        for k in range(x.shape[1]):
            x[POINT, k] = x[BASE, k]
        counts[STAGE] = TURN
        return
    commit_block(x, numbers[ETA])
    if method.private:
        commit_private(memory.y, memory.slots, batch, counts, numbers[WEIGHT])
    else:
        commit_block(memory.y, numbers[ETA])
    numbers[WEIGHT] += numbers[ETA]
    for m in range(counts[N_CURRENT]):
        batch[PREVIOUS, m] = batch[CURRENT, m]
    counts[N_PREVIOUS] = counts[N_CURRENT]
    counts[ANSWERED] = 0
    counts[PHASE] = 0
    counts[STAGE] = IDLE
    counts[STEP] += 1
    counts[POSITION] += counts[N_CURRENT]
    if counts[POSITION] == method.n:
        counts[POSITION] = 0
        counts[EPOCH] += 1


@compiled
def conclude(method, x_pieces, y_pieces, memory):
    """From the answers of a phase to its end."""
    estimate(method, memory)
    propose(method, memory)
    project_base(method, x_pieces, y_pieces, memory)
    commit(method, memory)


@inlined
def add_exact(data, method, memory, row, slot_row, which, size):
    """Overwrites a row with the mean exact gradient at BASE over one half of the batch."""
    x, y, samples = memory.x[BASE], memory.y, memory.batch[which]
    gx = memory.x[row]
    gy = memory.slots[slot_row] if method.private else memory.y[row]
    kinds, estimated = method.kinds, method.x_stop > method.x_start
    gx[:] = 0.0
    gy[:] = 0.0
    # The samples that are asked give no gradient on the perturbed coordinates; the others do.
    for known in (False, True):
        for m in range(size):
            if (kind_of(kinds, samples[m]) == KNOWN) == known:
                at = m if method.private else samples[m]
                seen = row_seen_by(data, samples[m], y, BASE, method.private)
                whole = known or not estimated
                add_gradient(data, samples[m], x, seen, 1.0 / method.batch, gx, gy, at, whole)
        if not known:
            clear_perturbed(method, memory, row)
    return all_finite(gx) and all_finite(gy)


@compiled
def all_finite(v):
    bad = False
    for c in range(v.size):
        bad |= not abs(v[c]) <= LARGEST
    return not bad


@inlined
def exact_gradients(data, method, memory):
    """Overwrites NEW and OLD; `estimate` then overwrites their perturbed coordinates. False if a
    gradient is not finite."""
    counts = memory.counts
    good = add_exact(data, method, memory, NEW, SLOT_NEW, CURRENT, counts[N_CURRENT])
    if method.asks_previous and counts[N_PREVIOUS] > 0:
        good &= add_exact(data, method, memory, OLD, SLOT_OLD, PREVIOUS, counts[N_PREVIOUS])
    if method.offset == ENVELOPE:
        count_observed(method, memory)
    return good


# The same for calls from Python.
only_exact_gradients = cached(exact_gradients.py_func)


@compiled
def count_observed(method, memory):
    """Counts the answers behind the gradients of a phase."""
    counts, samples, tally = memory.counts, memory.asked, method.tally
    counts[QUERIES] += counts[ASKED]
    if counts[ASKED] > 0:
        counts[DEPLOYMENTS] += 1
    if tally.size > 0:
        for m in range(counts[ASKED]):
            tally[samples[m]] += 1


@compiled
def observed_gradients(data, method, memory, answers, q):
    """Overwrites NEW and OLD as `exact_gradients` does, given the observed answers of the samples
    asked, J's and then K's, row by row. Counts nothing: whoever gave the answers has."""
    counts = memory.counts
    done = add_observed(
        data, method, memory, NEW, SLOT_NEW, CURRENT, counts[N_CURRENT], answers, q, 0
    )
    if method.asks_previous and counts[N_PREVIOUS] > 0:
        add_observed(
            data, method, memory, OLD, SLOT_OLD, PREVIOUS, counts[N_PREVIOUS], answers, q, done
        )


@inlined
def add_observed(data, method, memory, row, slot_row, which, size, answers, q, done):
    """One half of that; returns how many answers were used up so far."""
    x, y, samples = memory.x[BASE], memory.y, memory.batch[which]
    gx = memory.x[row]
    gy = memory.slots[slot_row] if method.private else memory.y[row]
    gx[:] = 0.0
    gy[:] = 0.0
    for m in range(size):
        i = samples[m]
        at, weight = m if method.private else i, 1.0 / method.batch
        gamma = row_seen_by(data, i, y, BASE, method.private)
        if kind_of(method.kinds, i) == KNOWN:
            add_gradient(data, i, x, gamma, weight, gx, gy, at, True)
        else:
            add_observed_gradient(data, i, answers[done], q, x, gamma, weight, gx, gy, at)
            done += 1
    return done


@inlined
def answer(data, method, memory):
    """Asks for the values still missing at the deployed point; False at one that is not finite."""
    counts, samples, answers = memory.counts, memory.asked, memory.answers[memory.counts[POINT_NO]]
    x, y, row = memory.x[POINT], memory.y, POINT if method.y_perturbed else BASE
    kinds, tally = method.kinds, method.tally
    for m in range(counts[ANSWERED], counts[ASKED]):
        seen = row_seen_by(data, samples[m], y, row, method.private)
        answers[m] = sample_value(data, samples[m], x, seen)
        if kind_of(kinds, samples[m]) == COUNTED:
            counts[QUERIES] += 1
            if tally.size > 0:
                tally[samples[m]] += 1
        if not np.isfinite(answers[m]):
            return False
        counts[ANSWERED] = m + 1
    return True


# --- Quick steps -------------------------------------------------------------------------------
# Most runs have one sample a step and a private y. Their steps are written out once more, with the
# same arithmetic in the same order and so to the same bits, but without the loops over batches and
# the notes from which a question that is half answered could go on: half of a step's time.


@compiled
def copy_ends(out, v, start, stop):
    """Overwrites out with v, but for out[start:stop]."""
    for c in range(start):
        out[c] = v[c]
    for c in range(stop, v.size):
        out[c] = v[c]


@inlined
def quick_gradient(data, method, i, known, x, own, gain, v, gx, slot):
    """Overwrites gx and slot[0] with the gradient of sample i: exact where that is known, and
    gain v on the perturbed coordinates where it is not."""
    start, stop = method.x_start, method.x_stop
    whole = known or start == stop
    slot[0] = 0.0
    if whole:
        gx[:] = 0.0
    else:
        for c in range(start):
            gx[c] = 0.0
        for c in range(stop, gx.size):
            gx[c] = 0.0
    add_gradient(data, i, x, own, 1.0, gx, slot, 0, whole)
    if whole:
        return
    combine(section(gx, start, stop), (gain,), (v,))


@inlined
def quick_values(data, method, memory, u, i, k, current, asked):
    """Overwrites POINT and the answers there, of one or two points, of samples i (if current is
    1, not 0) and k (if asked is larger); False if one is not finite."""
    point, y = memory.x[POINT], memory.y
    start, stop, by = method.x_start, method.x_stop, memory.numbers[RADIUS]
    answers, good = memory.answers, True
    for p in range(points(method)):
        if p == 1 and method.offset == CENTRE:
            point = u
        else:
            copy_ends(point, u, start, stop)
            part, base = section(point, start, stop), section(u, start, stop)
            shift(part, base, by if p == 0 else -by, memory.direction)
        for m in range(asked):
            j = i if m < current else k
            answers[p, m] = sample_value(data, j, point, line(y, j))
            good &= abs(answers[p, m]) <= LARGEST
    return good


@compiled
def quick_difference(method, answers, numbers, m):
    """As `difference` and the halving of MIRROR, for one answer."""
    if method.offset == MIRROR:
        return 0.5 * (answers[0, m] - answers[1, m])
    if method.offset == CENTRE:
        return answers[0, m] - answers[1, m]
    if method.offset == BASELINE:
        return answers[0, m] - numbers[MEAN]
    return answers[0, m] - (numbers[LAST] if method.offset == RESIDUAL else 0.0)


@compiled
def quick_move(pieces, y, k, first, second, weight):
    """The whole step of one private coordinate, down by first and second."""
    if first != 0.0 or second != 0.0:
        own = line(y, k)
        moved = projected_coordinate(pieces, own[OWN_BASE] - first - second, k)
        own[OWN_DUE] += (own[OWN_BASE] - moved) * weight
        own[OWN_BASE] = moved


def steps_written_out(data, method, x_pieces, y_pieces, memory, rng, last_step, max_queries):
    """Whole steps, one or more: up to the end of the epoch, to last_step, or as many as are sure
    not to exceed max_queries; the caller knows that there is a next step within both.

    A value or gradient that is not finite leaves the step open, with its point deployed, and `run`
    comes upon it again. Counts are kept in local names, which stay in registers.
    """
    counts, numbers, order, batch = memory.counts, memory.numbers, memory.order, memory.batch
    v, answers, kinds, tally = memory.direction, memory.answers, method.kinds, method.tally
    u, base, total, slots = memory.x[U], memory.x[BASE], memory.x[TOTAL], memory.slots
    new, old, kept = memory.x[NEW], memory.x[OLD], memory.x[KEPT]
    new_slot, old_slot, y = slots[SLOT_NEW], slots[SLOT_OLD], memory.y
    n, n_points, reshuffled = method.n, points(method), method.order != WITH_REPLACEMENT
    rounds = 1 if method.offset == ENVELOPE else n_points
    eta, radius, weight = numbers[ETA], numbers[RADIUS], numbers[WEIGHT]
    step, y_step, scale = eta * method.x_scale, -eta * method.y_scale, v.size / radius
    by_new, by_old, by_kept = method.combine[0, 0], method.combine[0, 1], method.combine[0, 2]
    alone, has_memory = by_new + by_old + by_kept, by_old != 0.0 or by_kept != 0.0
    queries, deployments, position = counts[QUERIES], counts[DEPLOYMENTS], counts[POSITION]
    limit = min(n - position, last_step - counts[STEP])
    if rounds > 0:
        limit = min(limit, max(1, (max_queries - queries) // (2 * rounds)))
    if reshuffled:
        draw_order(method, memory, rng)
    k, follows = batch[PREVIOUS, 0] & NOT_NEGATIVE, counts[N_PREVIOUS] > 0
    k_kind = kind_of(kinds, k) if follows and method.asks_previous else KNOWN
    before, i, done = k, k, 0  # before: what k was in the step before
    good, deployed, fetches = True, False, reshuffled and n > FEW
    together = AHEAD if n > MANY else 1
    while done < limit:
        if fetches and done & (together - 1) == 0:
            first = position + done + AHEAD
            fetch_samples(data, kinds, tally, y, order, first, together)
        i = np.int64(order[position + done]) if reshuffled else below(rng, n) & NOT_NEGATIVE
        i_kind = kind_of(kinds, i)
        current = 1 if i_kind != KNOWN else 0
        asked = current + 1 if k_kind != KNOWN else current
        deployed = n_points > 0 and asked > 0
        if deployed:
            divide(v, np.sqrt(draw_direction(v, rng)))
            good = quick_values(data, method, memory, u, i, k, current, asked)
        gain = scale * quick_difference(method, answers, numbers, 0)
        quick_gradient(data, method, i, current == 0, u, line(y, i), gain, v, new, new_slot)
        if follows and method.asks_previous:
            gain = scale * quick_difference(method, answers, numbers, current)
            own = line(y, k)
            quick_gradient(data, method, k, asked == current, u, own, gain, v, old, old_slot)
        recalls = follows and has_memory
        if recalls:
            combine(base, (by_new, by_old, by_kept), (new, old, kept))
            i_move = by_new * new_slot[0]
            k_move = by_old * old_slot[0] + by_kept * slots[SLOT_KEPT, 0]
        else:
            combine(base, (alone,), (new,))
            i_move, k_move = alone * new_slot[0], 0.0
        good = good and abs(i_move) + abs(k_move) <= LARGEST
        if not (good and dot(base, base) <= LARGEST):
            good = good and all_finite(base)  # its square may be too large
            if not good:
                break
        combine(base, (1.0, -step), (u, base))
        project(x_pieces, base)
        add_scaled(total, eta, base)
        if i == k:
            quick_move(y_pieces, y, i, y_step * i_move, y_step * k_move, weight)
        else:
            quick_move(y_pieces, y, i, y_step * i_move, 0.0, weight)
            quick_move(y_pieces, y, k, y_step * k_move, 0.0, weight)
        slots[SLOT_KEPT, 0] = new_slot[0]
        weight += eta
        if i_kind == COUNTED or k_kind == COUNTED:
            queries += rounds * ((i_kind == COUNTED) + (k_kind == COUNTED))
            deployments += rounds
            if tally.size > 0 and rounds > 0:
                if i_kind == COUNTED:
                    tally[i] += rounds
                if k_kind == COUNTED:
                    tally[k] += rounds
        if deployed and current > 0 and remembers(method):
            remember(numbers, answers[0, 0], n)
        u, base, new, kept = base, u, kept, new
        before, k, k_kind, follows = k, i, i_kind if method.asks_previous else KNOWN, True
        done += 1
    # What the loop kept in local names goes to where `run` and a state look for it. The rows of x
    # changed places at every step; u and kept are whatever was last the iterate and its estimate.
    counts[QUERIES], counts[DEPLOYMENTS], numbers[WEIGHT] = queries, deployments, weight
    counts[POSITION], counts[STEP] = position + done, counts[STEP] + done
    for p in range(u.size):
        iterate, estimate = u[p], kept[p]
        memory.x[U, p] = memory.x[BASE, p] = memory.x[POINT, p] = iterate
        memory.x[NEW, p] = memory.x[KEPT, p] = estimate
    if good:  # the list of samples asked is that of the last step: its i, and what k was in it
        batch[CURRENT, 0], batch[PREVIOUS, 0], counts[N_CURRENT] = i, before, 1
        counts[N_PREVIOUS] = counts[N_PREVIOUS] if done == 1 else 1  # the first step may have no k
        list_samples(method, memory)
    batch[CURRENT, 0], batch[PREVIOUS, 0], counts[N_PREVIOUS] = i, k, follows
    if position + done == n:
        counts[POSITION] = 0
        counts[EPOCH] += 1
    if not good:
        open_step(method, memory)
        if deployed:
            place(method, memory, radius)


def quick_steps(data, method, x_pieces, y_pieces, memory, rng, last_step, max_queries):
    """`steps_written_out`, inside compiled code."""
    raise TypeError("quick_steps is called from compiled code only; see Run.advance")


# Inlined, so that the loop sees its arrays have no owners: counting references takes three times
# as long as the step.
@overload(quick_steps, jit_options={"forceinline": True})
def _choose_quick(data, method, x_pieces, y_pieces, memory, rng, last_step, max_queries):
    """For the problems whose methods can be quick; others do not wait for them to be compiled."""
    own = data.instance_class
    if own is LeastSquares or (own is Strategic and not _has_user_loss(data)):
        return steps_written_out
    return lambda data, method, x_pieces, y_pieces, memory, rng, last_step, max_queries: None


# A call from Python pays by the argument, and a step would hand over forty. So the calls of a step
# in Python take a handle: one array with the bits of all parts, addresses of arrays among them.


class Parts(NamedTuple):
    """All that a step works on, but for the values."""

    method: Method
    x_pieces: Pieces
    y_pieces: Pieces
    memory: Memory


def _type_of_parts():
    """The one type that Parts have, whatever the problem: a handle does not tell its own."""
    v, m = np.empty(0), np.empty((0, 0))
    i, ii = np.empty(0, np.int64), np.empty((0, 0), np.int64)
    short, order, kinds = np.empty(0, np.int32), np.empty(0, np.uint32), ALL_COUNTED
    method = Method(0, 0, 0, 0, m, False, 0, 0, False, False, False, False, 0.0, 0.0, kinds, short)
    memory = Memory(m, m, m, v, order, ii, i, m, i, v)
    return typeof(Parts(method, NO_PIECES, NO_PIECES, memory))


# Of a set whose projection is in Python.
NO_PIECES = Pieces(
    np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 2)), np.empty(0), np.empty(0)
)
PARTS, HANDLE = _type_of_parts(), types.Array(types.int64, 1, "C")
HANDLE_SIZE = 256


def _address(context, builder, handle):
    """The address of a handle's bits, as that of Parts."""
    parts = context.get_value_type(PARTS)
    if context.get_abi_sizeof(parts) > 8 * HANDLE_SIZE:
        raise ValueError("HANDLE_SIZE is too small for Parts")
    array = create_struct_proxy(HANDLE)(context, builder, value=handle)
    return builder.bitcast(array.data, parts.as_pointer())


@intrinsic
def write_parts(typing_context, handle, parts):
    """Puts the bits of parts into a handle."""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[1], _address(context, builder, arguments[0]))
        return context.get_dummy_value()

    return (types.void(HANDLE, PARTS), generate) if parts == PARTS else None


@intrinsic
def read_parts(typing_context, handle):
    """The parts whose bits a handle holds."""

    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, arguments[0]))

    return PARTS(HANDLE), generate


@compiled
def fill_handle(handle, parts):
    """What `handle` keeps is borrowed: the caller keeps the arrays alive."""
    write_parts(handle, borrowed(parts))


@compiled
def begin_point(handle):
    """Opens the step if need be, then deploys."""
    parts = read_parts(handle)
    if parts.memory.counts[STAGE] == IDLE:
        open_step(parts.method, parts.memory)
    deploy(parts.method, parts.memory)


@compiled
def end_phase(handle):
    """`conclude`."""
    parts = read_parts(handle)
    conclude(parts.method, parts.x_pieces, parts.y_pieces, parts.memory)


def _run(data, method, x_pieces, y_pieces, memory, rng, etas, radii, last_step, max_queries):
    """Steps until `last_step`, or until the next one would exceed max_queries.

    etas and radii hold the schedules by epoch, from the epoch of the first step on.
    """
    data, method, memory = borrowed(data), borrowed(method), borrowed(memory)
    x_pieces, y_pieces, rng = borrowed(x_pieces), borrowed(y_pieces), borrowed(rng)
    counts, numbers = memory.counts, memory.numbers
    first_epoch, n_points = counts[EPOCH], points(method)
    while True:
        if counts[STAGE] == IDLE:
            if counts[STEP] >= last_step:
                return DONE
            if counts[QUERIES] + step_cost(method, counts) > max_queries:
                return OUT_OF_QUERIES
            numbers[ETA] = etas[counts[EPOCH] - first_epoch]
            numbers[RADIUS] = radii[counts[EPOCH] - first_epoch]
            if method.quick:
                quick_steps(data, method, x_pieces, y_pieces, memory, rng, last_step, max_queries)
                if counts[STAGE] == IDLE:
                    continue
            else:
                draw_order(method, memory, rng)
                open_step(method, memory)
        if counts[STAGE] == TURN and n_points > 0 and counts[ASKED] > 0:
            draw_direction(memory.direction, rng)
            deploy(method, memory)
        while counts[STAGE] == ASKING and counts[POINT_NO] < n_points:
            if not answer(data, method, memory):
                return BAD_VALUE
            counts[POINT_NO] += 1
            if counts[POINT_NO] < n_points:
                deploy(method, memory)
        if method.some_exact and not exact_gradients(data, method, memory):
            return BAD_GRADIENT
        conclude(method, x_pieces, y_pieces, memory)


# Not one of the functions that others inline.
run = cached(_run, nogil=True)


def suited(kernel: Any, data: Any) -> Any:
    """A kernel to call with `data`: its uncached twin, where that holds a user's functions."""
    return _uncached(kernel) if has_user_functions(data) else kernel


def has_user_functions(data: Any) -> bool:
    """Whether a problem's data hold a user's functions."""
    return isinstance(data, UserFunction) or isinstance(getattr(data, "loss", None), UserLoss)


@lru_cache
def _uncached(kernel: Any) -> Any:
    return njit(error_model="numpy", nogil=True)(kernel.py_func)
