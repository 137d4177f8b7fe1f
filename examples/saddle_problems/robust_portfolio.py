"""A portfolio for the worst mean return near the observed one.

x are weights of eight assets, r_i the returns of month i, and the true mean may differ from the
observed mean by any y with |y| <= 0.01:

    min over x, max over y of (1/n) sum_i -(r_i + y)'x + (5/2) ((r_i - mean)'x)^2

The worst y is -0.01 x / |x|, so that the adversary charges 0.01 |x|: a price of concentration.
"""

import numpy as np
from scipy.optimize import minimize

import gameproof as gp

QUERIES = 20_000
ASSETS, MONTHS, AVERSION, ERROR = 8, 60, 5.0, 0.01
RNG = np.random.default_rng(0)
MARKET = 0.008 + 0.04 * RNG.normal(size=(MONTHS, 1))
RETURNS = MARKET * RNG.uniform(0.5, 1.5, ASSETS) + 0.03 * RNG.normal(size=(MONTHS, ASSETS))
MEAN, COVARIANCE = RETURNS.mean(axis=0), np.cov(RETURNS.T, bias=True)


def cost(i, x, y):
    """Returns the cost of month i: minus the return, plus the price of its deviation."""
    return -(RETURNS[i] + y) @ x + AVERSION / 2 * ((RETURNS[i] - MEAN) @ x) ** 2


PROBLEM = gp.SaddleProblem(
    cost, n=MONTHS, x_set=gp.Simplex(ASSETS), y_set=gp.Ball(np.zeros(ASSETS), ERROR)
)


def duality_gap(x, y):
    """Returns the gap: the best y in closed form, the best x by a quadratic program."""

    def value(weights):
        return -(MEAN + y) @ weights + AVERSION / 2 * weights @ COVARIANCE @ weights

    def slope(weights):
        return -(MEAN + y) + AVERSION * COVARIANCE @ weights

    worst = -MEAN @ x + AVERSION / 2 * x @ COVARIANCE @ x + ERROR * np.linalg.norm(x)
    total = {"type": "eq", "fun": lambda weights: weights.sum() - 1, "jac": np.ones_like}
    best = minimize(value, x, jac=slope, method="SLSQP", bounds=[(0, 1)] * ASSETS,
                    constraints=[total], options={"ftol": 1e-15, "maxiter": 1000})  # fmt: skip
    return float(worst - best.fun)


def main():
    """Finds the portfolio from values alone and prints the duality gap."""
    solver = gp.Solver.auto(PROBLEM, queries=QUERIES, seed=0)
    result = gp.solve(PROBLEM, solver, queries=QUERIES, seed=0)
    print(solver.why)
    print("weights:", result.x.round(3))
    print(f"duality gap: {duality_gap(*PROBLEM.start):.4f} at the start, "
          f"{duality_gap(result.x, result.y):.2g} now")  # fmt: skip


if __name__ == "__main__":
    main()
