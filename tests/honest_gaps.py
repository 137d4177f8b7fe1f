"""Checks duality gaps in extended precision, on features from 1e-6 to 1e6.

    python tests/honest_gaps.py [NUMBER]

For each random problem, the gap of `saddle_point` is compared with a lower bound of the true gap:
U - L(x', gamma), computed with 40 digits from the definitions. U is the robust value of the saddle
point's x, and x' is the best of two points: the saddle point's x, and the minimiser of L(., gamma).
A certificate below that bound is wrong. The program prints one row per range of feature scales.
"""

import sys
import warnings
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf

import gameproof as gp
from gameproof.strategic.newton.minimum import minimum
from strategic_problems import random_budget_problem, random_problem

DIGITS = 40
EDGES = (-6, -3, -1, 1, 3, 6)


class Check(NamedTuple):
    """One problem: the scale of its features, the certificate, and a bound of the true gap."""

    scale: float
    certificate: float
    true_gap: float

    @property
    def honest(self) -> bool:
        return self.certificate >= 0 and self.certificate >= self.true_gap


def scaled_problem(seed: int) -> tuple[gp.StrategicProblem, float]:
    """A random problem whose features have another scale, common or by column."""
    rng = np.random.default_rng([7, seed])
    plain = (random_problem if seed % 2 else random_budget_problem)(seed)
    people, scale = plain.population, 10 ** rng.uniform(-6, 6)
    each = scale * (10 ** rng.uniform(-1, 1, people.d) if rng.random() < 0.5 else 1.0)
    weights = people.weights if people.weighted else None
    other = gp.Population(people.X * each, people.y, people.response, weights=weights)
    return plain.with_population(other), scale


def check(seed: int) -> Check:
    problem, scale = scaled_problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        saddle = gp.saddle_point(problem)
    with mp.workdps(DIGITS):
        upper = exact_value(problem, saddle.x, None)
        points = (saddle.x, minimum(problem, saddle.y).v)
        lower = min(exact_value(problem, x, saddle.y) for x in points)
        return Check(scale, saddle.duality_gap, float(upper - lower))


def exact_value(problem: gp.StrategicProblem, x: Any, gamma: Any) -> Any:
    """L(x, gamma), or its maximum over gamma, from the definition."""
    people, loss = problem.population, problem.loss
    theta, alpha = problem.split(x)
    theta, alpha = [mpf(float(t)) for t in theta], mpf(alpha)
    offset, kappa, s = mpf(problem.offset(x)), mpf(problem.label_cost), mpf(loss.s)
    free = problem.has_gamma
    weights = [mpf(float(w)) for w in people.weights]
    total, positive = mpf(0), mpf(0)
    for i in range(people.n):
        y = int(people.y[i])
        z = offset + mp.fdot(theta, [mpf(float(a)) for a in people.X[i]])
        if y < 0:
            z += gain(people.response, i, theta)
        else:
            positive += weights[i]
        term = phi(loss, z)
        if free[i]:
            t = s * z - y * kappa * alpha
            term += abs(t) if gamma is None else mpf(float(gamma[i])) * t
        else:
            term -= s * y * z
        total += weights[i] * term
    slope = mpf(problem.radius)
    if problem.flips != "none":
        whole = problem.form == "printed" or problem.flips == "both"
        slope -= kappa * (1 if whole else positive / people.n)
    return slope * alpha + total / people.n


def phi(loss: Any, z: Any) -> Any:
    if isinstance(loss, gp.Logistic):
        return abs(z) / 2 + mp.log1p(mp.exp(-abs(z)))
    if isinstance(loss, gp.PseudoHuberHinge):
        return mp.sqrt(1 + z * z)
    inside = min(abs(z), mpf(loss.width))
    return inside**2 / (2 * mpf(loss.width)) + abs(z) - inside


def gain(response: Any, i: int, theta: list[Any]) -> Any:
    """What moving adds to the score of agent i, who has label -1."""
    if not isinstance(response, gp.BoxBudget):
        strength = response.strength
        own = mpf(float(strength[i if strength.size > 1 else 0]))
        reach = response.reach(len(theta))
        sizes = [abs(t) * mpf(float(r)) for t, r in zip(theta, reach, strict=True) if r > 0]
        norm = p_norm(sizes, response.dual_norm)
        return own * norm ** mpf(response.conjugate_degree) if norm else mpf(0)
    lower, upper = (np.atleast_2d(bound) for bound in (response.lower, response.upper))
    low, high = (bound[i if len(bound) > 1 else 0] for bound in (lower, upper))
    total = sum(
        max(mpf(float(a)) * t, mpf(float(b)) * t) for a, b, t in zip(low, high, theta, strict=True)
    )
    for claim in response.claims:
        values = [
            mpf(float(step)) * theta[c] if c >= 0 else mpf(0)
            for c, step in zip(claim.columns, claim.steps, strict=True)
        ]
        own = values[claim.current[i]]
        able = [value for value, ok in zip(values, claim.allowed, strict=True) if ok]
        total += max([own, *able]) - own
    return total


def p_norm(sizes: list[Any], p: float) -> Any:
    if not sizes:
        return mpf(0)
    largest = max(sizes)
    if np.isinf(p) or largest == 0:
        return largest
    exponent = mpf(p)
    return largest * mp.fsum((size / largest) ** exponent for size in sizes) ** (1 / exponent)


def report(checks: list[Check]) -> str:
    lines = ["| features | problems | honest | median gap | largest gap |", "|---|---|---|---|---|"]
    for low, high in pairwise(EDGES):
        own = [c for c in checks if 10.0**low <= c.scale < 10.0**high]
        if own:
            gaps = [c.certificate for c in own]
            lines.append(
                f"| 1e{low} to 1e{high} | {len(own)} | {sum(c.honest for c in own)} | "
                f"{np.median(gaps):.0e} | {max(gaps):.0e} |"
            )
    return "\n".join(lines)


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    checks = [check(seed) for seed in range(number)]
    print(report(checks))
    for seed, each in enumerate(checks):
        if not each.honest:
            print(f"seed {seed}: {each}")


if __name__ == "__main__":
    main()
