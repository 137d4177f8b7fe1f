"""The paper's synthetic people: a hidden classifier, normal features, noisy labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Vector, as_count, as_positive


def synthetic_people(
    n: int = 500, d: int = 10, noise: float = 0.1, seed: int | np.random.Generator = 0
) -> tuple[NDArray[np.float64], Vector]:
    """Draw the paper's synthetic people: y = sign(X theta* + e) with a hidden theta*.

    theta*, X and e are drawn in this order, all from normal distributions.

    Parameters
    ----------
    n, d : int
        Number of people and of features.
    noise : float, default 0.1
        Variance of e. With 0, labels follow theta* exactly.
    seed : int or Generator, default 0
        Seed of the draws.

    Returns
    -------
    X : array of shape (n, d)
        Features.
    y : array of shape (n,)
        Labels -1 and +1.

    Raises
    ------
    ValueError
        If n is below 2, d below 1 or noise negative.

    Examples
    --------
    >>> from gameproof import synthetic_people
    >>> X, y = synthetic_people(n=50, d=2)
    >>> X.shape, sorted(set(y.tolist()))
    ((50, 2), [-1.0, 1.0])
    """
    as_count("n", n, least=2)
    as_count("d", d)
    if noise != 0:
        as_positive("noise", noise)
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal(d)
    X = rng.standard_normal((n, d))
    scores = X @ hidden + np.sqrt(noise) * rng.standard_normal(n)
    return X, np.where(scores >= 0, 1.0, -1.0)
