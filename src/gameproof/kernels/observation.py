"""Gradients of a strategic problem from observed answers."""

from gameproof.kernels import layout as at
from gameproof.kernels.batches import n_samples, sample_at, source_of
from gameproof.kernels.jit import cached, inlined
from gameproof.kernels.samples import add_gradient
from gameproof.kernels.strategic import add_beside_score


@inlined
def add_observed_gradient(data, i, answer, q, x, y, slot, weight, gx, gy):
    """The gradient of L_i from an observed answer b alone: z = <b, theta> and
    dz/dtheta = x_i + q (b - x_i)."""
    features, start = data.features, data.start
    z = x[0] if start == 1 else 0.0
    for c in range(answer.size):
        z += answer[c] * x[start + c]
    by_score = add_beside_score(data, i, z, x, y, slot, weight, gx, gy, 0, 0)
    if start == 1:
        gx[0] += by_score
    for c in range(answer.size):
        gx[start + c] += by_score * (features[i, c] + q * (answer[c] - features[i, c]))


@cached
def observed_gradients(data, method, memory, answers, q):
    """Adds to NEW and OLD, given the observed answers of the samples asked, J's and then K's."""
    x, y, weight, done = memory.x[at.BASE], memory.y[at.BASE], method.share, 0
    for k in range(n_samples(method, memory.counts)):
        i, slot = sample_at(method, memory, k)
        row = at.NEW if k < memory.counts[at.N_CURRENT] else at.OLD
        gx, gy = memory.x[row], memory.y[row]
        if source_of(method.sources, i) == at.KNOWN:
            add_gradient(data, i, x, y, slot, weight, gx, gy, 0, 0)
        else:
            add_observed_gradient(data, i, answers[done], q, x, y, slot, weight, gx, gy)
            done += 1
