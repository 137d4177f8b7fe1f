"""A quadratic program, through its Lagrangian.

    min x'Px/2 + q'x   subject to   Gx <= h

With a multiplier y_j >= 0 for each of 20 constraints, the solution is the saddle point of
x'Px/2 + q'x + y'(Gx - h). Each sample is one constraint: L_j = x'Px/2 + q'x + 20 y_j (g_j'x - h_j).
Boxes large enough to contain the saddle point make both sets compact.
"""

import numpy as np
from scipy.optimize import lsq_linear

import gameproof as gp

QUERIES = 20_000
VARIABLES, CONSTRAINTS, BOUND, MULTIPLIER = 10, 20, 3.0, 5.0
RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(VARIABLES, VARIABLES)) / np.sqrt(VARIABLES) + np.eye(VARIABLES)
P, Q = ROOT.T @ ROOT, RNG.normal(size=VARIABLES)
G = RNG.normal(size=(CONSTRAINTS, VARIABLES)) / np.sqrt(VARIABLES)
H = RNG.uniform(0.0, 0.5, CONSTRAINTS)


def lagrangian(j, x, y):
    """Returns the objective, plus the price of violating constraint j."""
    return x @ P @ x / 2 + Q @ x + CONSTRAINTS * y[j] * (G[j] @ x - H[j])


PROBLEM = gp.SaddleProblem(
    lagrangian,
    n=CONSTRAINTS,
    x_set=gp.Box(np.full(VARIABLES, -BOUND), np.full(VARIABLES, BOUND)),
    y_set=gp.Box(np.zeros(CONSTRAINTS), np.full(CONSTRAINTS, MULTIPLIER)),
)


def duality_gap(x, y):
    """Returns the gap: the best multipliers are at a bound, the best x by bounded least squares."""
    worst = x @ P @ x / 2 + Q @ x + MULTIPLIER * np.maximum(G @ x - H, 0).sum()
    # x'Px/2 + c'x is |Rx + s|^2/2 - |s|^2/2 with R'R = P and R's = c.
    shift = np.linalg.solve(ROOT.T, Q + G.T @ y)
    best = lsq_linear(ROOT, -shift, bounds=(-BOUND, BOUND), method="bvls", tol=1e-14)
    return float(worst - (best.cost - shift @ shift / 2 - y @ H))


def main():
    """Solves the program from values alone and prints the duality gap."""
    solver = gp.Solver.auto(PROBLEM, queries=QUERIES, seed=0)
    result = gp.solve(PROBLEM, solver, queries=QUERIES, seed=0)
    print(solver.why)
    print(f"largest violation of a constraint: {(G @ result.x - H).max():.4f}")
    print(f"duality gap: {duality_gap(*PROBLEM.start):.4f} at the start, "
          f"{duality_gap(result.x, result.y):.2g} now")  # fmt: skip


if __name__ == "__main__":
    main()
