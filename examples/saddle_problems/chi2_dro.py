"""Chi-squared DRO: a regression for the worst weights of its samples.

    min over theta, max over p in the simplex of
        sum_i p_i (a_i'theta - b_i)^2 / 2 - (lambda / 2n) sum_i (n p_i - 1)^2

The penalty is a chi-squared divergence from uniform weights. It is defined for probabilities only,
so every query must be feasible; `Solver.auto` finds that out. As a mean over samples,
L_i = n p_i (a_i'theta - b_i)^2 / 2 - lambda (n p_i - 1)^2 / 2.

Namkoong and Duchi, "Variance-based regularization with convex objectives", 2017.
"""

import numpy as np

import gameproof as gp

QUERIES = 20_000
SAMPLES, FEATURES, PENALTY, RADIUS = 50, 5, 2.0, 5.0
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(SAMPLES, FEATURES))
TARGETS = ROWS @ RNG.normal(size=FEATURES) + RNG.standard_t(3, size=SAMPLES)


def loss(i, theta, p):
    """Returns the weighted and penalised loss of sample i."""
    if p.min() < 0 or abs(p.sum() - 1) > 1e-6:
        raise ValueError(f"p must be a probability vector, got {p}")
    ratio = SAMPLES * p[i]
    return ratio * (ROWS[i] @ theta - TARGETS[i]) ** 2 / 2 - PENALTY * (ratio - 1) ** 2 / 2


PROBLEM = gp.SaddleProblem(
    loss, n=SAMPLES, x_set=gp.Ball(np.zeros(FEATURES), RADIUS), y_set=gp.Simplex(SAMPLES)
)


def worst_weights(theta):
    """Returns the best p for a theta: completing the square makes it a projection."""
    losses = (ROWS @ theta - TARGETS) ** 2 / 2
    return gp.Simplex(SAMPLES).project((1 + losses / PENALTY) / SAMPLES)


def duality_gap(theta, p):
    """Returns the gap: the best p is a projection, the best theta is weighted least squares."""
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
