"""Gradients of a strategic problem from observed answers."""

from gameproof.kernels.batches import source_of
from gameproof.kernels.jit import cached, inlined
from gameproof.kernels.layout import BASE, BATCH, KNOWN, N_CURRENT, N_PREVIOUS, NEW, SLOT
from gameproof.kernels.samples import add_gradient
from gameproof.kernels.strategic import add_beside_score


@inlined
def add_observed_gradient(data, i, answer, q, x, y, at, weight, gx, gy):
    """The gradient of L_i from an observed answer b alone: z = <b, theta> and
    dz/dtheta = x_i + q (b - x_i)."""
    features, start = data.features, data.start
    z = x[0] if start == 1 else 0.0
    for c in range(answer.size):
        z += answer[c] * x[start + c]
    by_score = add_beside_score(data, i, z, x, y, at, weight, gx, gy, 0, 0)
    if start == 1:
        gx[0] += by_score
    for c in range(answer.size):
        gx[start + c] += by_score * (features[i, c] + q * (answer[c] - features[i, c]))


@cached
def observed_gradients(data, method, memory, answers, q):
    """Adds to NEW and OLD, given the observed answers of the samples asked, J's and then K's."""
    samples, counts, done = memory.samples, memory.counts, 0
    x, y, weight = memory.x[BASE], memory.y[BASE], 1.0 / method.batch
    for which in range(2 if method.asks_previous and counts[N_PREVIOUS] > 0 else 1):
        gx, gy = memory.x[NEW + which], memory.y[NEW + which]
        for m in range(counts[N_CURRENT + which]):
            i = samples[BATCH, which * method.batch + m]
            at = samples[SLOT, which * method.batch + m] if method.private else i
            if source_of(method.sources, i) == KNOWN:
                add_gradient(data, i, x, y, at, weight, gx, gy, 0, 0)
            else:
                add_observed_gradient(data, i, answers[done], q, x, y, at, weight, gx, gy)
                done += 1
