"""Group DRO: a regression that is good for the worst of four groups.

q are weights of the groups, theta the coefficients, and n_g the size of group g:

    min over theta, max over q of sum_g q_g (mean over group g of (a_i'theta - b_i)^2 / 2)

As a mean over samples, L_i = (n / n_g) q_g (a_i'theta - b_i)^2 / 2 for sample i of group g. The
groups have different sizes and different true coefficients, so the average is dominated by the
largest group.

Sagawa et al., "Distributionally robust neural networks for group shifts", 2020.
"""

import numpy as np
from scipy.optimize import minimize

import gameproof as gp

QUERIES = 20_000
SIZES, FEATURES = np.array([100, 60, 30, 10]), 6
RNG = np.random.default_rng(0)
GROUP = np.repeat(np.arange(len(SIZES)), SIZES)
ROWS = RNG.normal(size=(SIZES.sum(), FEATURES))
TRUTH = RNG.normal(size=FEATURES) + 0.5 * RNG.normal(size=(len(SIZES), FEATURES))
TARGETS = np.sum(ROWS * TRUTH[GROUP], axis=1) + 0.3 * RNG.normal(size=len(GROUP))


def loss(i, theta, q):
    """Returns the weighted squared error of sample i."""
    group = GROUP[i]
    return len(GROUP) / SIZES[group] * q[group] * (ROWS[i] @ theta - TARGETS[i]) ** 2 / 2


PROBLEM = gp.SaddleProblem(
    loss, n=len(GROUP), x_set=gp.Ball(np.zeros(FEATURES), 5.0), y_set=gp.Simplex(len(SIZES))
)


def duality_gap(theta, q):
    """Returns the gap: the worst group for theta, and the best theta for q by least squares."""
    worst = np.bincount(GROUP, (ROWS @ theta - TARGETS) ** 2 / 2 / SIZES[GROUP]).max()
    weights = q[GROUP] / SIZES[GROUP]
    hessian, slope = (ROWS.T * weights) @ ROWS, (ROWS.T * weights) @ TARGETS
    best = np.linalg.solve(hessian, slope)
    if np.linalg.norm(best) > 5.0:  # the ball binds
        ball = {"type": "ineq", "fun": lambda t: 25 - t @ t, "jac": lambda t: -2 * t}
        best = minimize(lambda t: t @ hessian @ t / 2 - slope @ t, theta, constraints=[ball],
                        jac=lambda t: hessian @ t - slope, method="SLSQP",
                        options={"ftol": 1e-15, "maxiter": 1000}).x  # fmt: skip
    return float(worst - weights @ (ROWS @ best - TARGETS) ** 2 / 2)


def main():
    """Fits the regression from values alone and prints the duality gap."""
    solver = gp.Solver.auto(PROBLEM, queries=QUERIES, seed=0)
    result = gp.solve(PROBLEM, solver, queries=QUERIES, seed=0)
    print(solver.why)
    print("weights of the groups:", result.y.round(3))
    print(f"duality gap: {duality_gap(*PROBLEM.start):.4f} at the start, "
          f"{duality_gap(result.x, result.y):.2g} now")  # fmt: skip


if __name__ == "__main__":
    main()
