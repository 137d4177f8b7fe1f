"""Sums and norms of vectors.

Sums have four partial sums in a fixed order, so that the processor can overlap them and every
caller gets the same bits. Fast-math would let the compiler reorder sums differently in each caller.
"""

import numpy as np

from gameproof.kernels.jit import inlined, not_inlined, stay_apart

LARGEST = np.finfo(np.float64).max


@inlined
def dot(a, b):
    """<a, b>."""
    s0 = s1 = s2 = s3 = 0.0
    whole = a.size & ~3
    for c in range(0, whole, 4):
        s0 += a[c] * b[c]
        s1 += a[c + 1] * b[c + 1]
        s2 += a[c + 2] * b[c + 2]
        s3 += a[c + 3] * b[c + 3]
    for c in range(whole, a.size):
        s0 += a[c] * b[c]
    return (s0 + s1) + (s2 + s3)


@inlined
def scaled_square(scale, v):
    """The sum of (scale_c v_c)^2."""
    s0 = s1 = 0.0
    whole = v.size & ~1
    for c in range(0, whole, 2):
        s0 += (scale[c] * v[c]) ** 2
        s1 += (scale[c + 1] * v[c + 1]) ** 2
    if whole < v.size:
        s0 += (scale[whole] * v[whole]) ** 2
    return s0 + s1


@inlined
def add_scaled(out, weight, v, first=0):
    """out += weight v, from coordinate `first` on."""
    for c in range(first, v.size):
        out[c] += weight * v[c]


@inlined
def norm(v):
    """|v|, also where its square would overflow or vanish."""
    total = dot(v, v)
    if 1e-280 < total < 1e280:
        return np.sqrt(total)
    return scaled_norm(v)


@not_inlined
def scaled_norm(v):
    """|v|, computed from v over its largest coordinate."""
    stay_apart()
    total, largest = 0.0, 0.0
    for c in range(v.size):
        largest = max(largest, abs(v[c]))
    if largest == 0.0:
        return 0.0
    for c in range(v.size):
        total += (v[c] / largest) ** 2
    return largest * np.sqrt(total)


@inlined
def all_finite(v):
    """True if no coordinate is infinite or NaN."""
    return dot(v, v) <= LARGEST or no_coordinate_infinite(v)


@not_inlined
def no_coordinate_infinite(v):
    stay_apart()
    for c in range(v.size):
        if not abs(v[c]) <= LARGEST:
            return False
    return True


@inlined
def clip(value, lower, upper):
    return min(max(value, lower), upper)
