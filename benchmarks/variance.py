"""The variance of the estimates: the table of docs/choosing.md.

Estimates are made at one point of a quadratic game, with a random sample each time; the step is too
small to leave the point. The table shows the trace of their covariance divided by the squared norm
of the gradient of L: for the game itself, whose values are small, and with 10 added to every L_i,
which changes no gradient.
"""

from __future__ import annotations

import argparse

import numpy as np
from harness import Table, save

import gameproof as gp
from gameproof.kernels.layout import NEW

DRAWS, WARM_UP = 10_000, 1_000
RADII = (2.0, 0.5, 0.1)
SHIFTS = (0.0, 10.0)
POINT = np.full(5, 0.5)
ESTIMATES = {
    "OnePoint()": gp.OnePoint(),
    "OnePoint(baseline=True)": gp.OnePoint(baseline=True),
    "Residual()": gp.Residual(),
    "TwoPoint()": gp.TwoPoint(),
    "TwoPoint(symmetric=True)": gp.TwoPoint(symmetric=True),
    "Exact()": gp.Exact(),
}


def shifted(game: gp.Problem, shift: float) -> gp.SaddleProblem:
    """Returns the game with a number added to every L_i."""
    return gp.SaddleProblem(
        lambda indices, x, y: shift + game.values(indices, x, y),
        vectorized=True,
        n=game.n,
        x_set=game.x_set,
        y_set=game.y_set,
        gradient=game.gradient,
    )


def variance(problem: gp.Problem, gradient: object, radius: float, draws: int) -> float:
    """Returns the trace of the covariance of the estimates."""
    solver = gp.sgda_wr(gradient=gradient, step=1e-14, radius=radius)
    run = gp.Run(problem, solver, seed=0, start=(POINT, POINT))
    rows = []
    for _ in range(WARM_UP + draws):
        run.step()
        memory = run.state.memory
        rows.append(np.concatenate([memory.x[NEW], memory.y[NEW]]))
    return float(np.array(rows[WARM_UP:]).var(axis=0).sum())


def main() -> None:
    """Prints the table and keeps it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    draws = DRAWS // 10 if parser.parse_args().quick else DRAWS
    game = gp.QuadraticGame.random(n=100, dx=5, dy=5, noise=0.5, seed=0)
    mean = np.mean([np.concatenate(game.gradient(i, POINT, POINT)) for i in range(game.n)], axis=0)
    table = Table("variance / |gradient|^2", ["estimate", *(f"radius {r:g}" for r in RADII)])
    for shift in SHIFTS:
        for name, gradient in ESTIMATES.items():
            problem = shifted(game, shift)
            found = [variance(problem, gradient, r, draws) / (mean @ mean) for r in RADII]
            table.row(f"{name}, L_i + {shift:g}" if shift else name, *found)
    save("variance", [table])


if __name__ == "__main__":
    main()
