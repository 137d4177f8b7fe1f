"""The four algorithms on a game with a known saddle point, using values only.

Prints a table and draws a figure, out/four_algorithms.png. The first run compiles for about half a
minute.
"""

from pathlib import Path

import numpy as np

import gameproof as gp

SEEDS = range(20)
CHECKPOINTS = [10, 100, 1_000]
ALGORITHMS = [gp.ogda_rr, gp.ogda_wr, gp.sgda_rr, gp.sgda_wr]
ESTIMATES = {"one-point": gp.OnePoint(), "two-point": gp.TwoPoint()}


def gaps(game: gp.Problem, solver: gp.Solver) -> tuple[np.ndarray, np.ndarray]:
    """Returns the values asked and the gap of the averaged iterate, with one row per seed."""
    rows = []
    for seed in SEEDS:
        result = gp.solve(
            game, solver, epochs=CHECKPOINTS[-1], seed=seed, score=game.duality_gap, record_every=10
        )
        rows.append(result.trace["score"])
    return result.trace["queries"], np.array(rows)


def draw(curves: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]], path: Path) -> None:
    """Draws the mean gap by values asked on logarithmic axes, with one panel per estimate."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for (label, algorithms), axes in zip(curves.items(), panels, strict=True):
        for (name, (queries, rows)), style in zip(
            algorithms.items(), ["-", "--", "-.", ":"], strict=True
        ):
            axes.loglog(queries, rows.mean(axis=0), style, label=name, linewidth=1.6)
        axes.set_title(f"{label} estimates", fontsize=10)
        axes.set_xlabel("values asked")
        axes.grid(which="both", alpha=0.2)
    panels[0].set_ylabel(f"duality gap, mean over {len(SEEDS)} seeds")
    panels[0].legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Runs the algorithms, prints the table and draws the figure."""
    game = gp.QuadraticGame.random(n=100, dx=5, dy=5, noise=0.5, seed=0)
    print(f"{game.name}: value {game.saddle.value:.4f}, certified by a linear system to "
          f"{abs(game.saddle.duality_gap):.0e}")  # fmt: skip
    print("No gradient is used: each step asks for values of single samples.\n")
    print(f"Duality gap by epochs, n = {game.n}: mean ± standard deviation over {len(SEEDS)} seeds")
    print(f"{'':22s}" + "".join(f"{epochs:>16,d}" for epochs in CHECKPOINTS))
    curves: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]] = {}
    for label, gradient in ESTIMATES.items():
        for algorithm in ALGORITHMS:
            solver = algorithm(gradient=gradient, step=gp.Power(0.01, 0.76), radius=0.5)
            queries, rows = gaps(game, solver)
            at = [epochs // 10 - 1 for epochs in CHECKPOINTS]
            cells = [f"{rows[:, k].mean():.4f} ± {rows[:, k].std():.4f}" for k in at]
            print(f"{solver.name:9s}{label:13s}" + "".join(f"{cell:>16s}" for cell in cells))
            curves.setdefault(label, {})[solver.name] = queries, rows
    path = Path("out/four_algorithms.png")
    draw(curves, path)
    print(f"\nFigure: {path}")


if __name__ == "__main__":
    main()
