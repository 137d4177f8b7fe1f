"""`Loss`: the losses for which the worst case has a closed form.

A loss of this kind is l(z, y) = phi(z) - s y z, with z the score and y in {-1, +1} the label. Its
contract is:

    phi is convex and K-Lipschitz,   phi(z) + s z never decreases.

The first makes the supremum over a Wasserstein ball finite, and attained by flipping labels and
moving features along theta. The second keeps the loss of an agent with label -1 convex in theta,
because that agent's score is a convex function of theta. `check_loss` tests the contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from gameproof.kernels.losses import UserLoss

Scores = NDArray[np.float64]


class Loss(ABC):
    """A loss l(z, y) = phi(z) - s y z of the score z and the label y in {-1, +1}.

    A subclass gives phi, its first two derivatives and the constants s and K. To use a loss of your
    own in a `StrategicProblem`, write it as a `CustomLoss`, which compiles it.

    Attributes
    ----------
    s : float
        The coefficient of -y z; positive.
    K : float
        The smallest Lipschitz constant of phi; positive.
    kinks : bool
        Whether the derivative of phi may have kinks, so that the curvature jumps.

    Examples
    --------
    >>> from gameproof.strategic.losses.logistic_loss import Logistic
    >>> Logistic().value(np.array([0.0]), np.array([1.0]))
    array([0.69314718])
    """

    s: float
    K: float
    kinks: bool = True

    @abstractmethod
    def phi(self, z: Scores) -> Scores:
        """phi(z), elementwise."""

    @abstractmethod
    def slope(self, z: Scores) -> Scores:
        """The derivative phi'(z), elementwise."""

    @abstractmethod
    def curvature(self, z: Scores) -> Scores:
        """The second derivative phi''(z), or an upper bound of it where phi' has kinks."""

    def terms(self, z: Scores) -> tuple[Scores, Scores, Scores]:
        """phi, slope and curvature at once. Override it where the three share work."""
        return self.phi(z), self.slope(z), self.curvature(z)

    @property
    def code(self) -> tuple[int | UserLoss, float]:
        """The compiled form: its code in `kernels`, or its compiled functions, and a parameter."""
        raise TypeError(
            f"{self!r} has no compiled form; make it with CustomLoss(phi, slope, curvature, s, K)"
        )

    def value(self, z: Scores, y: Scores) -> Scores:
        """The loss l(z, y) of scores z for labels y, elementwise."""
        return self.phi(z) - self.s * y * z
