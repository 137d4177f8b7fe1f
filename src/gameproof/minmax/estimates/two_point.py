"""(d/eps) (L_i(u + eps v) - L_i(u)) v, or the symmetric difference with 2 eps.

Nesterov and Spokoiny, "Random gradient-free minimization of convex functions", 2017; Shamir, "An
optimal algorithm for bandit and zero-order convex optimization with two-point feedback", 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from gameproof.kernels import layout as at
from gameproof.minmax.estimates.gradient import Compiled, FromValues


@final
@dataclass(frozen=True)
class TwoPoint(FromValues):
    """(d/eps) (L_i(u + eps v) - L_i(u)) v: two values per sample, and the size of L_i cancels.

    Parameters
    ----------
    symmetric
        True for (d/2eps) (L_i(u + eps v) - L_i(u - eps v)) v.
    blocks, feasible
        See `Gradient`.

    Examples
    --------
    >>> TwoPoint(symmetric=True).n_points(10)
    2
    """

    symmetric: bool = False

    @property
    def code(self) -> Compiled:
        return Compiled(at.MIRROR if self.symmetric else at.CENTRE, at.SPHERE)
