"""p-norms: dual norms, gradients, and powers with their derivatives.

The dual norm of |.|_p is |.|_{p*} with 1/p + 1/p* = 1. Degrees of a cost and of its convex
conjugate are related in the same way, so one function, `conjugate_exponent`, serves both.
"""

from __future__ import annotations

from math import inf, isinf
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Matrix, Vector


def conjugate_exponent(p: float) -> float:
    """The exponent p* with 1/p + 1/p* = 1: infinite for p = 1, and 1 for p = inf."""
    if p == 1:
        return inf
    return 1.0 if isinf(p) else p / (p - 1)


def norm_of(vector: Vector, p: float) -> float:
    """|vector|_p. The largest entry is factored out, so that large p do not overflow."""
    largest = float(np.abs(vector).max(initial=0.0))
    return largest * float(np.linalg.norm(vector / largest, p)) if largest > 0 else 0.0


def row_norms(rows: Matrix, p: float) -> Matrix:
    """|row|_p of each row, as a column."""
    sizes = np.abs(rows)
    largest = sizes.max(axis=1, keepdims=True)
    if isinf(p):
        found: Matrix = largest
    else:
        ratios = sizes / np.where(largest > 0, largest, 1.0)
        found = largest * (ratios**p).sum(axis=1, keepdims=True) ** (1 / p)
    return found


def norm_gradient(vectors: Vector, lengths: float | Matrix, p: float) -> Vector:
    """The gradient of |.|_p at a vector, or at each row, of the given positive length.

    For p = inf it is the subgradient along the first of the largest entries."""
    if isinf(p):
        first = np.abs(vectors).argmax(axis=-1, keepdims=True)
        found = np.zeros_like(vectors)
        signs = np.sign(np.take_along_axis(vectors, first, axis=-1))
        np.put_along_axis(found, first, signs, axis=-1)
        return found
    gradient: Vector = np.sign(vectors) * (np.abs(vectors) / lengths) ** (p - 1)
    return gradient


class NormPower(NamedTuple):
    """N^q for a norm N of theta, and its derivatives."""

    value: float
    gradient: Vector
    hessian: Matrix


def power_of_norm(theta: Vector, p: float, q: float) -> NormPower:
    """|theta|_p^q with its derivatives, for finite p.

    With N the norm and g its gradient, the gradient is q N^(q-1) g and the Hessian
    q (q-1) N^(q-2) g g' + q N^(q-1) (p-1)/N [diag((|theta|/N)^(p-2)) - g g']."""
    if p == 2.0 and q == 2.0:
        return NormPower(float(np.linalg.norm(theta)) ** 2, 2 * theta, 2 * np.eye(theta.size))
    length = norm_of(theta, p)
    safe = max(length, float(np.finfo(float).tiny) ** 0.25)
    gradient = norm_gradient(theta, safe, p)
    square = np.outer(gradient, gradient)
    ratios = np.maximum(np.abs(theta) / safe, 1e-8)
    of_norm = (p - 1) / safe * (np.diag(ratios ** (p - 2)) - square)
    hessian = q * (q - 1) * safe ** (q - 2) * square + q * safe ** (q - 1) * of_norm
    return NormPower(length**q, q * length ** (q - 1) * gradient, hessian)
