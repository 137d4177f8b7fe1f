"""`Envelope`: the exact gradient from one observed answer per sample.

People who best-respond to a cost of degree r report b(theta) with <b, theta> = <x, theta> +
q g*(theta) and b - x = grad g*(theta), 1/r + 1/q = 1. So the score has the gradient x + q (b - x),
whatever the power and the norm. For people with a budget r is infinite and q is 1: b itself is the
gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from gameproof.core.arguments import as_number
from gameproof.kernels.layout import OBSERVED, SPHERE
from gameproof.minmax.estimates.exact import WithoutValues
from gameproof.minmax.estimates.gradient import Compiled


@final
@dataclass(frozen=True)
class Envelope(WithoutValues):
    """The exact gradient from one observed answer per sample.

    It needs answers that can be seen, not only their scores. If the degree is not known,
    `estimate_degree` finds it from two deployments.

    Parameters
    ----------
    degree
        The degree r of the cost, above 1; infinite for people with a budget.

    Examples
    --------
    >>> Envelope(degree=2.0).conjugate
    2.0
    """

    degree: float = 2.0
    compiled: ClassVar[Compiled] = Compiled(OBSERVED, SPHERE)

    def __post_init__(self) -> None:
        degree = as_number("degree", self.degree)
        if not degree > 1:
            raise ValueError(f"degree must exceed 1, got {self.degree}")

    @property
    def conjugate(self) -> float:
        """q with 1/degree + 1/q = 1."""
        return 1.0 if np.isinf(self.degree) else self.degree / (self.degree - 1)
