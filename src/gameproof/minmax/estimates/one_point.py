"""(d/eps) (L_i(u + eps v) - c) v: one value per sample, with c = 0 the paper's estimate.

Flaxman, Kalai and McMahan, "Online convex optimization in the bandit setting", 2005. The mean is
the gradient of L_i averaged over a ball of radius eps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from gameproof.kernels import layout as at
from gameproof.minmax.estimates.gradient import Compiled, Context, FromValues


@final
@dataclass(frozen=True)
class OnePoint(FromValues):
    """(d/eps) (L_i(u + eps v) - c) v: one value per sample.

    Parameters
    ----------
    baseline
        True to subtract c, the mean of earlier values over about the last epoch; the paper has
        c = 0.
    blocks, feasible
        See `Gradient`.

    Examples
    --------
    >>> OnePoint(baseline=True)
    OnePoint(blocks=None, feasible=False, baseline=True)
    """

    baseline: bool = False

    @property
    def code(self) -> Compiled:
        return Compiled(at.BASELINE if self.baseline else at.PLAIN, at.SPHERE)

    def subtracted(self, context: Context) -> float:
        return context.mean if self.baseline else 0.0
