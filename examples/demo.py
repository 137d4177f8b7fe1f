"""Three classifiers, and what happens to each when people game it: ``make demo``.

Synthetic people, as in the paper: those who would be refused change the features they can, and the
more power they have, the farther they go. Prints a table and draws a figure, out/demo.png. The
first run compiles for about half a minute.
"""

from pathlib import Path

import numpy as np

import gameproof as gp

TRAIN, TEST, FEATURES = 2000, 800, 10
MOVABLE = [0, 1, 2, 3, 4]
TRAINED_FOR = 0.05  # the gaming power that the two strategic classifiers expect
RADIUS, LABEL_COST = 0.15, 0.5
POWERS = [0.0, 0.05, 0.1, 0.2, 0.5, 1.0]


def accuracy(theta: np.ndarray, X: np.ndarray, y: np.ndarray, power: float) -> float:
    """The share of people classified right once they have answered theta with this power."""
    people = gp.Population(X, y, gp.QuadraticCost(power, features=MOVABLE))
    return float(np.mean(np.sign(people.scores(theta, np.arange(people.n))) == y))


def classifiers(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """theta of each."""
    people = gp.Population(X, y, gp.QuadraticCost(TRAINED_FOR, features=MOVABLE))
    problem = gp.StrategicProblem(people, radius=RADIUS, label_cost=LABEL_COST)
    saddle = gp.saddle_point(problem)
    print(f"worst-case risk of the robust classifier {saddle.value:.4f}, certified to "
          f"{saddle.duality_gap:.0e}")  # fmt: skip
    return {
        "logistic": gp.plain_regression(people)[0],
        "strategic": gp.strategic_regression(people)[0],
        "robust": problem.split(saddle.x)[0],
    }


def draw(rows: dict[str, list[float]], path: Path) -> None:
    """Accuracy against gaming power."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
    for (name, found), style in zip(rows.items(), [":s", "--o", "-^"], strict=True):
        axes.plot(POWERS, found, style, label=name, linewidth=1.6, markersize=5)
    axes.axvline(TRAINED_FOR, color="0.7", linewidth=1)
    axes.annotate("power trained for", (TRAINED_FOR, 0.42), (TRAINED_FOR + 0.02, 0.42), color="0.4")
    axes.set(xlabel="gaming power of the people tested", ylabel="accuracy", ylim=(0.4, 1.0))
    axes.grid(alpha=0.2)
    axes.legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Trains, tests, prints, draws."""
    X, y = gp.synthetic_people(TRAIN + TEST, FEATURES, seed=0)
    print(f"{TRAIN} people to learn from, {TEST} to test on; of {FEATURES} features "
          f"{len(MOVABLE)} can be gamed")  # fmt: skip
    thetas = classifiers(X[:TRAIN], y[:TRAIN])
    rows = {
        name: [accuracy(theta, X[TRAIN:], y[TRAIN:], power) for power in POWERS]
        for name, theta in thetas.items()
    }
    print("\nAccuracy on the test people, by their gaming power")
    print(f"{'':12s}" + "".join(f"{power:>8g}" for power in POWERS))
    for name, found in rows.items():
        print(f"{name:12s}" + "".join(f"{value:8.3f}" for value in found))
    path = Path("out/demo.png")
    draw(rows, path)
    print(f"\nThe same as a figure: {path}")


if __name__ == "__main__":
    main()
