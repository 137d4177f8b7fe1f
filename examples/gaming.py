"""What gaming does to logistic regression, and to a classifier that is trained for it.

Two columns decide about a loan. Applicants can borrow up to 4,000 of savings for a day, but they
cannot change their income. Prints a table and draws a figure, out/gaming.png.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import gameproof as gp

BUDGETS = {"savings": (0, 4000)}  # lowest and highest change
ROWS, SHOWN = 4000, 150
COLOURS = {"repays": "#0b3c6f", "defaults": "#b3450c"}


def applicants(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Draws applicants and whether they repay, which depends on both columns."""
    rng = np.random.default_rng(seed)
    means = np.where(rng.random(ROWS) < 0.5, 1.0, -1.0)
    savings = 8000 + 2500 * means + 2000 * rng.standard_normal(ROWS)
    income = 3000 + 600 * means + 700 * rng.standard_normal(ROWS)
    table = pd.DataFrame({"savings": savings.clip(0), "income": income.clip(500)})
    return table, np.where(means > 0, "repays", "defaults")


def approved_defaults(model: Any, table: pd.DataFrame, outcome: np.ndarray) -> tuple[float, float]:
    """Returns the share of defaulting applicants who are approved, before and after gaming."""
    bad = table[outcome == "defaults"]
    before, after = model.predict(bad), model.gamed_decisions(bad)
    return float(np.mean(before == "repays")), float(np.mean(after == "repays"))


def draw(models: dict[str, Any], table: pd.DataFrame, outcome: np.ndarray, path: Path) -> None:
    """Draws one panel per model: applicants, the boundary, and the moves that cross it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    few, labels = table[:SHOWN], outcome[:SHOWN]
    for (name, model), axes in zip(models.items(), panels, strict=True):
        share, gamed = approved_defaults(model, table, outcome)
        axes.set_title(f"{name}\nbad applicants approved: {share:.0%}, after gaming {gamed:.0%}",
                       fontsize=10.5)  # fmt: skip
        for kind, marker in (("repays", "o"), ("defaults", "X")):
            rows = few[labels == kind]
            axes.scatter(rows["savings"], rows["income"], s=22, c=COLOURS[kind], marker=marker,
                         linewidths=0, alpha=0.75, label=kind)  # fmt: skip
        draw_moves(axes, model, few[labels == "defaults"])
        draw_boundary(axes, model)
        axes.set_xlabel("savings (can be raised by 4,000)")
    panels[0].set_ylabel("monthly income (cannot be changed)")
    panels[1].set(xlim=(0, 17_000), ylim=(800, 5600))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4,
                  frameon=False)  # fmt: skip
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)


def draw_moves(axes: Any, model: Any, bad: pd.DataFrame) -> None:
    """Draws the shortest move to acceptance of every refused applicant who can reach it."""
    slope, offset = model.coef_[0], model.intercept_[0]
    movers = bad[(model.predict(bad) == "defaults") & (model.gamed_decisions(bad) == "repays")]
    needed = -(movers.to_numpy() @ slope + offset) / slope[0] if len(movers) else []
    label = "games the model and is approved"
    arrow = {"arrowstyle": "->", "color": COLOURS["defaults"], "alpha": 0.7}
    for (savings, income), step in zip(movers.to_numpy(), needed, strict=True):
        axes.annotate("", (savings + step, income), (savings, income), arrowprops=arrow)
    axes.plot([], [], color=COLOURS["defaults"], marker=">", markersize=5, label=label)


def draw_boundary(axes: Any, model: Any) -> None:
    """Draws the line where the score is 0; applicants above it are approved."""
    slope, offset = model.coef_[0], model.intercept_[0]
    savings = np.array([-1000.0, 18_000.0])
    axes.plot(savings, -(offset + slope[0] * savings) / slope[1], color="black", linewidth=1.6,
              label="boundary: approved above")  # fmt: skip


def main() -> None:
    """Fits both models, prints the table and draws the figure."""
    table, outcome = applicants(seed=0)
    plain = gp.StrategicLogisticRegression(power=0.0, favourable="repays").fit(table, outcome)
    trained = gp.StrategicLogisticRegression(budgets=BUDGETS, favourable="repays")
    trained.fit(table, outcome)
    plain.set_params(budgets=BUDGETS, power=None)
    models = {"logistic regression": plain, "trained for the budget": trained}

    test, truth = applicants(seed=1)
    print(f"{ROWS:,} applicants; bad applicants can raise their savings by up to 4,000")
    print(f"{'':24s}{'accuracy':>10s}{'gamed':>8s}{'bad approved':>15s}{'gamed':>8s}")
    for name, model in models.items():
        share, gamed = approved_defaults(model, test, truth)
        clean, hurt = model.score(test, truth), model.gamed_score(test, truth)
        print(f"{name:24s}{clean:>10.2f}{hurt:>8.2f}{share:>15.2f}{gamed:>8.2f}")
    path = Path("out/gaming.png")
    draw(models, test, truth, path)
    print(f"Figure: {path}")


if __name__ == "__main__":
    main()
