"""Whether observed answers refute the best-response model, whatever the cost.

The move b(theta) - x of a best response is the gradient of a convex function of theta: the
conjugate of the cost, or the support function of a budget. Hence

    <(b(theta) - x) - (b(theta') - x), theta - theta'> >= 0

for every pair of deployments, and a pair that violates this refutes the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import as_numbers, require_finite


@dataclass(frozen=True)
class Verdict:
    """Whether observed answers refute the best-response model.

    `refute` returns it. A verdict is true if the model is refuted.

    Attributes
    ----------
    refuted : bool
        Whether the model is refuted.
    sentence : str
        The verdict, with the agent and the deployments that refute the model.
    worst : float
        The smallest inner product over all pairs, relative to the lengths of its vectors.

    Examples
    --------
    >>> bool(refute(np.zeros((1, 1)), [[1.0]], [[[-1.0]]]))
    True
    """

    refuted: bool
    sentence: str
    worst: float

    def __bool__(self) -> bool:
        return self.refuted


def refute(
    features: ArrayLike, thetas: ArrayLike, answers: ArrayLike, tolerance: float = 1e-9
) -> Verdict:
    """Tests whether answers can be best responses, for every agent and every pair of deployments.

    Parameters
    ----------
    features : array-like of shape (agents, d)
        The agents' own features.
    thetas : array-like of shape (deployments, d)
        The deployed coefficients.
    answers : array-like of shape (deployments, agents, d)
        The answered features.
    tolerance : float, default=1e-9
        How negative a relative inner product may be, for rounding and noise.

    Returns
    -------
    Verdict
        Whether the model is refuted, and by whom.

    Raises
    ------
    TypeError
        If an argument is not made of numbers.
    ValueError
        If shapes do not match, or a number is not finite.

    Examples
    --------
    >>> x, thetas = np.zeros((1, 2)), np.array([[1.0, 0.0], [2.0, 0.0]])
    >>> refute(x, thetas, [[[0.1, 0.0]], [[0.2, 0.0]]]).refuted
    False
    >>> print(refute(x, thetas, [[[0.2, 0.0]], [[0.1, 0.0]]]).sentence)
    Refuted: agent 0 moved against the change from deployment 0 to deployment 1.
    """
    own, deployed = as_numbers("features", features), as_numbers("thetas", thetas)
    given = as_numbers("answers", answers)
    for name, array in (("features", own), ("thetas", deployed), ("answers", given)):
        require_finite(name, array)
    if own.ndim != 2 or deployed.ndim != 2 or given.shape != (len(deployed), *own.shape):
        raise ValueError(
            f"answers must have shape (deployments, agents, features), got {given.shape} for "
            f"features {own.shape} and thetas {deployed.shape}"
        )
    # Staying is free, so nobody moves at theta = 0. That is one more deployment, put first.
    deployed = np.vstack([np.zeros_like(deployed[:1]), deployed])
    given = np.concatenate([own[None], given])
    worst, culprit = 0.0, None
    for a in range(len(deployed)):
        for b in range(a + 1, len(deployed)):
            step, change = deployed[b] - deployed[a], given[b] - given[a]
            size = np.linalg.norm(step) * np.linalg.norm(given - own, axis=2).max(axis=0)
            inner = (change @ step) / np.maximum(size, np.finfo(float).tiny)
            agent = int(np.argmin(inner))
            if inner[agent] < worst:
                worst, culprit = float(inner[agent]), (agent, a, b)
    if culprit is None or worst >= -tolerance:
        return Verdict(False, "The answers do not refute the best-response model.", worst)
    agent, a, b = culprit
    against = f"deployment {b - 1}"
    if a > 0:
        against = f"the change from deployment {a - 1} to deployment {b - 1}"
    return Verdict(True, f"Refuted: agent {agent} moved against {against}.", worst)
