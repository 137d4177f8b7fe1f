"""(d/eps) (L_i(u + eps v) - f) v with f the value at the previous step's point.

Zhang, Zhou, Ji and Zavlanos, "A new one-point residual-feedback oracle for black-box learning and
control", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from gameproof.kernels import layout as at
from gameproof.minmax.estimates.gradient import Compiled, Context, FromValues


@final
@dataclass(frozen=True)
class Residual(FromValues):
    """(d/eps) (L_i(u + eps v) - f) v, f the value at the previous step's point: one value per
    sample. In the first step f = 0.

    Parameters
    ----------
    blocks, feasible
        See `Gradient`.

    Examples
    --------
    >>> Residual()
    Residual(blocks=None, feasible=False)
    """

    compiled: ClassVar[Compiled] = Compiled(at.RESIDUAL, at.SPHERE)

    def subtracted(self, context: Context) -> float:
        return context.last
