"""Projections in the Euclidean norm, each exact, and the entropic step on a simplex."""

import numpy as np

from gameproof.kernels.jit import inlined, not_inlined, stay_apart
from gameproof.kernels.memory import section
from gameproof.kernels.vectors import clip, norm

HALVINGS = 200  # enough for a bisection to reach neighbouring numbers


@not_inlined
def project_ball(v, center, radius):
    """Overwrites v: center + (v - center) min(1, radius / |v - center|)."""
    stay_apart()
    total = 0.0
    for c in range(v.size):
        total += (v[c] - center[c]) ** 2
    distance = np.sqrt(total) if 1e-280 < total < 1e280 else norm(v - center)
    if distance > radius:
        for c in range(v.size):
            v[c] = center[c] + (v[c] - center[c]) * (radius / distance)


@not_inlined
def project_simplex(v, total):
    """Overwrites v: max(v - t, 0) with t such that the sum is `total` (sort and scan).

    Shifting v by a constant shifts t by the same constant. So v is first shifted to have maximum 0:
    entries that stay positive are then of the size of `total`, and nothing cancels.
    """
    stay_apart()
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


@not_inlined
def project_l1_ball(v, center, radius):
    """Overwrites v: the signs of v - center on the projection of |v - center| on a simplex."""
    stay_apart()
    total = 0.0
    for c in range(v.size):
        total += abs(v[c] - center[c])
    if total <= radius:
        return
    size = np.empty(v.size)
    for c in range(v.size):
        size[c] = abs(v[c] - center[c])
    project_simplex(size, radius)
    for c in range(v.size):
        v[c] = center[c] + (size[c] if v[c] >= center[c] else -size[c])


@inlined
def project_cone(v, slope, cap):
    """Overwrites v = (theta, alpha): first the cone; if its alpha exceeds the cap, the cap is
    active and only the disc of radius cap / slope is left."""
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


@inlined
def shrunk_length(v, weights, by):
    """|weights theta| for theta_c = v_c / (1 + by weights_c^2)."""
    total = 0.0
    for c in range(v.size - 1):
        part = weights[c] * v[c] / (1.0 + by * weights[c] * weights[c])
        total += part * part
    return np.sqrt(total)


@not_inlined
def project_scaled_cone(v, weights, slope, cap):
    """Overwrites v = (theta, alpha).

    Outside the cone, the nearest point with t = |weights theta| has alpha = slope t and
    theta_c = v_c / (1 + by weights_c^2) with by = slope^2 - slope v_alpha / t, so t solves
    |weights theta(t)| = t. If alpha exceeds the cap, by solves |weights theta| = cap / slope.
    """
    stay_apart()
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
        alpha, by = cap, multiplier_at_rim(v, weights, length, rim)
    for c in range(last):
        if weights[c] > 0.0:
            v[c] /= 1.0 + by * weights[c] * weights[c]
        else:
            v[c] = clip(v[c], -rim, rim)
    v[last] = alpha


@not_inlined
def multiplier_at_rim(v, weights, length, rim):
    """The `by` with |weights theta| = rim; 0 if theta is inside the rim already."""
    stay_apart()
    if length <= rim:
        return 0.0
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
    return high


@not_inlined
def entropy_step(out, origin, move, total):
    """out_c = origin_c exp(-move_c), scaled to the sum `total`. The least move is subtracted first,
    so that nothing overflows."""
    stay_apart()
    least = move.min()
    mass = 0.0
    for c in range(out.size):
        out[c] = origin[c] * np.exp(least - move[c])
        mass += out[c]
    for c in range(out.size):
        out[c] *= total / mass
