"""KL DRO: a regression for the worst weights of its samples, priced by their relative entropy.

    min over theta, max over p in the simplex of
        sum_i p_i (a_i'theta - b_i)^2 / 2 - lambda sum_i p_i log(n p_i)

The logarithm is defined for probabilities only, so every query must be feasible; `Solver.auto`
finds that out. As a mean over samples, L_i = n p_i [(a_i'theta - b_i)^2 / 2 - lambda log(n p_i)].

Hu and Hong, "Kullback-Leibler divergence constrained distributionally robust optimization", 2013.
"""

import math

import numpy as np
from scipy.special import softmax

import gameproof as gp

QUERIES = 20_000
SAMPLES, FEATURES, PENALTY, RADIUS = 50, 5, 2.0, 5.0
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(SAMPLES, FEATURES))
TARGETS = ROWS @ RNG.normal(size=FEATURES) + RNG.standard_t(3, size=SAMPLES)


def loss(i, theta, p):
    """Returns the weighted loss of sample i, less the price of its weight."""
    ratio = SAMPLES * p[i]
    entropy = ratio * math.log(ratio) if ratio != 0 else 0.0  # raises if p[i] is negative
    return ratio * (ROWS[i] @ theta - TARGETS[i]) ** 2 / 2 - PENALTY * entropy


PROBLEM = gp.SaddleProblem(
    loss, n=SAMPLES, x_set=gp.Ball(np.zeros(FEATURES), RADIUS), y_set=gp.Simplex(SAMPLES)
)


def worst_weights(theta):
    """Returns the best p for a theta: exponential weights of the losses."""
    return softmax((ROWS @ theta - TARGETS) ** 2 / 2 / PENALTY)


def duality_gap(theta, p):
    """Returns the gap: the best p is a softmax, the best theta is weighted least squares."""
    root = np.sqrt(p)
    best = np.linalg.lstsq(ROWS * root[:, None], TARGETS * root)[0]
    if np.linalg.norm(best) > RADIUS:
        raise ValueError("the least-squares solution lies outside the ball")
    return PROBLEM.value(theta, worst_weights(theta)) - PROBLEM.value(best, p)


def main():
    """Fits the regression from values alone and prints the duality gap."""
    solver = gp.Solver.auto(PROBLEM, queries=QUERIES, seed=0)
    result = gp.solve(PROBLEM, solver, queries=QUERIES, seed=0)
    print(solver.why)
    print(f"largest weight of a sample: {result.y.max():.3f} instead of {1 / SAMPLES:.3f}")
    print(f"duality gap: {duality_gap(*PROBLEM.start):.4f} at the start, "
          f"{duality_gap(result.x, result.y):.2g} now")  # fmt: skip


if __name__ == "__main__":
    main()
