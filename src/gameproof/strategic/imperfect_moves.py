"""People whose moves are cut at a length, clipped to bounds, or rounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, Matrix, Vector, as_numbers, as_positive
from gameproof.strategic.imperfect_response import Imperfect


@final
@dataclass(frozen=True, eq=False)
class Limited(Imperfect):
    """People who move by at most a given length.

    Parameters
    ----------
    base : Response
        The response before longer moves are cut.
    size : float
        The longest move, in the Euclidean norm; positive.

    Raises
    ------
    TypeError
        If `base` is not a response whose answers are seen.
    ValueError
        If `size` is not positive and finite.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import QuadraticCost
    >>> limited = Limited(QuadraticCost(1.0), size=2.0)
    >>> limited.answers(np.array([5.0, 0.0]), np.zeros((1, 2)), np.array([0]))
    array([[2., 0.]])
    """

    size: float

    def __post_init__(self) -> None:
        super().__post_init__()
        as_positive("size", self.size)

    @property
    def effect(self) -> str:
        return (
            "Moves are cut at a limit: there, no degree holds, and answers are monotone in theta "
            "for norm 2 only."
        )

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        moves = answers - features
        lengths = np.linalg.norm(moves, axis=1, keepdims=True)
        shrink = np.where(lengths > self.size, self.size / np.maximum(lengths, self.size), 1.0)
        moved: Matrix = features + moves * shrink
        return moved


@final
@dataclass(frozen=True, eq=False)
class Boxed(Imperfect):
    """People whose answers stay within bounds, such as incomes that are not negative.

    Agents whose own features lie outside the bounds may stay there, but move no farther out.

    Parameters
    ----------
    base : Response
        The response before answers are clipped.
    lower, upper : float or array-like of shape (d,)
        The bounds of the answered features.

    Raises
    ------
    TypeError
        If `base` is not a response whose answers are seen, or a bound is not a number.
    ValueError
        If `lower` exceeds `upper`.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import QuadraticCost
    >>> boxed = Boxed(QuadraticCost(1.0), lower=0.0, upper=3.0)
    >>> boxed.answers(np.array([5.0, -5.0]), np.ones((1, 2)), np.array([0]))
    array([[3., 0.]])
    """

    lower: ArrayLike
    upper: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        lower, upper = as_numbers("lower", self.lower), as_numbers("upper", self.upper)
        if not np.all(lower <= upper):
            raise ValueError(f"lower must not exceed upper, got {self.lower!r} and {self.upper!r}")

    def fit(self, n: int, d: int) -> None:
        super().fit(n, d)
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if np.shape(bound) not in ((), (d,)):
                raise ValueError(f"{name} must be one number, or {d}, got {np.shape(bound)}")

    @property
    def effect(self) -> str:
        return "Answers are clipped: no degree holds at the bounds."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        lower = np.minimum(np.asarray(self.lower), features)
        upper = np.maximum(np.asarray(self.upper), features)
        return np.clip(answers, lower, upper)


@final
@dataclass(frozen=True, eq=False)
class Rounded(Imperfect):
    """People whose moved features are multiples of a unit.

    Parameters
    ----------
    base : Response
        The response before rounding.
    unit : float
        The unit; positive.

    Raises
    ------
    TypeError
        If `base` is not a response whose answers are seen.
    ValueError
        If `unit` is not positive and finite.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import QuadraticCost
    >>> rounded = Rounded(QuadraticCost(1.0), unit=0.5)
    >>> rounded.answers(np.array([0.7, 0.0]), np.full((1, 2), 0.1), np.array([0]))
    array([[1. , 0.1]])
    """

    unit: float

    def __post_init__(self) -> None:
        super().__post_init__()
        as_positive("unit", self.unit)

    @property
    def effect(self) -> str:
        return "Answers are rounded: scores jump, so that no gradient is exact."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        rounded = self.unit * np.round(answers / self.unit)
        return np.where(answers == features, features, rounded)
