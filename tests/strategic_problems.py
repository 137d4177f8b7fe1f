"""Strategic problems that several tests share."""

from collections.abc import Callable
from typing import Any

import numpy as np

import gameproof as gp
from gameproof.strategic.category_claims import Claim

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
    "ball": lambda: make(response=gp.BallBudget(0.3, features=[0, 2])),
    "ball by agent": lambda: make(response=gp.BallBudget(np.linspace(0, 0.8, 60)), intercept=2.0),
    "ball, norm 1": lambda: make(response=gp.BallBudget(0.3, norm=1.0), d=6),
    "ball, norm 1.5": lambda: make(response=gp.BallBudget(0.3, norm=1.5)),
    "ball, norm 3": lambda: make(response=gp.BallBudget(0.3, norm=3.0), label_cost=np.inf),
    "ball, norm inf": lambda: make(response=gp.BallBudget(0.3, norm=np.inf), intercept=2.0),
    "box": lambda: make(response=gp.BoxBudget([-0.4, 0.0, -0.2], [0.0, 0.3, 0.5])),
    "box by agent": lambda: make(response=box_by_agent(60, 3), loss=gp.HuberHinge(0.5)),
    "prices": lambda: make(response=gp.PriceBudget(0.5, [1.0, 0.4, np.inf]), intercept=2.0),
    "category": lambda: make(response=with_category(60, 6), d=6, intercept=2.0),
    "feature costs": lambda: make(
        response=gp.BallBudget(0.3), feature_cost=[0.5, 3.0, np.inf], intercept=2.0
    ),
}


def box_by_agent(n: int, d: int) -> gp.BoxBudget:
    """Bounds of every size, some of them 0."""
    rng = np.random.default_rng(3)
    lower, upper = rng.uniform(-0.5, 0.2, (n, d)), rng.uniform(-0.2, 0.5, (n, d))
    return gp.BoxBudget(np.minimum(lower, 0), np.maximum(upper, 0))


def with_category(n: int, d: int) -> gp.BoxBudget:
    """A box on the first features, and a category of three columns and a level without one, of
    which two levels can be claimed."""
    rng = np.random.default_rng(4)
    claim = Claim(
        columns=np.array([d - 3, d - 2, d - 1, -1]),
        steps=np.array([1.0, 2.0, 0.5, 1.0]),
        allowed=np.array([False, True, False, True]),
        current=rng.integers(0, 4, n),
    )
    ends = np.where(np.arange(d) < d - 3, 0.2, 0.0)
    return gp.BoxBudget(-ends, 2 * ends, (claim,))


def random_budget(rng: np.random.Generator, n: int, d: int) -> gp.Response:
    """Balls of all norms, boxes, prices and categories, common or by agent; d is at least 4."""
    each = rng.random(n) if rng.random() < 0.5 else float(rng.random())
    able = rng.random(d) < 0.6
    kind = rng.choice(["ball", "box", "box by agent", "prices", "category"])
    if kind == "ball":
        norm = float(rng.choice([1.0, 1.3, 2.0, 3.0, np.inf]))
        return gp.BallBudget(each, np.flatnonzero(able), norm)
    if kind == "box":
        return gp.BoxBudget(-(able * rng.random(d)), able * rng.random(d))
    if kind == "box by agent":
        return box_by_agent(n, d)
    if kind == "prices":
        return gp.PriceBudget(each, np.where(able, rng.random(d) + 0.3, np.inf))
    return with_category(n, d)


def random_budget_problem(seed: int) -> gp.StrategicProblem:
    """All losses and budgets, with and without weights, intercept, label and feature costs."""
    rng = np.random.default_rng([2, seed])
    n, d = int(rng.integers(20, 151)), int(rng.integers(4, 9))
    X = rng.standard_normal((n, d))
    y = np.sign(X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n))
    y[:2] = 1, -1
    weights = None if rng.random() < 0.6 else rng.random(n) + 0.2
    cost = np.where(rng.random(d) < 0.25, np.inf, 10 ** rng.uniform(-0.7, 0.5, d))
    return gp.StrategicProblem(
        gp.Population(X, y, random_budget(rng, n, d), weights=weights),
        float(rng.choice([0.01, 0.05, 0.2])),
        float(rng.choice([0.1, 0.5, np.inf])),
        [gp.Logistic(), gp.HuberHinge(), gp.PseudoHuberHinge()][int(rng.integers(3))],
        intercept=None if rng.random() < 0.5 else 3.0,
        feature_cost=None if rng.random() < 0.5 else cost,
    )


def random_ball_problem(seed: int) -> gp.StrategicProblem:
    """Balls whose dual norm is below 2, on features of many sizes, most of them known to be
    accurate: coefficients of all sizes, some of them bounded by the cap alone."""
    rng = np.random.default_rng([3, seed])
    n, d = int(rng.integers(20, 150)), int(rng.integers(6, 13))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-1.5, 1.5, d)
    y = np.sign(X @ rng.standard_normal(d) + rng.standard_normal(n))
    y[:2] = 1, -1
    return gp.StrategicProblem(
        gp.Population(X, y, gp.BallBudget(10 ** rng.uniform(-2, 1), norm=rng.choice([3, 4, 10]))),
        float(rng.choice([0.0, 0.01, 0.1])),
        float(rng.choice([0.1, np.inf])),
        [gp.Logistic(), gp.HuberHinge(), gp.PseudoHuberHinge()][int(rng.integers(3))],
        alpha_max=float(rng.choice([2.0, 20.0, 100.0])),
        feature_cost=np.where(rng.random(d) < 0.8, np.inf, 10 ** rng.uniform(-1, 1, d)),
    )


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
