"""A Wasserstein GAN with a linear generator and a linear critic.

The generator turns a condition c_i into the point Theta c_i, and the critic scores a point b under
the condition c by b'Wc. The critic looks for a score that distinguishes data from generated points,
and the generator for parameters that leave none:

    min over |Theta| <= 3, max over |W| <= 1 of (1/n) sum_i (b_i - Theta c_i)'W c_i

The game is bilinear: plain descent-ascent circles, and the solution is least squares.

Arjovsky, Chintala and Bottou, "Wasserstein generative adversarial networks", 2017.
"""

import numpy as np

import gameproof as gp

QUERIES = 20_000
POINTS, DIM = 100, 3
RADIUS, CRITIC = 3.0, 1.0
RNG = np.random.default_rng(0)
CONDITIONS = RNG.normal(size=(POINTS, DIM))
TRUTH = RNG.normal(size=(DIM, DIM)) / np.sqrt(DIM)
DATA = CONDITIONS @ TRUTH.T + 0.5 * RNG.normal(size=(POINTS, DIM))
MOMENT, SECOND = DATA.T @ CONDITIONS / POINTS, CONDITIONS.T @ CONDITIONS / POINTS


def advantage(i, theta, w):
    """Returns by how much the critic scores data point i higher than the generated one."""
    c = CONDITIONS[i]
    return (DATA[i] - theta.reshape(DIM, DIM) @ c) @ w.reshape(DIM, DIM) @ c


PROBLEM = gp.SaddleProblem(
    advantage,
    n=POINTS,
    x_set=gp.Ball(np.zeros(DIM * DIM), RADIUS),
    y_set=gp.Ball(np.zeros(DIM * DIM), CRITIC),
)


def duality_gap(theta, w):
    """Returns the gap: both best responses are linear programs on a ball."""
    theta, w = theta.reshape(DIM, DIM), w.reshape(DIM, DIM)
    worst = CRITIC * np.linalg.norm(MOMENT - theta @ SECOND)
    best = np.sum(MOMENT * w) - RADIUS * np.linalg.norm(w @ SECOND)
    return float(worst - best)


def main():
    """Trains the pair from values alone and prints the duality gap."""
    solver = gp.Solver.auto(PROBLEM, queries=QUERIES, seed=0)
    result = gp.solve(PROBLEM, solver, queries=QUERIES, seed=0)
    print(solver.why)
    solution = MOMENT @ np.linalg.inv(SECOND)
    error = np.linalg.norm(result.x.reshape(DIM, DIM) - solution)
    print(f"distance of the generator from least squares: {error:.4f}")
    print(f"duality gap: {duality_gap(*PROBLEM.start):.4f} at the start, "
          f"{duality_gap(result.x, result.y):.2g} now")  # fmt: skip


if __name__ == "__main__":
    main()
