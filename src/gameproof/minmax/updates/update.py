"""`Update`: how estimates become a step.

A step has one or more phases. Each estimates the operator F at the current base point and moves:

    base <- step(origin, eta scale m),   m = a F_J(base) + b F_K(base) + c kept

F_J is the estimate over the current samples, F_K over the samples of the step before, and kept is
the step before's F_J. F is (grad_x L, -grad_y L), so both blocks descend along it. The origin is
the iterate u, or the base itself; after the last phase, the base is the new iterate. The first step
has no earlier estimates, so F_J takes their place in the formula.

A table of phases with its weights is compiled. An update of your own can also override `move` and
keep arrays of its own, which are saved with the state; it then runs in the Python loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, NamedTuple

from gameproof.core.arguments import Vector
from gameproof.minmax.replaceable_part import ReplaceablePart


class Phase(NamedTuple):
    """One move of a step, by -eta m with m = new F_J + previous F_K + kept F_old.

    F_J is estimated over the samples of this step, F_K over those of the step before, both at the
    present point. F_old is the last F_J of the step before. F_K costs values of its own, and F_old
    does not. A phase that uses neither F_J nor F_K asks nothing.

    Attributes
    ----------
    new, previous, kept
        The weights of F_J, F_K and F_old.
    blocks
        Which blocks move: "x", "y" or "both".
    from_base
        True to start at the base that the phase before left, not at the iterate.
    anchored
        True to start 1/(k + 2) of the way to the start of the run, in step k.

    Examples
    --------
    >>> Phase(new=0.0, kept=1.0).asks
    False
    """

    new: float = 1.0
    previous: float = 0.0
    kept: float = 0.0
    blocks: Literal["x", "y", "both"] = "both"
    from_base: bool = False
    anchored: bool = False

    @property
    def asks(self) -> bool:
        """True if the phase uses new estimates."""
        return self.new != 0 or self.previous != 0


class Estimates(NamedTuple):
    """Estimates of F = (grad_x L, -grad_y L), each a vector over x and then y.

    `new` is F_J, `previous` is F_K, or 0 if no phase has a weight for it, and `kept` is the last
    F_J of the step before. In the first step, and after a pass for a snapshot, all are F_J. In a
    phase that asks nothing, `new` and `previous` are 0.
    """

    new: Vector
    previous: Vector
    kept: Vector


class Update(ReplaceablePart):
    """A table of phases; override `move` for anything else.

    Examples
    --------
    Heavy-ball momentum:

    >>> import gameproof as gp
    >>> class Momentum(gp.Update):
    ...     name, arrays = "momentum", ("velocity",)
    ...     def move(self, phase, estimates, arrays, step):
    ...         arrays["velocity"] *= 0.5
    ...         arrays["velocity"] += estimates.new
    ...         return arrays["velocity"]
    >>> gp.check_update(Momentum())
    """

    name: ClassVar[str] = "own"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(),)
    # Names of arrays of the update's own, each over x and then y, zero at the start.
    arrays: ClassVar[tuple[str, ...]] = ()

    def move(
        self, phase: int, estimates: Estimates, arrays: Mapping[str, Vector], step: int
    ) -> Vector:
        """m, where a step leads from u to P(u - eta m).

        `estimates` has the vectors `new`, `previous` and `kept`, which a `Phase` weighs. `arrays`
        are the update's own, to be changed in place. `step` counts from 0.
        """
        weights = self.phases[phase]
        found: Vector = (
            weights.new * estimates.new
            + weights.previous * estimates.previous
            + weights.kept * estimates.kept
        )
        return found

    @property
    def is_compiled(self) -> bool:
        """True if the table of phases defines the whole update."""
        return type(self).move is Update.move and not self.arrays

    @property
    def asks_previous(self) -> bool:
        """True if the samples of the step before are asked again, at the new point."""
        return any(phase.previous != 0 for phase in self.phases)
