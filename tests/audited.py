"""People and a model with features in different units, for the tests of audits."""

import numpy as np

from gameproof.auditing.audit import audit, compare_models
from gameproof.auditing.linear_model import LinearModel

SCALE = np.array([100.0, 0.1, 1.0, 3.0])
NAMES = ("income", "rate", "age", "debt")
MOVABLE = ("income", "debt")
# Income can only rise; debt can fall further than it can rise.
BUDGETS = {"income": (0.0, 60.0), "debt": (-1.5, 0.5)}


def people(n: int = 60, seed: int = 0):
    """Features of very different sizes, labels, and a model that is right more often than not."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 4))
    y = np.sign(Z @ [1.0, -0.5, 0.3, -0.8] + 0.1 + 0.7 * rng.standard_normal(n))
    theta = np.array([0.9, -0.4, 0.5, -0.7]) / SCALE
    return Z * SCALE, y, LinearModel(theta, 0.2, NAMES, "mine")


HOSTILE = "</script><b class=evil>'\"&<img src=x onerror=alert(1)>"


def audits(names: tuple[str, ...] = NAMES):
    """An audit of one model, and a comparison of three."""
    X, y, model = people(300)
    theta = model.coefficients
    models = [
        LinearModel(theta * size, 0.2, names, name)
        for name, size in (("plain", 1.0), ("strategic", 0.8), ("robust", [0.3, 1, 1, 0.3]))
    ]
    budgets = {names[NAMES.index(name)]: ends for name, ends in BUDGETS.items()}
    options = {"budgets": budgets, "scale": SCALE}
    return audit(models[0], X, y, **options), compare_models(models, X, y, **options)
