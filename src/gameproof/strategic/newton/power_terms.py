"""Powers of norms: what a response adds to scores, but for its strength."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.norms import norm_of


class Power(NamedTuple):
    """N^q for a norm N of theta, and its derivatives."""

    value: float
    gradient: Vector
    hessian: Matrix


def power_of_norm(theta: Vector, p: float, q: float) -> Power:
    """|theta|_p^q for finite p; with N the norm and g its gradient, the derivatives are q N^(q-1) g
    and q (q-1) N^(q-2) g g' + q N^(q-1) (p-1)/N [diag((|theta|/N)^(p-2)) - g g']."""
    if p == 2.0 and q == 2.0:
        return Power(float(np.linalg.norm(theta)) ** 2, 2 * theta, 2 * np.eye(theta.size))
    length = norm_of(theta, p)
    safe = max(length, float(np.finfo(float).tiny) ** 0.25)
    share = np.abs(theta) / safe
    shape = np.sign(theta) * share ** (p - 1)
    square = np.outer(shape, shape)
    second = (p - 1) / safe * (np.diag(np.maximum(share, 1e-8) ** (p - 2)) - square)
    bend = q * (q - 1) * safe ** (q - 2) * square + q * safe ** (q - 1) * second
    return Power(length**q, q * length ** (q - 1) * shape, bend)
