"""Random draws, written out: they consume the generator's bits exactly as NumPy does."""

import numpy as np
from numba.np.random._constants import fi_double, ki_double, wi_double
from numba.np.random._constants import ziggurat_nor_inv_r as INVERSE_TAIL
from numba.np.random._constants import ziggurat_nor_r as TAIL
from numba.np.random.distributions import random_standard_normal
from numba.np.random.generator_core import next_double, next_uint32, next_uint64

from gameproof.kernels.jit import cached, inlined, not_inlined, stay_apart
from gameproof.kernels.memory import borrowed, prefetch

# The ziggurat of normal draws. By layer: the width of a unit of size, the size below which a draw
# is accepted at once, and the density at the edge. Then where the parts of 64 random bits lie.
WIDTHS, SURE, HEIGHTS = wi_double, ki_double.astype(np.int64), fi_double
ONE, LAYER, SIZE = np.uint64(1), np.uint64(2**8 - 1), np.uint64(2**52 - 1)
SIGN_FROM, SIZE_FROM = np.uint64(8), np.uint64(9)
TWO_32, LOW_HALF = np.uint64(2**32), np.uint64(2**32 - 1)
DRAWN_AHEAD = 32  # places of a shuffle; a power of 2


@inlined
def uniform_int(rng, n):
    """rng.integers(0, n) for n < 2^32, by Lemire's method. Numba's version makes an array."""
    if n == 1:  # NumPy draws nothing
        return 0
    size = np.uint64(n)
    product = np.uint64(next_uint32(rng.bit_generator)) * size
    if product & LOW_HALF < size:
        threshold = (TWO_32 - size) % size
        while product & LOW_HALF < threshold:
            product = np.uint64(next_uint32(rng.bit_generator)) * size
    return np.int64(product >> np.uint64(32))


@cached
def shuffle(order, rng):
    """Overwrites order with a uniform permutation from the draws rng.integers(0, i + 1),
    i = n - 1, …, 1. Partners are drawn ahead of the swaps, so that they can be prefetched."""
    stay_apart()
    n, rng, partners = order.size, borrowed(rng), np.empty(DRAWN_AHEAD, dtype=np.int64)
    for i in range(n):
        order[i] = i
    for drawn in range(n - 1, -DRAWN_AHEAD, -1):
        i, place = drawn + DRAWN_AHEAD, drawn & (DRAWN_AHEAD - 1)
        if i < n:
            j = partners[place]
            order[i], order[j] = order[j], order[i]
        if drawn > 0:
            partners[place] = uniform_int(rng, drawn + 1)
            prefetch(order, partners[place])


@cached
def draw_with_replacement(order, rng):
    """Overwrites order with independent uniform indices."""
    stay_apart()
    rng = borrowed(rng)
    for i in range(order.size):
        order[i] = uniform_int(rng, order.size)


@inlined
def draw_normals(out, rng):
    """Overwrites out with rng.standard_normal() for each coordinate.

    The generator's ziggurat cuts a layer, a sign and a size from 64 bits, and accepts 99 of 100
    draws at once. Numba's version takes 1.5 times as long: it compares integers as floats and
    branches on the sign.
    """
    bits = rng.bit_generator
    for c in range(out.size):
        drawn = next_uint64(bits)
        layer, size = np.int64(drawn & LAYER), np.int64((drawn >> SIZE_FROM) & SIZE)
        flip = -np.int64((drawn >> SIGN_FROM) & ONE)  # all bits set, or none
        value = ((size ^ flip) - flip) * WIDTHS[layer]
        if size >= SURE[layer]:
            value = unsure_normal(bits, layer, size, value)
        out[c] = value


@not_inlined
def unsure_normal(bits, layer, size, value):
    """The rest of the ziggurat: the tail, and the edge of a layer, where a draw may be rejected."""
    stay_apart()
    if layer > 0:
        height = (HEIGHTS[layer - 1] - HEIGHTS[layer]) * next_double(bits) + HEIGHTS[layer]
        return value if height < np.exp(-0.5 * value * value) else random_standard_normal(bits)
    while True:
        beyond = -INVERSE_TAIL * np.log1p(-next_double(bits))
        against = -np.log1p(-next_double(bits))
        if against + against > beyond * beyond:
            return -(TAIL + beyond) if (size >> 8) & 1 else TAIL + beyond
