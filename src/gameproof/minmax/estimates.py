"""Estimates of the gradient of L_i, and what each must be able to see.

With v uniform on the unit sphere of the d perturbed coordinates and eps the query radius, those
that need values only have the form

    (d / eps) (L_i(u + eps v) - c) v

and differ in c. Any c that does not depend on v leaves the mean alone: it is the gradient of L_i
averaged over a ball of radius eps. A good c takes the size of L_i out of the variance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from gameproof import kernels
from gameproof.core.arguments import as_number
from gameproof.minmax.problem import Estimated, Problem

Blocks = Literal["x", "y", "all"] | None


class Gradient(ABC):
    """An estimate of the gradient of one sample."""

    @property
    @abstractmethod
    def code(self) -> int:
        """What the compiled solver calls it."""

    @abstractmethod
    def perturbed(self, problem: Problem) -> Estimated:
        """The coordinates it perturbs on this problem, or an error that says what it lacks."""


@dataclass(frozen=True)
class _FromValues(Gradient):
    """An estimate that needs values only.

    blocks: which coordinates are perturbed: None for those with no exact gradient (the problem's
    own choice), or "x", "y", "all".
    """

    blocks: Blocks = None

    def __post_init__(self) -> None:
        if self.blocks not in (None, "x", "y", "all"):
            raise ValueError(f'blocks must be None, "x", "y" or "all", got {self.blocks!r}')

    def perturbed(self, problem: Problem) -> Estimated:
        if self.blocks is None:
            return problem.estimated
        for other in {"x", "y"} - {self.blocks} if self.blocks != "all" else ():
            if other not in problem.known:
                raise ValueError(
                    f"{self!r} estimates {self.blocks} alone, so {problem.name} must give the "
                    f"exact gradient of {other}, and it does not; pass gradient= to the problem, "
                    "or estimate all blocks"
                )
        return Estimated(0, problem.x_set.dim if self.blocks != "y" else 0, self.blocks != "x")


@final
@dataclass(frozen=True)
class OnePoint(_FromValues):
    """(d/eps) (L_i(u + eps v) - c) v: one value a sample, the paper's with c = 0.

    With baseline=True c is the running mean of earlier values, over about the last epoch.
    """

    baseline: bool = False

    @property
    def code(self) -> int:
        return kernels.BASELINE if self.baseline else kernels.PLAIN


@final
@dataclass(frozen=True)
class TwoPoint(_FromValues):
    """(d/eps) (L_i(u + eps v) - L_i(u)) v, or (d/2eps) (L_i(u + eps v) - L_i(u - eps v)) v.

    Two values a sample, at two deployed points; the size of L_i cancels.
    """

    symmetric: bool = False

    @property
    def code(self) -> int:
        return kernels.MIRROR if self.symmetric else kernels.CENTRE


@final
@dataclass(frozen=True)
class Residual(_FromValues):
    """(d/eps) (L_i(u + eps v) - f) v, f the value at the step before's point: one value a sample.

    In the first step there is no value before, and f = 0.
    """

    @property
    def code(self) -> int:
        return kernels.RESIDUAL


@final
@dataclass(frozen=True)
class Envelope(Gradient):
    """The exact gradient from one observed answer a sample, whatever the power and the norm.

    People who best-respond to a cost of degree r report b(theta) with <b, theta> = <x, theta> +
    q g*(theta) and b - x = grad g*(theta), 1/r + 1/q = 1, so the score has the gradient
    x + q (b - x). For people with a budget r is inf and q is 1: b is the gradient. Needs answers
    that can be seen, not only their scores; where the degree is not known, `estimate_degree` finds
    it from two deployments.
    """

    degree: float = 2.0

    def __post_init__(self) -> None:
        degree = as_number("degree", self.degree)
        if not degree > 1:
            raise ValueError(f"degree must exceed 1, got {self.degree}")

    @property
    def code(self) -> int:
        return kernels.ENVELOPE

    @property
    def conjugate(self) -> float:
        """q with 1/degree + 1/q = 1."""
        return 1.0 if np.isinf(self.degree) else self.degree / (self.degree - 1)

    def perturbed(self, problem: Problem) -> Estimated:
        problem.check_observable(self.degree)
        return Estimated(0, 0, False)


@final
@dataclass(frozen=True)
class Exact(Gradient):
    """The gradient itself, where the problem can give it. No values are asked."""

    @property
    def code(self) -> int:
        return kernels.EXACT

    def perturbed(self, problem: Problem) -> Estimated:
        missing = sorted({"x", "y"} - problem.known)
        if missing:
            raise ValueError(
                f"Exact() needs the gradient of {' and '.join(missing)}, and {problem.name} does "
                "not give it; pass gradient= to the problem, or use an estimate from values such "
                "as OnePoint()"
            )
        return Estimated(0, 0, False)
