"""F_i(w) - F_i(s) + mean G(s): the estimate at w, corrected by a snapshot s.

Johnson and Zhang, "Accelerating stochastic gradient descent using predictive variance reduction",
2013; for saddle points Alacaoglu and Malitsky, "Stochastic variance reduction for variational
inequality methods", 2022. From values: Liu et al., "Zeroth-order stochastic variance reduction for
nonconvex optimization", 2018, with G = F; Ji et al., "Improved zeroth-order variance reduced
algorithms and analysis for nonconvex optimization", 2019, with coordinate differences for G.

G is averaged over all samples at s, in one pass over the data. A step estimates at w and at s with
the same directions, so the noise of their difference vanishes as w approaches s. The noise of mean
G(s) stays. Along one random direction per sample it is as large as the noise that is removed; along
every coordinate there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from gameproof.core.arguments import Matrix, Vector, as_count
from gameproof.kernels import layout as at
from gameproof.minmax.estimates.coordinates import Coordinates
from gameproof.minmax.estimates.gradient import Compiled, Context, Gradient, Space
from gameproof.minmax.estimates.two_point import TwoPoint

# Why a snapshot does not help an estimate, by what the estimate subtracts.
REASONS = {
    at.PLAIN: "has noise of the size of the values at both points",
    at.BASELINE: "subtracts the mean of earlier values",
    at.RESIDUAL: "subtracts the value of the step before",
    at.OBSERVED: "needs answers that are observed at the iterate",
}


@final
@dataclass(frozen=True)
class VarianceReduced(Gradient):
    """F_i(w) - F_i(s) + mean G(s), with the same directions in F_i(w) and F_i(s).

    The snapshot s is the iterate at the start of an epoch. A pass over all samples then estimates
    mean G(s). The step after a pass has no previous step, like the first step of a run. If F asks k
    values per sample and G asks m, a pass costs m n values and a step 2k per sample.

    A step of a problem with one coordinate of y per sample costs O(n), because mean G(s) moves all
    of them.

    Parameters
    ----------
    gradient
        The estimate F: `Exact()`, a difference of values of one sample, or an estimate of your
        own. `OnePoint()`, `Residual()` and `Envelope()` are rejected.
    every
        How many epochs a snapshot serves.
    snapshot
        The estimate G; by default F itself if it draws no random directions, else `Coordinates()`,
        symmetric if F is.

    Raises
    ------
    ValueError
        If a snapshot does not help an estimate, or F and G do not fit together.

    Examples
    --------
    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=20, dx=2, dy=2, seed=0)
    >>> solver = gp.sgda_rr(gradient=gp.VarianceReduced(gp.TwoPoint()), step=0.05, radius=0.1)
    >>> gp.solve(game, solver, epochs=1, seed=0).n_queries  # 5 n in the pass, then 4 n
    180
    """

    gradient: Gradient = field(default_factory=TwoPoint)
    every: int = 1
    snapshot: Gradient | None = None

    def __post_init__(self) -> None:
        _require_correctable("gradient", self.gradient)
        object.__setattr__(self, "every", as_count("every", self.every))
        object.__setattr__(self, "snapshot_every", self.every)
        for name in ("blocks", "feasible"):
            object.__setattr__(self, name, getattr(self.gradient, name))
        whole = self.at_snapshot
        _require_correctable("snapshot", whole)
        if whole.uses_values != self.gradient.uses_values or whole.blocks != self.blocks:
            raise ValueError(
                f"{self.gradient!r} and snapshot={whole!r} do not fit together: both must ask for "
                "values of the same blocks, or both must be exact"
            )
        if self.feasible and not whole.feasible:
            raise ValueError(
                f"{self.gradient!r} asks at feasible points only, so snapshot={whole!r} must too; "
                "use feasible=True there"
            )

    @property
    def inner(self) -> Gradient:
        return self.gradient

    @property
    def at_snapshot(self) -> Gradient:
        if self.snapshot is not None:
            return self.snapshot
        if self.gradient.uses_values and self.gradient.code.drawn != at.BASIS:
            symmetric = self.gradient.code.offset == at.MIRROR
            return Coordinates(blocks=self.blocks, feasible=self.feasible, symmetric=symmetric)
        return self.gradient

    @property
    def code(self) -> Compiled:
        return self.gradient.code

    def n_points(self, dim: int) -> int:
        return self.gradient.n_points(dim)

    def n_directions(self, dim: int) -> int:
        return self.gradient.n_directions(dim)

    def factor(self, dim: int) -> float:
        return self.gradient.factor(dim)

    def offsets(self, rng: np.random.Generator, space: Space, radius: float) -> Matrix:
        return self.gradient.offsets(rng, space, radius)

    def estimate(self, values: Vector, offsets: Matrix, radius: float, context: Context) -> Vector:
        return self.gradient.estimate(values, offsets, radius, context)


def _require_correctable(name: str, inner: Gradient) -> None:
    if not isinstance(inner, Gradient):
        raise TypeError(f"{name} must be a Gradient, such as TwoPoint(), got {inner!r}")
    reason = "has snapshots already" if inner.snapshot_every else REASONS.get(inner.code.offset)
    if reason:
        raise ValueError(
            f"{name} {inner!r} {reason}, so a snapshot does not help; use TwoPoint(), "
            "Gaussian(), Directions(), Coordinates() or Exact()"
        )
