"""How many epochs OGDA with random reshuffling needs, as printed and as corrected.

Letters. The mean of n samples is minimised over x in X and maximised over y in Y; u = (x, y) has
d coordinates and X x Y has diameter D. Every sample L_i is convex in x, concave in y, G-Lipschitz,
has an ell-Lipschitz gradient, and |L_i| <= M on X x Y. In epoch t the step is eta_t, the query
radius is eps_t, and

    eta_t = eta_0 (t + 1)^(-3/4 - chi),   eps_t = eps_0 (t + 1)^(-1/4),   0 < chi < 1/4.

B_t = d (G + M / eps_t) bounds the norm of every one-point estimate made by the end of epoch t.

The bound. Let Delta be the gap of the step-weighted average of the iterates after T epochs against
any fixed saddle point. If eta_0 <= 1 / (2 ell), then E Delta is at most

    D^2 / 2 + sum_t [ (3n + 1/5) ell D eta_t eps_t          smoothing bias
                      + 3 (4n + 1) eta_t^2 B_t^2            noise times displacement
                      + 3 ell D eta_t^2 B_t                 step size changing between epochs
                      + 3 sqrt(2) n (n + 1) G eta_t^2 B_t ] drift within a shuffled epoch

divided by n sum_t eta_t, with t from 0 to T - 1. In powers of t + 1 the four lines are summable,
with exponents 1 + chi, 1 + 2 chi, 5/4 + 2 chi and 3/2 + 2 chi, while the divisor grows as
T^(1/4 - chi). The sum of t^(-1-b) is at most 1 + 1/b, and T steps, none smaller than the last, sum
to at least eta_0 T^(1/4 - chi). Hence

    E Delta <= K T^(-(1/4 - chi)),   so   T >= (K / epsilon)^(4 / (1 - 4 chi))   epochs suffice.

It covers the algorithm of the paper: one-point estimates of all coordinates, one sample a step, the
same step for every coordinate, a plain descent-ascent step first. The derivation is in
docs/mathematics.md; docs/errata.md says where the theorem as printed differs, and why.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np

from gameproof.core.arguments import Vector, as_count, as_positive

if TYPE_CHECKING:
    from gameproof.core.arguments import Indices
    from gameproof.minmax.problem import Problem
    from gameproof.minmax.schedules import Power

_EPS = float(np.finfo(np.float64).eps)
_LOG_LARGEST = 700.0  # exp(700) is about 1e304, near the largest float


@dataclass(frozen=True)
class Constants:
    """What the bound needs to know of a problem, in the letters of the module's docstring.

    >>> Constants(n=100, d=4, D=2.0, G=1.0, ell=0.5, M=1.0).d
    4
    """

    n: int
    d: int
    D: float
    G: float
    ell: float
    M: float

    def __post_init__(self) -> None:
        for name in ("n", "d"):
            as_count(name, getattr(self, name))
        for name in ("D", "G", "ell", "M"):
            as_positive(name, getattr(self, name))


def schedules(step0: float, radius0: float, chi: float) -> tuple[Power, Power]:
    """The schedules under which the bound holds: eta_t and eps_t of the module's docstring.

    >>> step, radius = schedules(0.1, 4.0, 0.05)
    >>> round(step(0), 12), round(radius(15), 12)
    (0.1, 2.0)
    """
    from gameproof.minmax.schedules import Power

    _check_schedule(step0, radius0, chi)
    return Power(step0, 0.75 + chi), Power(radius0, 0.25)


def printed_constant(constants: Constants) -> float:
    """C as the paper's theorem states it: a maximum of nine terms.

    >>> printed_constant(Constants(n=1, d=1, D=1.0, G=1.0, ell=1.0, M=1.0))
    90.0
    """
    n, d, D, G, ell, M = _letters(constants)
    return max(
        3 * n * d * D * ell,
        18 * n * d * D * G * ell,
        54 * n * d * G * G + 18 * n * d * D * ell * M,
        90 * n * d * G * M,
        36 * n * d * M * M,
        6 * d * G * n * n + 14 * G * n * n + 4 * n * G,
        6 * d * M * n,
        3 * d * D * G * ell,
        3 * d * D * ell * M,
    )


def printed_epochs(
    constants: Constants, epsilon: float, step0: float, radius0: float, chi: float
) -> float:
    """The smallest T the paper's theorem allows, as printed; ``math.inf`` beyond about 1e304.

    T > epsilon^-4 [3 D / (16 n) + 5/(4 n) C max{eps_0, eta_0, eta_0 eps_0, eta_0 / eps_0,
    eta_0 / eps_0^2} (1 + 1/chi)]^(4 / (1 - 4 chi)). Its proof does not hold: docs/errata.md.

    >>> constants = Constants(n=10, d=2, D=1.0, G=1.0, ell=1.0, M=1.0)
    >>> f"{printed_epochs(constants, 0.1, 0.01, 1.0, 0.05):.3g}"
    '1.6e+23'
    """
    _check_step(constants, step0, radius0, chi)
    as_positive("epsilon", epsilon)
    largest = max(radius0, step0, step0 * radius0, step0 / radius0, step0 / radius0 / radius0)
    bracket = (
        3 * constants.D / 16 + 5 / 4 * printed_constant(constants) * largest * (1 + 1 / chi)
    ) / constants.n
    log_epochs = 4 / (1 - 4 * chi) * math.log(bracket) - 4 * math.log(epsilon)
    return math.inf if log_epochs > _LOG_LARGEST else math.floor(math.exp(log_epochs)) + 1


def gap_bound(
    constants: Constants, epochs: float, step0: float, radius0: float, chi: float
) -> float:
    """The corrected bound on the expected gap after ``epochs`` epochs, with its sums in full.

    The time it takes does not grow with ``epochs``, which may be as large as a float can be.

    >>> constants = Constants(n=10, d=2, D=1.0, G=1.0, ell=1.0, M=1.0)
    >>> gap_bound(constants, 10_000, 0.01, 1.0, 0.05) < gap_bound(constants, 100, 0.01, 1.0, 0.05)
    True
    """
    _check_step(constants, step0, radius0, chi)
    if not (math.isfinite(epochs) and epochs >= 1 and epochs == math.floor(epochs)):
        raise ValueError(f"epochs must be a whole number and at least 1, got {epochs}")
    errors = sum(
        coefficient * _power_sum(exponent, epochs)
        for coefficient, exponent in _error_terms(constants, step0, radius0, chi)
    )
    steps = constants.n * step0 * _power_sum(0.75 + chi, epochs)
    return (constants.D * constants.D / 2 + errors) / steps


def rate_constant(constants: Constants, step0: float, radius0: float, chi: float) -> float:
    """K such that the expected gap after T epochs is at most K T^-(1/4 - chi), for every T.

    >>> constants = Constants(n=10, d=2, D=1.0, G=1.0, ell=1.0, M=1.0)
    >>> K = rate_constant(constants, 0.01, 1.0, 0.05)
    >>> gap_bound(constants, 1000, 0.01, 1.0, 0.05) <= K * 1000**-0.2
    True
    """
    _check_step(constants, step0, radius0, chi)
    errors = sum(
        coefficient * (1 + (1 / (exponent - 1) if exponent > 1 else math.inf))
        for coefficient, exponent in _error_terms(constants, step0, radius0, chi)
    )
    return (constants.D * constants.D / 2 + errors) / (constants.n * step0)


def epochs_needed(
    constants: Constants, epsilon: float, step0: float, radius0: float, chi: float
) -> float:
    """Epochs after which the expected gap is at most ``epsilon``: (K / epsilon)^(4 / (1 - 4 chi)).

    Rounded up to a whole number; ``math.inf`` beyond about 1e304. This is a guarantee for every
    problem with these constants, so most problems need far fewer.

    >>> constants = Constants(n=10, d=2, D=1.0, G=1.0, ell=1.0, M=1.0)
    >>> epochs_needed(constants, rate_constant(constants, 0.01, 1.0, 0.05), 0.01, 1.0, 0.05)
    1
    """
    as_positive("epsilon", epsilon)
    K, power = rate_constant(constants, step0, radius0, chi), 0.25 - chi
    if epsilon >= K:
        return 1
    log_epochs = (math.log(K) - math.log(epsilon)) / power
    if log_epochs > _LOG_LARGEST:
        return math.inf
    epochs = math.ceil(math.exp(log_epochs))
    while K * epochs**-power > epsilon:  # the exponential may have rounded down
        epochs += max(1, epochs >> 40)
    return epochs


def estimate_constants(problem: Problem, *, points: int = 200, seed: int = 0) -> Constants:
    """Constants of a problem: n, d and D exactly; M, G and ell from below, by sampling.

    Each of ``points`` rounds draws a sample and two points of the sets and takes |L_i|, the norm of
    its gradient (central differences) and the quotient of the two gradients' difference and the
    points' distance; the largest seen are kept. Cost: ``points * (4 * d + 2)`` values, some of them
    asked slightly outside the sets. The bound also needs G and ell within eps_0 of the sets, and
    holds only for the true constants: enlarge these estimates before relying on them.

    >>> from gameproof.minmax.saddle_problem import SaddleProblem
    >>> from gameproof.minmax.sets.box import Box
    >>> unit = Box([-1.0], [1.0])
    >>> problem = SaddleProblem(lambda i, x, y: 3 * x[0] * y[0], n=1, x_set=unit, y_set=unit)
    >>> round(estimate_constants(problem).ell, 6)
    3.0
    """
    as_count("points", points)
    rng = np.random.default_rng(seed)
    sets = (problem.x_set, problem.y_set)
    D = math.hypot(*(s.diameter for s in sets))
    # The best step of a central difference is the cube root of the precision, in units of the set.
    h = _EPS ** (1 / 3) * np.concatenate([np.full(s.dim, s.diameter or D) for s in sets])
    # A constant that is zero (a linear loss has ell = 0) stands as the smallest positive number.
    G = ell = M = float(np.finfo(np.float64).tiny)
    for _ in range(points):
        index = rng.integers(problem.n, size=1)
        u, w = (np.concatenate([s.sample(rng) for s in sets]) for _ in range(2))
        at_u, at_w = _gradient(problem, index, u, h), _gradient(problem, index, w, h)
        M = max(M, abs(_value(problem, index, u)), abs(_value(problem, index, w)))
        G = max(G, float(np.linalg.norm(at_u)), float(np.linalg.norm(at_w)))
        distance = float(np.linalg.norm(u - w))
        if distance > 1e-3 * D:  # closer, the quotient would show the rounding of the differences
            ell = max(ell, float(np.linalg.norm(at_u - at_w)) / distance)
    return Constants(n=problem.n, d=h.size, D=D, G=G, ell=ell, M=M)


def _value(problem: Problem, index: Indices, u: Vector) -> float:
    d_x = problem.x_set.dim
    answer = float(problem.values(index, u[:d_x], u[d_x:])[0])
    if not math.isfinite(answer):
        raise ValueError(f"sample {index[0]} has the value {answer} at u = {u.tolist()}")
    return answer


def _gradient(problem: Problem, index: Indices, u: Vector, h: Vector) -> Vector:
    gradient = np.empty_like(u)
    for j in range(u.size):
        above, below = u.copy(), u.copy()
        above[j] += h[j]
        below[j] -= h[j]
        rise = _value(problem, index, above) - _value(problem, index, below)
        gradient[j] = rise / (above[j] - below[j])
    return gradient


def _error_terms(
    constants: Constants, step0: float, radius0: float, chi: float
) -> list[tuple[float, float]]:
    """The sum over epochs in the bound's numerator, as pairs (c, s) that stand for c (t + 1)^-s."""
    n, d, D, G, ell, M = _letters(constants)
    # eta B = g (t + 1)^(-3/4 - chi) + m (t + 1)^(-1/2 - chi)
    g, m = step0 * d * G, step0 * d * M / radius0
    noise = 3 * (4 * n + 1)  # of (eta B)^2
    drift = 3 * step0 * (ell * D + math.sqrt(2) * n * (n + 1) * G)  # of eta B, with its other eta
    return [
        ((3 * n + 0.2) * ell * D * step0 * radius0, 1 + chi),
        (noise * m * m, 1 + 2 * chi),
        ((noise * 2 * g + drift) * m, 1.25 + 2 * chi),
        ((noise * g + drift) * g, 1.5 + 2 * chi),
    ]


def _power_sum(s: float, terms: float) -> float:
    """Sum of t^-s for t = 1 ... terms, s > 0: term by term, then by the Euler-Maclaurin formula.

    The first term the formula leaves out is s (s + 1) (s + 2) m^(-s - 3) / 720, under 1e-14 here.
    """
    m = int(min(terms, 10_000))
    head = math.fsum(np.arange(1, m + 1, dtype=np.float64) ** -s)
    if terms == m:
        return head
    log_ratio = math.log(terms / m)
    # The integral of t^-s from m to terms, right also where s is 1 or very near it.
    growth = math.expm1((1 - s) * log_ratio) / (1 - s) if s != 1 else log_ratio
    ends = (terms**-s - m**-s) / 2 - s * (terms ** (-s - 1) - m ** (-s - 1)) / 12
    return float(head + m ** (1 - s) * growth + ends)


def _letters(constants: Constants) -> tuple[float, ...]:
    """(n, d, D, G, ell, M), as floats: products of large integers could leave their range."""
    return tuple(float(value) for value in astuple(constants))


def _check_step(constants: Constants, step0: float, radius0: float, chi: float) -> None:
    _check_schedule(step0, radius0, chi)
    largest = 1 / (2 * constants.ell)
    if step0 > largest:
        raise ValueError(f"step0 must be at most 1 / (2 ell) = {largest:.6g}, got {step0}")


def _check_schedule(step0: float, radius0: float, chi: float) -> None:
    as_positive("step0", step0)
    as_positive("radius0", radius0)
    if not 0 < chi < 0.25:
        raise ValueError(f"chi must lie strictly between 0 and 1/4, got {chi}")
