"""Made-up loan applicants: a table to try the commands with.

As in real tables, some columns are useless, one has missing values and some hold text. The movable
columns savings, credit_lines and utilisation are informative, so a classifier that relies on them
invites gaming.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gameproof.core.arguments import as_count

MOVABLE: tuple[str, ...] = ("savings", "credit_lines", "utilisation")
TARGET, FAVOURABLE = "repaid", "yes"


def made_up_people(n: int = 2000, seed: int | np.random.Generator = 0) -> Mapping[str, Any]:
    """The columns of a table with n applicants.

    >>> people = made_up_people(5)
    >>> list(people)[:4], people["repaid"]
    (['id', 'applied', 'age', 'income'], ['yes', 'yes', 'yes', 'yes', 'yes'])
    """
    as_count("n", n, least=2)
    rng = np.random.default_rng(seed)
    age = rng.integers(19, 80, n)
    steady = rng.standard_normal(n)  # hidden: how reliable a person is
    income = np.exp(7.7 + 0.4 * steady + 0.4 * rng.standard_normal(n)).round(-1)
    savings = np.exp(7.0 + 1.1 * steady + 0.8 * rng.standard_normal(n)).round(-1)
    lines = rng.poisson(np.exp(1.2 - 0.35 * steady))
    utilisation = (1 / (1 + np.exp(steady + 0.8 * rng.standard_normal(n)))).round(3)
    late = rng.poisson(np.exp(-1.2 - 0.8 * steady))
    home = rng.choice(["owned", "rented", "with parents"], n, p=[0.4, 0.5, 0.1])
    job = rng.choice(
        ["office", "trade", "care", "none", "retired"], n, p=[0.4, 0.3, 0.2, 0.06, 0.04]
    )
    score = 1.6 * steady + 0.3 * (home == "owned") - 0.5 * (job == "none") + 0.01 * (age - 45)
    repaid = score + 0.8 * rng.standard_normal(n) > -0.3
    day = np.datetime64("2025-01-01") + rng.integers(0, 365, n)
    return {
        "id": [f"P{k:06d}" for k in range(1, n + 1)],
        "applied": day.astype(str).tolist(),
        "age": age,
        "income": np.where(rng.random(n) < 0.06, np.nan, income),
        "savings": savings,
        "credit_lines": lines,
        "utilisation": utilisation,
        "late_payments": late,
        "home": home.tolist(),
        "job": job.tolist(),
        TARGET: np.where(repaid, "yes", "no").tolist(),
    }
