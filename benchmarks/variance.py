"""The variance of the estimates, per value asked: the table of docs/choosing.md.

Estimates are taken at one point of a quadratic game (the step is too small to leave it) over its
samples in turn. Shown is the trace of their covariance over the squared length of the gradient of
L there, and below it the same times the values an estimate costs.
"""

from __future__ import annotations

import numpy as np

import gameproof as gp
from gameproof import kernels

DRAWS, WARM_UP = 20_000, 1_000
RADII = (2.0, 0.5, 0.1)
ESTIMATES = {
    "OnePoint()": (gp.OnePoint(), 1),
    "OnePoint(baseline=True)": (gp.OnePoint(baseline=True), 1),
    "Residual()": (gp.Residual(), 1),
    "TwoPoint()": (gp.TwoPoint(), 2),
    "TwoPoint(symmetric=True)": (gp.TwoPoint(symmetric=True), 2),
    "Exact()": (gp.Exact(), 0),
}


def variance(game: gp.Problem, gradient: object, radius: float) -> float:
    """Trace of the covariance of the estimates."""
    solver = gp.sgda_wr(gradient=gradient, step=1e-14, radius=radius)
    run = gp.Run(game, solver, seed=0, start=(np.full(5, 0.5), np.full(5, 0.5)))
    rows = []
    for step in range(1, DRAWS + 1):
        run.advance(step, max_queries=10**9, compiled=True)
        memory = run.state.memory
        rows.append(np.concatenate([memory.x[kernels.NEW], memory.y[kernels.NEW]]))
    return float(np.array(rows[WARM_UP:]).var(axis=0).sum())


def main() -> None:
    """Prints the table."""
    game = gp.QuadraticGame.random(n=100, dx=5, dy=5, noise=0.5, seed=0)
    point = np.full(5, 0.5)
    mean = np.mean([np.concatenate(game.gradient(i, point, point)) for i in range(game.n)], axis=0)
    size = float(mean @ mean)
    print("variance over |gradient|^2      " + "".join(f"radius {r:<8g}" for r in RADII))
    for name, (gradient, values) in ESTIMATES.items():
        found = [variance(game, gradient, radius) / size for radius in RADII]
        cells = "".join(f"{v:<15.3g}" for v in found)
        print(f"{name:26s}      {cells}{values} value{'s' if values != 1 else ''}")


if __name__ == "__main__":
    main()
