"""People before and after a model became known, whose moves are known."""

from typing import NamedTuple

import numpy as np
import pandas as pd

NAMES = ["savings", "utilisation", "late", "age"]
WEIGHTS = np.array([1 / 3000, -10.0, -0.5, 0.01])


class Rule:
    """A linear model that accepts about half of the people, with names of columns."""

    feature_names_in_ = NAMES

    def __init__(self, weights: np.ndarray = WEIGHTS) -> None:
        self.weights = weights

    def decision_function(self, table: pd.DataFrame) -> np.ndarray:
        """Positive for those whom it accepts."""
        return (table[NAMES] - [10_000, 0.5, 1, 45]).to_numpy() @ self.weights


class Told(NamedTuple):
    """Both tables, the model, and who gamed."""

    before: pd.DataFrame
    after: pd.DataFrame
    model: Rule
    gamed: np.ndarray


def told(
    n: int, seed: int, *, share: float = 0.5, noise: float = 200.0, budget: float = 1.0
) -> Told:
    """A share of the refused raises savings by 5,000 and lowers utilisation by 0.2, or by a part
    of that; everyone is a year older, savings also vary by chance, and late payments come and
    go."""
    rng = np.random.default_rng(seed)
    steady = rng.standard_normal(n)
    before = pd.DataFrame(
        {
            "id": [f"P{k}" for k in rng.permutation(n)],
            "savings": 10_000 + 3000 * steady + 3000 * rng.standard_normal(n),
            "utilisation": 0.5 - 0.1 * steady + 0.1 * rng.standard_normal(n),
            "late": rng.poisson(np.exp(-0.5 * steady)),
            "age": rng.integers(20, 70, n),
        }
    )
    gamed = (Rule().decision_function(before) <= 0) & (rng.random(n) < share)
    after = before.assign(
        savings=before["savings"] + noise * rng.standard_normal(n) + 5000 * budget * gamed,
        utilisation=before["utilisation"] - 0.2 * budget * gamed,
        late=before["late"] + rng.integers(-1, 2, n) * (before["late"] > 0),
        age=before["age"] + 1,
    )
    return Told(before, after.sample(frac=1, random_state=seed), Rule(), gamed)
