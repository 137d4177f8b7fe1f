"""`check_loss`: the contract of a loss, as a test for users' own losses."""

from __future__ import annotations

import numpy as np

from gameproof.strategic.contract_checks import claim
from gameproof.strategic.losses.loss import Loss


def check_loss(loss: Loss) -> None:
    """Tests that a loss keeps the contract of `Loss`.

    The derivatives, convexity and the constants s and K are tested on a grid of scores.

    Parameters
    ----------
    loss : Loss
        The loss to test.

    Raises
    ------
    AssertionError
        If the loss breaks its contract; the message is the claim that fails.
    TypeError
        If `loss` is not a `Loss`.

    Examples
    --------
    >>> from gameproof.strategic.losses.logistic_loss import Logistic
    >>> check_loss(Logistic())
    """
    if not isinstance(loss, Loss):
        raise TypeError(f"check_loss takes a Loss, got {loss!r}")
    z = np.concatenate([np.linspace(-40, 40, 4001), [-1e6, -1e3, 1e3, 1e6]])
    z.sort()
    phi, slope = loss.phi(z), loss.slope(z)
    claim(bool(np.isfinite([phi, slope]).all()), "phi and its slope are finite up to 1e6")
    claim(loss.s > 0 and loss.K > 0, "s and K are positive")
    claim(bool((np.diff(slope) >= -1e-12).all()), "phi is convex: its slope never falls")
    claim(bool((np.abs(slope) <= loss.K + 1e-12).all()), "phi is K-Lipschitz")
    claim(bool((slope + loss.s >= -1e-12).all()), "phi(z) + s z never decreases")
    # A convex phi lies above its tangents: between two grid points it rises at least by the slope
    # on the left and at most by the slope on the right.
    steps, rises = np.diff(z), np.diff(phi)
    slack = 1e-9 * np.maximum(1.0, np.abs(phi[1:]))
    above_left = rises >= slope[:-1] * steps - slack
    below_right = rises <= slope[1:] * steps + slack
    claim(bool((above_left & below_right).all()), "slope is the derivative of phi")
    near, h = np.linspace(-5.003, 5.003, 501), 1e-5
    central = (loss.phi(near + h) - loss.phi(near - h)) / (2 * h)
    error = np.abs(central - loss.slope(near))
    largest_curvature = np.maximum(loss.curvature(near - h), loss.curvature(near + h))
    claim(bool((error <= 1e-7 + largest_curvature * h).all()), "slope is the derivative of phi")
    slope_change = np.diff(slope) / steps
    bound = np.maximum(loss.curvature(z[1:]), loss.curvature(z[:-1]))
    inner = np.abs(z[1:]) <= 40
    claim(
        bool((slope_change[inner] <= 1.1 * bound[inner] + 0.02).all()),
        "curvature bounds the derivative of slope",
    )
