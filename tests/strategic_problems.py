"""Strategic problems that several tests share."""

from collections.abc import Callable
from typing import Any

import numpy as np

import gameproof as gp

Vector = np.ndarray[Any, np.dtype[np.float64]]


def synthetic(n: int, d: int, seed: int = 0) -> tuple[Vector, Vector]:
    """The data of the paper: theta*, then X, then the noise."""
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal(d)
    X = rng.standard_normal((n, d))
    return X, np.sign(X @ theta + np.sqrt(0.1) * rng.standard_normal(n))


def paper(form: Any, **options: Any) -> gp.StrategicProblem:
    X, y = synthetic(500, 10)
    people = gp.Population(X, y, gp.QuadraticCost(0.05, features=range(5)))
    return gp.StrategicProblem(people, 0.4, 0.5, form=form, alpha_max=20.0, **options)


def make(
    n: int = 60,
    d: int = 3,
    seed: int = 1,
    response: gp.Response | None = None,
    data: tuple[Vector, Vector] | None = None,
    **options: Any,
) -> gp.StrategicProblem:
    X, y = synthetic(n, d, seed) if data is None else data
    people = gp.Population(X, y, gp.QuadraticCost(0.2) if response is None else response)
    return gp.StrategicProblem(people, **({"radius": 0.05, "label_cost": 0.4} | options))


# One of every kind, small enough for any method.
KINDS: dict[str, Callable[[], gp.StrategicProblem]] = {
    "quadratic": make,
    "printed": lambda: make(radius=0.3, form="printed"),
    "fixed labels": lambda: make(label_cost=np.inf),
    "labels both ways": lambda: make(response=gp.NoResponse(), flips="both"),
    "intercept": lambda: make(intercept=2.0),
    "low cap": lambda: make(alpha_max=0.5),
    "cheap labels": lambda: make(radius=0.02, label_cost=0.02),
    "Huber": lambda: make(loss=gp.HuberHinge(0.5), intercept=2.0),
    "pseudo-Huber": lambda: make(loss=gp.PseudoHuberHinge()),
    "degree 1.5": lambda: make(response=gp.PowerCost(0.3, degree=1.5)),
    "degree 3": lambda: make(response=gp.PowerCost(0.3, degree=3.0)),
    "norm 1": lambda: make(response=gp.PowerCost(0.3, norm=1.0), d=6),
    "norm 1.5": lambda: make(response=gp.PowerCost(0.3, norm=1.5)),
    "norm 3, mask": lambda: make(response=gp.PowerCost(0.3, norm=3.0, features=[0, 2])),
    "norm inf, mask": lambda: make(
        response=gp.PowerCost(0.3, norm=np.inf, features=[1, 2, 4]), d=6, intercept=2.0
    ),
    "power by agent": lambda: make(response=gp.QuadraticCost(np.linspace(0, 0.8, 60))),
}


def random_problem(seed: int) -> gp.StrategicProblem:
    """All losses, degrees, norms, flips, forms, caps; n 20 to 300, d 1 to 12."""
    rng = np.random.default_rng([1, seed])
    n, d = int(rng.integers(20, 301)), int(rng.integers(1, 13))
    X = rng.standard_normal((n, d)) * (10 ** rng.uniform(-1, 1) if rng.random() < 0.3 else 1.0)
    noise = np.sqrt(0.1) * rng.standard_normal(n) + 0.5 * rng.standard_normal()
    y = np.sign(X @ rng.standard_normal(d) + noise)
    y[:2] = 1, -1
    losses = gp.Logistic(), gp.HuberHinge(10 ** rng.uniform(-1.3, 0.5)), gp.PseudoHuberHinge()
    flips = str(rng.choice(["one-way", "none", "both"], p=[0.6, 0.2, 0.2]))
    power = 0.0 if flips == "both" else 10 ** rng.uniform(-2, 0.5)
    movable = sorted(rng.choice(d, int(rng.integers(1, d + 1)), replace=False).tolist())
    response = gp.PowerCost(
        power if rng.random() < 0.7 else rng.uniform(0, power, n),
        degree=float(rng.choice([1.25, 1.5, 2.0, 3.0, 5.0])),
        norm=float(rng.choice([1.0, 1.2, 1.5, 2.0, 3.0, 5.0, np.inf])),
        features=None if rng.random() < 0.6 else movable,
    )
    kappa = np.inf if flips == "none" else 10 ** rng.uniform(-1.5, 0.7)
    printed = flips == "one-way" and rng.random() < 0.3
    return gp.StrategicProblem(
        gp.Population(X, y, response),
        10 ** rng.uniform(-3, -0.3) + (kappa * np.mean(y < 0) if printed else 0.0),
        kappa,
        losses[rng.integers(3)],
        form="printed" if printed else "exact",
        flips=flips,
        alpha_max=float(rng.choice([20.0, 20.0, 1.0, 100.0])),
        intercept=None if rng.random() < 0.5 else 10 ** rng.uniform(-1, 1),
    )
