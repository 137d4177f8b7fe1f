"""A 2 x 2 matrix game of value 5/3, whose payoffs are seen with noise.

x mixes the rows and pays, y mixes the columns and receives:

    min over x, max over y of x'Ay,   A = [[1, 2], [3, 1]]

Neither row dominates the other. The saddle point x = (2/3, 1/3), y = (1/3, 2/3) makes the opponent
indifferent. Each of 20 rounds has a payoff matrix of its own, and A is their mean.
"""

import numpy as np

import gameproof as gp

QUERIES = 20_000
MEAN = np.array([[1.0, 2.0], [3.0, 1.0]])
VALUE = 5 / 3
NOISE = np.random.default_rng(0).normal(size=(20, 2, 2))
PAYOFFS = MEAN + NOISE - NOISE.mean(axis=0)


def payoff(i, x, y):
    """Returns what x pays to y in round i."""
    return x @ PAYOFFS[i] @ y


PROBLEM = gp.SaddleProblem(payoff, n=20, x_set=gp.Simplex(2), y_set=gp.Simplex(2))


def duality_gap(x, y):
    """Returns the gap: against a fixed strategy, a pure one is optimal."""
    return float((x @ MEAN).max() - (MEAN @ y).min())


def main():
    """Solves the game from values alone and prints the duality gap."""
    solver = gp.Solver.auto(PROBLEM, queries=QUERIES, seed=0)
    result = gp.solve(PROBLEM, solver, queries=QUERIES, seed=0)
    print(solver.why)
    print(
        f"x = {result.x.round(3)}, y = {result.y.round(3)}, value {MEAN @ result.y @ result.x:.4f}"
    )
    print(f"duality gap: {duality_gap(*PROBLEM.start):.4f} at the start, "
          f"{duality_gap(result.x, result.y):.2g} now")  # fmt: skip


if __name__ == "__main__":
    main()
